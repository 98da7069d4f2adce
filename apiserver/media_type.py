"""Media types of requests, parsed as the API server parses them: a malformed parameter makes the whole type unknown."""

from __future__ import annotations

import re
from typing import Final

_TOKEN: Final = r"[!#$%&'*+\-.^_`|~0-9A-Za-z]+"
_type = re.compile(rf"{_TOKEN}(?:/{_TOKEN})?").fullmatch
_parameter = re.compile(rf'\s*;\s*({_TOKEN})\s*=\s*({_TOKEN}|"(?:[^"\\\r\n]|\\[^\r\n])*")').match


def parse(text: str) -> str | None:
    """The type in lower case, without its parameters; None if it cannot be parsed.

    Upstream: mime.ParseMediaType
    """
    base, semicolon, rest = text.partition(";")
    base = base.strip().lower()
    if not _type(base):
        return None
    values: dict[str, str] = {}
    rest = semicolon + rest
    while rest.strip():
        parameter = _parameter(rest)
        if parameter is None:
            # One semicolon at the end is ignored.
            return base if rest.strip() == ";" else None
        name, value = parameter[1].lower(), _unquoted(parameter[2])
        if values.setdefault(name, value) != value:
            return None
        rest = rest[parameter.end() :]
    return base


def _unquoted(value: str) -> str:
    return re.sub(r"\\(.)", r"\1", value[1:-1]) if value.startswith('"') else value


def of_patch(text: str) -> str:
    """The type of a patch: whatever stands before the first semicolon, to the letter.

    Upstream: PatchResource
    """
    head, semicolon, _ = text.partition(";")
    return head if semicolon and head else text
