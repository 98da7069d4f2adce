"""The text of the server's internal structs, where an error shows one or the difference of two.

Inside the server an object has no JSON names: a struct is printed with its Go names, in the order in which the release declares
them, with every field, set or not. Only types of meta/v1 keep the names that they have on the wire.
"""

from __future__ import annotations

import json
import os
from functools import cache
from typing import Any

from podstrat.strategy.context import Version
from podstrat.strategy.formats import go

Row = tuple[str, str, Any, str]
"""Go name ("" if the fields stand among those around them), JSON key, zero value, struct ("" for anything else)."""
Table = dict[str, tuple[Row, ...]]

_FIRST_MINOR = 34  # 1.34, the oldest release of the tables
_TABLES = os.path.join(os.path.dirname(__file__), "tables")

_META = {
    "Condition": ("type", "status", "observedGeneration", "lastTransitionTime", "reason", "message"),
    "LabelSelector": ("matchLabels", "matchExpressions"),
    "LabelSelectorRequirement": ("key", "operator", "values"),
    "ManagedFieldsEntry": ("manager", "operation", "apiVersion", "time", "fieldsType", "fieldsV1", "subresource"),
    "ObjectMeta": (
        *("name", "generateName", "namespace", "selfLink", "uid", "resourceVersion", "generation"),
        *("creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds"),
        *("labels", "annotations", "ownerReferences", "finalizers", "managedFields"),
    ),
    "OwnerReference": ("apiVersion", "kind", "name", "uid", "controller", "blockOwnerDeletion"),
}
"""The structs of meta/v1: their JSON keys in declared order."""

_META_STRUCTS = {
    "matchExpressions": "LabelSelectorRequirement",
    "ownerReferences": "OwnerReference",
    "managedFields": "ManagedFieldsEntry",
    "fieldsV1": "FieldsV1",
}

_AS_SENT = ("FieldsV1", "RawExtension")
"""Types that hold any JSON."""
_MAP = "map "
"""Before the name of a struct: a map of them, by strings."""
_HOST_FIELDS = ("hostNetwork", "hostPID", "hostIPC", "shareProcessNamespace", "hostUsers")


def text(type_name: str, value: dict[str, Any] | list[Any] | None, version: Version) -> str:
    """A struct, or a list of them, as the server shows it in an error: ``{"Name":"gpu","ResourceClaimName":null}``."""
    return go.to_json(_printed(type_name, value, version))


def spec_diff(old: dict[str, Any], new: dict[str, Any], version: Version) -> str:
    """What differs between two pod specs, for the error that says which fields an update may change.

    Upstream: ValidatePodUpdate
    """
    return diff("PodSpec", old, new, version)


def container_diff(old: dict[str, Any], new: dict[str, Any], version: Version) -> str:
    """What differs between two ephemeral containers of one name.

    Upstream: ValidatePodEphemeralContainersUpdate
    """
    return diff("EphemeralContainer", old, new, version)


def diff(type_name: str, old: dict[str, Any], new: dict[str, Any], version: Version) -> str:
    """What differs between two structs: a unified diff without file names of both as indented JSON; "" if they print the same."""
    before, after = (_lines(_printed(type_name, value, version)) for value in (old, new))
    from podstrat.strategy.formats import diff

    return diff.unified(before, after)


def _lines(value: Any) -> list[str]:
    # Not splitlines: a string may hold what Python takes for the end of a line.
    return [f"{line}\n" for line in go.to_json(value, indent=" ").split("\n")]


def _printed(type_name: str, value: dict[str, Any] | list[Any] | None, version: Version) -> Any:
    """The value with the names, the order and the zero values of the internal type."""
    return _named(type_name.removeprefix("[]"), value, _table(version))


def _with_host_fields(spec: dict[str, Any]) -> dict[str, Any]:
    """Up to 1.36 what a pod shares with its host is internally part of its security context."""
    shared = {key: spec[key] for key in _HOST_FIELDS if key in spec}
    return spec | {"securityContext": (spec.get("securityContext") or {}) | shared}


def _named(struct: str, value: Any, table: Table) -> Any:
    if value is None or struct in _AS_SENT:
        return value
    if isinstance(value, list):
        return [_named(struct, item, table) for item in value]
    if struct in _META:
        return _meta(struct, value, table)
    if struct.startswith(_MAP):
        return {key: _named(struct.removeprefix(_MAP), inner, table) for key, inner in sorted(value.items())}
    if struct == "PodSpec" and any(key == _HOST_FIELDS[0] for _, key, _, _ in table["PodSecurityContext"]):
        value = _with_host_fields(value)
    if struct:
        return _struct(table[struct], value, table)
    return dict(sorted(value.items())) if isinstance(value, dict) else value


def _struct(rows: tuple[Row, ...], value: dict[str, Any], table: Table) -> dict[str, Any]:
    printed: dict[str, Any] = {}
    for name, key, zero, struct in rows:
        item = value.get(key)
        value_text = _named(struct, zero if item is None else item, table)
        if name:
            printed[name] = value_text
        else:
            printed.update(value_text)
    return printed


def _meta(struct: str, value: dict[str, Any], table: Table) -> dict[str, Any]:
    """A struct of meta/v1 as on the wire, where empty lists and maps are left out."""
    return {
        key: _named(_META_STRUCTS.get(key, ""), value[key], table)
        for key in _META[struct]
        if key in value and (value[key] not in ([], {}) or key == "fieldsV1")
    }


@cache
def _table(version: Version) -> Table:
    """The structs of a release: those of the first, replaced by what each later one changed."""
    table: Table = {}
    for minor in range(_FIRST_MINOR, version[1] + 1):
        with open(os.path.join(_TABLES, f"1.{minor}", "internal.json"), "rb") as file:
            structs = json.loads(file.read())
        for struct, rows in structs.items():
            table[struct] = tuple((name, key, zero, of_struct[0] if of_struct else "") for name, key, zero, *of_struct in rows)
    return table
