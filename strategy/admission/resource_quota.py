"""ResourceQuota: what is created or grows fits into the quotas of its namespace, and is charged to them.

Upstream: the admission plugin ResourceQuota
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from podstrat.strategy import errors, resources
from podstrat.strategy.admission.attributes import Attributes
from podstrat.strategy.admission.plugins import Write
from podstrat.strategy.admission.pod_totals import parsed
from podstrat.strategy.admission.prepared import Prepared
from podstrat.strategy.admission.quota import scopes, usage
from podstrat.strategy.admission.settings import Settings
from podstrat.strategy.admission.world import RESOURCE_QUOTA
from podstrat.strategy.context import Context
from podstrat.strategy.formats.quantity import ZERO
from podstrat.strategy.request import StoreOther

Object = dict[str, Any]
Totals = usage.Totals

RESOURCE = "resourcequotas"
REQUIRED = {
    "cpu": ("requests", "cpu"),
    "memory": ("requests", "memory"),
    "requests.cpu": ("requests", "cpu"),
    "requests.memory": ("requests", "memory"),
    "limits.cpu": ("limits", "cpu"),
    "limits.memory": ("limits", "memory"),
}
"""What every container must speak of where a quota limits it, and where it does."""


class Limited(NamedTuple):
    """What may be used only where a quota covers it."""

    resource: str
    contains: tuple[str, ...]
    scopes: tuple[scopes.Selector, ...]


def configure(settings: Settings, configuration: Any, ctx: Context) -> tuple[Limited, ...]:
    """Reads a ResourceQuotaConfiguration."""
    if configuration is None:
        return ()
    entries = configuration.get("limitedResources") or () if isinstance(configuration, Mapping) else None
    if not isinstance(entries, Sequence) or not all(isinstance(each, Mapping) for each in entries):
        raise ValueError("ResourceQuota: limitedResources is not a list of objects")
    return tuple(
        Limited(
            f"{each.get('resource', '')}.{each['apiGroup']}" if each.get("apiGroup") else str(each.get("resource", "")),
            tuple(each.get("matchContains") or ()),
            tuple(scopes.parsed(each.get("matchScopes"))),
        )
        for each in entries
    )


def is_idle(write: Write, world: Prepared, config: tuple[Limited, ...]) -> bool:
    return not config and world.has_none(RESOURCE_QUOTA, write.namespace)


def validate(request: Attributes, config: tuple[Limited, ...]) -> Iterator[str]:
    """Upstream: QuotaAdmission.Validate, CheckRequest"""
    if not request.namespace or not _concerns(request):
        return
    limited = [each for each in config if each.resource == request.resource]
    quotas = request.every(RESOURCE_QUOTA, request.namespace)
    if quotas or limited:
        for quota in _charged(request, quotas, limited):
            request.effects.append(StoreOther(RESOURCE, quota))
    yield from ()


def _concerns(request: Attributes) -> bool:
    """Creates; resizes; updates by which a pod begins or ceases to have a deadline; updates of claims and services.

    Upstream: Evaluator.Handles
    """
    if request.operation == "DELETE":
        return False
    if request.resource == usage.PODS and request.operation == "UPDATE":
        if request.subresource == "resize":
            return True
        changed = scopes.is_terminating(request.old or {}) != scopes.is_terminating(request.object)
        return not request.subresource and changed
    if request.subresource:
        return False
    return request.operation == "CREATE" or request.resource in (usage.CLAIMS, usage.SERVICES)


class Quota:
    """A ResourceQuota as it is charged."""

    __slots__ = ("_names", "hard", "name", "obj", "selectors", "used")

    def __init__(self, obj: Object) -> None:
        status = obj.get("status") or {}
        self.obj = obj
        self.name = str(obj["metadata"]["name"])
        self.selectors = scopes.of_quota(obj)
        self.hard, self.used = parsed(status.get("hard")), parsed(status.get("used"))
        self._names: dict[str, frozenset[str]] = {}

    def names(self, resource: str, ctx: Context) -> frozenset[str]:
        """What it limits of the objects of a resource."""
        names = self._names.get(resource)
        if names is None:
            names = self._names[resource] = frozenset(usage.matching(self.hard, resource, ctx))
        return names


def _charged(request: Attributes, quotas: Iterable[Object], limited: Sequence[Limited]) -> list[Object]:
    """The quotas that the object counts against, with its usage added."""
    matching: list[Quota] = []
    restricted: frozenset[str] = frozenset()
    covered: list[scopes.Selector] = []
    for obj in quotas:
        quota = request.derived(obj, Quota)
        matched = [each for each in quota.selectors if _is_in(request, each)]
        covered += matched
        names = quota.names(request.resource, request.ctx)
        if not names or len(matched) < len(quota.selectors):
            continue
        _check_constraints(request, quota, names)
        if unknown := sorted(names - quota.used.keys()):
            raise request.forbidden(f"status unknown for quota: {quota.name}, resources: {','.join(unknown)}")
        matching.append(quota)
        restricted |= names
    # What may be limited by default is not known by name.
    delta = _delta(request, None if limited else restricted)
    if not delta:
        return []
    _check_covered(request, limited, restricted, covered)
    return [_with_usage(request, quota, delta) for quota in matching]


def _is_in(request: Attributes, selector: scopes.Selector) -> bool:
    """Only pods have scopes."""
    return request.resource == usage.PODS and scopes.match(request.object, selector, request.ctx)


def _check_constraints(request: Attributes, quota: Quota, names: frozenset[str]) -> None:
    """Every container says what it needs of what is limited, unless the pod does.

    Upstream: podEvaluator.Constraints
    """
    required = REQUIRED.keys() & names
    if request.resource != usage.PODS or not required:
        return
    spec = request.object.get("spec") or {}
    if "PodLevelResources" in request.ctx.gates and resources.has_pod_level(spec):
        return
    missing: dict[str, set[str]] = {}
    containers = (*(spec.get("containers") or ()), *(spec.get("initContainers") or ()))
    for name in required:
        key, resource = REQUIRED[name]
        for container in containers:
            if resource not in ((container.get("resources") or {}).get(key) or ()):
                missing.setdefault(name, set()).add(container["name"])
    if missing:
        texts = [f"{name} for: {','.join(sorted(missing[name]))}" for name in sorted(missing)]
        raise request.forbidden(f"failed quota: {quota.name}: must specify {'; '.join(texts)}")


def _delta(request: Attributes, names: frozenset[str] | None) -> Totals:
    """What the request adds: on an update only the growth."""
    after = usage.of(request.object, request.resource, request.ctx, request.now, names)
    negative = sorted(name for name, amount in after.items() if amount.sign < 0)
    if negative:
        raise request.forbidden(f"quota usage is negative for resource(s): {','.join(negative)}")
    if request.old is not None:
        before = usage.of(request.old, request.resource, request.ctx, request.now, names)
        after = {name: amount - before[name] if name in before else amount for name, amount in after.items()}
    return {name: amount for name, amount in after.items() if amount.sign > 0}


def _check_covered(
    request: Attributes, limited: Sequence[Limited], restricted: frozenset[str], covered: Sequence[scopes.Selector]
) -> None:
    """What is limited by default needs a quota that covers it."""
    if not limited:
        return
    used = usage.of(request.object, request.resource, request.ctx, request.now)
    names = {name for name in used for each in limited if any(text in name for text in each.contains)}
    if uncovered := sorted(names - restricted):
        raise request.forbidden(f"insufficient quota to consume: {','.join(uncovered)}")
    wanted = [selector for each in limited for selector in each.scopes if _is_in(request, selector)]
    known = {each.scope for each in covered}
    if left := [selector for selector in wanted if selector.scope not in known]:
        # A plain error of the server, not a refusal.
        raise errors.ServerError(f"insufficient quota to match these scopes: [{' '.join(map(str, left))}]")


def _with_usage(request: Attributes, quota: Quota, delta: Totals) -> Object:
    hard, used = quota.hard, quota.used
    requested = {name: amount for name, amount in delta.items() if name in hard}
    total = {name: used.get(name, ZERO) + amount for name, amount in requested.items()}
    if exceeded := sorted(name for name in requested if total[name] > hard[name]):
        words = ", ".join(
            f"{what}: {','.join(f'{name}={amounts[name].text}' for name in exceeded if name in amounts)}"
            for what, amounts in (("requested", requested), ("used", used), ("limited", hard))
        )
        raise request.forbidden(f"exceeded quota: {quota.name}, {words}")
    texts = {name: amount.text for name, amount in {**used, **total}.items()}
    return {**quota.obj, "status": {**quota.obj["status"], "used": dict(sorted(texts.items()))}}
