"""Gated fields of claims, claim templates, device classes and resource slices.

A row says which gates guard which fields. Where a gate is off, the fields go, unless the stored object uses one of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from podstrat.records import NamedTuple
from podstrat.strategy.context import V1_35, Context, Pod, Version

Holders = Callable[[Pod], Iterator[tuple[str, Pod]]]
"""The objects that hold a field, each with its path."""


class Row(NamedTuple):
    """Fields that the same gates guard."""

    gates: tuple[str, ...]
    fields: tuple[tuple[Holders, tuple[str, ...]], ...]
    since: Version = (1, 34)
    """The first release that drops them. 1.34 keeps some, though it knows the gate."""


def drop(obj: Pod, old: Pod | None, rows: tuple[Row, ...], ctx: Context) -> list[tuple[str, str]]:
    """Takes out what disabled gates guard; gives the gate and the path of each field.

    Upstream: dropDisabledFields
    """
    dropped = []
    for gates, fields, since in rows:
        off = next((gate for gate in gates if gate not in ctx.gates), None)
        if off is None or ctx.version < since or (old is not None and any(_used(old, fields))):
            continue
        for holders, names in fields:
            for path, holder in holders(obj):
                for name in names:
                    if name in holder:
                        del holder[name]
                        dropped.append((off, f"{path}.{name}"))
    return dropped


def _used(old: Pod, fields: tuple[tuple[Holders, tuple[str, ...]], ...]) -> Iterator[bool]:
    for holders, names in fields:
        for _, holder in holders(old):
            for name in names:
                yield holder.get(name) not in (None, [], {})


# ---- holders ---------------------------------------------------------------------------------------


def _spec(obj: Pod) -> Iterator[tuple[str, Pod]]:
    yield "spec", obj["spec"]


def _status(obj: Pod) -> Iterator[tuple[str, Pod]]:
    yield "status", obj.get("status") or {}


def _claims(obj: Pod) -> Iterator[tuple[str, Pod]]:
    """What a claim or a claim template asks for."""
    inner = obj["spec"].get("spec")
    path, spec = ("spec.spec", inner) if inner is not None else ("spec", obj["spec"])
    yield f"{path}.devices", spec.get("devices") or {}


def _requests(obj: Pod) -> Iterator[tuple[str, Pod]]:
    for path, claim in _claims(obj):
        for i, request in enumerate(claim.get("requests") or ()):
            yield f"{path}.requests[{i}]", request


def _exactly(obj: Pod) -> Iterator[tuple[str, Pod]]:
    for path, request in _requests(obj):
        if request.get("exactly") is not None:
            yield f"{path}.exactly", request["exactly"]


def _wanted(obj: Pod) -> Iterator[tuple[str, Pod]]:
    """Requests and alternatives alike."""
    yield from _exactly(obj)
    for path, request in _requests(obj):
        for i, each in enumerate(request.get("firstAvailable") or ()):
            yield f"{path}.firstAvailable[{i}]", each


def _constraints(obj: Pod) -> Iterator[tuple[str, Pod]]:
    for path, claim in _claims(obj):
        for i, constraint in enumerate(claim.get("constraints") or ()):
            yield f"{path}.constraints[{i}]", constraint


def _allocation(obj: Pod) -> Iterator[tuple[str, Pod]]:
    yield "status.allocation", (obj.get("status") or {}).get("allocation") or {}


def _results(obj: Pod) -> Iterator[tuple[str, Pod]]:
    for path, allocation in _allocation(obj):
        for i, result in enumerate((allocation.get("devices") or {}).get("results") or ()):
            yield f"{path}.devices.results[{i}]", result


def _reports(obj: Pod) -> Iterator[tuple[str, Pod]]:
    for i, report in enumerate((obj.get("status") or {}).get("devices") or ()):
        yield f"status.devices[{i}]", report


def _devices(obj: Pod) -> Iterator[tuple[str, Pod]]:
    for i, device in enumerate(obj["spec"].get("devices") or ()):
        yield f"spec.devices[{i}]", device


def _capacities(obj: Pod) -> Iterator[tuple[str, Pod]]:
    for path, device in _devices(obj):
        for name, capacity in (device.get("capacity") or {}).items():
            yield f"{path}.capacity[{name}]", capacity


def _attributes(obj: Pod) -> Iterator[tuple[str, Pod]]:
    for path, device in _devices(obj):
        for name, attribute in (device.get("attributes") or {}).items():
            yield f"{path}.attributes[{name}]", attribute


def _consumptions(obj: Pod) -> Iterator[tuple[str, Pod]]:
    for path, device in _devices(obj):
        for i, consumption in enumerate(device.get("consumesCounters") or ()):
            yield f"{path}.consumesCounters[{i}]", consumption


# ---- rows ------------------------------------------------------------------------------------------

_BINDING = ("DRADeviceBindingConditions", "DRAResourceClaimDeviceStatus")
_CONDITIONS = ("bindingConditions", "bindingFailureConditions")
_LISTS = ("ints", "bools", "strings", "versions")

CLAIM: tuple[Row, ...] = (
    Row(("DRAPrioritizedList",), ((_requests, ("firstAvailable",)),)),
    Row(("DRAAdminAccess",), ((_exactly, ("adminAccess",)), (_results, ("adminAccess",)))),
    Row(("DRAResourceClaimDeviceStatus",), ((_status, ("devices",)),)),
    Row(
        ("DRAConsumableCapacity",),
        ((_wanted, ("capacity",)), (_results, ("shareID", "consumedCapacity")), (_reports, ("shareID",))),
    ),
    Row(("DRAConsumableCapacity",), ((_constraints, ("distinctAttribute",)),), since=V1_35),
    Row(_BINDING, ((_results, _CONDITIONS), (_allocation, ("allocationTimestamp",)))),
    Row(("DRADeviceTaints",), ((_wanted, ("tolerations",)), (_results, ("tolerations",))), since=V1_35),
    Row(("DRADerivedAttributes",), ((_wanted, ("derivedAttributes",)),)),
    Row(("DRAOptionalNodeOperations",), ((_results, ("skipNodeOperations",)),)),
)
"""Of a claim; a template has the part of them that is in the spec."""

CLASS: tuple[Row, ...] = (Row(("DRAExtendedResource",), ((_spec, ("extendedResourceName",)),)),)

SLICE: tuple[Row, ...] = (
    Row(("DRADeviceTaints",), ((_devices, ("taints",)),)),
    Row(
        ("DRAPartitionableDevices",),
        (
            (_spec, ("sharedCounters", "perDeviceNodeSelection")),
            (_devices, ("consumesCounters", "nodeName", "nodeSelector", "allNodes")),
        ),
    ),
    Row(_BINDING, ((_devices, (*_CONDITIONS, "bindsToNode")),)),
    Row(("DRAConsumableCapacity",), ((_devices, ("allowMultipleAllocations",)), (_capacities, ("requestPolicy",)))),
    Row(("DRANodeAllocatableResources",), ((_devices, ("nodeAllocatableResources", "nodeAllocatableResourceMappings")),)),
    Row(("DRAListTypeAttributes",), ((_attributes, _LISTS),)),
    Row(("DRADeviceCompatibilityGroups",), ((_consumptions, ("compatibilityGroups",)),)),
    Row(("DRAPartitionableDevicesType",), ((_spec, ("partitionTypeAttribute",)),)),
    Row(("DRAOptionalNodeOperations",), ((_spec, ("skipNodeOperations",)),)),
)
