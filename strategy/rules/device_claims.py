"""What a claim asks for: requests for devices, constraints among them, configurations."""

from __future__ import annotations

from collections.abc import Mapping

from podstrat.strategy import field
from podstrat.strategy.context import Context, Pod
from podstrat.strategy.field import Errors
from podstrat.strategy.formats import validation
from podstrat.strategy.rules import device_selectors, devices
from podstrat.strategy.rules.declarative import covered

REQUESTS, CONSTRAINTS, CONFIGS, ALTERNATIVES = 32, 32, 32, 8
MODES = ("All", "ExactCount")
ONE_OF = "exactly one of `exactly` or `firstAvailable` is required"
ONE_ATTRIBUTE = 'exactly one of "matchAttribute" or "distinctAttribute" is required, but multiple fields are set'
NOT_A_REQUEST = "must be the name of a request in the claim or the name of a request and a subrequest separated by '/'"
ADMIN_LABEL = "resource.kubernetes.io/admin-access"
NOT_FOR_ADMINS = f"admin access to devices requires the `{ADMIN_LABEL}: true` label on the containing namespace"
NOT_CONSTRAINED = "must be referenced by at least one matchAttribute or distinctAttribute constraint targeting this request"

Names = Mapping[str, frozenset[str]]
"""The requests of a claim, with the names of their alternatives."""
Constrained = set[tuple[str, str]]
"""Requests, "" for all of them, and the attributes that constraints are about."""


def spec(spec: Pod, at: str, ctx: Context, stored: bool = False) -> Errors:
    """``stored``: as of a spec that is stored already, whose configurations may be of any size.

    Upstream: validateDeviceClaim
    """
    claim, at = spec.get("devices") or {}, f"{at}.devices"
    requests, constraints = claim.get("requests") or [], claim.get("constraints") or []
    if len(requests) > REQUESTS:
        yield from covered(devices.at_most(requests, REQUESTS, f"{at}.requests"))
    else:
        constrained = _constrained(constraints)
        for i, request in enumerate(requests):
            yield from _request(request, f"{at}.requests[{i}]", constrained, ctx)
        yield from devices.unique_by(requests, "name", "resource.DeviceRequest", f"{at}.requests", ctx)
    names = names_of(spec)
    if len(constraints) > CONSTRAINTS:
        yield from covered(devices.at_most(constraints, CONSTRAINTS, f"{at}.constraints"))
    else:
        for i, constraint in enumerate(constraints):
            yield from _constraint(constraint, f"{at}.constraints[{i}]", names, ctx)
    configs = claim.get("config") or []
    if len(configs) > CONFIGS:
        yield from covered(devices.at_most(configs, CONFIGS, f"{at}.config"))
        return
    for i, config in enumerate(configs):
        yield from references(config.get("requests") or [], f"{at}.config[{i}].requests", names)
        yield from devices.opaque(config, f"{at}.config[{i}]", ctx, stored)


def names_of(spec: Pod) -> Names:
    """Upstream: gatherRequestNames"""
    return {
        request.get("name", ""): frozenset(each.get("name", "") for each in request.get("firstAvailable") or ())
        for request in (spec.get("devices") or {}).get("requests") or ()
    }


def _request(request: Pod, at: str, constrained: Constrained, ctx: Context) -> Errors:
    """One request, or alternatives of which the first available one counts.

    Upstream: validateDeviceRequest
    """
    name = request.get("name", "")
    yield from devices.label(name, f"{at}.name")
    exactly, alternatives = request.get("exactly"), request.get("firstAvailable") or []
    if exactly is None and not alternatives:
        yield field.required(at, ONE_OF)
    elif exactly is not None and alternatives:
        yield field.invalid(at, None, f"{ONE_OF}, but multiple fields are set")
    elif exactly is not None:
        yield from _device_class(exactly.get("deviceClassName", ""), f"{at}.exactly.deviceClassName")
        yield from _wanted(exactly, f"{at}.exactly", name, constrained, ctx)
    elif len(alternatives) > ALTERNATIVES:
        yield from covered(devices.at_most(alternatives, ALTERNATIVES, f"{at}.firstAvailable"))
    else:
        for i, each in enumerate(alternatives):
            here = f"{at}.firstAvailable[{i}]"
            yield from devices.label(each.get("name", ""), f"{here}.name")
            yield from covered(_device_class(each.get("deviceClassName", ""), f"{here}.deviceClassName"))
            yield from _wanted(each, here, f"{name}/{each.get('name', '')}", constrained, ctx)
        yield from devices.unique_by(alternatives, "name", "resource.DeviceSubRequest", f"{at}.firstAvailable", ctx)


def _device_class(name: str, at: str) -> Errors:
    if not name:
        yield field.required(at)
    else:
        yield from validation.each(at, name, validation.dns_subdomain(name))


def _wanted(request: Pod, at: str, name: str, constrained: Constrained, ctx: Context) -> Errors:
    """Which devices and how many, of a request or of an alternative.

    Upstream: validateExactDeviceRequest, validateDeviceSubRequest
    """
    yield from device_selectors.each(request.get("selectors") or [], f"{at}.selectors", ctx)
    yield from _derived(request.get("derivedAttributes") or [], f"{at}.derivedAttributes", name, constrained, ctx)
    mode, count = request.get("allocationMode", ""), request.get("count", 0)
    if mode == "All":
        if count:
            yield field.invalid(f"{at}.count", count, "must not be specified when allocationMode is 'All'")
    elif mode == "ExactCount":
        if count <= 0:
            yield field.invalid(f"{at}.count", count, "must be greater than zero")
    else:
        yield from covered([field.not_supported(f"{at}.allocationMode", mode, MODES)])
    for i, toleration in enumerate(request.get("tolerations") or ()):
        yield from devices.toleration(toleration, f"{at}.tolerations[{i}]", ctx)


def _derived(attributes: list[Pod], at: str, name: str, constrained: Constrained, ctx: Context) -> Errors:
    """An attribute that is computed is there for a constraint.

    Upstream: validateDeviceDerivedAttributes
    """
    for i, attribute in enumerate(attributes):
        attribute_name, expression = attribute.get("name", ""), attribute.get("expression", "")
        if not attribute_name:
            yield from covered([field.required(f"{at}[{i}].name")])
        elif constrained.isdisjoint((target, attribute_name) for target in ("", name, name.partition("/")[0])):
            yield field.invalid(f"{at}[{i}].name", attribute_name, NOT_CONSTRAINED)
        if not expression:
            yield from covered([field.required(f"{at}[{i}].expression")])
        else:
            yield from device_selectors.expression(expression, f"{at}[{i}].expression", ctx, boolean=False)
    yield from devices.unique(attributes, [each.get("name", "") for each in attributes], at, "")


def _constrained(constraints: list[Pod]) -> Constrained:
    """Upstream: gatherConstraintAttributes"""
    return {
        (target, constraint.get("matchAttribute") or constraint.get("distinctAttribute") or "")
        for constraint in constraints
        for target in constraint.get("requests") or ("",)
    }


def _constraint(constraint: Pod, at: str, names: Names, ctx: Context) -> Errors:
    """Devices of several requests have the same value of an attribute, or different ones.

    Upstream: validateDeviceConstraint
    """
    yield from references(constraint.get("requests") or [], f"{at}.requests", names)
    attributes = [name for name in ("matchAttribute", "distinctAttribute") if name in constraint]
    # Declarations look at both; the rules before them only at the first.
    for name in attributes if ctx.declares else attributes[:1]:
        yield from devices.attribute(constraint[name], f"{at}.{name}", ctx)
    if attributes:
        return
    if "DRAConsumableCapacity" in ctx.gates:
        yield field.required(at, ONE_ATTRIBUTE)
    else:
        yield field.required(f"{at}.matchAttribute")


def references(requests: list[str], at: str, names: Names) -> Errors:
    yield from devices.texts(requests, REQUESTS, at, lambda name, here: reference(name, here, names))


def reference(name: str, at: str, names: Names) -> Errors:
    """A request of the claim, or one of its alternatives.

    Upstream: validateRequestNameRef
    """
    parts = name.split("/")
    if len(parts) > 2:
        yield field.invalid(at, name, NOT_A_REQUEST)
        return
    for part in parts:
        yield from devices.label(part, at)
    if parts[0] not in names or (len(parts) == 2 and parts[1] not in names[parts[0]]):
        yield field.invalid(at, name, NOT_A_REQUEST)


# ---- what needs the namespace's permission ---------------------------------------------------------


def admin_requests(spec: Pod, at: field.Place, ctx: Context) -> Errors:
    """Access to devices that are in use is for namespaces of administrators. The path is the same for a template.

    Upstream: AuthorizedForAdmin
    """
    for i, request in enumerate((spec.get("devices") or {}).get("requests") or ()):
        if (request.get("exactly") or {}).get("adminAccess"):
            place = (*at, "devices", "requests", i, "exactly", "adminAccess")
            yield from _admin(f"spec.devices.requests[{i}].adminAccess", ctx, place)
            return


def admin_results(results: list[Pod], old: list[Pod], ctx: Context) -> Errors:
    """Upstream: AuthorizedForAdminStatus"""
    if any(each.get("adminAccess") for each in old):
        return
    for i, result in enumerate(results):
        if result.get("adminAccess"):
            yield from _admin(f"status.allocation.devices.results[{i}].adminAccess", ctx)
            return


def _admin(at: str, ctx: Context, place: field.Place | None = None) -> Errors:
    if ctx.namespace_labels.get(ADMIN_LABEL) != "true":
        yield field.forbidden(at, NOT_FOR_ADMINS, place)
