"""Every evaluation ends: loops, growing texts, regular expressions, deep values."""

import pytest

from podstrat.cel import DYN, Budget, CompileError, Environment, EvaluationError, OutOfBudget

ENVIRONMENT = Environment({"object": DYN})
ITEMS = list(range(1000))


def run(expression, value=ITEMS, budget=None):
    return ENVIRONMENT.compile(expression).evaluate({"object": value}, budget)


@pytest.mark.parametrize(
    "expression",
    [
        "object.all(a, object.all(b, object.all(c, a + b + c >= 0)))",
        "object.map(a, object.map(b, [a, b]))",
        "object.map(a, object.map(b, string(a) + string(b)).join('')).join('').size() > 0",
        "object.map(a, object.map(b, object.distinct())).size() > 0",
        "lists.range(100000).map(x, lists.range(100000)).size() > 0",
    ],
)
def test_a_loop_that_takes_too_long_is_stopped(expression):
    with pytest.raises(OutOfBudget, match="actual cost limit exceeded"):
        run(expression)


def test_stopping_is_not_absorbed():
    with pytest.raises(OutOfBudget):
        run("object.all(a, object.all(b, object.all(c, true))) || true")


def test_a_shared_budget_runs_out():
    budget = Budget(10_000)
    assert run("object.all(a, a >= 0)", budget=budget)
    assert 0 < budget.left < 10_000
    with pytest.raises(OutOfBudget):
        run("object.all(a, a >= 0)", budget=budget) and run("object.all(a, a >= 0)", budget=budget)


def test_regular_expressions_do_not_backtrack():
    assert run("object.matches('^(a+)+$')", "a" * 5000 + "b") is False
    with pytest.raises(CompileError, match="invalid matches argument"):
        run("object.matches('((a{1,1000}){1,1000}){1,1000}')", "a")


def test_a_deep_value_is_an_error():
    deep = current = []
    for _ in range(100_000):
        current.append([])
        current = current[0]
    other = current = []
    for _ in range(100_000):
        current.append([])
        current = current[0]
    with pytest.raises(EvaluationError, match="nested too deeply"):
        run("object[0] == object[1]", [deep, other])
    _dismantle(deep)
    _dismantle(other)


def _dismantle(value):
    """Taken apart level by level: the interpreter frees nested lists recursively otherwise."""
    while value:
        value = value.pop()


def test_a_deep_or_long_expression_is_refused():
    with pytest.raises(CompileError, match="recursion"):
        ENVIRONMENT.compile("(" * 300 + "1" + ")" * 300)
    with pytest.raises(CompileError, match="code point size exceeds limit"):
        ENVIRONMENT.compile("'" + "a" * 100_001 + "'")


def test_a_long_sum_is_compiled():
    terms = [f"string(object[{i}])" for i in range(100)]
    assert run(" + ".join(terms)) == "".join(map(str, range(100)))
    with pytest.raises(CompileError) as caught:
        ENVIRONMENT.compile("'+' + " * 40 + "nope // a + b")
    assert str(caught.value).startswith("ERROR: <input>:1:241: undeclared reference to 'nope' (in container '')")
    with pytest.raises(CompileError, match="recursion"):
        ENVIRONMENT.compile(" + ".join("1" * 300))


@pytest.mark.parametrize(
    "expression",
    [
        "object.replace('a', object)",
        "[object, object, object, object].join(object + object + object)",
        "('%s' + object.replace('a', '%s')).format([object])",
    ],
)
def test_a_text_does_not_multiply(expression):
    with pytest.raises((OutOfBudget, EvaluationError)):
        run(expression, "a" * 1_000_000)


@pytest.mark.parametrize(
    "expression",
    [
        "dyn(1).hasValue()", "'abc'.charAt(dyn('x'))", "ip(dyn(1)).family()", "dyn([1])[?dyn('a')]", "lists.range(dyn('a'))",
        "'%s'.format(dyn(1))", "dyn('a').major()", "dyn(1).family()", "[1].slice(dyn('a'), 1)", "url(dyn(1)).getHost()",
        "dyn(1).getHours()", "dyn('x').allowed()", "quantity(dyn([]))", "dyn({}).sort()", "dyn(1).all(x, x)",
    ],
)  # fmt: skip
def test_values_of_another_type_are_errors_of_evaluation(expression):
    with pytest.raises(EvaluationError):
        run(expression)
    assert run(f"dyn({expression}) == 1 || true") is True
