"""The strategy and the rules of ResourceQuotas."""

from __future__ import annotations

from collections.abc import Iterable

from podstrat.strategy import field
from podstrat.strategy.api import internal
from podstrat.strategy.context import Context, Pod
from podstrat.strategy.decoding import codec
from podstrat.strategy.decoding.codec import Seen
from podstrat.strategy.field import Errors
from podstrat.strategy.formats import go, quantity, validation
from podstrat.strategy.kinds import plain, workload
from podstrat.strategy.kinds.kind import Create, Dropped, Strategy, Update
from podstrat.strategy.request import Request
from podstrat.strategy.rules import meta, resources, selectors
from podstrat.strategy.verbs import deletion

SCOPES = ("Terminating", "NotTerminating", "BestEffort", "NotBestEffort", "PriorityClass", "CrossNamespacePodAffinity")
VOLUME_CLASS = "VolumeAttributesClass"
CONFLICTS = (("BestEffort", "NotBestEffort"), ("Terminating", "NotTerminating"))
EXISTS_ONLY = ("BestEffort", "NotBestEffort", "Terminating", "NotTerminating", "CrossNamespacePodAffinity")
STANDARD = frozenset(resources.STANDARD_RESOURCES) - {"storage"}
COMPUTE = frozenset(("cpu", "memory", "limits.cpu", "limits.memory", "requests.cpu", "requests.memory"))
NOT_FOR_QUOTA = "must be a standard resource for quota"
MUST_EXIST = (
    "must be 'Exists' when scope is any of ResourceQuotaScopeTerminating, ResourceQuotaScopeNotTerminating, "
    "ResourceQuotaScopeBestEffort, ResourceQuotaScopeNotBestEffort or ResourceQuotaScopeCrossNamespacePodAffinity"
)
NEEDS_VALUE = "must be at least one value when `operator` is 'In' or 'NotIn' for scope selector"
NO_VALUE = "must be no value when `operator` is 'Exist' or 'DoesNotExist' for scope selector"


def for_create(obj: Pod, request: Request, ctx: Context, seen: Seen) -> tuple[Dropped, list[str]]:
    obj["status"] = codec.zero("ResourceQuotaStatus", ctx.types)
    return [], []


def for_update(obj: Pod, old: Pod, ctx: Context, seen: Seen) -> tuple[Pod, Dropped]:
    plain.keep(obj, old)
    return obj, []


def create_rules(obj: Pod, ctx: Context) -> Errors:
    """Upstream: ValidateResourceQuota"""
    yield from meta.on_create(obj["metadata"], ctx)
    yield from _spec(obj["spec"], ctx)


def update_rules(obj: Pod, old: Pod, ctx: Context) -> Errors:
    """Upstream: ValidateResourceQuotaUpdate"""
    yield from plain.updating(obj, old, ctx)
    yield from _spec(obj["spec"], ctx)
    scopes = obj["spec"].get("scopes")
    if set(scopes or ()) != set(old["spec"].get("scopes") or ()):
        yield field.invalid("spec.scopes", scopes, "field is immutable", show=go.to_json(scopes or []))


def status_rules(obj: Pod, old: Pod, ctx: Context) -> Errors:
    """Upstream: ValidateResourceQuotaStatusUpdate"""
    yield from plain.updating(obj, old, ctx)
    status = obj.get("status") or {}
    for key in ("hard", "used"):
        yield from _amounts(status.get(key) or {}, f"status.{key}", ctx)


def _amounts(amounts: dict[str, str], at: str, ctx: Context) -> Errors:
    """Upstream: ValidateResourceQuotaResourceName, ValidateResourceQuantityValue"""
    for name, text in amounts.items():
        path, place = f"{at}[{name}]", (*field.place_of(at), name)
        for error in resources.qualified_name(name, path, ctx):
            yield error._replace(place=place)
        if "/" not in name and not _is_standard(name):
            yield field.invalid(path, name, NOT_FOR_QUOTA, place)
        amount = quantity.parse(text)
        if amount.sign < 0:
            yield field.invalid(path, text, validation.NOT_NEGATIVE, place)
        if resources.traits(name).whole and not amount.is_whole:
            yield field.invalid(path, text, "must be an integer", place)


def _is_standard(name: str) -> bool:
    """Upstream: IsStandardQuotaResourceName"""
    return name in STANDARD or name.startswith((resources.HUGEPAGES, f"requests.{resources.HUGEPAGES}"))


def _spec(spec: Pod, ctx: Context) -> Errors:
    """Upstream: ValidateResourceQuotaSpec"""
    hard = spec.get("hard") or {}
    yield from _amounts(hard, "spec.hard", ctx)
    scopes = spec.get("scopes") or []
    text = go.to_json(scopes)
    for scope in scopes:
        if not _is_scope(scope, ctx):
            yield field.invalid("spec.scopes", scopes, "unsupported scope", show=text)
        for _ in _misfits(scope, hard):
            yield field.invalid("spec.scopes", scopes, "unsupported scope applied to resource", show=text)
    for pair in CONFLICTS:
        if set(pair) <= set(scopes):
            yield field.invalid("spec.scopes", scopes, "conflicting scopes", show=text)
    if spec.get("scopeSelector") is not None:
        yield from _selector(spec, hard, ctx)


def _is_scope(scope: str, ctx: Context) -> bool:
    return scope in SCOPES or (scope == VOLUME_CLASS and VOLUME_CLASS in ctx.gates)


def _misfits(scope: str, hard: Iterable[str]) -> Iterable[str]:
    """The resources that a scope does not apply to.

    Upstream: IsResourceQuotaScopeValidForResource
    """
    for name in sorted(hard):
        if not _is_standard(name):
            continue
        if scope == "BestEffort":
            fits = name == "pods"
        elif scope == VOLUME_CLASS:
            fits = name in ("persistentvolumeclaims", "requests.storage")
        else:
            fits = scope not in SCOPES or name == "pods" or name in COMPUTE
        if not fits:
            yield name


def _selector(spec: Pod, hard: dict[str, str], ctx: Context) -> Errors:
    """Paths have no index here.

    Upstream: validateScopedResourceSelectorRequirement
    """
    at, selector = "spec.scopeSelector.matchExpressions", spec["scopeSelector"]
    seen = set[str]()
    for i, requirement in enumerate(selector.get("matchExpressions") or ()):
        scope, operator, values = requirement["scopeName"], requirement["operator"], requirement.get("values") or []
        place = (*field.place_of(at), i)
        if not _is_scope(scope, ctx):
            yield field.invalid(f"{at}.scopeName", scope, "unsupported scope", (*place, "scopeName"), show=go.to_json(scope))
        for _ in _misfits(scope, hard):
            text = internal.text("ScopeSelector", selector, ctx.version)
            yield field.invalid(at, selector, "unsupported scope applied to resource", place, show=text)
        json_text = go.to_json(operator)
        if scope in EXISTS_ONLY and operator != "Exists":
            yield field.invalid(f"{at}.operator", operator, MUST_EXIST, (*place, "operator"), show=json_text)
        if operator in ("In", "NotIn"):
            if not values:
                yield field.required(f"{at}.values", NEEDS_VALUE, (*place, "values"))
        elif operator in ("Exists", "DoesNotExist"):
            if values:
                yield field.invalid(f"{at}.values", values, NO_VALUE, (*place, "values"))
        else:
            yield field.invalid(f"{at}.operator", operator, selectors.BAD_OPERATOR, (*place, "operator"), show=json_text)
        seen.add(scope)
    for pair in CONFLICTS:
        if set(pair) <= seen:
            scopes = spec.get("scopes")
            yield field.invalid(at, scopes, "conflicting scopes", show=go.to_json(scopes or None))


STRATEGY = Strategy(
    default=plain.no_default,
    create=Create(for_create, create_rules, plain.silent),
    updates={
        "": Update(for_update, update_rules, plain.no_warnings),
        "status": Update(workload.for_status, status_rules, plain.no_warnings),
    },
    delete=deletion.background,
    reset=workload.RESET,
    returns_deleted=True,
)
