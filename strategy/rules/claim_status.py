"""The status of a claim: what is allocated, for whom it is reserved, what drivers report about devices."""

from __future__ import annotations

from podstrat.strategy import field, semantic
from podstrat.strategy.api import internal
from podstrat.strategy.context import V1_35, Context, Pod
from podstrat.strategy.field import Errors
from podstrat.strategy.formats import addresses, go
from podstrat.strategy.rules import conditions, device_claims, devices, selectors
from podstrat.strategy.rules.declarative import covered

RESERVED, RESULTS, CONFIGS, CONDITIONS, ADDRESSES = 256, 32, 64, 8, 16
SOURCES = ("FromClaim", "FromClass")
NOT_ALLOCATED = "may not be specified when `allocated` is not set"
LEAVING = "new entries may not be added while `deallocationRequested` or `deletionTimestamp` are set"
NOT_ITS_DEVICE = "must be an allocated device in the claim"
PREPARE, UNPREPARE, EVERY = "NodePrepareResources", "NodeUnprepareResources", "*"
UNPREPARED = "NodePrepareResources cannot be skipped unless NodeUnprepareResources is also skipped"

Id = tuple[str, str, str, str]
"""Driver, pool, device, and the share of it."""


def update(obj: Pod, old: Pod, ctx: Context) -> Errors:
    """Upstream: validateResourceClaimStatusUpdate"""
    status, stored = obj.get("status") or {}, old.get("status") or {}
    allocation = status.get("allocation")
    yield from _consumers(status.get("reservedFor") or [], ctx)
    yield from _reports(status.get("devices") or [], allocated(allocation), ctx)
    reserved = status.get("reservedFor") or []
    if reserved and allocation is None:
        yield field.forbidden("status.reservedFor", NOT_ALLOCATED)
    elif "deletionTimestamp" in obj["metadata"] and _users(reserved) - _users(stored.get("reservedFor") or []):
        yield field.forbidden("status.reservedFor", LEAVING)
    if allocation is None:
        return
    if "allocation" in stored:
        yield from _unchanged(allocation, stored["allocation"], ctx)
    else:
        yield from _allocation(allocation, device_claims.names_of(obj["spec"]), ctx)


def _users(consumers: list[Pod]) -> set[tuple[str, ...]]:
    return {tuple(each.get(name, "") for name in ("apiGroup", "resource", "name", "uid")) for each in consumers}


def ident(device: Pod) -> Id:
    return device.get("driver", ""), device.get("pool", ""), device.get("device", ""), device.get("shareID", "")


def allocated(allocation: Pod | None) -> set[Id]:
    return {ident(result) for result in ((allocation or {}).get("devices") or {}).get("results") or ()}


def _consumers(consumers: list[Pod], ctx: Context) -> Errors:
    at = "status.reservedFor"
    if len(consumers) > RESERVED:
        yield from covered(devices.at_most(consumers, RESERVED, at))
        return
    for i, consumer in enumerate(consumers):
        for name in ("resource", "name", "uid"):
            if not consumer.get(name):
                yield field.required(f"{at}[{i}].{name}")
    yield from devices.unique_by(consumers, "uid", "resource.ResourceClaimConsumerReference", at, ctx)


def _unchanged(allocation: Pod, stored: Pod, ctx: Context) -> Errors:
    """An allocation may go, and otherwise stays as it is."""
    if semantic.equal(allocation, stored, "resource.AllocationResult", ctx.types):
        return
    if ctx.declares:
        yield from covered([field.invalid("status.allocation", None, "field cannot be modified once set")])
    else:
        text = internal.text("resource.AllocationResult", allocation, ctx.version)
        yield field.invalid("status.allocation", allocation, "field is immutable", show=text)


# ---- allocation ------------------------------------------------------------------------------------


def _allocation(allocation: Pod, names: device_claims.Names, ctx: Context) -> Errors:
    """Upstream: validateAllocationResult"""
    at = "status.allocation.devices"
    inner = allocation.get("devices") or {}
    results, configs = inner.get("results") or [], inner.get("config") or []
    if len(results) > RESULTS:
        yield from covered(devices.at_most(results, RESULTS, f"{at}.results"))
    else:
        for i, result in enumerate(results):
            yield from _result(result, f"{at}.results[{i}]", names, ctx)
    if len(configs) > CONFIGS:
        yield from covered(devices.at_most(configs, CONFIGS, f"{at}.config"))
    else:
        for i, config in enumerate(configs):
            yield from _config(config, f"{at}.config[{i}]", names, ctx)
    if "nodeSelector" in allocation:
        yield from selectors.nodes(allocation["nodeSelector"], "status.allocation.nodeSelector", ctx)


def _result(result: Pod, at: str, names: device_claims.Names, ctx: Context) -> Errors:
    """Upstream: validateDeviceRequestAllocationResult"""
    yield from device_claims.reference(result.get("request", ""), f"{at}.request", names)
    yield from devices.declared_driver(result.get("driver", ""), f"{at}.driver", ctx)
    yield from devices.declared_pool(result.get("pool", ""), f"{at}.pool", ctx)
    yield from devices.label(result.get("device", ""), f"{at}.device")
    yield from devices.binding(result, at, ctx)
    for i, toleration in enumerate(result.get("tolerations") or ()):
        yield from devices.toleration(toleration, f"{at}.tolerations[{i}]", ctx)
    if "shareID" in result:
        yield from devices.uid(result["shareID"], f"{at}.shareID", ctx)
    yield from skipped_operations(result, at)


def skipped_operations(holder: Pod, at: str) -> Errors:
    """Upstream: validateSkipNodeOperations"""
    skipped = holder.get("skipNodeOperations") or []
    if PREPARE in skipped and UNPREPARE not in skipped and EVERY not in skipped:
        yield field.invalid(f"{at}.skipNodeOperations", skipped, UNPREPARED)


def _config(config: Pod, at: str, names: device_claims.Names, ctx: Context) -> Errors:
    """Upstream: validateDeviceAllocationConfiguration"""
    source = config.get("source", "")
    if not source:
        yield from covered([field.required(f"{at}.source")])
    elif source not in SOURCES:
        yield from covered([field.not_supported(f"{at}.source", source, SOURCES)])
    yield from device_claims.references(config.get("requests") or [], f"{at}.requests", names)
    yield from devices.opaque(config, at, ctx, stored=False)


# ---- reports of drivers ----------------------------------------------------------------------------


def _reports(reports: list[Pod], allocated_ids: set[Id], ctx: Context) -> Errors:
    at = "status.devices"
    for i, report in enumerate(reports):
        yield from _report(report, f"{at}[{i}]", allocated_ids, ctx)

    def show(report: Pod, key: Id) -> str:
        return devices.versioned(report, "resource.AllocatedDeviceStatus", ctx) if ctx.declares else _shown(key, ctx)

    suffix = ".deviceID" if ctx.version < V1_35 else ""
    yield from covered(devices.unique(reports, map(ident, reports), at, suffix, show))


def _shown(key: Id, ctx: Context) -> str:
    """A device as errors print it; 1.34 has its parts in a type that prints as nothing."""
    parts = dict(zip(("Driver", "Pool", "Device", "ShareID"), key, strict=True))
    return go.to_json(parts if ctx.version >= V1_35 else {name: {} for name in parts})


def _report(report: Pod, at: str, allocated_ids: set[Id], ctx: Context) -> Errors:
    """Upstream: validateDeviceStatus"""
    yield from devices.driver(report.get("driver", ""), f"{at}.driver", ctx)
    yield from devices.pool(report.get("pool", ""), f"{at}.pool")
    yield from devices.label(report.get("device", ""), f"{at}.device")
    if "shareID" in report:
        yield from devices.uid(report["shareID"], f"{at}.shareID", ctx)
    if ident(report) not in allocated_ids:
        yield field.invalid(at, report, NOT_ITS_DEVICE, show=_shown(ident(report), ctx))
    about = report.get("conditions") or []
    yield from devices.at_most(about, CONDITIONS, f"{at}.conditions")
    yield from conditions.each(about, f"{at}.conditions", ctx)
    if report.get("data") is not None:
        yield from devices.raw_object(report["data"], f"{at}.data")
    if report.get("networkData") is not None:
        yield from _network(report["networkData"], f"{at}.networkData")


def _network(network: Pod, at: str) -> Errors:
    """Upstream: validateNetworkDeviceData"""
    for name, limit in (("interfaceName", 256), ("hardwareAddress", 128)):
        if len(network.get(name, "").encode()) > limit:
            yield from covered([field.too_long(f"{at}.{name}", limit)])
    yield from devices.texts(network.get("ips") or [], ADDRESSES, f"{at}.ips", _address)


def _address(text: str, at: str) -> Errors:
    """Upstream: IsValidInterfaceAddress"""
    if fault := addresses.interface_fault(text):
        yield field.invalid(at, text, fault)
