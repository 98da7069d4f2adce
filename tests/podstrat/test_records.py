"""A cheap NamedTuple is that of typing in everything that a caller sees."""

from __future__ import annotations

import copy
import pickle
import typing
from typing import Any

import pytest

from podstrat import records


class Usual(typing.NamedTuple):
    """A point."""

    x: int
    y: str = "why"

    @property
    def both(self) -> str:
        return f"{self.x}{self.y}"


class Cheap(records.NamedTuple):
    """A point."""

    x: int
    y: str = "why"

    @property
    def both(self) -> str:
        return f"{self.x}{self.y}"


class Wider(Cheap):
    """A subclass with a constructor of its own."""

    def __new__(cls, x: int) -> Wider:
        return super().__new__(cls, x, "wide")


class Empty(records.NamedTuple):
    pass


def attempt(work: Any, kind: Any) -> str:
    try:
        found = work(kind)
    except Exception as error:
        found = (type(error), str(error))
    return repr(found).replace("Usual", "Cheap")


WORKS: dict[str, Any] = {
    "positions": lambda kind: kind(1),
    "names": lambda kind: kind(y="b", x=2),
    "too few": lambda kind: kind(),
    "too many": lambda kind: kind(1, 2, 3),
    "unknown name": lambda kind: kind(1, z=2),
    "property": lambda kind: kind(1).both,
    "tuple": lambda kind: (kind(1).x, kind(1)[1], len(kind(1)), hash(kind(1)), kind(1) == (1, "why"), (*kind(1),)),
    "replace": lambda kind: kind(1)._replace(y="else"),
    "replace the unknown": lambda kind: kind(1)._replace(z="else"),
    "asdict": lambda kind: kind(1)._asdict(),
    "make": lambda kind: kind._make(iter((1, 2))),
    "make of too many": lambda kind: kind._make((1, 2, 3)),
    "fields": lambda kind: (kind._fields, kind._field_defaults, kind.__match_args__, kind.__doc__, kind.__slots__),
    "class": lambda kind: (kind.__name__, kind.__qualname__, kind.__module__),
    "hints": lambda kind: typing.get_type_hints(kind),
    "copies": lambda kind: (copy.copy(kind(1)), copy.deepcopy(kind(1)), pickle.loads(pickle.dumps(kind(1)))),
    "set a field": lambda kind: setattr(kind(1), "x", 2),
    "set another": lambda kind: setattr(kind(1), "z", 2),
}


@pytest.mark.parametrize("work", WORKS.values(), ids=WORKS)
def test_both_do_the_same(work):
    assert attempt(work, Cheap) == attempt(work, Usual)


def test_the_first_call_may_be_wrong():
    class Fresh(records.NamedTuple):
        x: int

    with pytest.raises(TypeError, match=r"Fresh\.__new__\(\) missing 1 required positional argument: 'x'"):
        Fresh()  # type: ignore[call-arg]
    assert Fresh(1) == (1,)


def test_a_pattern_matches():
    match Cheap(1, "b"):
        case Cheap(x, y):
            assert (x, y) == (1, "b")


def test_subclass():
    assert repr(Wider(3)) == "Wider(x=3, y='wide')"
    assert repr(Cheap(4)) == "Cheap(x=4, y='why')"


def test_no_fields():
    assert Empty() == ()


@pytest.mark.parametrize(
    "bases, body, error",
    [
        pytest.param((dict,), {}, "has no other base", id="two bases"),
        pytest.param((), {"__new__": None}, "has its own __new__", id="a constructor"),
        pytest.param((), {"__annotations__": {"_x": "int"}}, "cannot begin with an underscore: _x", id="underscore"),
        pytest.param((), {"__annotations__": {"x": "int", "y": "int"}, "x": 1}, "follows one with a default", id="order"),
    ],
)
def test_refused(bases, body, error):
    with pytest.raises((TypeError, AttributeError, ValueError), match=error):
        type(records.NamedTuple)("Wrong", (records.NamedTuple, *bases), body)
