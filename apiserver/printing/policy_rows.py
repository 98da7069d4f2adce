"""The columns and cells of quotas, limits, claims, accounts and classes."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any, Final

from podstrat.apiserver.printing.cells import AGE, CREATED, NAME, UNSET, Cells, Column, Object, age, name, named_and_created

_MODES: Final = {"ReadWriteOnce": "RWO", "ReadOnlyMany": "ROX", "ReadWriteMany": "RWX", "ReadWriteOncePod": "RWOP"}
BETA_CLASS: Final = "volume.beta.kubernetes.io/storage-class"


def access_modes(modes: Sequence[str] | None) -> str:
    """Upstream: GetAccessModesAsString"""
    return ",".join(short for mode, short in _MODES.items() if mode in (modes or ()))


def _claim(obj: Object, now: datetime) -> list[Any]:
    """Upstream: printPersistentVolumeClaim"""
    metadata, spec, status = (obj.get(key) or {} for key in ("metadata", "spec", "status"))
    phase = "Terminating" if metadata.get("deletionTimestamp") else status.get("phase", "")
    volume, capacity, modes = spec.get("volumeName", ""), "", ""
    if volume:
        capacity = (status.get("capacity") or {}).get("storage", "0")
        modes = access_modes(status.get("accessModes"))
    storage_class = (metadata.get("annotations") or {}).get(BETA_CLASS) or spec.get("storageClassName") or ""
    attributes = spec.get("volumeAttributesClassName") or UNSET
    cells = [phase, volume, capacity, modes, storage_class, attributes]
    return [name(obj), *cells, age(obj, now), spec.get("volumeMode") or UNSET]


def _quota(obj: Object, now: datetime) -> list[Any]:
    """Upstream: printResourceQuota"""
    status = obj.get("status") or {}
    hard, usage = status.get("hard") or {}, status.get("used") or {}
    texts = {each: f"{each}: {usage.get(each, '0')}/{hard[each]}" for each in sorted(hard)}
    limits = [each for each in texts if each.startswith("limits.")]
    columns = (", ".join(texts[each] for each in texts if (each in limits) == is_limit) for is_limit in (False, True))
    return [name(obj), *columns, age(obj, now)]


def _priority_class(obj: Object, now: datetime) -> list[Any]:
    """Upstream: printPriorityClass"""
    policy = obj.get("preemptionPolicy", "")
    return [name(obj), obj.get("value", 0), bool(obj.get("globalDefault")), age(obj, now), policy]


def _runtime_class(obj: Object, now: datetime) -> list[Any]:
    return [name(obj), obj.get("handler", ""), age(obj, now)]


def _policy(obj: Object, now: datetime) -> list[Any]:
    """Upstream: printValidatingAdmissionPolicy, printMutatingAdmissionPolicy"""
    spec = obj.get("spec") or {}
    count = len(spec.get("validations") or spec.get("mutations") or ())
    kind = spec.get("paramKind")
    return [name(obj), count, f"{kind.get('apiVersion', '')}/{kind.get('kind', '')}" if kind else UNSET, age(obj, now)]


def _binding(obj: Object, now: datetime) -> list[Any]:
    """Upstream: printValidatingAdmissionPolicyBinding, printMutatingAdmissionPolicyBinding"""
    spec = obj.get("spec") or {}
    ref = spec.get("paramRef")
    text = f"{ref.get('namespace') or '*'}/{ref.get('name') or '*'}" if ref else UNSET
    return [name(obj), spec.get("policyName", ""), text, age(obj, now)]


_PARAM_KIND: Final = Column("ParamKind", "The kind of the parameters.")
_BINDING: Final = (
    NAME,
    Column("PolicyName", "The policy that is bound."),
    Column("ParamRef", "The parameters of the policy."),
    AGE,
)
KINDS: Final[dict[str, tuple[tuple[Column, ...], Cells]]] = {
    "PersistentVolumeClaim": (
        (
            NAME,
            Column("Status", "Whether the claim is bound."),
            Column("Volume", "The volume that the claim is bound to."),
            Column("Capacity", "How much storage the volume has."),
            Column("Access Modes", "How the volume can be mounted."),
            Column("StorageClass", "The class of the storage."),
            Column("VolumeAttributesClass", "The class of the volume's attributes."),
            AGE,
            Column("VolumeMode", "Whether the volume is a file system or a block device.", priority=1),
        ),
        _claim,
    ),
    "ResourceQuota": (
        (
            NAME,
            Column("Request", "What is used and what may be used, of requests and counts."),
            Column("Limit", "What is used and what may be used, of limits."),
            AGE,
        ),
        _quota,
    ),
    "PriorityClass": (
        (
            NAME,
            Column("Value", "The priority.", "integer"),
            Column("Global-Default", "Whether pods without a class have it.", "boolean"),
            AGE,
            Column("PreemptionPolicy", "Whether pods of the class displace others."),
        ),
        _priority_class,
    ),
    "RuntimeClass": ((NAME, Column("Handler", "The runtime that is configured on the nodes."), AGE), _runtime_class),
    "ValidatingAdmissionPolicy": (
        (NAME, Column("Validations", "How many validations the policy has.", "integer"), _PARAM_KIND, AGE),
        _policy,
    ),
    "MutatingAdmissionPolicy": (
        (NAME, Column("Mutations", "How many mutations the policy has.", "integer"), _PARAM_KIND, AGE),
        _policy,
    ),
    "ValidatingAdmissionPolicyBinding": (_BINDING, _binding),
    "MutatingAdmissionPolicyBinding": (_BINDING, _binding),
    "LimitRange": ((NAME, CREATED), named_and_created),
}
