"""Writes values as YAML, as Kubernetes does: keys in natural order, lists as far left as their key, no line folded."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from typing import Any

from yaml import events
from yaml.emitter import Emitter

from podstrat.goyaml import scalars

_BASE_60 = re.compile(r"[-+]?[0-9][0-9_]*(?::[0-5]?[0-9])+(?:\.[0-9_]*)?")
_DIGITS = re.compile(r"[0-9]+")


def dump(value: Any) -> str:
    """The text of one document.

    Upstream: sigs.k8s.io/yaml, JSONToYAML
    """
    out = io.StringIO()
    # An emitter of the same descent as Go's; no width makes it fold a line.
    emitter = Emitter(out, allow_unicode=True, width=2**31)
    for event in _document(value):
        emitter.emit(event)
    return out.getvalue()


def _document(value: Any) -> Iterator[events.Event]:
    yield events.StreamStartEvent()
    yield events.DocumentStartEvent(explicit=False)
    yield from _node(value)
    yield events.DocumentEndEvent(explicit=False)
    yield events.StreamEndEvent()


def _node(value: Any) -> Iterator[events.Event]:
    if isinstance(value, dict):
        yield events.MappingStartEvent(None, None, True, flow_style=not value)
        for key in sorted(value, key=_natural):
            yield _text(key)
            yield from _node(value[key])
        yield events.MappingEndEvent()
    elif isinstance(value, list):
        yield events.SequenceStartEvent(None, None, True, flow_style=not value)
        for item in value:
            yield from _node(item)
        yield events.SequenceEndEvent()
    elif isinstance(value, str):
        yield _text(value)
    else:
        yield _scalar(_plain(value), None)


def _plain(value: Any) -> str:
    if value is None:
        return "null"
    return str(value).lower() if isinstance(value, bool) else str(value)


def _text(value: str) -> events.ScalarEvent:
    """Several lines as a block; quoted where the plain text would be read as something else.

    U+0085 is a line break to the reader and not printable to Go's emitter, which escapes it; this emitter takes it for printable.
    """
    if "\x85" in value:
        return _scalar(value, '"')
    if "\n" in value:
        return _scalar(value, "|")
    is_text = scalars.plain(value) == value and not _BASE_60.fullmatch(value)
    return _scalar(value, None if is_text else '"')


def _scalar(value: str, style: str | None) -> events.ScalarEvent:
    return events.ScalarEvent(None, None, (True, True), value, style=style)


def _natural(key: str) -> list[tuple[int, int, str]]:
    """The order of keys: numbers by value, other characters before letters.

    Upstream: keyList.Less
    """
    order: list[tuple[int, int, str]] = []
    at = 0
    while at < len(key):
        number = _DIGITS.match(key, at)
        if number is not None:
            order.append((0, int(number[0]), number[0]))
            at = number.end()
        else:
            order.append((1 if key[at].isalpha() else 0, ord(key[at]), key[at]))
            at += 1
    return order
