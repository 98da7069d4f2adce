"""`podstrat node` with pause points: at one of them it says so and stops for good, to be killed there.

    python -m tests.node.pause_points --node ...      with PAUSE_AT and PAUSED in the environment: two files

The first one names the point, once it is there. `rename`: the temporary file of the checkpoint is written, the new name is not
given. `patch`: a PATCH is on its way. `answer`: the server has done it, and we have not read the answer. The second one is made
when the point is reached.
"""

from __future__ import annotations

import functools
import os
import sys
import time
from pathlib import Path

from podstrat import cli
from podstrat.kubeclient import aio
from podstrat.node.state import checkpoint, persistence

AT, PAUSED = Path(os.environ["PAUSE_AT"]), Path(os.environ["PAUSED"])


def stop_here(point):
    if AT.exists() and AT.read_text() == point:
        PAUSED.write_text(point)
        time.sleep(3600)


def main():
    replace, send, head = os.replace, aio._Connection.send, aio._Connection.head

    def paused_replace(source, target):
        if Path(target).name == "health":
            stop_here("rename")
        replace(source, target)

    async def paused_send(self, data):
        await send(self, data)
        self.patching = data.startswith(b"PATCH ")
        if self.patching:
            stop_here("patch")

    async def paused_head(self):
        answer = await head(self)
        if getattr(self, "patching", False):
            stop_here("answer")
        return answer

    os.replace, aio._Connection.send, aio._Connection.head = paused_replace, paused_send, paused_head
    persistence.Pace = functools.partial(checkpoint.Pace, change=0.2, refresh=0.5)
    return cli.main(["node", *sys.argv[1:]])


if __name__ == "__main__":
    sys.exit(main())
