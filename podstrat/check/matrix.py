"""Which releases and feature gates accept a manifest, and what they make of it.

Each release is asked with its own gates; then, in each release, every gate that touches pods is turned over, and those that
change the answer are listed with what they change.
"""

from __future__ import annotations

import argparse
import json
import sys
from typing import TYPE_CHECKING, Any, NamedTuple

from podstrat import exits
from podstrat.check import command, options, selection

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from podstrat.check.judge import Settings
    from podstrat.check.opening import Opened
    from strategy.outcome import Outcome


def arguments(parser: argparse.ArgumentParser) -> None:
    options.inputs(parser)
    rules = parser.add_argument_group("which releases")
    rules.add_argument("--releases", metavar="X.Y,...", help=f"default: {','.join(options.RELEASES)}")
    rules.add_argument("--no-gates", action="store_true", help="only the releases, each with its own gates")
    options.server(parser, many=True)
    parser.add_argument("-o", "--output", choices=("text", "json"), default="text", help="default: text")
    options.configuration(parser)


class Answer(NamedTuple):
    """What one server says."""

    accepted: bool
    errors: tuple[str, ...]
    warnings: tuple[str, ...]
    dropped: tuple[str, ...]
    stored: Any


def run(args: argparse.Namespace) -> int:
    import goyaml
    from podstrat.check import opening

    if args.feature_gates:
        raise exits.BadArguments("matrix turns over the gates itself; to see one setting: podstrat check --feature-gates")
    options.configured(args)
    args.feature_gates = None
    releases = _releases(args.releases)
    settings = options.settings(args)
    command.prepare(sys.stdout)
    found = []
    try:
        for each in opening.everything(options.wanted(args)):
            chosen = selection.choose(each.object, frozenset(), ())
            if chosen.kind and not chosen.complaints:
                found.append(_Matrix(each, releases, settings, not args.no_gates))
    except goyaml.YamlError as error:
        print(f"podstrat: {error}", file=sys.stderr)
        return exits.INVALID
    if not found:
        raise exits.BadArguments("nothing to look at: no pod, and nothing with a pod template")
    if args.output == "json":
        print(json.dumps({"objects": [matrix.as_dict() for matrix in found]}, indent=2, ensure_ascii=False))
    else:
        print("\n\n".join("\n".join(matrix.lines()) for matrix in found))
    return exits.OK if all(matrix.accepted for matrix in found) else exits.INVALID


def _releases(said: str | None) -> list[str]:
    from strategy import gates

    try:
        parsed = [gates.parse_version(text) for text in (said.split(",") if said else options.RELEASES)]
    except gates.GateError as error:
        raise exits.BadArguments(str(error)) from None
    return [f"{major}.{minor}" for major, minor in parsed]


class _Matrix:
    """One object before every server."""

    def __init__(self, each: Opened, releases: list[str], settings: Settings, with_gates: bool) -> None:
        self._each = each
        self._settings = settings
        self._releases = {release: self._answer(release, {}) for release in releases}
        self._gates: dict[str, dict[str, list[str]]] = {}
        for release in releases if with_gates else ():
            self._gates[release] = dict(self._turned(release))

    @property
    def accepted(self) -> bool:
        return all(answer.accepted for answer in self._releases.values())

    def _answer(self, release: str, gates: Mapping[str, bool]) -> Answer:
        from podstrat.check.judge import Judge

        judge = Judge(self._settings._replace(version=release, gates=tuple(gates.items())))
        outcome = judge.ask(self._each.object, selection.choose(self._each.object, frozenset(), ()))
        if outcome is None:
            raise AssertionError("an object that is sent gets an answer")
        return _answered(outcome)

    def _turned(self, release: str) -> Iterator[tuple[str, list[str]]]:
        """The gates that make a difference, and which."""
        from strategy import gates

        usual = self._releases[release]
        for gate, stage in sorted(gates.known(release).items()):
            if gate not in gates.PODS or stage.locked:
                continue
            setting = _with_its_own(gate, not stage.default, release)
            if setting is None:
                continue
            answer = self._answer(release, setting)
            if answer != usual:
                name = ",".join(f"{each}={'true' if value else 'false'}" for each, value in setting.items())
                yield name, _differences(usual, answer)

    def lines(self) -> Iterator[str]:
        yield self._each.title
        for release, answer in self._releases.items():
            yield f"  {release}  {'accepted' if answer.accepted else 'refused'}"
            yield from (f"        {text}" for text in _told(answer))
        for release, turned in self._gates.items():
            if turned:
                yield f"  gates that change the answer of {release}:"
            for setting, differences in turned.items():
                yield f"    {setting}"
                yield from (f"        {text}" for text in differences)

    def as_dict(self) -> dict[str, Any]:
        return {
            "file": self._each.document.name,
            "kind": self._each.object.said("kind"),
            "name": self._each.object.name,
            "releases": {
                release: {
                    "accepted": answer.accepted,
                    "errors": list(answer.errors),
                    "warnings": list(answer.warnings),
                    "dropped": list(answer.dropped),
                    "gates": self._gates.get(release, {}),
                }
                for release, answer in self._releases.items()
            },
        }


def _with_its_own(gate: str, value: bool, release: str) -> dict[str, bool] | None:
    """A gate turned over, with the gates that go with it: those that it needs, or those that need it. None if none will do."""
    from strategy import gates

    version = gates.parse_version(release)
    needs = gates.requires(version)
    on = gates.enabled(version)
    setting = {gate: value}
    again = True
    while again:
        again = False
        for each, required in needs.items():
            for need in required:
                if setting.get(each, each in on) and not setting.get(need, need in on):
                    # Off, what needs it goes off too; on, what it needs goes on.
                    setting[need if value else each] = value
                    again = True
    try:
        gates.enabled(version, setting)
    except gates.GateError:
        return None
    return setting


def _answered(outcome: Outcome) -> Answer:
    errors = tuple(map(str, outcome.errors))
    if outcome.refusal is not None and not errors:
        errors = (outcome.refusal.message,)
    changes = outcome.changes if outcome.pod is not None else ()
    dropped = tuple(str(change) for change in changes if change.kind in ("dropped", "unknown"))
    return Answer(outcome.ok, errors, outcome.warnings, dropped, outcome.pod if outcome.ok else None)


def _told(answer: Answer) -> Iterator[str]:
    for error in answer.errors:
        yield f"error: {_line(error)}"
    yield from answer.dropped
    for warning in answer.warnings:
        yield f"warning: {warning}"


def _differences(usual: Answer, answer: Answer) -> list[str]:
    """What another setting changes."""
    found = []
    if usual.accepted != answer.accepted:
        found.append("accepted" if answer.accepted else "refused")
    found += [f"error: {_line(text)}" for text in answer.errors if text not in usual.errors]
    found += [f"no more: {_line(text)}" for text in usual.errors if text not in answer.errors]
    found += [text for text in answer.dropped if text not in usual.dropped]
    found += [f"keeps {text.split()[1]}" for text in usual.dropped if text not in answer.dropped]
    found += [f"warning: {text}" for text in answer.warnings if text not in usual.warnings]
    found += [f"no warning: {text}" for text in usual.warnings if text not in answer.warnings]
    if not found:
        from podstrat.check import places, updating

        changed = [places.text(place) for place in updating.changed(usual.stored, answer.stored, ())]
        found.append(f"stored otherwise: {', '.join(changed)}")
    return found


def _line(text: str) -> str:
    return text.partition("\n")[0]
