"""fieldRef and resourceFieldRef, of environment variables and of downward API volumes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from podstrat.strategy import field
from podstrat.strategy.context import Context
from podstrat.strategy.field import Errors
from podstrat.strategy.formats import go, quantity, validation

ENV_FIELDS = (
    *("metadata.name", "metadata.namespace", "metadata.uid"),
    *("spec.nodeName", "spec.serviceAccountName"),
    *("status.hostIP", "status.hostIPs", "status.podIP", "status.podIPs"),
)
"""Fields that a variable may take its value from."""
VOLUME_FIELDS = ("metadata.annotations", "metadata.labels", "metadata.name", "metadata.namespace", "metadata.uid")
"""Fields that a downward API volume may write to a file."""
RESOURCES = (
    *("limits.cpu", "limits.ephemeral-storage", "limits.memory"),
    *("requests.cpu", "requests.ephemeral-storage", "requests.memory"),
)
HUGEPAGES = ("requests.hugepages-", "limits.hugepages-")

_KNOWN_FIELDS = {
    *ENV_FIELDS,
    *VOLUME_FIELDS,
    *("spec.restartPolicy", "spec.schedulerName", "status.phase"),
}
_SUBSCRIPTED = ("metadata.annotations", "metadata.labels")

_CPU_UNITS = ("1m", "1")
_BYTE_UNITS = ("1", "1k", "1M", "1G", "1T", "1P", "1E", "1Ki", "1Mi", "1Gi", "1Ti", "1Pi", "1Ei")
_CPU = (_CPU_UNITS, "only divisor's values 1m and 1 are supported with the cpu resource")


def _bytes(what: str) -> tuple[tuple[str, ...], str]:
    return _BYTE_UNITS, f"only divisor's values {', '.join(_BYTE_UNITS)} are supported with the {what} resource"


_DIVISORS = {
    "limits.cpu": _CPU,
    "requests.cpu": _CPU,
    "limits.memory": _bytes("memory"),
    "requests.memory": _bytes("memory"),
    "limits.ephemeral-storage": _bytes("local ephemeral storage"),
    "requests.ephemeral-storage": _bytes("local ephemeral storage"),
}
_HUGEPAGES_DIVISORS = _bytes("hugepages")


def field_ref(ref: dict[str, Any], at: str, allowed: Sequence[str], ctx: Context) -> Errors:
    """A fieldRef names one of the allowed fields, or one label or annotation by its key.

    Upstream: validateObjectFieldSelector
    """
    if is_plain(ref, allowed):
        return
    path, version = ref.get("fieldPath", ""), ref.get("apiVersion", "")
    if not version:
        yield field.required(f"{at}.apiVersion")
    elif not path:
        yield field.required(f"{at}.fieldPath")
    elif fault := _conversion_fault(path, version):
        yield field.invalid(f"{at}.fieldPath", path, f"error converting fieldPath: {fault}")
    else:
        yield from _known_field(path, at, allowed, ctx)


def is_plain(ref: dict[str, Any], allowed: Sequence[str]) -> bool:
    """Whether a fieldRef names an allowed field as such."""
    return ref.get("fieldPath") in allowed and ref.get("apiVersion") == "v1"


def _conversion_fault(path: str, version: str) -> str:
    """Upstream: ConvertDownwardAPIFieldLabel"""
    if version != "v1":
        return f"unsupported pod version: {version}"
    name, key = _subscript(path)
    if key is not None:
        return "" if name in _SUBSCRIPTED else f"field label does not support subscript: {path}"
    return "" if path in _KNOWN_FIELDS or path == "spec.host" else f"field label not supported: {path}"


def _known_field(path: str, at: str, allowed: Sequence[str], ctx: Context) -> Errors:
    name, key = _subscript(path)
    if key is not None:
        if name == "metadata.annotations":
            key = key.lower()
        if faults := validation.label_key(key, ctx.name_unit):
            yield from validation.each(f"{at}", key, faults, field.place_of(f"{at}.fieldPath"))
        return
    if path == "spec.host":
        path = "spec.nodeName"
    if path not in allowed:
        yield field.not_supported(f"{at}.fieldPath", path, allowed)


def _subscript(path: str) -> tuple[str, str | None]:
    """``metadata.labels['app']`` as its two parts; no key where there is no subscript.

    Upstream: SplitMaybeSubscriptedPath
    """
    name, opening, key = path.removesuffix("']").partition("['")
    return (name, key) if path.endswith("']") and opening and name else (path, None)


def resource_ref(ref: dict[str, Any], at: str, in_volume: bool) -> Errors:
    """A resourceFieldRef names an amount of a container, in a volume also the container, and a unit that suits it.

    Upstream: validateContainerResourceFieldSelector
    """
    resource = ref.get("resource", "")
    if in_volume and not ref.get("containerName"):
        yield field.required(f"{at}.containerName")
    elif not resource:
        yield field.required(f"{at}.resource")
    elif resource not in RESOURCES and not resource.startswith(HUGEPAGES):
        # Not an enum but a plain string, so it prints quoted as Go does.
        yield field.not_supported(f"{at}.resource", resource, RESOURCES)._replace(shown=go.quote(resource))
    divisor = ref.get("divisor", "0")
    # Judged as it prints: "1e0" is no 1. Zero means unset.
    if divisor != "0" and not quantity.parse(divisor).is_zero:
        units, text = _DIVISORS.get(resource, (None, ""))
        if units is None and resource.startswith(HUGEPAGES):
            units, text = _HUGEPAGES_DIVISORS
        if units is not None and divisor not in units:
            yield field.invalid(f"{at}.divisor", resource, text)
