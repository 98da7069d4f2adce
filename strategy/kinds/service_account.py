"""The strategy and the rules of ServiceAccounts."""

from __future__ import annotations

from collections.abc import Iterable

from podstrat.strategy.context import Context, Pod
from podstrat.strategy.decoding.codec import Seen
from podstrat.strategy.field import Errors
from podstrat.strategy.kinds import plain
from podstrat.strategy.kinds.kind import Create, Dropped, Strategy, Update
from podstrat.strategy.request import Request
from podstrat.strategy.rules import meta
from podstrat.strategy.verbs import deletion

MOUNTABLE = "kubernetes.io/enforce-mountable-secrets"
DEPRECATED = "deprecated in v1.32+; prefer separate namespaces to isolate access to mounted secrets"


def for_create(obj: Pod, request: Request, ctx: Context, seen: Seen) -> tuple[Dropped, list[str]]:
    _only_names(obj)
    return [], []


def for_update(obj: Pod, old: Pod, ctx: Context, seen: Seen) -> tuple[Pod, Dropped]:
    _only_names(obj)
    return plain.keep_metadata(obj, old, ctx, seen)


def _only_names(obj: Pod) -> None:
    """Secrets are referred to by name.

    Upstream: cleanSecretReferences
    """
    if obj.get("secrets"):
        obj["secrets"] = [{"name": each["name"]} if each.get("name") else {} for each in obj["secrets"]]


def create_rules(obj: Pod, ctx: Context) -> Errors:
    """Upstream: ValidateServiceAccount"""
    yield from meta.on_create(obj["metadata"], ctx)


def update_rules(obj: Pod, old: Pod, ctx: Context) -> Errors:
    """Upstream: ValidateServiceAccountUpdate"""
    yield from plain.updating(obj, old, ctx)
    yield from meta.on_create(obj["metadata"], ctx, label_errors=list(meta.labels_and_owners(obj["metadata"], ctx)))


def create_warnings(obj: Pod, ctx: Context) -> Iterable[str]:
    if MOUNTABLE in (obj["metadata"].get("annotations") or ()):
        yield f"metadata.annotations[{MOUNTABLE}]: {DEPRECATED}"


def update_warnings(obj: Pod, old: Pod, ctx: Context) -> Iterable[str]:
    if MOUNTABLE not in (old["metadata"].get("annotations") or ()):
        yield from create_warnings(obj, ctx)


STRATEGY = Strategy(
    default=plain.no_default,
    create=Create(for_create, create_rules, create_warnings),
    updates={"": Update(for_update, update_rules, update_warnings)},
    delete=deletion.background,
    returns_deleted=True,
)
