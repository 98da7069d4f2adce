"""`NamedTuple` that costs little to declare, for the modules that short commands import.

`typing.NamedTuple` compiles every annotation and a constructor when a class is declared: half a millisecond for a wide one, and a
`podstrat check` of one file declares fifty. Here annotations stay text, and the constructor is compiled when it is first called;
from then on an instance costs what it costs there. For type checkers this is `typing.NamedTuple`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from typing import NamedTuple as NamedTuple
else:
    from collections import _tuplegetter as getter

    RESERVED = frozenset({"__new__", "__init__", "__slots__", "__getnewargs__"})

    class _Record(tuple):
        """What every NamedTuple can do, as `collections.namedtuple` has it."""

        __slots__ = ()
        _fields = ()
        _field_defaults = {}  # noqa: RUF012

        @classmethod
        def _make(cls, values: Any) -> Any:
            made = tuple.__new__(cls, values)
            if len(made) != len(cls._fields):
                raise TypeError(f"Expected {len(cls._fields)} arguments, got {len(made)}")
            return made

        def _replace(self, /, **changes: Any) -> Any:
            made = self._make(map(changes.pop, self._fields, self))
            if changes:
                raise ValueError(f"Got unexpected field names: {list(changes)!r}")
            return made

        def _asdict(self) -> dict[str, Any]:
            return dict(zip(self._fields, self, strict=True))

        def __repr__(self) -> str:
            values = ", ".join(f"{name}={value!r}" for name, value in zip(self._fields, self, strict=True))
            return f"{type(self).__name__}({values})"

        def __getnewargs__(self) -> tuple[Any, ...]:
            return tuple(self)

    class _Declaration(type):
        """Makes an ordinary subclass of tuple from the body of a class."""

        def __new__(mcs, name: str, bases: tuple[type, ...], body: dict[str, Any]) -> type:
            fields = tuple(body.get("__annotations__", ()))
            defaults = {field: body[field] for field in fields if field in body}
            _check(name, bases, body, fields, defaults)

            def __new__(cls: type, /, *args: Any, **kwargs: Any) -> Any:
                declared.__new__ = staticmethod(_constructor(declared))
                return declared.__new__(cls, *args, **kwargs)

            body |= {field: getter(at, "") for at, field in enumerate(fields)}
            body |= {"__slots__": (), "__match_args__": fields, "__new__": __new__}
            declared = type(name, (_Record,), body | {"_fields": fields, "_field_defaults": defaults})
            return declared

    def _check(name: str, bases: Any, body: Any, fields: tuple[str, ...], defaults: Any) -> None:
        if len(bases) > 1:
            raise TypeError(f"{name}: a NamedTuple has no other base")
        if wrong := RESERVED & body.keys():
            raise AttributeError(f"{name}: a NamedTuple has its own {', '.join(sorted(wrong))}")
        if wrong := [field for field in fields if field.startswith("_")]:
            raise ValueError(f"{name}: a field cannot begin with an underscore: {', '.join(wrong)}")
        if tuple(defaults) != fields[len(fields) - len(defaults) :]:
            raise TypeError(f"{name}: a field without a default follows one with a default")

    def _constructor(declared: type) -> Any:
        names = "".join(f"{field}, " for field in declared._fields)
        made = eval(f"lambda _cls, {names}: _new(_cls, ({names}))", {"_new": tuple.__new__, "__builtins__": {}})
        made.__defaults__ = tuple(declared._field_defaults.values())
        made.__name__, made.__qualname__, made.__module__ = "__new__", f"{declared.__name__}.__new__", declared.__module__
        return made

    NamedTuple = type.__new__(_Declaration, "NamedTuple", (), {})
