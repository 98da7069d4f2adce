"""Metadata: names, labels, annotations, owners, finalizers; what may change in it."""

from __future__ import annotations

from collections.abc import Sequence

from podstrat.strategy import field
from podstrat.strategy.context import V1_37, Context, Pod
from podstrat.strategy.field import Errors, FieldError
from podstrat.strategy.formats import go, validation

ANNOTATIONS_LIMIT = 256 * 1024  # upstream: TotalAnnotationSizeLimitB
MANAGER_LIMIT, SUBRESOURCE_LIMIT = 128, 256
STANDARD_FINALIZERS = ("kubernetes", "orphan", "foregroundDeletion")
IMMUTABLE = ("name", "namespace", "uid", "creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds")
_OWNER_FIELDS = ("apiVersion", "kind", "name", "uid", "controller", "blockOwnerDeletion")

LabelErrors = Sequence[FieldError]
"""What ``labels_and_owners`` yields. The server asks that up to four times, and repeats what it finds; we ask once."""


def on_create(
    meta: Pod, ctx: Context, form: validation.Format = validation.dns_subdomain, label_errors: LabelErrors | None = None
) -> Errors:
    """Upstream: ValidateObjectMeta of the core group"""
    if "generateName" in meta or form(meta.get("name", "")):
        yield from name(meta, form)
    yield from common(meta, ctx, label_errors)
    if meta.get("finalizers"):
        yield from qualified_finalizers(meta["finalizers"])


def on_write(meta: Pod, ctx: Context, label_errors: LabelErrors) -> Errors:
    """What every kind's metadata must be, whatever the endpoint.

    Upstream: ValidateObjectMetaAccessor
    """
    yield from path_segments(meta)
    yield from common(meta, ctx, label_errors)


def on_update(meta: Pod, old: Pod, label_errors: LabelErrors) -> Errors:
    """What may not change, and again what must hold.

    Upstream: ValidateObjectMetaAccessorUpdate
    """
    if "deletionTimestamp" in old:
        yield from no_new_finalizers(meta.get("finalizers") or (), old.get("finalizers") or ())
    for key in IMMUTABLE:
        if meta.get(key) != old.get(key):
            show = go.to_json(meta[key]) if key == "uid" and key in meta else None
            yield field.invalid(f"metadata.{key}", meta.get(key), "field is immutable", show=show)
    yield from label_errors


def on_pod_update(meta: Pod, old: Pod, label_errors: LabelErrors) -> Errors:
    """The same once more, as the pod's own validation runs it.

    Upstream: ValidateObjectMetaUpdate of the core group
    """
    yield from on_update(meta, old, label_errors)
    if meta.get("finalizers"):
        yield from qualified_finalizers(meta["finalizers"])


def name(meta: Pod, form: validation.Format = validation.dns_subdomain) -> Errors:
    """A name is a DNS subdomain, of some kinds a DNS label; generateName is the beginning of one."""
    prefix = meta.get("generateName")
    if prefix:
        yield from validation.each("metadata.generateName", prefix, validation.of_prefix(prefix, form))
    text = meta.get("name", "")
    if not text:
        yield field.required("metadata.name", "name or generateName is required")
    else:
        yield from validation.each("metadata.name", text, form(text))


def path_segments(meta: Pod) -> Errors:
    """Any kind's name can stand in a URL.

    Upstream: path.ValidatePathSegmentName
    """
    for key in ("generateName", "name"):
        text = meta.get(key, "")
        if text in (".", "..") and key == "name":
            yield field.invalid(f"metadata.{key}", text, f"may not be '{text}'")
        for part in "/%":
            if part in text:
                yield field.invalid(f"metadata.{key}", text, f"may not contain '{part}'")


def common(meta: Pod, ctx: Context, label_errors: LabelErrors | None) -> Errors:
    if meta.get("generation", 0) < 0:
        yield field.invalid("metadata.generation", meta["generation"], validation.NOT_NEGATIVE)
    yield from labels_and_owners(meta, ctx) if label_errors is None else label_errors
    if meta.get("finalizers"):
        yield from finalizers(meta["finalizers"], ctx.name_unit)
    if meta.get("managedFields"):
        yield from managers(meta["managedFields"])


def labels_and_owners(meta: Pod, ctx: Context) -> Errors:
    if meta.get("labels"):
        yield from labels(meta["labels"], ctx.name_unit, "metadata.labels")
    if meta.get("annotations"):
        yield from annotation_keys(meta["annotations"], ctx.name_unit, "metadata.annotations")
    if meta.get("ownerReferences"):
        yield from owners(meta["ownerReferences"], ctx)


def labels(labels: dict[str, str], unit: str, at: str, where: field.Place | None = None) -> Errors:
    """Keys are qualified names, values label values. The path names neither.

    Upstream: ValidateLabels
    """
    for key, value in labels.items():
        for message in validation.label_key(key, unit):
            yield field.invalid(at, key, message, (*(where or field.place_of(at)), key))
        for message in validation.label_value(value, unit):
            yield field.invalid(at, value, message, (*(where or field.place_of(at)), key))


def annotation_keys(annotations: dict[str, str], unit: str, at: str) -> Errors:
    """Keys are qualified names in any case, and all of it together has a limit.

    Upstream: ValidateAnnotations
    """
    size = 0
    for key, value in annotations.items():
        for message in validation.label_key(key.lower(), unit):
            yield field.invalid(at, key, message, (*field.place_of(at), key))
        size += len(key) + len(value)
    # A character has four bytes at the most, so only large ones need counting byte by byte.
    if size * 4 > ANNOTATIONS_LIMIT:
        size = sum(len(key.encode()) + len(value.encode()) for key, value in annotations.items())
        if size > ANNOTATIONS_LIMIT:
            yield field.too_long(at, ANNOTATIONS_LIMIT)


def owners(owners: Sequence[Pod], ctx: Context) -> Errors:
    """Each owner is named in full, none is an Event, and one at the most is the controller.

    Upstream: ValidateOwnerReferences
    """
    controller: Pod | None = None
    whole = ""
    for i, owner in enumerate(owners):
        if ctx.version >= V1_37:
            yield from _owner(owner, f"metadata.ownerReferences[{i}]")
        else:
            yield from _owner_without_index(owner, i)
        if not owner.get("controller"):
            continue
        if controller is not None:
            pair = f"{controller['kind']}/{controller['name']} and {owner['kind']}/{owner['name']}"
            whole = whole or go.to_json([_owner_in_order(each) for each in owners])
            yield field.invalid(
                "metadata.ownerReferences",
                owners,
                f'Only one reference can have Controller set to true. Found "true" in references for {pair}',
                ("metadata", "ownerReferences", i),
                show=whole,
            )
        else:
            controller = owner


def _owner(owner: Pod, at: str) -> Errors:
    """How 1.37 and later word it: the path has an index, and what is missing is Required."""
    version = owner["apiVersion"]
    if not version:
        yield field.required(f"{at}.apiVersion", "must not be empty")
    elif not _has_version(version):
        yield field.invalid(f"{at}.apiVersion", version, "must be <group>/<version> or <version>")
    for key in ("kind", "name", "uid"):
        if not owner[key]:
            yield field.required(f"{at}.{key}", "must not be empty")
    if _is_event(owner):
        yield field.invalid(at, owner, "/v1, Kind=Event is disallowed from being an owner", show=_owner_text(owner))


def _owner_without_index(owner: Pod, i: int) -> Errors:
    """How releases before 1.37 word it."""
    at, place = "metadata.ownerReferences", ("metadata", "ownerReferences", i)
    version = owner["apiVersion"]
    if not _has_version(version):
        yield field.invalid(f"{at}.apiVersion", version, "version must not be empty", (*place, "apiVersion"))
    for key in ("kind", "name", "uid"):
        if not owner[key]:
            yield field.invalid(f"{at}.{key}", owner[key], "must not be empty", (*place, key))
    if _is_event(owner):
        yield field.invalid(at, owner, "/v1, Kind=Event is disallowed from being an owner", place, show=_owner_text(owner))


def _has_version(api_version: str) -> bool:
    """``v1`` and ``apps/v1`` have one, ``apps/`` and ``a/b/c`` have none."""
    return api_version.count("/") < 2 and not api_version.endswith("/") and api_version != ""


def _is_event(owner: Pod) -> bool:
    """An Event of the core group, which may be written with its empty name before the slash."""
    return owner["kind"] == "Event" and owner["apiVersion"] in ("v1", "/v1")


def _owner_in_order(owner: Pod) -> Pod:
    return {key: owner[key] for key in _OWNER_FIELDS if key in owner}


def _owner_text(owner: Pod) -> str:
    return go.to_json(_owner_in_order(owner))


def finalizers(finalizers: Sequence[str], unit: str) -> Errors:
    """Finalizers are qualified names, and the garbage collector's two exclude each other.

    Upstream: ValidateFinalizers
    """
    both = set()
    for i, finalizer in enumerate(finalizers):
        faults = validation.label_key(finalizer, unit)
        yield from validation.each("metadata.finalizers", finalizer, faults, ("metadata", "finalizers", i))
        both.add(finalizer)
    if "orphan" in both and "foregroundDeletion" in both:
        text = "finalizer orphan and foregroundDeletion cannot be both set"
        yield field.invalid("metadata.finalizers", list(finalizers), text)


def managers(entries: Sequence[Pod]) -> Errors:
    """A field manager has a name that can be, and no long subresource. What else a client says does not reach this point.

    Upstream: ValidateManagedFields
    """
    for i, entry in enumerate(entries):
        yield from manager_name(entry.get("manager", ""), f"metadata.managedFields[{i}].manager")
        if len(entry.get("subresource", "").encode()) > SUBRESOURCE_LIMIT:
            yield field.too_long(f"metadata.managedFields[{i}].subresource", SUBRESOURCE_LIMIT)


def manager_name(name: str, path: str) -> Errors:
    """The name of a field manager is short, and all of it can be printed.

    Upstream: ValidateFieldManager
    """
    if len(name.encode()) > MANAGER_LIMIT:
        yield field.too_long(path, MANAGER_LIMIT)
    if name.isprintable():
        return
    at = 0
    for char in name:
        if not char.isprintable():
            yield field.invalid(path, name, f"invalid character U+{ord(char):04X} (at position {at})")
        at += len(char.encode())


def qualified_finalizers(finalizers: Sequence[str]) -> Errors:
    """A finalizer of one's own has a domain before it.

    Upstream: ValidateFinalizerName of the core group
    """
    for i, finalizer in enumerate(finalizers):
        if "/" not in finalizer and finalizer not in STANDARD_FINALIZERS:
            text = "name is neither a standard finalizer name nor is it fully qualified"
            yield field.invalid(f"metadata.finalizers[{i}]", finalizer, text)


def no_new_finalizers(finalizers: Sequence[str], old: Sequence[str]) -> Errors:
    """An object that is being deleted gets no new finalizers.

    Upstream: ValidateNoNewFinalizers
    """
    before = set(old)
    extra = sorted({finalizer for finalizer in finalizers if finalizer not in before})
    if extra:
        listed = ", ".join(map(go.quote, extra))
        text = "no new finalizers can be added if the object is being deleted, found new finalizers []string{%s}"
        yield field.forbidden("metadata.finalizers", text % listed)
