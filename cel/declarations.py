"""Function declarations: signatures as text, read into overloads by function name."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple

from podstrat.cel import types
from podstrat.cel.types import Type


class Overload(NamedTuple):
    """One signature of a function. Of a member function the first parameter is the receiver."""

    member: bool
    params: tuple[Type, ...]
    result: Type


Functions = dict[str, tuple[Overload, ...]]

_MEMBER = re.compile(r"\((?P<receiver>.*)\)\.(?P<name>[\w@]+)\((?P<params>.*)\) -> (?P<result>.*)")
_GLOBAL = re.compile(r"(?P<name>[^\s(]+)\((?P<params>.*)\) -> (?P<result>.*)")


def declare(*texts: str) -> Functions:
    """Functions from lines such as `size(string) -> int` and `(string).matches(string) -> bool`."""
    functions: dict[str, list[Overload]] = {}
    for line in "\n".join(texts).splitlines():
        line = line.strip()
        if not line:
            continue
        if member := _MEMBER.fullmatch(line):
            name, params = member["name"], [member["receiver"], *_split(member["params"])]
            result = member["result"]
        elif plain := _GLOBAL.fullmatch(line):
            name, params, result = plain["name"], list(_split(plain["params"])), plain["result"]
        else:
            raise ValueError(f"not a signature: {line}")
        overload = Overload(member is not None, tuple(map(types.parse, params)), types.parse(result))
        functions.setdefault(name, []).append(overload)
    return {name: tuple(overloads) for name, overloads in functions.items()}


def merge(*parts: Functions) -> Functions:
    """Functions of several libraries, overloads of one name together."""
    merged: Functions = {}
    for part in parts:
        for name, overloads in part.items():
            merged[name] = merged.get(name, ()) + overloads
    return merged


def _split(params: str) -> Iterable[str]:
    """The parameters of a list, at its commas outside parentheses."""
    depth, start = 0, 0
    for i, char in enumerate(params):
        depth += (char == "(") - (char == ")")
        if char == "," and depth == 0:
            yield params[start:i].strip()
            start = i + 1
    if params.strip():
        yield params[start:].strip()
