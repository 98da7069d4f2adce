"""Estimates of how the work of an expression grows."""

from __future__ import annotations

import pytest

from podstrat.cel import DYN, Environment, growth

ENVIRONMENT = Environment(dict.fromkeys(("object", "oldObject", "params", "variables"), DYN))


def estimate(text: str, **options) -> str:
    return growth.text(growth.estimate(ENVIRONMENT.compile(text).tree.root, **options))


@pytest.mark.parametrize(
    "expression, expected",
    [
        pytest.param("object.a < 3 && has(object.b)", "constant", id="no-loop"),
        pytest.param("['a', 'b'].all(x, x in ['c'])", "constant", id="literals"),
        pytest.param("object.a.all(x, x.b)", "linear in object.a", id="a-loop"),
        pytest.param("object.?a.?b.orValue([]).all(x, x.c)", "linear in object.a.b", id="optional-fields"),
        pytest.param("object.a['b'].all(i, x, x.c)", "linear in object.a.b", id="two-variables"),
        pytest.param("object.a.all(x, x.b) || object.c.exists(x, x.b)", "linear in object.a, object.c", id="one-after-the-other"),
        pytest.param("(has(object.a) ? object.a : params.b).all(x, x)", "linear in object.a, params.b", id="either"),
        pytest.param("object.a.filter(x, x.b).map(x, x.c).all(x, x)", "linear in object.a", id="a-chain"),
        pytest.param("object.a.all(x, x.b.all(y, y.c))", "linear in object.a, object.a[].b", id="lists-of-elements"),
        pytest.param("object.a[0].b.all(x, x)", "linear in object.a[].b", id="one-element"),
        pytest.param("object.a.all(x, object.b.exists(y, x == y))", "quadratic in object.a × object.b", id="nested"),
        pytest.param("object.a.all(x, object.a.exists(y, x == y))", "quadratic in object.a × object.a", id="the-same-twice"),
        pytest.param("object.a.map(x, x.b).all(b, b.all(y, params.c.exists(z, y == z)))", "quadratic in object.a[].b × params.c",
                     id="elements-of-a-result"),
        pytest.param("object.a.all(x, object.a.all(y, object.a.exists_one(z, z == y)))",
                     "cubic in object.a × object.a × object.a", id="cubic"),
        pytest.param("object.a.all(w, object.a.all(x, object.a.all(y, object.a.all(z, true))))",
                     "of degree 4 in object.a × object.a × object.a × object.a", id="degree-4"),
        pytest.param("'x' in object.a", "linear in object.a", id="in"),
        pytest.param("object.a.all(x, x in params.b)", "quadratic in object.a × params.b", id="in-a-loop"),
        pytest.param("object.a.split(',').exists(x, x == '')", "linear in object.a", id="split"),
        pytest.param("object.a.sort().join(',') == ''", "linear in object.a", id="functions"),
        pytest.param("object.a.distinct().size() == 1", "quadratic in object.a × object.a", id="distinct"),
        pytest.param("sets.contains(object.a, object.b)", "quadratic in object.a × object.b", id="sets"),
        pytest.param("lists.range(object.n).all(i, object.a.exists(x, x == i))", "quadratic in object.n × object.a", id="range"),
        pytest.param("[object, oldObject].all(o, o.a.all(x, x))", "linear in object.a, oldObject.a", id="a-literal-of-objects"),
    ],
)  # fmt: skip
def test_growth(expression: str, expected: str) -> None:
    assert estimate(expression) == expected


def test_without_functions() -> None:
    assert estimate("object.a.all(x, x in params.b)", functions=False) == "linear in object.a"


def test_variables_stand_for_what_they_are_made_of() -> None:
    known = {"names": growth.value(ENVIRONMENT.compile("object.a.map(x, x.name)").tree.root)}
    assert estimate("variables.names.all(n, n in params.b)", variables=known) == "quadratic in object.a × params.b"
    assert estimate("variables.other.all(n, n)", variables=known) == "linear in variables.other"


def test_estimates_are_bounded() -> None:
    lists = " + ".join(f"object.a{i}" for i in range(20))
    nested = "true"
    for i in range(6):
        nested = f"({lists}).all(x{i}, {nested})"
    many = " && ".join(f"object.b{i}.all(x, x)" for i in range(1000))
    assert estimate(f"{nested} && {many}").startswith("of degree 6 in object.a0 × ")
