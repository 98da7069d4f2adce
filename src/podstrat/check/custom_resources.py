"""Pod templates inside custom resources, checked by the rules for workload templates."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from podstrat.check import places
from podstrat.check.bad_request import STRICT
from podstrat.strategy import errors, pipeline, status, warn
from podstrat.strategy.field import FieldError
from podstrat.strategy.outcome import Outcome
from podstrat.strategy.request import Answer

if TYPE_CHECKING:
    from podstrat.check.carriers import Carrier
    from podstrat.check.manifest import Object
    from podstrat.check.places import Place
    from podstrat.check.selection import Choice
    from podstrat.strategy.engine import Engine


def templates(value: Any, each: Object, choice: Choice, engine: Engine, validation: str) -> Outcome:
    """What the server would say to the templates at these places, were they those of a workload; all in one answer."""
    kind, api_version = each.said("kind"), each.said("apiVersion")
    group, _, version = api_version.rpartition("/")
    field_errors: list[FieldError] = []
    warnings: list[str] = []
    unknown: list[str] = []
    for place in choice.templates:
        there = places.found(place, value)
        if there != place:
            continue
        # With its group the kind is none of the workloads that have rules of their own.
        outcome = engine.template(places.at(place, value), places.text(place), f"{kind}.{group}")
        if outcome.refusal and not outcome.errors:
            text = f'{kind} in version "{version}" cannot be handled as a {kind}: {outcome.refusal.message}'
            return pipeline.refused(errors.BadRequest(text))
        field_errors += (error for error in outcome.errors if not _left_out(error, place, choice.carrier))
        for warning in outcome.warnings:
            if _of_its_own(warning, place, choice.carrier):
                continue
            (unknown if warning.startswith(("unknown field ", "duplicate field ")) else warnings).append(warning)
    if unknown and validation == "Strict":
        text = f'{kind} in version "{version}" cannot be handled as a {kind}: {STRICT}{", ".join(unknown)}'
        return pipeline.refused(errors.BadRequest(text))
    headers = warn.headers([*(() if validation == "Ignore" else unknown), *warnings])
    if not field_errors:
        return Outcome(Answer(201, value, headers))
    error = errors.Invalid(kind, each.name, field_errors, group)
    return Outcome(Answer(error.code, status.failure(error), headers), None, tuple(field_errors), error)


def _left_out(error: FieldError, place: Place, carrier: Carrier | None) -> bool:
    """Whether an error is about a field that the controller of the resource fills in."""
    if carrier is None or error.type != "FieldValueRequired":
        return False
    return re.sub(r"\d+", "", error.field.removeprefix(f"{places.text(place)}.spec.")) in carrier.optional


def _of_its_own(warning: str, place: Place, carrier: Carrier | None) -> bool:
    """Whether a field is unknown to pods, and known to the resource."""
    start = f'unknown field "{places.text(place)}.spec.'
    return carrier is not None and warning.startswith(start) and warning.removeprefix(start).removesuffix('"') in carrier.extra
