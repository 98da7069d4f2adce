"""The strategy of pods."""

from __future__ import annotations

from podstrat.strategy import defaults, warn
from podstrat.strategy.context import Context, Pod
from podstrat.strategy.kinds.kind import Create, Strategy, Update
from podstrat.strategy.rules import pod as rules
from podstrat.strategy.verbs import deletion, prepare


def _no_warnings(pod: Pod, old: Pod, ctx: Context) -> tuple[str, ...]:
    return ()


def _status_warnings(pod: Pod, old: Pod, ctx: Context) -> warn.Warnings:
    return warn.on_status_update(pod, ctx)


STRATEGY = Strategy(
    default=defaults.pod,
    create=Create(prepare.for_create, rules.create, warn.on_create),
    updates={
        "": Update(prepare.for_update, rules.update, _no_warnings, shares=True),
        "status": Update(prepare.for_status_update, rules.update_status, _status_warnings, shares=True),
        "resize": Update(prepare.for_resize, rules.resized, _no_warnings),
        "ephemeralcontainers": Update(prepare.for_ephemeral_containers, rules.ephemeral_containers, _no_warnings),
    },
    delete=deletion.pod,
    posts=frozenset(("binding", "eviction")),
    reset={"": (("status",),), "status": (("spec",), ("metadata", "deletionTimestamp"), ("metadata", "ownerReferences"))},
    returns_deleted=True,
)
