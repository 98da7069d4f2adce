"""Compare how releases and feature gates treat a manifest.

Each release is asked with its own gates; then, in each release, every gate is turned over, and those that change the answer are
listed with what they change. --pod-security and --namespaces compare Pod Security levels and the namespaces of a cluster instead,
by the last release.
"""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING, Any

from podstrat import exits, printable
from podstrat.check import command, options, selection
from podstrat.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from podstrat.check.evaluate import Settings
    from podstrat.check.inputs import Opened
    from podstrat.strategy.outcome import Outcome


def arguments(parser: argparse.ArgumentParser) -> None:
    options.inputs(parser)
    rules = parser.add_argument_group("releases")
    rules.add_argument("--releases", metavar="X.Y,...", help=f"default: {','.join(options.RELEASES)}")
    rules.add_argument("--no-gates", action="store_true", help="compare releases only, each with its default gates")
    columns = parser.add_argument_group("columns")
    columns.add_argument(
        "--pod-security", metavar="LEVEL[:VERSION],...", help="compare Pod Security levels, such as baseline,restricted:v1.30"
    )
    columns.add_argument(
        "--namespaces", metavar="PATTERN,...", help="compare namespaces of --world or --context; '*' for all of them"
    )
    options.world(columns)
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
    from podstrat import goyaml
    from podstrat.check import inputs

    if args.feature_gates:
        raise exits.BadArguments("matrix varies the gates itself; for one setting use podstrat check --feature-gates")
    options.configured(args)
    args.feature_gates = None
    releases = parse_releases(args.releases)
    if args.pod_security or args.namespaces:
        return _by_column(args, releases[-1])
    settings = options.settings(args)
    command.prepare(sys.stdout)
    matrices = []
    try:
        for each in inputs.objects(options.input_arguments(args)):
            choice = selection.choose(each.object, frozenset(), ())
            if choice.kind and not choice.complaints:
                matrices.append(Matrix(each, releases, settings, not args.no_gates))
    except goyaml.YamlError as error:
        print(f"podstrat: {error}", file=sys.stderr)
        return exits.INVALID
    if not matrices:
        raise exits.BadArguments("nothing to compare: no object of a kind that is checked")
    if args.output == "json":
        print(printable.dumps({"objects": [matrix.as_dict() for matrix in matrices]}, indent=2))
    else:
        print("\n\n".join("\n".join(map(printable.plain, matrix.lines())) for matrix in matrices))
    return exits.OK if all(matrix.accepted for matrix in matrices) else exits.INVALID


def _by_column(args: argparse.Namespace, release: str) -> int:
    from podstrat import goyaml
    from podstrat.check import columns

    if args.pod_security and args.namespaces:
        raise exits.BadArguments("--pod-security and --namespaces cannot be combined")
    if args.namespaces and not (args.world or args.context or args.admission):
        raise exits.BadArguments("--namespaces needs --world or --context")
    command.prepare(sys.stdout)
    try:
        return columns.run(args, release)
    except goyaml.YamlError as error:
        print(f"podstrat: {error}", file=sys.stderr)
        return exits.INVALID


def parse_releases(flag: str | None) -> list[str]:
    from podstrat.strategy.gates import history

    try:
        parsed = [history.parse_version(text) for text in (flag.split(",") if flag else options.RELEASES)]
    except history.GateError as error:
        raise exits.BadArguments(str(error)) from None
    return [f"{major}.{minor}" for major, minor in parsed]


class Matrix:
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
        from podstrat.check.evaluate import Evaluator

        evaluator = Evaluator(self._settings._replace(version=release, gates=tuple(gates.items())))
        outcome = evaluator.ask(self._each.object, selection.choose(self._each.object, frozenset(), ()))
        if outcome is None:
            raise AssertionError("an object that is sent gets an answer")
        return _answered(outcome)

    def _turned(self, release: str) -> Iterator[tuple[str, list[str]]]:
        """The gates that make a difference, and which."""
        from podstrat.strategy.gates import history

        usual = self._releases[release]
        for gate, stage in sorted(history.known(release).items()):
            if stage.locked or gate in history.WHOLE_STAGES:
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
    from podstrat.strategy.gates import history

    version = history.parse_version(release)
    needs = history.requires(version)
    on = history.enabled(version)
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
        history.enabled(version, setting)
    except history.GateError:
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
    lines = []
    if usual.accepted != answer.accepted:
        lines.append("accepted" if answer.accepted else "refused")
    lines += [f"error: {_line(text)}" for text in answer.errors if text not in usual.errors]
    lines += [f"no more: {_line(text)}" for text in usual.errors if text not in answer.errors]
    lines += [text for text in answer.dropped if text not in usual.dropped]
    lines += [f"keeps {text.split()[1]}" for text in usual.dropped if text not in answer.dropped]
    lines += [f"warning: {text}" for text in answer.warnings if text not in usual.warnings]
    lines += [f"no warning: {text}" for text in usual.warnings if text not in answer.warnings]
    if not lines:
        from podstrat.check import places, updates

        changed = [places.text(place) for place in updates.changed(usual.stored, answer.stored, ())]
        lines.append(f"stored otherwise: {', '.join(changed)}")
    return lines


def _line(text: str) -> str:
    return text.partition("\n")[0]
