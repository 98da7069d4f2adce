"""Updates of ephemeral containers: they may be added, nothing else."""

from __future__ import annotations

from podstrat.strategy import field, semantic
from podstrat.strategy.api import internal
from podstrat.strategy.context import Context, Pod
from podstrat.strategy.field import Errors
from podstrat.strategy.rules.pod_annotations import MIRROR

AT = "spec.ephemeralContainers"


def replacing(old: Pod) -> Errors:
    """A static pod has none, whatever else is wrong.

    Upstream: the head of ValidatePodEphemeralContainersUpdate
    """
    if MIRROR in (old["metadata"].get("annotations") or {}):
        text = "static pods do not support ephemeral containers"
        yield field.forbidden("[]", text, ("metadata", "annotations", MIRROR))


def only_added(new: Pod, old: Pod, ctx: Context) -> Errors:
    """Those that exist stay, as they are. Their order is free.

    Upstream: ValidatePodEphemeralContainersUpdate
    """
    sent = {each["name"]: each for each in new["spec"].get("ephemeralContainers") or ()}
    for container in old["spec"].get("ephemeralContainers") or ():
        name = container["name"]
        if name not in sent:
            yield field.forbidden(AT, f'existing ephemeral containers "{name}" may not be removed\n')
        elif not semantic.equal(sent[name], container, "EphemeralContainer", ctx.types):
            diff = internal.container_diff(container, sent[name], ctx.version)
            yield field.forbidden(AT, f'existing ephemeral containers "{name}" may not be changed\n{diff}')
