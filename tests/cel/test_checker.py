"""Types of expressions, and the server's words for expressions that do not compile."""

import pytest

from podstrat.cel import BOOL, DYN, INT, STRING, CompileError, Environment, Type, list_of, map_of, optional_of
from podstrat.cel.library.mutation import ObjectTypes

SELF = {"count": INT, "name": STRING, "labels": map_of(STRING, STRING), "items": list_of(Type("Item"))}
TYPES = ObjectTypes({"Self": SELF, "Item": {"ok": BOOL}})
ENVIRONMENT = Environment({"object": DYN, "self": Type("Self"), "oldSelf": optional_of(INT)}, TYPES, "mutation")
NOT_A_RANGE = "expression of type 'int' cannot be range of a comprehension (must be list, map, or dynamic)"


@pytest.mark.parametrize(
    "expression, shown",
    [
        ("object.spec.x", "dyn"),
        ("self.count + 1", "int"),
        ("self.labels", "map(string, string)"),
        ("self.items.map(i, i.ok)", "list(bool)"),
        ("self.?name", "optional_type(string)"),
        ("object.x ? 'a' : 'b'", "string"),
        ("object.x ? 'a' : object.y", "dyn"),
        ("[]", "list(dyn)"),
        ("object.a + 1", "int"),
        ("Object{}", "Object"),
        ("[JSONPatch{op: 'add', path: '/x', value: 1}]", "list(JSONPatch)"),
        ("object.x ? [JSONPatch{op: 'add'}] : []", "list(JSONPatch)"),
        ("duration('1h')", "duration"),
        ("null", "null"),
    ],
)
def test_type(expression, shown):
    assert str(ENVIRONMENT.compile(expression).type) == shown


def error(column, message, line):
    return f"ERROR: <input>:1:{column}: {message}\n | {line}\n | {'.' * (column - 1)}^"


@pytest.mark.parametrize(
    "expression, column, message",
    [
        ("object.spec.", 13, "Syntax error: no viable alternative at input '.'"),
        ("nothing.here", 1, "undeclared reference to 'nothing' (in container '')"),
        ("nope(1)", 5, "undeclared reference to 'nope' (in container '')"),
        ("self.x == 1", 5, "undefined field 'x'"),
        ("has(self.x)", 4, "undefined field 'x'"),
        ("self.count == 'x'", 12, "found no matching overload for '_==_' applied to '(int, string)'"),
        ("self.name == null", 11, "found no matching overload for '_==_' applied to '(string, null)'"),
        ("self.count >= oldSelf", 12, "found no matching overload for '_>=_' applied to '(int, optional_type(int))'"),
        ("quantity('1') > 1", 15, "found no matching overload for '_>_' applied to '(kubernetes.Quantity, int)'"),
        ("self.name.startsWith(1)", 21, "found no matching overload for 'startsWith' applied to 'string.(int)'"),
        ("1 == 1.5", 3, "found no matching overload for '_==_' applied to '(int, double)'"),
        ("self.count.x", 11, "type 'int' does not support field selection"),
        ("self.count.all(c, true)", 5, NOT_A_RANGE),
        ("[1, 'a']", 5, "expected type 'int' but found 'string'"),
        ("{'a': object.x, 'b': 'y'}", 22, "expected type 'dyn' but found 'string'"),
        ("JSONPatch{op: 1}", 13, "expected type of field 'op' is 'string' but provided type is 'int'"),
        ("JSONPatch{nope: 1}", 15, "undefined field 'nope'"),
        ("Nothing{}", 1, "undeclared reference to 'Nothing' (in container '')"),
        ("duration('1y')", 10, "invalid duration argument"),
        ("timestamp('now')", 11, "invalid timestamp argument"),
        ("self.name.matches('(')", 19, "invalid matches argument"),
        ("has(self)", 5, "invalid argument to has() macro"),
        ("[1].all(a.b, true)", 10, "argument must be a simple name"),
        ("[1].map(a.b, true)", 10, "argument is not an identifier"),
        ("'%d'.format(['a'])", 14, "error during formatting: decimal clause can only be used on integers, was given string"),
        ("'%s'.format([])", 12, "index 0 out of range"),
        ("'%s'.format([1, 2])", 12, "too many arguments supplied to string.format (expected 1, got 2)"),
        ("'%y'.format([1])", 12, 'could not parse formatting clause: unrecognized formatting clause "y"'),
    ],
)  # fmt: skip
def test_compile_error(expression, column, message):
    with pytest.raises(CompileError) as caught:
        ENVIRONMENT.compile(expression)
    assert str(caught.value) == error(column, message, expression)


def test_several_errors_come_by_position():
    with pytest.raises(CompileError) as caught:
        ENVIRONMENT.compile("'é' + a +\n  b")
    assert str(caught.value).split("\n") == [
        "ERROR: <input>:1:7: undeclared reference to 'a' (in container '')",
        " | 'é' + a +",
        " | .．....^",
        "ERROR: <input>:2:3: undeclared reference to 'b' (in container '')",
        " |   b",
        " | ..^",
    ]


def test_arguments_of_format_may_differ_in_type():
    assert ENVIRONMENT.compile("'%s-%d'.format(['a', 1])").type == STRING
