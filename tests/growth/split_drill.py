"""Processor time of the document splitters on one document of 16 to 128 MiB: that of `podstrat check`, and goyaml's own.

    python -m tests.growth.split_drill

Prints seconds, and nanoseconds for a byte: the same for every size, as long as they are linear. Parsing is not part of it.
"""

from __future__ import annotations

import io
import time
from collections.abc import Callable

from podstrat.check.inputs import _split
from podstrat.goyaml import stream

SIZES = (16, 32, 64, 128)
DOCUMENTS = {
    "short lines": b"key-of-a-map: value\n",
    "long lines": b"k: " + b"x" * 100_000 + b"\n",
    "comments that look like separators": b"# --- a comment\n",
    "separators inside a text": b"  --- indented\n",
    "empty lines": b"\n",
    "one line": b"x",
}
SPLITTERS: dict[str, Callable[[bytes], object]] = {
    "check": lambda text: list(_split("file", io.BytesIO(text))),
    "goyaml": lambda text: list(stream._yaml_parts(text, 1)),
}


def main() -> None:
    for name, unit in DOCUMENTS.items():
        for splitter, run in SPLITTERS.items():
            for size in SIZES:
                text = unit * ((size << 20) // len(unit))
                before = time.process_time()
                run(text)
                seconds = time.process_time() - before
                rate = seconds / len(text) * 1e9
                print(f"{splitter:7} {name:35} {size:4} MiB  {seconds:6.2f} s  {rate:5.2f} ns/byte", flush=True)


if __name__ == "__main__":
    main()
