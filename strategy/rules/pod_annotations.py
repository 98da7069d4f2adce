"""Pod annotations that the server reads: mirror pods, deletion cost, tolerations, and the old seccomp and AppArmor ones."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from podstrat.strategy import field
from podstrat.strategy.context import Context, Pod
from podstrat.strategy.decoding import codec
from podstrat.strategy.field import Errors
from podstrat.strategy.formats import go, validation
from podstrat.strategy.rules import profiles, tolerations

MIRROR = "kubernetes.io/config.mirror"
TOLERATIONS = "scheduler.alpha.kubernetes.io/tolerations"
DELETION_COST = "controller.kubernetes.io/pod-deletion-cost"
SECCOMP_POD = "seccomp.security.alpha.kubernetes.io/pod"
SECCOMP_CONTAINER = "container.seccomp.security.alpha.kubernetes.io/"
APPARMOR = "container.apparmor.security.beta.kubernetes.io/"
PROFILES = (SECCOMP_POD, SECCOMP_CONTAINER, APPARMOR)
CONTAINER_LISTS = ("initContainers", "containers", "ephemeralContainers")
_SAME = frozenset((("Unconfined", "unconfined"), ("RuntimeDefault", "runtime/default")))
SAME = {"apparmor": _SAME, "seccomp": _SAME | {("RuntimeDefault", "docker/default")}}
"""Types of profiles, and the annotations that say the same."""

# As the server reads it; nothing longer can be 32 bits, whatever its zeros.


def values(pod: Pod, ctx: Context) -> Errors:
    """What the annotations say is well formed.

    Upstream: ValidatePodSpecificAnnotations
    """
    annotations = pod["metadata"].get("annotations")
    if not annotations:
        return
    if MIRROR in annotations and not pod["spec"].get("nodeName"):
        text = "must set spec.nodeName if mirror pod annotation is set"
        yield field.invalid(f"metadata.annotations[{MIRROR}]", annotations[MIRROR], text)
    if annotations.get(TOLERATIONS):
        yield from _tolerations(annotations[TOLERATIONS], ctx)
    if DELETION_COST in annotations and "PodDeletionCost" in ctx.gates and not _bad_cost_stored(ctx):
        yield from _deletion_cost(annotations)
    if name_profiles(annotations):
        yield from _seccomp(annotations)
        yield from _apparmor(pod, annotations)


def name_profiles(annotations: Mapping[str, str]) -> bool:
    """Whether any of them is about seccomp or AppArmor, in the old way: nearly none is."""
    for key in annotations:  # noqa: SIM110 (any() would make a generator for every pod)
        if key.startswith(PROFILES):
            return True
    return False


def _tolerations(text: str, ctx: Context) -> Errors:
    """Upstream: ValidateTolerationsInPodAnnotations"""
    try:
        listed = codec.decode_list(text.encode(), "Toleration", ctx.types)
    except codec.DecodeError as error:
        yield field.invalid("metadata.annotations", TOLERATIONS, str(error), ("metadata", "annotations", TOLERATIONS))
        return
    place = ("metadata", "annotations", TOLERATIONS)
    for fault in tolerations.each(listed, f"metadata.annotations.{TOLERATIONS}", ctx):
        yield fault._replace(place=place)


def _deletion_cost(annotations: dict[str, str]) -> Errors:
    """Upstream: validatePodDeletionCost, GetDeletionCostFromPodAnnotations"""
    text = annotations[DELETION_COST]
    if not _is_int32(text):
        yield field.invalid(f"metadata.annotations[{DELETION_COST}]", text, "must be a 32bit integer")


def _is_int32(text: str) -> bool:
    return bool(re.fullmatch("0|-[0-9]{1,4000}|[1-9][0-9]{0,9}", text)) and -(2**31) <= int(text) < 2**31


def _bad_cost_stored(ctx: Context) -> bool:
    """A stored value that is already bad is left alone on update."""
    stored = None if ctx.old is None else (ctx.old["metadata"].get("annotations") or {}).get(DELETION_COST)
    return stored is not None and not _is_int32(stored)


def _seccomp(annotations: dict[str, str]) -> Errors:
    """Upstream: ValidateSeccompPodAnnotations"""
    if SECCOMP_POD in annotations:
        yield from seccomp_profile(annotations[SECCOMP_POD], SECCOMP_POD)
    for key, profile in annotations.items():
        if key.startswith(SECCOMP_CONTAINER):
            yield from seccomp_profile(profile, key)


def seccomp_profile(profile: str, key: str) -> Errors:
    """Upstream: ValidateSeccompProfile"""
    at, place = f"metadata.annotations.{key}", ("metadata", "annotations", key)
    if profile in ("runtime/default", "docker/default", "unconfined"):
        return
    if profile.startswith("localhost/"):
        path = profile.removeprefix("localhost/")
        yield from validation.each(at, path, validation.local_path(path), place)
    else:
        yield field.invalid(at, profile, "must be a valid seccomp profile", place)


def _apparmor(pod: Pod, annotations: dict[str, str]) -> Errors:
    """Upstream: ValidateAppArmorPodAnnotations"""
    names: set[str] | None = None
    for key, profile in annotations.items():
        if not key.startswith(APPARMOR):
            continue
        if names is None:
            names = _container_names(pod["spec"])
        name = key.removeprefix(APPARMOR)
        if name not in names:
            yield field.invalid(f"metadata.annotations[{key}]", name, "container not found", ("metadata", "annotations", key))
        if apparmor_field(profile) is None and profile:
            text, place = f"invalid AppArmor profile name: {go.quote(profile)}", ("metadata", "annotations", key)
            yield field.invalid(f"metadata.annotations[{key}]", profile, text, place)


def _container_names(spec: Pod) -> set[str]:
    return {container["name"] for key in CONTAINER_LISTS for container in spec.get(key) or ()}


def apparmor_field(profile: str) -> Pod | None:
    """The appArmorProfile that an annotation stands for; None if it stands for none."""
    if profile == "runtime/default":
        return {"type": "RuntimeDefault"}
    if profile == "unconfined":
        return {"type": "Unconfined"}
    if profile.startswith("localhost/"):
        return {"type": "Localhost", "localhostProfile": profile.removeprefix("localhost/")}
    return None


def updates(pod: Pod, old: Pod, ctx: Context) -> Errors:
    """AppArmor and mirror annotations stay as they were; the rest must still be well formed.

    Upstream: ValidatePodSpecificAnnotationUpdates
    """
    annotations = pod["metadata"].get("annotations") or {}
    stored = old["metadata"].get("annotations") or {}
    if annotations != stored:
        yield from _kept(annotations, stored)
    yield from values(pod, ctx)


def _kept(annotations: dict[str, str], stored: dict[str, str]) -> Errors:
    """What is gone or other than before comes first, then what is new."""
    for key in stored:
        if (what := _kept_kind(key)) and annotations.get(key) != stored[key]:
            yield field.forbidden(f"metadata.annotations[{key}]", f"may not remove or update {what}", _place(key))
    for key in annotations:
        if (what := _kept_kind(key)) and key not in stored:
            yield field.forbidden(f"metadata.annotations[{key}]", f"may not add {what}", _place(key))


def _kept_kind(key: str) -> str:
    """What an annotation is called that stays as it is; "" for the others."""
    return "AppArmor annotations" if key.startswith(APPARMOR) else "mirror pod annotation" if key == MIRROR else ""


def _place(key: str) -> field.Place:
    return ("metadata", "annotations", key)


def agree_with_fields(pod: Pod) -> Errors:
    """Where both the old annotation and the field are given, they say the same. Checked on create only.

    Upstream: validateSeccompAnnotationsAndFields, validateAppArmorAnnotationsAndFieldsMatchOnCreate
    """
    annotations = pod["metadata"].get("annotations")
    if not annotations or not name_profiles(annotations):
        return
    spec = pod["spec"]
    of_pod = spec.get("securityContext") or {}
    at = "spec.securityContext.seccompProfile"
    yield from _agrees(annotations.get(SECCOMP_POD), of_pod.get("seccompProfile"), at, "seccomp")
    for container, here in _containers(spec):
        profile = (container.get("securityContext") or {}).get("seccompProfile")
        at = f"{here}.securityContext.seccompProfile"
        yield from _agrees(annotations.get(SECCOMP_CONTAINER + container["name"]), profile, at, "seccomp")
    if (spec.get("os") or {}).get("name") == "windows":
        return
    for container, here in _containers(spec):
        profile = (container.get("securityContext") or {}).get("appArmorProfile") or of_pod.get("appArmorProfile")
        at = f"{here}.securityContext.appArmorProfile"
        yield from _agrees(annotations.get(APPARMOR + container["name"]), profile, at, "apparmor")


def _containers(spec: Pod) -> Iterator[tuple[Pod, str]]:
    for key in CONTAINER_LISTS:
        for i, container in enumerate(spec.get(key) or ()):
            yield container, f"spec.{key}[{i}]"


def _agrees(annotation: str | None, profile: Pod | None, at: str, what: str) -> Errors:
    """The annotation says what the field says; where the field is of no known type, it says nothing.

    Upstream: validateSeccompAnnotationsAndFieldsMatch, validateAppArmorAnnotationsAndFieldsMatchOnCreate
    """
    if annotation is None or profile is None:
        return
    kind = profile["type"]
    if kind == "Localhost" and annotation.startswith("localhost/"):
        if annotation.removeprefix("localhost/") != profile.get("localhostProfile"):
            yield field.forbidden(f"{at}.localhostProfile", f"{what} profile in annotation and field must match")
    elif kind in profiles.PROFILE_TYPES and (kind, annotation) not in SAME[what]:
        yield field.forbidden(f"{at}.type", f"{what} type in annotation and field must match")
