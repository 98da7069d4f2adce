"""List the feature gates that affect pods, and their state in each release.

A cell says the gate's stage and whether it is on; "locked" means that the server takes no other value, "-" that it does not take
the gate at all: not yet, or no longer because what it guarded is there for good.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from podstrat import exits
from podstrat.strategy.gates import history

POD_GATES = history.PODS
"""What is shown unless all gates are asked for."""


class State(NamedTuple):
    """What a gate is in one release with the settings that were asked for."""

    stage: str
    default: bool
    locked: bool
    enabled: bool


States = Mapping[str, State]


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--release", metavar="VERSION", help=f"show only this Kubernetes release: {', '.join(history.RELEASES)}")
    parser.add_argument(
        "--feature-gates",
        metavar="A=true,B=false",
        action="append",
        default=[],
        help="show the state with these settings, as for kube-apiserver, including AllAlpha and AllBeta; "
        f"without --release for {history.RELEASES[-1]}",
    )
    parser.add_argument("--all", action="store_true", help="also list gates that do not affect pods")
    parser.add_argument("-o", "--output", choices=("table", "json"), default="table", help="default: table")


def run(args: argparse.Namespace) -> int:
    try:
        overrides = history.parse_flag(",".join(args.feature_gates))
        columns = {release: _states(release, overrides, args.all) for release in _releases(args.release, overrides)}
    except history.GateError as error:
        raise exits.BadArguments(str(error)) from error
    print(_json(columns) if args.output == "json" else _table(columns))
    return exits.OK


def _releases(text: str | None, overrides: Mapping[str, bool]) -> Iterable[str]:
    if text is not None:
        major, minor = history.parse_version(text)
        return (f"{major}.{minor}",)
    # What one release takes as a setting, another refuses: settings are about one release.
    return history.RELEASES[-1:] if overrides else history.RELEASES


def _states(release: str, overrides: Mapping[str, bool], every: bool) -> States:
    on = history.enabled(release, overrides)
    return {
        # AllAlpha and AllBeta are settings themselves, never in the set of what is on.
        name: State(*stage, enabled=name in on or overrides.get(name, False))
        for name, stage in sorted(history.known(release).items())
        if every or name in POD_GATES
    }


def _json(columns: Mapping[str, States]) -> str:
    releases = {release: {name: state._asdict() for name, state in states.items()} for release, states in columns.items()}
    return json.dumps({"releases": releases}, indent=2)


def _table(columns: Mapping[str, States]) -> str:
    rows = [["GATE", *columns]]
    for name in sorted(set().union(*columns.values())):
        rows.append([name, *(_cell(states.get(name)) for states in columns.values())])
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return "\n".join("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows)


def _cell(state: State | None) -> str:
    if state is None:
        return "-"
    words = [state.stage, _on(state.enabled)]
    if state.locked:
        words.append("locked")
    if state.enabled != state.default:
        words.append(f"(default {_on(state.default)})")
    return " ".join(words)


def _on(value: bool) -> str:
    return "on" if value else "off"
