"""Container resources: requests and limits, huge pages, claims, resize policy."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

from podstrat.records import NamedTuple
from podstrat.strategy import field
from podstrat.strategy.context import V1_36, Context
from podstrat.strategy.field import Errors
from podstrat.strategy.formats import go, quantity, validation
from podstrat.strategy.formats.quantity import Quantity
from podstrat.strategy.formats.slashes import Slashes

HUGEPAGES = "hugepages-"
CONTAINER_RESOURCES = ("cpu", "memory", "ephemeral-storage")
_QUOTA_ONLY = (
    *("requests.cpu", "requests.memory", "requests.ephemeral-storage", "requests.storage"),
    *("limits.cpu", "limits.memory", "limits.ephemeral-storage"),
    *("pods", "resourcequotas", "services", "replicationcontrollers", "secrets", "configmaps"),
    *("persistentvolumeclaims", "storage", "services.nodeports", "services.loadbalancers"),
)
STANDARD_RESOURCES = {*CONTAINER_RESOURCES, *_QUOTA_ONLY}
COUNTED_RESOURCES = {
    *("pods", "resourcequotas", "services", "replicationcontrollers", "secrets", "configmaps"),
    *("persistentvolumeclaims", "services.nodeports", "services.loadbalancers"),
}
"""Things of the cluster that come in whole numbers; extended resources do so too."""

RESIZABLE = ("cpu", "memory")
RESIZE_POLICIES = ("NotRequired", "RestartContainer")

NOT_STANDARD = "must be a standard resource type or fully qualified"
NOT_FOR_CONTAINERS = "must be a standard resource for containers"
NOT_EXTENDED = "doesn't follow extended resource name standard"
NEEDS_LIMIT = "Limit must be set for non overcommitable resources"
HUGEPAGES_ALONE = "HugePages require cpu or memory"

NameRule = Callable[[str, str, Context], Errors]
"""A rule for the name of a resource: name, path, context."""


class Traits(NamedTuple):
    """What follows from the name of a resource."""

    whole: bool
    """Comes in whole numbers only."""
    overcommit: bool
    """The limit may be higher than the request, or absent."""
    hugepages: bool


@lru_cache(1024)
def traits(name: str) -> Traits:
    """Upstream: IsIntegerResourceName, IsOvercommitAllowed, IsHugePageResourceName"""
    hugepages = name.startswith(HUGEPAGES)
    return Traits(
        whole=name in COUNTED_RESOURCES or is_extended(name),
        overcommit=is_native(name) and not hugepages,
        hugepages=hugepages,
    )


def is_native(name: str) -> bool:
    """Upstream: IsNativeResource"""
    return "/" not in name or "kubernetes.io/" in name


def is_extended(name: str) -> bool:
    """Not native, and still a qualified name when a quota puts ``requests.`` before it.

    Upstream: IsExtendedResourceName
    """
    return not is_native(name) and not name.startswith("requests.") and not validation.label_key(f"requests.{name}")


def qualified_name(name: str, path: str, ctx: Context) -> Errors:
    """The name of a resource is a standard one or a qualified name.

    Upstream: validateResourceName
    """
    if faults := validation.label_key(name, ctx.name_unit):
        for fault in faults:
            yield field.invalid(path, name, fault, show=go.to_json(name))
    elif "/" not in name and name not in STANDARD_RESOURCES and not name.startswith((HUGEPAGES, f"requests.{HUGEPAGES}")):
        yield field.invalid(path, name, NOT_STANDARD, show=go.to_json(name))


def container_name(name: str, path: str, ctx: Context) -> Errors:
    """A container may ask for cpu, memory, ephemeral storage, huge pages and extended resources.

    Upstream: validateContainerResourceName
    """
    if name in CONTAINER_RESOURCES:
        return
    yield from qualified_name(name, path, ctx)
    if "/" not in name:
        if not name.startswith(HUGEPAGES):
            yield field.invalid(path, name, NOT_FOR_CONTAINERS, show=go.to_json(name))
    elif not is_native(name) and not is_extended(name):
        yield field.invalid(path, name, NOT_EXTENDED, show=go.to_json(name))


def of_container(container: dict[str, Any], at: str, spec: dict[str, Any], ctx: Context) -> Errors:
    """Upstream: ValidateContainerResourceRequirements"""
    return requirements(container["resources"], f"{at}.resources", spec, ctx, container_name)


def are_plain(resources: dict[str, Any]) -> bool:
    """Whether only cpu, memory and storage are asked for, no less than none and up to the limit.

    So most are, and nothing is wrong.
    """
    limits, requests = resources.get("limits") or {}, resources.get("requests") or {}
    for name, text in limits.items():
        if name not in CONTAINER_RESOURCES or text[0] == "-":
            return False
    for name, text in requests.items():
        if name not in CONTAINER_RESOURCES or text[0] == "-":
            return False
        if quantity.compare(text, limits.get(name, text)) > 0:
            return False
    return "claims" not in resources


def requirements(resources: dict[str, Any], at: str, spec: dict[str, Any], ctx: Context, name_rule: NameRule) -> Errors:
    """Amounts are well named and not negative; no request exceeds its limit; huge pages come with cpu or memory.

    Upstream: validateResourceRequirements
    """
    limits, requests = resources.get("limits") or {}, resources.get("requests") or {}
    compute = pages = False
    for name, text in limits.items():
        if name in RESIZABLE:
            compute = True
        yield from _placed(_amount(name, text, f"{at}.limits[{name}]", ctx, name_rule), at, "limits", name)
        if name.startswith(HUGEPAGES):
            pages = True
            yield from _placed(_whole_pages(name, text, f"{at}.limits[{name}]", ctx), at, "limits", name)
    for name, text in requests.items():
        if name in RESIZABLE:
            compute = True
        yield from _placed(_amount(name, text, f"{at}.requests[{name}]", ctx, name_rule), at, "requests", name)
        limit = limits.get(name)
        if limit != text:
            yield from _placed(_unlike_limit(name, text, limit, at), at, "requests", name)
        if name.startswith(HUGEPAGES):
            pages = True
            yield from _placed(_whole_pages(name, text, f"{at}.requests[{name}]", ctx), at, "requests", name)
    if pages and not compute:
        yield field.forbidden(at, HUGEPAGES_ALONE)
    if resources.get("claims"):
        yield from _claims(resources["claims"], f"{at}.claims", spec)


def _placed(errors: Errors, at: str, kind: str, name: str) -> Errors:
    """Errors about one amount, with its place: the name can be any text, so that the path does not always show it."""
    for error in errors:
        yield error._replace(place=(*field.place_of(at), kind, name))


def _amount(name: str, text: str, path: str, ctx: Context, name_rule: NameRule) -> Errors:
    """An amount is well named, not negative, and whole where it must be.

    Upstream: ValidateResourceQuantityValue
    """
    yield from name_rule(name, path, ctx)
    amount = quantity.parse(text)
    if amount.sign < 0:
        yield field.invalid(path, text, validation.NOT_NEGATIVE)
    if traits(name).whole and not amount.is_whole:
        yield field.invalid(path, text, "must be an integer")


def _unlike_limit(name: str, text: str, limit: str | None, at: str) -> Errors:
    """A request is at most the limit; what cannot be overcommitted has a limit, and requests exactly that."""
    if limit is None:
        if not traits(name).overcommit:
            yield field.required(f"{at}.limits", NEEDS_LIMIT)
    elif traits(name).overcommit:
        if quantity.parse(text) > quantity.parse(limit):
            yield field.invalid(f"{at}.requests", text, f"must be less than or equal to {name} limit of {limit}")
    elif quantity.parse(text) != quantity.parse(limit):
        yield field.invalid(f"{at}.requests", text, f"must be equal to {name} limit of {limit}")


def _whole_pages(name: str, text: str, path: str, ctx: Context) -> Errors:
    """Huge pages are asked for in whole pages, unless the stored pod already did otherwise.

    Upstream: validateResourceQuantityHugePageValue
    """
    if not divisible(name, quantity.parse(text)) and not _indivisible_stored(ctx):
        yield field.invalid(path, text, f"{text} is not positive integer multiple of {name}")


def divisible(name: str, amount: Quantity) -> bool:
    """Whether an amount of huge pages is a multiple of the size that their name says.

    Upstream: IsHugePageResourceValueDivisible
    """
    try:
        size = quantity.parse(name.removeprefix(HUGEPAGES))
    except quantity.QuantityError:
        return False
    return size.sign > 0 and size.is_whole and size.value() != 0 and amount.value() % size.value() == 0


def _indivisible_stored(ctx: Context) -> bool:
    """Upstream: usesIndivisibleHugePagesValues"""
    if ctx.old is None:
        return False
    spec = ctx.old["spec"]
    pages = [*(spec.get("overhead") or {}).items()]
    for kind in ("initContainers", "containers", "ephemeralContainers"):
        for container in spec.get(kind) or ():
            for part in ("limits", "requests"):
                pages += (container["resources"].get(part) or {}).items()
    return any(name.startswith(HUGEPAGES) and not divisible(name, quantity.parse(text)) for name, text in pages)


def _claims(claims: list[dict[str, Any]], at: str, spec: dict[str, Any]) -> Errors:
    """Each entry names a claim of the pod, whole or one request of it, and no part of a claim twice.

    Upstream: validateResourceClaimNames
    """
    names = {claim["name"] for claim in spec.get("resourceClaims") or () if claim["name"]}
    choice = ": " + ", ".join(sorted(names)) if names else " which is empty"
    parts = [f"{claim['name']}/{claim['request']}" if claim.get("request") else claim["name"] for claim in claims]
    tree = Slashes(parts)
    places: dict[str, int] = {}
    for i, claim in enumerate(claims):
        name, request = claim["name"], claim.get("request", "")
        if not name:
            yield field.required(f"{at}[{i}]")
            continue
        if name in places:
            yield field.duplicate(f"{at}[{i}]", name)
        else:
            if request and (faults := validation.dns_label(request)):
                yield from validation.each(f"{at}[{i}].request", request, faults)
            if parts[i] in places:
                yield field.duplicate(f"{at}[{i}]", parts[i])
            else:
                # A whole claim: one error for each request of it that was taken before.
                for other in tree.below(i) if not request else ():
                    if places.get(parts[other]) == other:
                        yield field.duplicate(f"{at}[{i}]", name)
                places[parts[i]] = i
        if name not in names:
            yield field.not_found(f"{at}[{i}]", name, f"must be one of the names in pod.spec.resourceClaims{choice}")


def resize_policy(container: dict[str, Any], at: str, spec: dict[str, Any], ctx: Context) -> Errors:
    """Each resource that can be resized has at most one policy; a pod that never restarts has no container restarted.

    Upstream: validateResizePolicy; only a repetition has its index in the path.
    """
    never = spec.get("restartPolicy") == "Never"
    path = f"{at}.resizePolicy"
    names: set[str] = set()
    for i, policy in enumerate(container["resizePolicy"]):
        name, restart = policy.get("resourceName", ""), policy.get("restartPolicy", "")
        if name in names:
            yield field.duplicate(f"{path}[{i}]", name, show=go.to_json(name))
        names.add(name)
        yield from _choice(name, RESIZABLE, path, f"{path}[{i}].resourceName")
        yield from _choice(restart, RESIZE_POLICIES, path, f"{path}[{i}].restartPolicy")
        if never and restart != "NotRequired":
            whose = "pod `restartPolicy`" if ctx.version >= V1_36 else "`restartPolicy`"
            text = f"must be 'NotRequired' when {whose} is 'Never'"
            yield field.invalid(path, restart, text, field.place_of(f"{path}[{i}].restartPolicy"), go.to_json(restart))


def _choice(value: str, choices: tuple[str, ...], path: str, true_path: str) -> Errors:
    if not value:
        yield field.required(path, where=field.place_of(true_path))
    elif value not in choices:
        yield field.not_supported(path, value, choices, field.place_of(true_path))


def init_resize_policy(container: dict[str, Any], at: str, ctx: Context) -> Errors:
    """A resize does not restart an init container that runs to its end (since 1.36), unless the stored pod says so.

    Upstream: validateInitContainers
    """
    if ctx.version < V1_36 or _restarted_stored(ctx):
        return
    for i, policy in enumerate(container["resizePolicy"]):
        if policy.get("restartPolicy") == "RestartContainer":
            text = "must not be set to 'RestartContainer' for non-sidecar initContainers"
            yield field.invalid(f"{at}.resizePolicy[{i}].restartPolicy", "RestartContainer", text)


def _restarted_stored(ctx: Context) -> bool:
    """Upstream: hasRestartContainerForNonSidecarInitContainer"""
    return ctx.old is not None and any(
        policy.get("restartPolicy") == "RestartContainer"
        for container in ctx.old["spec"].get("initContainers") or ()
        if container.get("restartPolicy") != "Always"
        for policy in container.get("resizePolicy") or ()
    )
