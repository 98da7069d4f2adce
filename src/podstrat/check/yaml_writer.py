"""YAML serializer whose output go-yaml, YAML 1.1 and YAML 1.2 parse alike; fields can carry comments."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from podstrat import printable
from podstrat.goyaml import scalars

if TYPE_CHECKING:
    from podstrat.check.places import Place

_PLAIN = re.compile(r"[A-Za-z0-9_/](?:[A-Za-z0-9 _./@+,()=-]|:(?=[^ ]))*(?<! )")
# Numbers, times and dates of whatever YAML.
_NUMBER_LIKE = re.compile(r"[-+.]?[0-9][0-9a-fA-F_.:xobXOB]*(?:[eE][-+]?[0-9]+)?|[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}.*")
_WORDS = frozenset(word.lower() for word in scalars.WORDS) | {"=", "<<"}
_UNPRINTED = re.compile(f"[\t\n{printable.UNSAFE}\ufffe\uffff]")

Notes = Mapping["Place", str]
"""A comment for the line on which a field begins."""
Gone = Mapping["Place", Sequence[str]]
"""Comments at the end of a mapping: what is not there any more."""


def text(value: Any) -> str:
    """The whole value, with the last line ended."""
    return "\n".join(lines(value)) + "\n"


def lines(value: Any, notes: Notes | None = None, gone: Gone | None = None) -> Iterator[str]:
    """The lines of a value."""
    if isinstance(value, (dict, list)) and value:
        yield from _block(value, (), "", notes or {}, gone or {})
    else:
        yield scalar(value)


def _block(value: Any, at: Place, indent: str, notes: Notes, gone: Gone) -> Iterator[str]:
    steps = value.items() if isinstance(value, dict) else enumerate(value)
    for step, child in steps:
        place = (*at, step)
        head = f"{indent}{scalar(step)}:" if isinstance(value, dict) else f"{indent}-"
        comment = f"  # {notes[place]}" if place in notes else ""
        if not isinstance(child, (dict, list)) or not child:
            yield from _leaf(head, child, indent, comment)
        elif isinstance(value, dict):
            yield head + comment
            # Lists stand as far left as the key that they belong to, as kubectl prints them.
            yield from _block(child, place, indent if isinstance(child, list) else indent + "  ", notes, gone)
        else:
            first, *rest = _block(child, place, indent + "  ", notes, gone)
            yield f"{head} {first[len(indent) + 2 :]}" if not comment else f"{head} {first[len(indent) + 2 :]}{comment}"
            yield from rest
    for words in gone.get(at, ()):
        yield f"{indent}# {words}"


def _leaf(head: str, value: Any, indent: str, comment: str) -> Iterator[str]:
    if isinstance(value, str) and _is_block_text(value):
        yield f"{head} |{'' if value.endswith(chr(10)) else '-'}{comment}"
        for line in value.removesuffix("\n").split("\n"):
            yield f"{indent}  {line}" if line else ""
    else:
        yield f"{head} {scalar(value)}{comment}"


def _is_block_text(value: str) -> bool:
    """Whether text of several lines can stand as it is."""
    body = value.removesuffix("\n")
    if "\n" not in body or body[0] in " \n\t" or body.endswith("\n"):
        return False
    return printable.harmless(body) and not any(_UNPRINTED.search(line) or line.isspace() for line in body.split("\n"))


def scalar(value: Any) -> str:
    """One value on one line."""
    if isinstance(value, str):
        return value if _is_plain(value) else _quoted(value)
    if isinstance(value, (dict, list)) or value is None or isinstance(value, bool):
        return json.dumps(value)
    return repr(value)


def _is_plain(value: str) -> bool:
    if not _PLAIN.fullmatch(value) or value.lower() in _WORDS or " #" in value:
        return False
    return not _NUMBER_LIKE.fullmatch(value) and scalars.plain(value) == value


def _quoted(value: str) -> str:
    return re.sub(printable.OLD_COMMAND, r"#\\x23", _UNPRINTED.sub(_escaped, json.dumps(value, ensure_ascii=False)))


def _escaped(match: re.Match[str]) -> str:
    number = ord(match[0])
    if 0xD800 <= number <= 0xDFFF:
        return "\ufffd"  # half a pair, which YAML cannot say
    return f"\\x{number:02x}" if number < 0x100 else f"\\u{number:04x}"
