"""Runs the soak: 500,000 reviews, 200,000 writes with 1,000 watchers, and an API outage with error storms for the node writer.

    python -m tools.soak [--share 1.0] [--only webhook]

At most an hour. It prints the memory of each part over time; exit code 1 if memory grows or anything is lost.
"""

from __future__ import annotations

import argparse
import time

from tools.soak import apiserver, node, webhook

PARTS = {"webhook": webhook.soak, "apiserver": apiserver.soak, "node": node.soak}


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="python -m tools.soak", description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--share", type=float, default=1.0, help="the part of the whole load to run, 0.01 to 1 (default 1)")
    parser.add_argument("--only", choices=PARTS, action="append", help="this part; can be repeated")
    args = parser.parse_args()
    if not 0.01 <= args.share <= 1:
        parser.error("--share takes a number from 0.01 to 1")
    ok = True
    for name in args.only or PARTS:
        began = time.monotonic()
        result = PARTS[name](args.share)
        print(f"{result} in {time.monotonic() - began:.0f} s", flush=True)
        ok &= result.ok
    return 0 if ok else 1


if __name__ == "__main__":
    raise SystemExit(main())
