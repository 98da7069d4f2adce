"""Feature gates: each gate's history by release, and which are on for a release and what was asked for.

The histories are data (history.json, made by tools/make_gates.py): a gate added or a release added is a row.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Mapping
from functools import cache
from types import MappingProxyType
from typing import Any

from podstrat.records import NamedTuple
from podstrat.strategy.context import Version
from podstrat.strategy.formats import go

RELEASES = ("1.34", "1.35", "1.36", "1.37")

_WHOLE_STAGE = {"Alpha": "AllAlpha", "Beta": "AllBeta"}
WHOLE_STAGES = frozenset(_WHOLE_STAGE.values())
"""Gates that stand for all gates of a stage."""
_REMOVED = "Removed"
_VERSION = re.compile(r"v?(\d+)\.(\d+)(?:\.\d+)?(?:[-+].*)?", re.ASCII)
# strconv.ParseBool
_TRUE = frozenset({"1", "t", "T", "true", "TRUE", "True"})
_FALSE = frozenset({"0", "f", "F", "false", "FALSE", "False"})


class GateError(ValueError):
    """A gate, or a mix of gates, that no server of this release starts with."""


class VersionError(GateError):
    """A version of Kubernetes whose rules are not here."""


class Stage(NamedTuple):
    """What a gate is in one release."""

    stage: str
    """Alpha, Beta, GA or Deprecated."""
    default: bool
    locked: bool
    """Whether the gate can only have its default."""


class Since(NamedTuple):
    """One row of a gate's history: what the gate is from this release on."""

    release: Version
    stage: str
    """A Stage's, or Removed: the server does not take the gate any more."""
    default: bool
    locked: bool


@cache
def _version(release: str) -> Version:
    major, minor = release.split(".")
    return int(major), int(minor)


with open(os.path.join(os.path.dirname(__file__), "history.json"), "rb") as _file:
    _TABLE: Any = json.loads(_file.read())

PODS: frozenset[str] = frozenset(_TABLE["pods"])
"""The gates that play a part in what a server does to pods."""


def parse_version(version: str | tuple[int, int]) -> Version:
    """``1.37``, ``v1.37.2`` or ``(1, 37)`` as ``(1, 37)``, if that release's rules are here."""
    if isinstance(version, tuple):
        text = ".".join(map(str, version))
    else:
        text = version
    match = _VERSION.fullmatch(text)
    if match is None:
        raise VersionError(f"{go.quote(text)} is not a version of Kubernetes: write it like 1.37 or v1.37.2")
    parsed = int(match[1]), int(match[2])
    if parsed not in map(_version, RELEASES):
        raise VersionError(f"Kubernetes {text} is not supported: choose one of {', '.join(RELEASES)}")
    return parsed


def parse_flag(text: str) -> dict[str, bool]:
    """The value of --feature-gates, ``A=true,B=false``, as a dict. Of a gate named twice the last counts."""
    gates = {}
    for item in filter(None, text.split(",")):
        name, equals, value = item.partition("=")
        name, value = name.strip(), value.strip()
        if not equals:
            raise GateError(f"missing bool value for {name}")
        if value not in _TRUE and value not in _FALSE:
            problem = f"strconv.ParseBool: parsing {go.quote(value)}: invalid syntax"
            raise GateError(f"invalid value of {name}={value}, err: {problem}")
        gates[name] = value in _TRUE
    return gates


@cache
def _at(version: Version) -> Mapping[str, Since]:
    """Each gate's row for a release, of gates that the release has or had.

    Gates that play no part for pods begin with 1.34 here, whatever their age.
    """
    rows = {}
    for gate, history in _TABLE["stages"].items():
        past = [row for row in history if _version(row[0]) <= version]
        if past:
            release, *stage = past[-1]
            rows[gate] = Since(_version(release), *stage)
    return MappingProxyType(rows)


@cache
def known(version: str | Version) -> Mapping[str, Stage]:
    """Every gate that a server of this release takes, AllAlpha and AllBeta among them."""
    rows = _at(parse_version(version))
    return MappingProxyType({gate: Stage(*row[1:]) for gate, row in rows.items() if row.stage != _REMOVED})


def requires(version: Version) -> dict[str, tuple[str, ...]]:
    """The gates that a server of this release starts with only if others are on, and those others. 1.34 does not look."""
    return {
        gate: tuple(needs)
        for gate, needs, first, last in _TABLE["requires"]
        if _version(first) <= version and (last is None or version <= _version(last))
    }


def enabled(version: str | Version, overrides: Mapping[str, bool] | None = None) -> frozenset[str]:
    """The gates that are on in a release with these settings, as --feature-gates would take them.

    A gate's own setting wins over AllAlpha and AllBeta. A gate that was removed after it had been on stays on: what it guarded
    is there for good. Raises GateError in the words of the server where the server would not start.

    Upstream: featureGate.SetFromMap
    """
    release = parse_version(version)
    overrides = overrides or {}
    _check(overrides, release)
    on = set()
    for gate, row in _at(release).items():
        of_stage = overrides.get(_WHOLE_STAGE.get(row.stage, ""), row.default)
        if overrides.get(gate, of_stage):
            on.add(gate)
    on.difference_update(WHOLE_STAGES)
    unmet = list(_unmet(on, release))
    if unmet:
        raise GateError(_joined(unmet))
    return frozenset(on)


def _check(overrides: Mapping[str, bool], version: Version) -> None:
    """Each gate is one that the release takes, with a value that it takes."""
    if not overrides:
        return
    gates = known(version)
    locked = []
    for gate, value in overrides.items():
        if gate not in gates:
            raise GateError(f"unrecognized feature gate: {gate}{_hint(gate, gates)}")
        if not isinstance(value, bool):
            raise GateError(f"invalid value of {gate}={value}, must be true or false")
        stage = gates[gate]
        if stage.locked and stage.default != value:
            locked.append(f"cannot set feature gate {gate} to {_bool(value)}, feature is locked to {_bool(stage.default)}")
    if locked:
        raise GateError(_joined(locked))


def _unmet(on: set[str], version: Version) -> Iterator[str]:
    """A gate that is on has the gates on that it requires. The server names them in random order; here they are sorted."""
    for gate, needs in sorted(requires(version).items()):
        missing = [need for need in needs if need not in on]
        if gate in on and missing:
            yield f"{gate} is enabled, but depends on features that are disabled: [{' '.join(missing)}]"


def _joined(messages: list[str]) -> str:
    """Several errors in one, as the server writes them."""
    return messages[0] if len(messages) == 1 else f"[{', '.join(messages)}]"


def _bool(value: bool) -> str:
    return "true" if value else "false"


def _hint(gate: str, gates: Mapping[str, Stage]) -> str:
    """What may have been meant: a gate of other releases, or a gate with almost this name."""
    releases = [release for release in RELEASES if gate in known(_version(release))]
    if releases:
        first, last = releases[0], releases[-1]
        if last == RELEASES[-1]:
            return f" (known only in {first} and later)"
        return f" (known only up to {last})" if first == RELEASES[0] else f" (known only in {' and '.join(releases)})"
    folded = {name.lower(): name for name in gates}
    import difflib

    close = difflib.get_close_matches(gate.lower(), folded, n=1, cutoff=0.8)
    return f" (did you mean {folded[close[0]]}?)" if close else ""
