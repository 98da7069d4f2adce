"""Pods of a workload: whether admission plugins would take them.

The API server takes a workload whatever its pods are, and only warns about Pod Security; its controller then fails to create
them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from podstrat.check import places, plugin_findings
from podstrat.records import NamedTuple
from podstrat.strategy import kinds

if TYPE_CHECKING:
    from collections.abc import Iterator

    from podstrat.check.manifest import Object
    from podstrat.check.places import Place
    from podstrat.check.selection import Choice
    from podstrat.strategy.admission.report import Located
    from podstrat.strategy.engine import Engine


class Pods(NamedTuple):
    """What becomes of the pods that an object's templates describe."""

    refused: tuple[Located, ...] = ()
    """What plugins refuse them for, at the places of the template."""
    unknown: tuple[str, ...] = ()


NONE = Pods()


def of(value: Any, each: Object, choice: Choice, engine: Engine) -> Pods:
    """The pods of an object that has been accepted."""
    refused: list[Located] = []
    unknown: list[str] = []
    namespace = value["metadata"].get("namespace") or "default"
    for place in _templates(each, choice):
        if places.found(place, value) != place:
            continue
        outcome = engine.create(_pod(places.at(place, value), each.name, namespace))
        report = outcome.admission
        if report is None:
            continue
        unknown += map(str, report.hints)
        if report.refused_by and outcome.refusal is not None:
            for part in plugin_findings.refusal(report, outcome.refusal.message):
                refused.append(part._replace(places=tuple((*place, *below) for below in part.places)))
    return Pods(tuple(refused), tuple(dict.fromkeys(unknown)))


def _templates(each: Object, choice: Choice) -> Iterator[Place]:
    yield from choice.templates
    kind = kinds.BY_NAME.get((each.said("apiVersion"), each.said("kind")))
    if kind is not None and kind.template:
        yield tuple(kind.template.split("."))


def _pod(template: Any, name: str, namespace: str) -> dict[str, Any]:
    metadata = template.get("metadata") if isinstance(template.get("metadata"), dict) else {}
    parts = {key: metadata[key] for key in ("labels", "annotations") if key in metadata}
    identity = {"generateName": f"{name}-", "namespace": namespace}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {**parts, **identity}, "spec": template.get("spec")}
