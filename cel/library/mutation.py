"""Types and functions of mutation expressions: Object, JSONPatch, jsonpatch.escapeKey."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from podstrat.cel.errors import no_such_overload
from podstrat.cel.types import DYN, STRING, Fields, Type

SIGNATURES = "jsonpatch.escapeKey(string) -> string"

OBJECT = Type("Object")
JSON_PATCH = Type("JSONPatch")


class _AnyField(Mapping[str, Type]):
    """An object type that has every field; what stands below it is not known before it is applied."""

    def __getitem__(self, name: str) -> Type:
        return DYN

    def __contains__(self, name: object) -> bool:
        return True

    def __iter__(self) -> Iterator[str]:
        return iter(())

    def __len__(self) -> int:
        return 0


class ObjectTypes(Mapping[str, Fields]):
    """Object, Object.spec, Object.spec.containers … and JSONPatch, beside other types."""

    def __init__(self, others: Mapping[str, Fields]) -> None:
        self._others = others
        self._any = _AnyField()
        self._patch = {"op": STRING, "path": STRING, "from": STRING, "value": DYN}

    def __getitem__(self, name: str) -> Fields:
        if name == "Object" or name.startswith("Object."):
            return self._any
        return self._patch if name == "JSONPatch" else self._others[name]

    def __iter__(self) -> Iterator[str]:
        return iter(("Object", "JSONPatch", *self._others))

    def __len__(self) -> int:
        return 2 + len(self._others)


def _escape_key(key: Any) -> str:
    if not isinstance(key, str):
        raise no_such_overload()
    return key.replace("~", "~0").replace("/", "~1")


FUNCTIONS: dict[str, Any] = {"jsonpatch.escapeKey": _escape_key}
