"""Environment variables of containers: their names and where their values come from."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from podstrat.strategy import field
from podstrat.strategy.context import Context
from podstrat.strategy.field import Errors
from podstrat.strategy.formats import validation
from podstrat.strategy.rules import refs

CONTAINER_LISTS = ("initContainers", "containers", "ephemeralContainers")

NO_SOURCE = "must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef`, `secretKeyRef` or `fileKeyRef`"
NO_SOURCE_BUT_FILES = "must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef` or `secretKeyRef`"
WITH_VALUE = "may not be specified when `value` is not empty"
ONE_AT_A_TIME = "may not have more than one field specified at a time"
NO_MAP = "must specify one of: `configMapRef` or `secretRef`"
NOT_EMPTY_DIR = "referenced volume must be of type emptyDir"


def variables(container: dict[str, Any], at: str, ctx: Context) -> Errors:
    """Each variable has a name of printable ASCII without ``=``, and at most one source.

    Upstream: ValidateEnv
    """
    for i, variable in enumerate(container["env"]):
        name = variable["name"]
        if not name:
            yield field.required(f"{at}.env[{i}].name")
        elif faults := validation.env_name(name):
            yield from validation.each(f"{at}.env[{i}].name", name, faults)
        if "valueFrom" in variable and not _is_plain(variable):
            yield from _value_from(variable, f"{at}.env[{i}].valueFrom", ctx)


def _is_plain(variable: dict[str, Any]) -> bool:
    """Whether a variable's only source is a well-formed key or a field: so nearly all are, and nothing is wrong with them."""
    source = variable["valueFrom"]
    if len(source) > 1 or "value" in variable:
        return False
    ref = source.get("secretKeyRef") or source.get("configMapKeyRef")
    if ref:
        return not validation.dns_subdomain(ref.get("name", "")) and not validation.config_key(ref.get("key", ""))
    ref = source.get("fieldRef")
    return bool(ref) and refs.is_plain(ref, refs.ENV_FIELDS)


def _value_from(variable: dict[str, Any], at: str, ctx: Context) -> Errors:
    """A variable has a value or exactly one source of it.

    Upstream: validateEnvVarValueFrom
    """
    source = variable["valueFrom"]
    for kind in source if len(source) == 1 else _SOURCES:
        if kind in source:
            yield from _SOURCES[kind](source[kind], f"{at}.{kind}", ctx)
    # Its only members are the sources.
    if not source:
        yield field.invalid(at, "", NO_SOURCE if ctx.allows("EnvFiles") else NO_SOURCE_BUT_FILES)
    elif variable.get("value"):
        yield field.invalid(at, "", WITH_VALUE)
    elif len(source) > 1:
        yield field.invalid(at, "", ONE_AT_A_TIME)


def _field_ref(ref: dict[str, Any], at: str, ctx: Context) -> Errors:
    return refs.field_ref(ref, at, refs.ENV_FIELDS, ctx)


def _resource_ref(ref: dict[str, Any], at: str, ctx: Context) -> Errors:
    return refs.resource_ref(ref, at, in_volume=False)


def _key_ref(ref: dict[str, Any], at: str, ctx: Context) -> Errors:
    """A key of a ConfigMap or Secret: both parts are well formed, and an empty name is a bad one.

    Upstream: validateConfigMapKeySelector, validateSecretKeySelector
    """
    name, key = ref.get("name", ""), ref.get("key", "")
    if faults := validation.dns_subdomain(name):
        yield from validation.each(f"{at}.name", name, faults)
    if not key:
        yield field.required(f"{at}.key")
    elif faults := validation.config_key(key):
        yield from validation.each(f"{at}.key", key, faults)


def _file_ref(ref: dict[str, Any], at: str, ctx: Context) -> Errors:
    """A key in a file of a volume; the path does not climb, but may be absolute.

    Upstream: validateFileKeySelector
    """
    key, volume, path = ref.get("key", ""), ref.get("volumeName", ""), ref.get("path", "")
    if not key:
        yield field.required(f"{at}.key")
    elif faults := validation.env_name(key):
        yield from validation.each(f"{at}.key", key, faults)
    if not volume:
        yield field.required(f"{at}.volumeName")
    elif faults := validation.dns_label(volume):
        yield from validation.each(f"{at}.volumeName", volume, faults)
    if not path:
        yield field.required(f"{at}.path")
    elif ".." in path.split("/"):
        yield field.invalid(f"{at}.path", path, "must not contain '..'")


_SOURCES: dict[str, Callable[[dict[str, Any], str, Context], Errors]] = {
    "fieldRef": _field_ref,
    "resourceFieldRef": _resource_ref,
    "configMapKeyRef": _key_ref,
    "secretKeyRef": _key_ref,
    "fileKeyRef": _file_ref,
}
"""The rule of each source, in the server's order."""


def imports(container: dict[str, Any], at: str) -> Errors:
    """Each envFrom takes all keys of one ConfigMap or one Secret.

    Upstream: ValidateEnvFrom; which of them has no source or two, its path does not say.
    """
    for i, source in enumerate(container["envFrom"]):
        prefix = source.get("prefix")
        if prefix and (faults := validation.env_name(prefix)):
            yield from validation.each(f"{at}.envFrom[{i}].prefix", prefix, faults)
        config_map, secret = source.get("configMapRef"), source.get("secretRef")
        if config_map is not None:
            yield from _whole(config_map, f"{at}.envFrom[{i}].configMapRef")
        if secret is not None:
            yield from _whole(secret, f"{at}.envFrom[{i}].secretRef")
        if config_map is None and secret is None:
            yield field.invalid(f"{at}.envFrom", "", NO_MAP, field.place_of(f"{at}.envFrom[{i}]"))
        elif config_map is not None and secret is not None:
            yield field.invalid(f"{at}.envFrom", "", ONE_AT_A_TIME, field.place_of(f"{at}.envFrom[{i}]"))


def _whole(ref: dict[str, Any], at: str) -> Errors:
    """Upstream: validateConfigMapEnvSource, validateSecretEnvSource; the name is judged as a prefix, so ``cm-`` passes."""
    name = ref.get("name", "")
    if not name:
        yield field.required(f"{at}.name")
    elif faults := validation.dns_subdomain_prefix(name):
        yield from validation.each(f"{at}.name", name, faults)


def file_key_volumes(spec: dict[str, Any], at: str, ctx: Context) -> Errors:
    """A fileKeyRef reads from an emptyDir volume of the pod.

    Upstream: validateFileKeyRefVolumes; it runs after all other rules of the spec and also trusts volumes that were refused.
    """
    if not _reads_files(spec):
        return
    for kind in CONTAINER_LISTS:
        for i, container in enumerate(spec.get(kind) or ()):
            for j, variable in enumerate(container.get("env") or ()):
                if "fileKeyRef" in variable.get("valueFrom", ()):
                    ref = variable["valueFrom"]["fileKeyRef"]
                    yield from _file_volume(ref, f"{at}.{kind}[{i}].env[{j}].valueFrom.fileKeyRef", spec)


def _reads_files(spec: dict[str, Any]) -> bool:
    """Whether any variable has a fileKeyRef: in most pods none has."""
    for kind in CONTAINER_LISTS:
        for container in spec.get(kind) or ():
            for variable in container.get("env", ()):
                if "valueFrom" in variable and "fileKeyRef" in variable["valueFrom"]:
                    return True
    return False


def _file_volume(ref: dict[str, Any], at: str, spec: dict[str, Any]) -> Errors:
    name = ref.get("volumeName", "")
    volume = {volume["name"]: volume for volume in spec.get("volumes") or ()}.get(name)
    if volume is None:
        yield field.not_found(f"{at}.volumeName", name)
    elif "emptyDir" not in volume:
        yield field.invalid(f"{at}.volumeName", name, NOT_EMPTY_DIR)
