"""The last-applied-configuration annotation: ``kubectl apply --server-side`` takes over from it and keeps it up to date."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from podstrat.strategy.context import Pod
from podstrat.strategy.formats import go
from podstrat.strategy.patch import compare, fieldset, typed

if TYPE_CHECKING:
    from podstrat.strategy.patch.fieldset import Tree
    from podstrat.strategy.patch.managed import ManagedKind

ANNOTATION = "kubectl.kubernetes.io/last-applied-configuration"
KUBECTL = "kubectl"
ANNOTATIONS_LIMIT = 256 * 1024  # upstream: TotalAnnotationSizeLimitB


def owned(live: Pod, what: ManagedKind) -> Tree | None:
    """The fields that the annotation names and that are still as it says: about them kubectl has no conflicts. None without one.

    Upstream: lastAppliedManager.allowedConflictsFromLastApplied
    """
    text, node = _annotation(live), what.node
    if not text:
        return None
    try:
        applied = json.loads(text)
        if not isinstance(applied, dict) or (applied.get("apiVersion"), applied.get("kind")) != (what.api_version, what.kind):
            return None
        if any(typed.faults(applied, node)) or any(typed.faults(live, node)):
            return None
    except (ValueError, RecursionError):
        return None
    fields = typed.named(applied, node)
    for changed in compare.between(applied, live, node):
        fields = fieldset.difference(fields, changed)
    return fields


def sync(pod: Pod, applied: dict[str, Any]) -> None:
    """Writes what was applied into the annotation, where there is one; what is too long takes it away.

    Upstream: lastAppliedUpdater.Apply, buildLastApplied, SetLastApplied
    """
    if not _annotation(pod):
        return
    annotations = pod["metadata"]["annotations"]
    annotations[ANNOTATION] = _text(applied)
    if sum(len(key.encode()) + len(value.encode()) for key, value in annotations.items()) > ANNOTATIONS_LIMIT:
        del annotations[ANNOTATION]


def _annotation(obj: Pod) -> str:
    text = ((obj.get("metadata") or {}).get("annotations") or {}).get(ANNOTATION)
    return text if isinstance(text, str) else ""


def _text(applied: dict[str, Any]) -> str:
    """The applied object without the annotation, with a line break at its end."""
    meta = dict(applied.get("metadata") or {})
    annotations = meta.pop("annotations", None)
    if isinstance(annotations, dict) and all(isinstance(value, str) for value in annotations.values()):
        meta["annotations"] = {key: value for key, value in annotations.items() if key != ANNOTATION}
    return go.to_json({**applied, "metadata": meta}, sort_keys=True) + "\n"
