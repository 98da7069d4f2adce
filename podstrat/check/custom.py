"""Custom resources that have pod templates: the rules for templates hold, under the resource's own name."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from podstrat.check import places
from podstrat.check.refusals import STRICT
from strategy import answers, errors, status, warn
from strategy.field import FieldError
from strategy.outcome import Outcome
from strategy.request import Answer

if TYPE_CHECKING:
    from podstrat.check.objects import Object
    from podstrat.check.places import Place
    from strategy.engine import Engine


def templates(value: Any, each: Object, at: tuple[Place, ...], engine: Engine, validation: str) -> Outcome:
    """What the server would say to the templates at these places, were they those of a workload; all in one answer."""
    kind, api_version = each.said("kind"), each.said("apiVersion")
    group, _, version = api_version.rpartition("/")
    found: list[FieldError] = []
    warnings: list[str] = []
    unknown: list[str] = []
    for place in at:
        there = places.found(place, value)
        if there != place:
            continue
        # With its group the kind is none of the workloads that have rules of their own.
        outcome = engine.template(places.at(place, value), places.text(place), f"{kind}.{group}")
        if outcome.refusal and not outcome.errors:
            text = f'{kind} in version "{version}" cannot be handled as a {kind}: {outcome.refusal.message}'
            return answers.refused(errors.BadRequest(text))
        found += outcome.errors
        for warning in outcome.warnings:
            (unknown if warning.startswith(("unknown field ", "duplicate field ")) else warnings).append(warning)
    if unknown and validation == "Strict":
        text = f'{kind} in version "{version}" cannot be handled as a {kind}: {STRICT}{", ".join(unknown)}'
        return answers.refused(errors.BadRequest(text))
    told = warn.headers([*(() if validation == "Ignore" else unknown), *warnings])
    if not found:
        return Outcome(Answer(201, value, told))
    error = errors.Invalid(kind, each.name, found, group)
    return Outcome(Answer(error.code, status.failure(error), told), None, tuple(found), error)
