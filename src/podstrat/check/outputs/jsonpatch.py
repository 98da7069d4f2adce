"""JSON patches (RFC 6902) of updates: for each object that may be updated one line, the array of operations.

The first object is as the server stores it, the second as it stores the update: defaults and the generation are in the patch.
Everything else goes to standard error.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING

from podstrat.check.report import Result, Summary

if TYPE_CHECKING:
    from podstrat.check.outputs import Look


class Writer:
    def __init__(self, look: Look) -> None:
        self._quiet = look.quiet

    def begin(self) -> Iterator[str]:
        yield from ()

    def result(self, result: Result) -> Iterator[str]:
        for error in result.errors:
            print(f"podstrat: {result.file}:{error.line}:{error.column}: {error.message}", file=sys.stderr)
        if result.patch is not None:
            yield json.dumps(result.patch) + "\n"
        elif not result.errors and not self._quiet:
            reason = result.skipped or (result.update or {}).get("reason")
            print(f"podstrat: {result.file}: {result.title}: {reason}", file=sys.stderr)

    def end(self, summary: Summary) -> Iterator[str]:
        yield from ()
