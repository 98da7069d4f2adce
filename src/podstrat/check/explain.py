"""Show the object that the server would store, as YAML with a comment wherever it differs from the manifest.

Defaults, fields that are dropped and by which gate, resets, warnings, and errors if there are any; with a world, also what each
admission plugin sets.
"""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING, Any

from podstrat import exits, printable
from podstrat.check import command, options, places, selection, yaml_writer
from podstrat.printable import plain

if TYPE_CHECKING:
    from collections.abc import Iterator

    from podstrat.check.inputs import Opened
    from podstrat.check.places import Place
    from podstrat.strategy.changes import Change
    from podstrat.strategy.outcome import Outcome

AT_STORING = "creationTimestamp, uid and resourceVersion come when it is stored"


def arguments(parser: argparse.ArgumentParser) -> None:
    options.inputs(parser)
    options.server(parser)
    options.admission(parser)
    parser.add_argument("-o", "--output", choices=("yaml", "json"), default="yaml", help="default: yaml, with comments")
    options.configuration(parser)


def run(args: argparse.Namespace) -> int:
    from podstrat import goyaml
    from podstrat.check import inputs
    from podstrat.check.evaluate import Evaluator

    options.configured(args)
    if args.field_validation is None:
        args.field_validation = "warn"  # unknown fields are part of what is explained
    settings, sources = options.admitted(args)
    evaluator = Evaluator(settings)
    command.prepare(sys.stdout)
    count = refused = 0
    try:
        for each in inputs.objects_of(sources):
            choice = selection.choose(each.object, frozenset(), ())
            outcome = None if choice.skip else evaluator.ask(each.object, choice)
            if outcome is None:
                print(f"podstrat: {plain(each.title)}: {choice.skip or '; '.join(choice.complaints)}", file=sys.stderr)
                continue
            if args.output == "yaml" and count:
                print("---")
            print("\n".join(_json(each, outcome) if args.output == "json" else _yaml(each, outcome, evaluator.settings.version)))
            count += 1
            refused += not outcome.ok
    except goyaml.YamlError as error:
        print(f"podstrat: {error}", file=sys.stderr)
        return exits.INVALID
    if not count:
        raise exits.BadArguments("nothing to explain: no object of a kind that is checked")
    return exits.INVALID if refused else exits.OK


def _yaml(each: Opened, outcome: Outcome, version: str) -> Iterator[str]:
    verdict = "accepted" if outcome.ok else f"refused ({outcome.code})"
    yield f"# {plain(each.title)}: {verdict} by Kubernetes {version}"
    for warning in outcome.warnings:
        yield f"# warning: {plain(warning)}"
    if outcome.admission is not None:
        yield from (f"# hint: {plain(str(hint))}" for hint in outcome.admission.hints)
    if outcome.pod is None:
        if outcome.refusal is not None:
            by = outcome.admission.refused_by if outcome.admission is not None else ""
            text = f"{outcome.refusal.message} [{by}]" if by else outcome.refusal.message
            yield from (f"# {plain(line)}" for line in text.split("\n"))
        return
    manifest = each.object.value
    notes, missing = remarks(manifest, outcome)
    gone: dict[Place, list[str]] = {("metadata",): [AT_STORING]}
    for place, words in missing.items():
        holder = places.found(place[:-1], outcome.pod)
        there = places.found(place, manifest)
        value = f": {yaml_writer.scalar(places.at(there, manifest))}" if there == place else ""
        gone.setdefault(holder, []).append(plain(f"{places.text(place[len(holder) :])}{value}  ({words})"))
    yield from yaml_writer.lines(shown(outcome.pod, manifest), notes, gone)


def shown(obj: dict[str, Any], manifest: Any) -> dict[str, Any]:
    """The object without what only storing it tells."""
    there = manifest.get("metadata") if isinstance(manifest.get("metadata"), dict) else {}
    hidden = {"creationTimestamp", "uid"} - set(there)
    metadata = {key: value for key, value in obj["metadata"].items() if key not in hidden and value is not None}
    ordered: dict[str, Any] = _ordered({**obj, "metadata": metadata}, {"apiVersion": "", "kind": "", **manifest})
    return ordered


def _ordered(obj: Any, manifest: Any) -> Any:
    """A value with its keys in the order in which they were sent, and what has been added behind them by name."""
    if isinstance(obj, dict):
        before = manifest if isinstance(manifest, dict) else {}
        keys = [*(key for key in before if key in obj), *sorted(key for key in obj if key not in before)]
        return {key: _ordered(obj[key], before.get(key)) for key in keys}
    if isinstance(obj, list):
        items = manifest if isinstance(manifest, list) and len(manifest) == len(obj) else [None] * len(obj)
        return [_ordered(*pair) for pair in zip(obj, items, strict=True)]
    return obj


def remarks(manifest: Any, outcome: Outcome) -> tuple[dict[Place, str], dict[Place, str]]:
    """What there is to say about fields of the object, and about those of the manifest that it has not any more."""
    notes: dict[Place, str] = {}
    missing: dict[Place, str] = {}
    for error in outcome.errors:
        place = places.found(error.where, outcome.pod)
        text = plain(f"ERROR: {error}".partition("\n")[0])
        notes[place] = f"{notes[place]}; {text}" if place in notes else text
    by_plugin = _by_plugin(outcome)
    for place, plugin in by_plugin.items():
        notes.setdefault(place, f"{'set' if places.found(place, manifest) == place else 'added'} by {plugin}")
    for change in outcome.changes:
        place = _place(change, manifest, outcome.pod)
        if any(place[: len(each)] == each or each[: len(place)] == place for each in by_plugin):
            continue
        if places.found(place, outcome.pod) == place:
            notes.setdefault(place, plain(_words(change)))
        else:
            missing.setdefault(place, _words(change))
    return notes, missing


def _by_plugin(outcome: Outcome) -> dict[Place, str]:
    """The fields that admission plugins have set, and the last one that did."""
    if outcome.admission is None:
        return {}
    return {places.parse(path, outcome.pod): step.plugin for step in outcome.admission.steps for path in step.changes}


def _place(change: Change, manifest: Any, obj: Any) -> Place:
    path = change.path
    if change.kind == "unknown":  # unknown field "spec.x"
        path = path.partition('"')[2].removesuffix('"')
    place = places.parse(path, obj)
    return place if places.found(place, obj) == place else places.parse(path, manifest)


def _words(change: Change) -> str:
    if change.kind == "generation":
        return f"generation {change.before} -> {change.after}: {change.reason}"
    if change.kind == "unknown":
        return "dropped: unknown field"
    if change.kind == "dropped":
        return f"dropped: {change.reason}"
    if change.kind == "reset":
        return f"was {yaml_writer.scalar(change.before)}: {change.reason}"
    return change.kind


def _json(each: Opened, outcome: Outcome) -> Iterator[str]:
    obj = None if outcome.pod is None else shown(outcome.pod, each.object.value)
    yield printable.dumps(
        {
            "file": each.document.name,
            "line": each.document.line,
            "accepted": outcome.ok,
            "status": outcome.status(),
            "warnings": list(outcome.warnings),
            "changes": [change._asdict() for change in outcome.changes] if outcome.pod else [],
            "object": obj,
        }
        | _admission(outcome)
    )


def _admission(outcome: Outcome) -> dict[str, Any]:
    """What the plugins did, of an outcome with admission."""
    if outcome.admission is None:
        return {}
    steps = [{"plugin": step.plugin, "set": list(step.changes)} for step in outcome.admission.steps if step.changes]
    return {
        "admission": {
            "steps": steps,
            "refusedBy": outcome.admission.refused_by,
            "unknown": list(map(str, outcome.admission.hints)),
        }
    }
