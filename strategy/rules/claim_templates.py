"""Volume claim templates of ephemeral volumes: metadata and the spec of a PersistentVolumeClaim."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from podstrat.strategy import field
from podstrat.strategy.context import Context
from podstrat.strategy.field import Errors
from podstrat.strategy.formats import quantity, validation
from podstrat.strategy.rules import meta, selectors

ACCESS_MODES = ("ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod")
VOLUME_MODES = ("Block", "Filesystem")

NO_ACCESS_MODE = "at least 1 access mode is required"
ALONE = "may not use ReadWriteOncePod with other access modes"
POSITIVE = "must be greater than zero"
CORE_GROUP = "must be 'PersistentVolumeClaim' when referencing the default apiGroup"
SAME_SOURCE = "must match dataSourceRef"
NOT_BESIDE_NAMESPACE = "may not be specified when dataSourceRef.namespace is specified"

_UNUSED_META = (
    *("name", "generateName", "namespace", "selfLink", "uid", "resourceVersion", "generation"),
    *("creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds"),
    *("ownerReferences", "finalizers", "managedFields"),
)
"""What a template's metadata may not have, in the order in which the type declares it."""
_SPELLED = {"uid": "uID"}


def volume(source: dict[str, Any], at: str, ctx: Context) -> Errors:
    """An ephemeral volume has a template for its claim.

    Upstream: validateEphemeralVolumeSource, ValidatePersistentVolumeClaimTemplate
    """
    template = source.get("volumeClaimTemplate")
    if template is None:
        yield field.required(f"{at}.volumeClaimTemplate")
        return
    if template["metadata"]:
        yield from metadata(template["metadata"], f"{at}.volumeClaimTemplate.metadata", ctx)
    yield from spec(template["spec"], f"{at}.volumeClaimTemplate.spec", ctx)


def metadata(metadata: dict[str, Any], at: str, ctx: Context) -> Errors:
    """A template has annotations and labels; the rest is made, so it may not be there, were it but an empty list.

    Upstream: ValidateTemplateObjectMeta
    """
    yield from meta.annotation_keys(metadata.get("annotations") or {}, ctx.name_unit, f"{at}.annotations")
    yield from meta.labels(metadata.get("labels") or {}, ctx.name_unit, f"{at}.labels")
    for key in _UNUSED_META:
        if key in metadata:
            yield field.forbidden(f"{at}.{_SPELLED.get(key, key)}", "cannot be set", field.place_of(f"{at}.{key}"))


def spec(spec: dict[str, Any], at: str, ctx: Context) -> Errors:
    """A claim says how it is accessed and how much storage it requests.

    Upstream: ValidatePersistentVolumeClaimSpec
    """
    modes = spec.get("accessModes") or ()
    if not modes:
        yield field.required(f"{at}.accessModes", NO_ACCESS_MODE)
    yield from selectors.label_selector(spec.get("selector"), f"{at}.selector", ctx)
    yield from _access_modes(modes, f"{at}.accessModes")
    yield from _storage(spec["resources"].get("requests") or {}, at)
    if name := spec.get("storageClassName"):
        yield from validation.each(f"{at}.storageClassName", name, validation.dns_subdomain(name))
    if "volumeMode" in spec and spec["volumeMode"] not in VOLUME_MODES:
        yield field.not_supported(f"{at}.volumeMode", spec["volumeMode"], VOLUME_MODES)
    if "dataSource" in spec or "dataSourceRef" in spec:
        yield from _data_sources(spec.get("dataSource"), spec.get("dataSourceRef"), at)
    # The gate could be switched off up to 1.35; the field stays then, but any name will do.
    if (name := spec.get("volumeAttributesClassName")) and "VolumeAttributesClass" in ctx.gates:
        yield from validation.each(f"{at}.volumeAttributesClassName", name, validation.dns_subdomain(name))


def _access_modes(modes: Sequence[str], at: str) -> Errors:
    """Access modes are known ones, and ReadWriteOncePod stands alone. The server's path has no index."""
    for i, mode in enumerate(modes):
        if mode not in ACCESS_MODES:
            yield field.not_supported(at, mode, ACCESS_MODES, (*field.place_of(at), i))
    if "ReadWriteOncePod" in modes and any(mode in ACCESS_MODES and mode != "ReadWriteOncePod" for mode in modes):
        yield field.forbidden(at, ALONE)


def _storage(requests: dict[str, str], at: str) -> Errors:
    """Some storage is requested. The server's path leaves out that it is a request."""
    if "storage" not in requests:
        yield field.required(f"{at}.resources[storage]", where=field.place_of(f"{at}.resources.requests.storage"))
    elif quantity.parse(requests["storage"]).sign <= 0:
        place = field.place_of(f"{at}.resources.requests.storage")
        yield field.invalid(f"{at}.resources[storage]", requests["storage"], POSITIVE, place)


def _data_sources(source: dict[str, Any] | None, ref: dict[str, Any] | None, at: str) -> Errors:
    """What the volume is filled from can be said in two ways, which agree if both are used."""
    if source is not None:
        yield from _data_source(source, f"{at}.dataSource")
    if ref is None:
        return
    yield from _data_source(ref, f"{at}.dataSourceRef")
    namespace = ref.get("namespace")
    if namespace:
        yield from validation.each(f"{at}.dataSourceRef.namespace", namespace, validation.dns_label(namespace))
    if source is None:
        return
    # The value is a path, which prints as nothing.
    if namespace:
        yield field.invalid(at, None, NOT_BESIDE_NAMESPACE, field.place_of(f"{at}.dataSource"), show="{}")
    elif any(source.get(key) != ref.get(key) for key in ("apiGroup", "kind", "name")):
        yield field.invalid(at, None, SAME_SOURCE, field.place_of(f"{at}.dataSource"), show="{}")


def _data_source(source: dict[str, Any], at: str) -> Errors:
    """An object is named in full; without a group it is a claim.

    Upstream: validateDataSource, validateDataSourceRef
    """
    if not source["name"]:
        yield field.required(f"{at}.name")
    if not source["kind"]:
        yield field.required(f"{at}.kind")
    group = source.get("apiGroup")
    if group:
        yield from validation.each(f"{at}.apiGroup", group, validation.dns_subdomain(group))
    elif source["kind"] != "PersistentVolumeClaim":
        yield field.invalid(at, source["kind"], CORE_GROUP, field.place_of(f"{at}.kind"))
