"""Makes strategy/gates/history.json: the history of every feature gate, which touch pods, and which a server wants on together.

    python tools/make_gates.py

The sources are tools/upstream/gates-*.json; each says where it comes from. A stage is [since, stage, default, locked] and holds
until the next one; the stage "Removed" means that the server no longer takes the gate. Gates that play no part for pods are known
from 1.34 on only, so that is what their first stage says. The sources overlap, and must agree where they do.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

SOURCES = Path(__file__).parent / "upstream"
TABLE = Path(__file__).parent.parent / "strategy" / "gates" / "history.json"

Stage = list[Any]
History = dict[str, list[Stage]]


def main() -> None:
    TABLE.write_text(text())


def text() -> str:
    """The text of the table: one gate a line."""
    stages = histories()
    requires = source("requires")["rows"]
    unknown = {name for gate, needs, *_ in requires for name in (gate, *needs)} - set(stages)
    if unknown:
        raise ValueError(f"required or requiring, but not known: {sorted(unknown)}")
    gates = ",\n".join(f"{json.dumps(name)}: {json.dumps(rows)}" for name, rows in sorted(stages.items()))
    pods = ",\n".join(json.dumps(name) for name in sorted(source("pods")["gates"]))
    rows = ",\n".join(json.dumps(row) for row in requires)
    return f'{{"stages": {{\n{gates}\n}},\n"pods": [\n{pods}\n],\n"requires": [\n{rows}\n]}}\n'


def histories() -> History:
    listed = source("listed")["releases"]
    written = source("pods")["gates"] | source("graduated")["gates"]
    names = set(written).union(*listed.values())
    merged = {name: history(name, listed, written.get(name)) for name in names}
    for name, rows in merged.items():
        check(name, rows, listed)
    return merged


def history(name: str, listed: dict[str, Any], written: list[Stage] | None) -> list[Stage]:
    """The stages that were written down, after those that only the lists know."""
    rows: list[Stage] = []
    for release, gates in listed.items():
        if written and number(written[0][0]) <= number(release):
            break
        stage = [*gates[name], False] if name in gates else None
        if stage and (not rows or rows[-1][1:] != stage):
            rows.append([release, *stage])
        elif not stage and rows and rows[-1][1] != "Removed":
            rows.append([release, "Removed", *rows[-1][2:]])
    return rows + (written or [])


def check(name: str, rows: list[Stage], listed: dict[str, Any]) -> None:
    """A list names a gate exactly while it is alpha or beta."""
    for release, gates in listed.items():
        past = [row for row in rows if number(row[0]) <= number(release)]
        stage = past[-1][1:3] if past and past[-1][1] in ("Alpha", "Beta") else None
        if stage != gates.get(name):
            raise ValueError(f"{name} in {release}: {stage} is written down, {gates.get(name)} is listed")


def source(name: str) -> dict[str, Any]:
    content: dict[str, Any] = json.loads((SOURCES / f"gates-{name}.json").read_text())
    return content


def number(release: str) -> tuple[int, ...]:
    return tuple(map(int, release.split(".")))


if __name__ == "__main__":
    main()
