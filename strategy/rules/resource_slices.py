"""What a driver publishes in a ResourceSlice: its pool, where the devices are, the devices, the counters that they share."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

from podstrat.strategy import field, semantic
from podstrat.strategy.api import internal
from podstrat.strategy.context import V1_35, V1_36, Context, Pod
from podstrat.strategy.field import Errors
from podstrat.strategy.formats import validation
from podstrat.strategy.rules import capacity_policies, claim_status, devices, node_allocatable_devices, selectors
from podstrat.strategy.rules.declarative import covered

DEVICES, DEVICES_WITH_MORE = 128, 64
ATTRIBUTES, ATTRIBUTE_VALUES, TEXT_LIMIT = 32, 48, 64
COUNTER_SETS, COUNTERS, CONSUMPTIONS = 8, 32, 2
PLACES = ("nodeName", "nodeSelector", "allNodes", "perDeviceNodeSelection")
ONE_PLACE = "exactly one of `nodeName`, `nodeSelector`, `allNodes`, `perDeviceNodeSelection` is required"
ONE_PLACE_EACH = (
    "exactly one of `nodeName`, `nodeSelector`, or `allNodes` is required when `perDeviceNodeSelection` is set to true in the "
    "ResourceSlice spec"
)
NO_PLACE_EACH = (
    "`nodeName`, `nodeSelector` and `allNodes` can only be set if `perDeviceNodeSelection` is set to true "
    "in the ResourceSlice spec"
)
UNSET_OR_TRUE = "must be either unset or set to true"
ONE_TERM = "must have exactly one node selector term"
COUNTERS_OR_DEVICES = "only one of `sharedCounters` or `devices` is allowed"
ONE_VALUE = "exactly one value must be specified"
VALUES = ("int", "bool", "string", "version")
LISTS = ("ints", "bools", "strings", "versions")
BAD_VERSION = "must be a string compatible with semver.org spec 2.0.0"

_NUMBER, _BUILD = r"(0|[1-9]\d*)", "[0-9a-zA-Z-]+"
_PRE = rf"({_NUMBER}|\d*[a-zA-Z-][0-9a-zA-Z-]*)"
_semver = re.compile(rf"{_NUMBER}\.{_NUMBER}\.{_NUMBER}(-{_PRE}(\.{_PRE})*)?(\+{_BUILD}(\.{_BUILD})*)?", re.ASCII).fullmatch


def spec(spec: Pod, old: Pod | None, ctx: Context) -> Errors:
    """Upstream: validateResourceSliceSpec"""
    yield from devices.driver(spec.get("driver", ""), "spec.driver", ctx)
    yield from _pool(spec.get("pool") or {})
    if old is not None:
        yield from _immutable(spec, old)
    yield from _slice_place(spec, ctx)
    if spec.get("sharedCounters") is not None and spec.get("devices") is not None:
        yield field.invalid("spec", "", COUNTERS_OR_DEVICES)
    items = spec.get("devices") or []
    limit = DEVICES_WITH_MORE if any(map(_is_advanced, items)) else DEVICES
    if len(items) > limit:
        yield from devices.at_most(items, limit, "spec.devices")
    else:
        before = {device.get("name", ""): device for device in reversed((old or {}).get("devices") or [])}
        each_place = bool(spec.get("perDeviceNodeSelection"))
        for i, device in enumerate(items):
            yield from _device(device, before.get(device.get("name", "")), f"spec.devices[{i}]", each_place, ctx)
        suffix = ".name" if ctx.version < V1_35 else ""
        yield from devices.unique(items, [device.get("name", "") for device in items], "spec.devices", suffix)
    yield from _counter_sets(spec.get("sharedCounters") or [], ctx)
    if "partitionTypeAttribute" in spec:
        yield from _partition_type(spec, ctx)
    yield from claim_status.skipped_operations(spec, "spec")


def _pool(pool: Pod) -> Errors:
    """Upstream: validateResourcePool"""
    yield from devices.pool(pool.get("name", ""), "spec.pool.name")
    if pool.get("resourceSliceCount", 0) <= 0:
        yield field.invalid("spec.pool.resourceSliceCount", pool.get("resourceSliceCount", 0), "must be greater than zero")
    if pool.get("generation", 0) < 0:
        yield field.invalid("spec.pool.generation", pool["generation"], "must be greater than or equal to zero")


def _immutable(spec: Pod, old: Pod) -> Errors:
    for path in (("pool", "name"), ("driver",), ("nodeName",)):
        new, stored = _at(spec, path), _at(old, path)
        if new != stored:
            yield field.invalid(".".join(("spec", *path)), new, "field is immutable")


def _at(spec: Pod, path: tuple[str, ...]) -> str | None:
    """A text of the spec; only the node's name is a pointer, which may be none."""
    for name in path[:-1]:
        spec = spec.get(name) or {}
    return spec.get(path[-1], None if path[-1] == "nodeName" else "")


def _slice_place(spec: Pod, ctx: Context) -> Errors:
    """The devices of a slice are on one node, on nodes of a kind, on all nodes, or each says where it is."""
    names = []
    if "nodeName" in spec:
        name = spec["nodeName"]
        if name:
            names.append("`nodeName`")
            yield from validation.each("spec.nodeName", name, validation.dns_subdomain(name))
        else:
            yield field.invalid("spec.nodeName", name, "must be either unset or set to a non-empty string")
    if "nodeSelector" in spec:
        names.append("`nodeSelector`")
        yield from selectors.nodes(spec["nodeSelector"], "spec.nodeSelector", ctx)
        terms = spec["nodeSelector"].get("nodeSelectorTerms")
        if len(terms or ()) != 1:
            text = internal.text("[]NodeSelectorTerm", terms, ctx.version)
            yield field.invalid("spec.nodeSelector.nodeSelectorTerms", terms, ONE_TERM, show=text)
    for name in ("allNodes", "perDeviceNodeSelection"):
        if spec.get(name):
            names.append(f"`{name}`")
        elif name in spec:
            yield field.invalid(f"spec.{name}", False, UNSET_OR_TRUE)
    if not names:
        yield field.required("spec", ONE_PLACE)
    elif len(names) > 1:
        yield field.invalid("spec", f"{{{', '.join(names)}}}", f"{ONE_PLACE}, but multiple fields are set")


def _is_advanced(device: Pod) -> bool:
    """Whether a device has what makes it large."""
    if device.get("taints") or device.get("consumesCounters"):
        return True
    return any(name in attribute for attribute in (device.get("attributes") or {}).values() for name in LISTS)


# ---- one device ------------------------------------------------------------------------------------


def _device(device: Pod, old: Pod | None, at: str, each_place: bool, ctx: Context) -> Errors:
    """What is as it was in the stored device of that name is not judged again.

    Upstream: validateDevice
    """
    yield from devices.label(device.get("name", ""), f"{at}.name")
    attributes, capacity = device.get("attributes") or {}, device.get("capacity") or {}
    if len(attributes) + len(capacity) > ATTRIBUTES:
        text = f"the total number of attributes and capacities must not exceed {ATTRIBUTES}"
        yield field.invalid(at, len(attributes) + len(capacity), text)
    count = sum(sum(len(attribute.get(name) or ()) for name in LISTS) or 1 for attribute in attributes.values())
    if ctx.version >= V1_36 and count > ATTRIBUTE_VALUES:
        yield field.invalid(at, count, f"the total number of attribute values must not exceed {ATTRIBUTE_VALUES}")
    yield from _map(attributes, f"{at}.attributes", _qualified(ctx), lambda value, here: _attribute(value, here, ctx), ctx)
    if old is None or not _same(device, old, "capacity", ctx):
        several = bool(device.get("allowMultipleAllocations"))
        yield from _map(capacity, f"{at}.capacity", _qualified(ctx), lambda value, here: _amount(value, here, several, ctx), ctx)
    if old is None or not _same(device, old, "taints", ctx):
        yield from _taints(device.get("taints") or [], f"{at}.taints", ctx)
    yield from _consumptions(device.get("consumesCounters") or [], f"{at}.consumesCounters", ctx)
    yield from _device_place(device, at, each_place, ctx)
    yield from devices.binding(device, at, ctx)
    mapped = device.get("nodeAllocatableResources") or {}
    yield from node_allocatable_devices.each(mapped, capacity, f"{at}.nodeAllocatableResources")


def _same(device: Pod, old: Pod, name: str, ctx: Context) -> bool:
    about = ctx.types.fields("resource.Device")[name]
    return semantic.same(device.get(name), old.get(name), about, ctx.types)


def _qualified(ctx: Context) -> Callable[[str, str, field.Place], Errors]:
    return lambda name, at, where: devices.qualified_name(name, at, ctx, where)


def _map(
    items: dict[str, Pod],
    at: str,
    key_rule: Callable[[str, str, field.Place], Iterable[field.FieldError]],
    rule: devices.Each,
    ctx: Context,
) -> Errors:
    """Upstream: validateMap"""
    for key, value in items.items():
        place = (*field.place_of(at), key)
        yield from key_rule(key, devices.key_path(at, key, ctx), place)
        here = f"{at}[{devices.shortened(key)}]"
        for error in rule(value, here):
            yield error._replace(place=(*place, *field.place_of(error.field.removeprefix(here))))


def _attribute(attribute: Pod, at: str, ctx: Context) -> Errors:
    """An attribute has one value, or one list of values.

    Upstream: validateDeviceAttribute
    """
    if "string" in attribute:
        yield from _text(attribute["string"], f"{at}.string")
    if "version" in attribute:
        yield from _version(attribute["version"], f"{at}.version")
    for name in LISTS:
        if attribute.get(name) == []:
            yield field.invalid(f"{at}.{name}", [], "must not be empty if specified")
    for i, text in enumerate(attribute.get("strings") or ()):
        yield from covered(_text(text, f"{at}.strings[{i}]"))
    for i, text in enumerate(attribute.get("versions") or ()):
        yield from _version(text, f"{at}.versions[{i}]")
    names = [name for name in (*VALUES, *LISTS) if name in attribute]
    if len(names) != 1:
        yield from covered([_not_one(names, attribute, at, ctx)])


def _not_one(names: list[str], attribute: Pod, at: str, ctx: Context) -> field.FieldError:
    if ctx.declares:
        every = ", ".join(f"`{name}`" for name in (*VALUES, *LISTS))
        if not names:
            return field.invalid(at, "", f"must specify one of: {every}")
        text = "{" + ", ".join(f"`{name}`" for name in names) + "}"
        return field.invalid(at, text, f"must specify exactly one of: {every}")
    if names:
        return field.invalid(at, attribute, ONE_VALUE, show=internal.text("resource.DeviceAttribute", attribute, ctx.version))
    return field.required(at, ONE_VALUE) if ctx.version < V1_35 else field.invalid(at, "", ONE_VALUE)


def _text(text: str, at: str) -> Errors:
    if len(text.encode()) > TEXT_LIMIT:
        yield field.too_long(at, TEXT_LIMIT)


def _version(text: str, at: str) -> Errors:
    if not _semver(text):
        yield field.invalid(at, text, BAD_VERSION)
    yield from _text(text, at)


def _amount(capacity: Pod, at: str, several: bool, ctx: Context) -> Errors:
    """Only a device that can be allocated several times says how its capacity is shared."""
    if capacity.get("requestPolicy") is None:
        return
    if several:
        yield from capacity_policies.policy(capacity, f"{at}.requestPolicy", ctx)
    else:
        yield field.forbidden(f"{at}.requestPolicy", "allowMultipleAllocations must be true")


def _taints(taints: list[Pod], at: str, ctx: Context) -> Errors:
    limit = 16 if ctx.version >= V1_35 else 4
    if len(taints) > limit:
        yield from devices.at_most(taints, limit, at)
        return
    for i, taint in enumerate(taints):
        yield from devices.taint(taint, f"{at}[{i}]", ctx)


def _device_place(device: Pod, at: str, each_place: bool, ctx: Context) -> Errors:
    names = PLACES[:3]
    if not each_place:
        if any(name in device for name in names):
            yield field.invalid(at, None, NO_PLACE_EACH)
        return
    present = []
    if device.get("nodeName"):
        present.append("`nodeName`")
        yield from validation.each(f"{at}.nodeName", device["nodeName"], validation.dns_subdomain(device["nodeName"]))
    elif "nodeName" in device:
        yield field.invalid(f"{at}.nodeName", "", "must not be empty")
    if "nodeSelector" in device:
        present.append("`nodeSelector`")
        yield from selectors.nodes(device["nodeSelector"], f"{at}.nodeSelector", ctx)
    if device.get("allNodes"):
        present.append("`allNodes`")
    elif "allNodes" in device:
        yield field.invalid(f"{at}.allNodes", False, UNSET_OR_TRUE)
    if not present:
        yield field.required(at, ONE_PLACE_EACH)
    elif len(present) > 1:
        yield field.invalid(at, f"{{{', '.join(present)}}}", ONE_PLACE_EACH)


# ---- counters --------------------------------------------------------------------------------------


def _counter_sets(sets: list[Pod], ctx: Context) -> Errors:
    at = "spec.sharedCounters"
    if len(sets) > COUNTER_SETS:
        yield from covered(devices.at_most(sets, COUNTER_SETS, at))
        return
    for i, counters in enumerate(sets):
        yield from _counters(counters, "name", f"{at}[{i}]", ctx)
    yield from devices.unique_by(sets, "name", "resource.CounterSet", at, ctx)


def _consumptions(consumptions: list[Pod], at: str, ctx: Context) -> Errors:
    if len(consumptions) > CONSUMPTIONS:
        yield from covered(devices.at_most(consumptions, CONSUMPTIONS, at))
        return
    for i, consumption in enumerate(consumptions):
        yield from _counters(consumption, "counterSet", f"{at}[{i}]", ctx)
    yield from devices.unique_by(consumptions, "counterSet", "resource.DeviceCounterConsumption", at, ctx)


def _counters(holder: Pod, key: str, at: str, ctx: Context) -> Errors:
    """Counters have the name of their set, and each one of its own.

    Upstream: validateCounterSet, validateDeviceCounterConsumption
    """
    if not holder.get(key):
        yield from covered([field.required(f"{at}.{key}")])
    else:
        yield from covered(devices.label(holder[key], f"{at}.{key}"))
    counters = holder.get("counters") or {}
    if not counters:
        yield from covered([field.required(f"{at}.counters")])
    elif len(counters) > COUNTERS:
        yield field.too_many(f"{at}.counters", len(counters), COUNTERS)
    else:
        yield from _map(counters, f"{at}.counters", _counter_name, lambda value, here: iter(()), ctx)


def _counter_name(name: str, at: str, where: field.Place) -> Errors:
    yield from covered(validation.each(at, name, validation.dns_label(name), where))


def _partition_type(spec: Pod, ctx: Context) -> Errors:
    """An attribute that tells partitions apart is a text of every device that uses counters.

    Upstream: validatePartitionTypeAttribute
    """
    name, at = spec["partitionTypeAttribute"], "spec.partitionTypeAttribute"
    using = [(i, device) for i, device in enumerate(spec.get("devices") or ()) if device.get("consumesCounters")]
    if not using:
        yield field.invalid(at, name, "may only be set on a slice which declares devices that consume counters")
    faults = list(devices.attribute(name, at, ctx))
    yield from faults
    if faults:
        return
    for i, device in using:
        attributes, here = device.get("attributes") or {}, f"spec.devices[{i}].attributes[{name}]"
        attribute = attributes.get(name, attributes.get(name.removeprefix(f"{spec.get('driver', '')}/")))
        place = ("spec", "devices", i, "attributes", name)
        if attribute is None:
            text = "device consumes counters and `partitionTypeAttribute` names this attribute, so it must be set"
            yield field.required(here, text, place)
        elif "string" not in attribute:
            text = "must be a string value because `partitionTypeAttribute` names this attribute"
            value_text = internal.text("resource.DeviceAttribute", attribute, ctx.version)
            yield field.invalid(here, attribute, text, place, show=value_text)
