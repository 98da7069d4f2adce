"""Prints how far the engine agrees with a real server on workloads that carry a pod template.

python -m tests.conformance.workloads                 agreement by kind
python -m tests.conformance.workloads --kind Job --show 50
"""

from __future__ import annotations

import argparse
import gzip
import json
import re
import sys
from collections.abc import Iterator
from typing import Any, NamedTuple

from podstrat.strategy.engine import Engine
from tests.conformance import compare
from tests.conformance.recorded import CASES

FILE = CASES / "workloads-1.37.jsonl.gz"
VERSION = "1.37"
JUDGED = re.compile(r"metadata\b|(spec\.(jobTemplate\.spec\.)?)?(template|selector)\b")
"""The fields that the engine judges: metadata, selector, and everything in the template."""


class Verdict(NamedTuple):
    """How one case came out."""

    id: str
    kind: str
    code: bool
    causes: bool
    """Whether the causes about template, selector and metadata agree, in their order."""
    whole: bool
    """Whether everything agrees: message, all causes, warnings."""
    why: str | None


def cases() -> Iterator[dict[str, Any]]:
    """The recorded workloads."""
    with gzip.open(FILE, "rt", encoding="utf-8") as lines:
        for line in lines:
            yield json.loads(line)


def is_answered(case: dict[str, Any]) -> bool:
    """Whether the server looked at the workload; to the first two it said that there was no default namespace."""
    return case["want"].get("body", {}).get("message") != 'namespaces "default" not found'


def verdicts(kind: str = "") -> Iterator[Verdict]:
    engine = Engine(VERSION)
    for case in cases():
        if kind in ("", case["kind"]) and is_answered(case):
            yield _verdict(case, engine)


def _verdict(case: dict[str, Any], engine: Engine) -> Verdict:
    want, got = case["want"], answer(case, engine)
    if "body" in want:
        got["body"] = compare.in_recorded_order(got["body"], want["body"])
    else:
        # Of an accepted workload only the code is recorded.
        del got["body"]
    why = compare.first_difference(want, got)
    causes = _judged(want) == _judged(got)
    return Verdict(case["id"], case["kind"], want["code"] == got["code"], causes, why is None, why)


def answer(case: dict[str, Any], engine: Engine) -> dict[str, Any]:
    """What we answer, in the form of the record."""
    given = engine.workload(case["body"]).answer
    record = {"code": given.code, "body": compare.clean(given.body)}
    if given.warnings:
        record["warnings"] = list(given.warnings)
    return record


def _judged(record: dict[str, Any]) -> list[dict[str, str]]:
    details = (record.get("body") or {}).get("details") or {}
    return [cause for cause in details.get("causes") or () if JUDGED.match(cause["field"])]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kind", default="", help="only this kind")
    parser.add_argument("--show", type=int, default=20, help="how many differences to print (default 20)")
    args = parser.parse_args()
    found = list(verdicts(args.kind))
    differing = [each for each in found if not each.whole]
    for verdict in differing[: args.show]:
        print(f"{verdict.id}\n    {verdict.why}")
    if len(differing) > args.show:
        print(f"... and {len(differing) - args.show} more (--show {len(differing)} prints them)")
    _print_table(found)
    unanswered = [case["id"] for case in cases() if not is_answered(case)]
    print(f"left out, for the server had no namespace for them: {', '.join(unanswered)}")
    return 1 if differing else 0


def _print_table(found: list[Verdict]) -> None:
    print(f"{'kind':24} {'cases':>6} {'codes':>6} {'causes':>6} {'whole':>6}")
    for kind in [*sorted({each.kind for each in found}), ""]:
        rows = [each for each in found if kind in ("", each.kind)]
        codes, causes, whole = (sum(column) for column in zip(*((r.code, r.causes, r.whole) for r in rows), strict=True))
        print(f"{kind or 'all':24} {len(rows):6} {codes:6} {causes:6} {whole:6}  {100 * whole / len(rows):6.2f} %")


if __name__ == "__main__":
    sys.exit(main())
