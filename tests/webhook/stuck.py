"""The podstrat command with a fault: a review of a pod called stuck-in-... never ends.

stuck-in-c loops in C and holds the interpreter lock: no other thread of its process runs, and no signal handler. With
stuck-in-python they do. stuck-in-sleep does end, when there is a file called freed. A file called stuck says that it has begun.
"""

from __future__ import annotations

import collections
import itertools
import os
import sys
import time
from pathlib import Path

from podstrat.cli import main
from podstrat.webhook.chain import Chain, Phase, ReviewResult
from podstrat.webhook.review import Request

review = Chain.review


def faulty(self: Chain, phase: Phase, request: Request) -> ReviewResult:
    folder = Path(os.environ["TMPDIR"])
    if request.name.startswith("stuck-in-"):
        (folder / "stuck").touch()
    if request.name == "stuck-in-c":
        collections.deque(itertools.repeat(None), maxlen=0)
    while request.name == "stuck-in-python":
        pass
    while request.name == "stuck-in-sleep" and not (folder / "freed").exists():
        time.sleep(0.01)
    return review(self, phase, request)


if __name__ == "__main__":
    Chain.review = faulty  # type: ignore[method-assign]
    sys.exit(main())
