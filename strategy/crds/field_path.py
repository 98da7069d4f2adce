"""Field paths of definitions: the paths of selectable fields and of the fieldPath of rules, followed through a schema."""

from __future__ import annotations

import re
from typing import Any

from podstrat.records import NamedTuple

Object = dict[str, Any]

_TOKEN = re.compile(r"'(?:[^'\\]|\\.)*'?|[.\[\]]|[^.\[\]']+|'", re.DOTALL)
_ESCAPE = re.compile(r"\\(.)", re.DOTALL)


class BadPath(ValueError):
    """A path that leads nowhere; the text is the server's."""


class Step(NamedTuple):
    """One step of a path: a field of an object, or a key of a map."""

    name: str
    is_key: bool


END = "unexpected end of JSON path"
NOWHERE = "does not refer to a valid field"


def follow(path: str, schema: Object, brackets: bool = True) -> tuple[list[Step], Object]:
    """The steps of a path, and the schema that it ends at; BadPath if it does not fit the schema.

    Upstream: cel.ValidFieldPath
    """
    steps: list[Step] = []
    tokens = iter(_tokens(path))
    for token in tokens:
        if token == "[":
            if not brackets:
                raise BadPath("array notation is not allowed")
            name = _quoted(next(tokens, None))
            step, schema = _step(name, schema)
            closing = next(tokens, None)
            if closing != "]":
                raise BadPath(END if closing is None else f"expected ] but got {closing}")
        elif token == ".":
            following = next(tokens, None)
            if following is None:
                raise BadPath(END)
            step, schema = _step(following, schema)
        else:
            raise BadPath(f"expected [ or . but got: {token}")
        steps.append(step)
    return steps, schema


def _tokens(path: str) -> list[str]:
    return [match[0] for match in _TOKEN.finditer(path)]


def _quoted(token: str | None) -> str:
    if token is None:
        raise BadPath(END)
    if len(token) < 2 or token[0] != "'" or token[-1] != "'":
        raise BadPath(f"expected single quoted string but got {token}")
    return _ESCAPE.sub(r"\1", token[1:-1])


def _step(name: str, schema: Object) -> tuple[Step, Object]:
    properties, values = schema.get("properties"), schema.get("additionalProperties")
    if properties is not None:
        if name not in properties:
            raise BadPath(NOWHERE)
        return Step(name, False), properties[name]
    if values is None:
        raise BadPath(NOWHERE)
    return Step(name, True), values if isinstance(values, dict) else {}
