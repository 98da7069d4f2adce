"""Target of goyaml: recorded objects as YAML, mutated as texts.

A document has a value that is JSON, with a place for every part of it, or a YamlError. A value that is written as YAML and read
again is the same.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from typing import Any

from podstrat import goyaml
from podstrat.goyaml import writer
from tests.fuzz import mutations, recorded
from tests.fuzz.target import Failure, expect

TOKENS = (
    *(
        "---\n",
        "...\n",
        "--- x\n",
        "%YAML 1.1\n",
        "# c\n",
        "&a ",
        "*a",
        "<<: *a\n",
        "!!str ",
        "!!binary ",
        "!x ",
        "? ",
        ": ",
        "- ",
        "-\n",
    ),
    *(
        "|\n",
        ">-\n",
        "|2+\n",
        "{",
        "}",
        "[",
        "]",
        ",",
        '"',
        "'",
        "\\",
        "\t",
        " ",
        "  ",
        "\r",
        "\r\n",
        "\x00",
        "\x85",
        "\u2028",
        "\ufeff",
    ),
    *("~", "yes", "0o7", "0x1F", "1e3", ".inf", ".nan", "2026-01-01", "1_000", "190:20:30", "@", "`", "é", "\U0001f600"),
)


class Texts:
    def check(self, number: int) -> str:
        dice = random.Random(number)
        value = mutations.value(dice.choice(recorded.bodies()), dice, recorded.bodies())
        if dice.random() < 0.1:
            return _round_trip(value, _written(value))
        text = json.dumps(value, indent=dice.choice((None, 2))) if dice.random() < 0.3 else _written(value)
        for _ in range(dice.choice((1, 1, 2, 4))):
            text = _changed(text, dice)
        data = text.encode("utf-8", "surrogatepass")
        if dice.random() < 0.1:
            data = mutations.spoilt(data, dice)
        elif dice.random() < 0.05:
            data = text.encode("utf-16", "surrogatepass")
        return _read(data)


def _written(value: Any) -> str:
    try:
        return writer.dump(value)
    except Exception as error:
        raise Failure(f"cannot be written: {type(error).__name__}: {error}", value) from error


def _round_trip(value: Any, text: str) -> str:
    """Read again, it is the same, but for numbers beyond 2**53, of which YAML readers make floats.

    Go's emitter writes U+2028 and U+2029 as they are, and its reader takes them for line breaks.
    """
    if "\u2028" in text or "\u2029" in text:
        return "line separators"
    try:
        found = goyaml.load(text).value
    except goyaml.YamlError as error:
        raise Failure(f"what was written is not readable: {error}", text) from error
    expect(_floats(found) == _floats(value), "what was written reads as another value", text)
    return "round trip"


def _floats(value: Any) -> Any:
    """The value with its large integers as floats."""
    if isinstance(value, dict):
        return {key: _floats(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_floats(item) for item in value]
    return float(value) if isinstance(value, int) and abs(value) > 2**53 else value


def _changed(text: str, dice: random.Random) -> str:
    lines = text.splitlines(keepends=True)
    what = dice.randrange(5)
    if what == 0 or not lines:
        at = dice.randrange(len(text) + 1)
        return text[:at] + dice.choice(TOKENS) + text[at:]
    at = dice.randrange(len(lines))
    if what == 1:
        del lines[at]
    elif what == 2:
        lines.insert(dice.randrange(len(lines) + 1), lines[at])
    elif what == 3:
        lines[at] = dice.choice(("", " ", "  ", "\t", "- ")) + lines[at].lstrip(" ") if dice.random() < 0.5 else "  " + lines[at]
    else:
        lines[at] = dice.choice(TOKENS) + lines[at]
    return "".join(lines)


def _read(data: bytes) -> str:
    kinds = set()
    stream = goyaml.documents(data, "f")
    while True:
        try:
            document = next(stream)
            json.dumps(document.value, allow_nan=False)
            for path in _paths(document.value):
                document.mark(path)
            kinds.add("value")
        except StopIteration:
            return "+".join(sorted(kinds)) or "empty"
        except goyaml.YamlError as error:
            expect(error.line >= 1 and error.column >= 1 and error.message and error.words, "an error without a place", data)
            kinds.add("error")
        except Exception as error:
            raise Failure(f"{type(error).__name__}: {error}", data) from error


def _paths(value: Any, at: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    yield at
    steps = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for step, item in steps:
        yield from _paths(item, (*at, step))
