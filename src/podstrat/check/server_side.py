"""Server-side apply of a manifest to nothing, as `kubectl apply --server-side` asks for it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from podstrat.check import kubectl, selection
from podstrat.strategy import errors, kinds, pipeline
from podstrat.strategy.patch import serverside

if TYPE_CHECKING:
    from podstrat.check.evaluate import Evaluator
    from podstrat.check.manifest import Object
    from podstrat.check.selection import Choice
    from podstrat.strategy.outcome import Outcome


def apply(value: Any, each: Object, choice: Choice, evaluator: Evaluator) -> Outcome | None:
    """The answer; None where nothing sets it apart from that to a POST."""
    row = None if choice.templates else kinds.BY_NAME.get((selection.KINDS.get(choice.kind, ""), each.said("kind")))
    if row is not None:
        return evaluator.engine.apply(value, manager=kubectl.MANAGER, options=evaluator.options, resource=row.resource)
    return _without_rules(value, each, choice, evaluator)


def _without_rules(value: Any, each: Object, choice: Choice, evaluator: Evaluator) -> Outcome | None:
    """A kind that the engine cannot apply: the checks that all kinds share, then those of a POST."""
    metadata = value.get("metadata") if isinstance(value, dict) else None
    if not isinstance(metadata, dict):
        return None
    entries = metadata.get("managedFields")
    if isinstance(entries, list) and all(isinstance(entry, dict) for entry in entries):
        return pipeline.refused(errors.BadRequest(serverside.MANAGED))
    bare = {key: field for key, field in metadata.items() if key != "resourceVersion"}
    outcome = evaluator.create({**value, "metadata": bare}, each, choice)
    uid = metadata.get("uid")
    if not uid or not isinstance(uid, str) or (outcome.refusal and outcome.code == 400):
        return outcome
    cause = f"uid mismatch: the provided object specified uid {uid}, and no existing object was found"
    return pipeline.refused(errors.Conflict(_resource(each), each.name, cause))


def _resource(each: Object) -> str:
    """``deployments.apps``, by the regular plural."""
    group, kind = each.said("apiVersion").rpartition("/")[0], each.said("kind").lower()
    return f"{kind}s.{group}" if group else f"{kind}s"
