"""ServiceAccount: every pod runs as a service account, with a token to mount and the account's image pull secrets.

Upstream: the admission plugin ServiceAccount
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from podstrat.strategy import errors
from podstrat.strategy.admission import references
from podstrat.strategy.admission.attributes import Attributes
from podstrat.strategy.admission.plugins import VALIDATING, Write
from podstrat.strategy.admission.world import SERVICE_ACCOUNT, Unknown
from podstrat.strategy.formats import go
from podstrat.strategy.rules.projected import service_account_token

Object = dict[str, Any]

MIRROR = "kubernetes.io/config.mirror"
ENFORCE = "kubernetes.io/enforce-mountable-secrets"
TRUE = ("1", "t", "T", "true", "TRUE", "True")
"""Upstream: strconv.ParseBool"""
DEFAULT = "default"
PREFIX = "kube-api-access-"
MOUNT_PATH = "/var/run/secrets/kubernetes.io/serviceaccount"


def concerns(write: Write) -> bool:
    """New pods; and ephemeral containers, which are only validated."""
    if write.operation == "CREATE":
        return not write.subresource
    return write.phase == VALIDATING and write.operation == "UPDATE" and write.subresource == "ephemeralcontainers"


def mutate(request: Attributes, config: None) -> Iterator[str]:
    """Upstream: Plugin.Admit"""
    pod = request.object
    if _is_mirror(pod):
        _check_mirror(request, pod["spec"])
        return
    spec = pod["spec"]
    if not spec.get("serviceAccountName"):
        spec["serviceAccountName"] = DEFAULT
        yield "spec.serviceAccountName"
    spec["serviceAccount"] = spec["serviceAccountName"]
    account = _account(request, spec["serviceAccountName"])
    if _wants_token(spec, account):
        yield from _mount_token(spec, request.suffix)
    if not spec.get("imagePullSecrets") and account.get("imagePullSecrets"):
        spec["imagePullSecrets"] = [{"name": each["name"]} if each.get("name") else {} for each in account["imagePullSecrets"]]
        yield "spec.imagePullSecrets"
    _check_secrets(request, spec, account)


def validate(request: Attributes, config: None) -> Iterator[str]:
    """Upstream: Plugin.Validate"""
    spec = request.object.get("spec") or {}
    if request.operation == "CREATE":
        if _is_mirror(request.object):
            _check_mirror(request, spec)
        else:
            _check_secrets(request, spec, _account(request, spec.get("serviceAccountName", "")))
    else:
        account = _account(request, spec.get("serviceAccountName", ""))
        if _enforces(account):
            for text in _container_secrets(spec.get("ephemeralContainers"), "ephemeral container", account):
                # The only one that the server returns as a plain error.
                raise errors.ServerError(text)
    yield from ()


def _is_mirror(pod: Object) -> bool:
    return MIRROR in (pod["metadata"].get("annotations") or ())


# ---- mirror pods -------------------------------------------------------------------------------------------


def _check_mirror(request: Attributes, spec: Object) -> None:
    """A pod that a node reports cannot refer to what a node might not read."""
    if spec.get("serviceAccountName"):
        raise request.forbidden("a mirror pod may not reference service accounts")
    if references.has_secrets(spec):
        raise request.forbidden("a mirror pod may not reference secrets")
    sources = (source for volume in spec.get("volumes") or () for source in references.projected(volume))
    if any(source.get("serviceAccountToken") is not None for source in sources):
        raise request.forbidden("a mirror pod may not use ServiceAccountToken volume projections")


# ---- other pods --------------------------------------------------------------------------------------------


def _account(request: Attributes, name: str) -> Object:
    """The service account; an empty one where the world does not know. Looked up once for both phases."""
    known: tuple[str, Object] | None = request.memory.get("ServiceAccount")
    if known is not None and known[0] == name:
        return known[1]
    account = _found(request, name)
    request.memory["ServiceAccount"] = name, account
    return account


def _found(request: Attributes, name: str) -> Object:
    try:
        account = request.find(SERVICE_ACCOUNT, name, request.namespace)
    except Unknown as unknown:
        request.hint(unknown)
        return {}
    if account is None:
        words = f'serviceaccount "{name}" not found'
        raise request.forbidden(f"error looking up service account {request.namespace}/{name}: {words}")
    return account


def _wants_token(spec: Object, account: Object) -> bool:
    for holder in (spec, account):
        wanted = holder.get("automountServiceAccountToken")
        if wanted is not None:
            return bool(wanted)
    return True


def _mount_token(spec: Object, suffix: str) -> list[str]:
    """Adds a volume with a token, the cluster's CA and the namespace, where a container mounts nothing else; the fields set.

    Upstream: mountServiceAccountToken
    """
    volumes = spec.get("volumes") or []
    existing = next((volume["name"] for volume in volumes if str(volume.get("name", "")).startswith(PREFIX)), None)
    name = PREFIX + suffix if existing is None else existing
    changed: list[str] = []
    for key in ("initContainers", "containers"):
        for index, container in enumerate(spec.get(key) or ()):
            mounts = container.get("volumeMounts") or []
            if MOUNT_PATH in [mount.get("mountPath") for mount in mounts]:
                continue
            container["volumeMounts"] = [*mounts, {"name": name, "readOnly": True, "mountPath": MOUNT_PATH}]
            changed.append(f"spec.{key}[{index}].volumeMounts[{len(mounts)}]")
    if changed and existing is None:
        spec["volumes"] = [*volumes, {"name": name, "projected": service_account_token()}]
        changed.append(f"spec.volumes[{len(volumes)}]")
    return changed


# ---- mountable secrets -------------------------------------------------------------------------------------


def _enforces(account: Object) -> bool:
    annotations = (account.get("metadata") or {}).get("annotations") or {}
    return annotations.get(ENFORCE) in TRUE


def _check_secrets(request: Attributes, spec: Object, account: Object) -> None:
    """An account may say that its pods mount no other secrets than those it names.

    Upstream: limitSecretReferences
    """
    if _enforces(account):
        for text in _foreign_secrets(spec, account):
            raise request.forbidden(text)


def _foreign_secrets(spec: Object, account: Object) -> Iterator[str]:
    named, own = _named(account, "secrets"), _shown(account)
    for volume in spec.get("volumes") or ():
        secret = volume.get("secret")
        if secret is not None and secret.get("secretName", "") not in named:
            words = f"is not allowed because service account {own} does not reference that secret"
            yield f"volume with secret.secretName={go.quote(secret.get('secretName', ''))} {words}"
    yield from _container_secrets(spec.get("initContainers"), "init container", account)
    yield from _container_secrets(spec.get("containers"), "container", account)
    pullable = _named(account, "imagePullSecrets")
    for index, secret in enumerate(spec.get("imagePullSecrets") or ()):
        if secret.get("name", "") not in pullable:
            name = go.quote(secret.get("name", ""))
            words = f"is not allowed because service account {own} does not reference that imagePullSecret"
            yield f"imagePullSecrets[{index}].name={name} {words}"


def _container_secrets(containers: Iterable[Object] | None, what: str, account: Object) -> Iterator[str]:
    named = _named(account, "secrets")
    words = f"is not allowed because service account {_shown(account)} does not reference that secret"
    for container in containers or ():
        for env in container.get("env") or ():
            ref = (env.get("valueFrom") or {}).get("secretKeyRef")
            if ref is not None and ref.get("name", "") not in named:
                secret = go.quote(ref.get("name", ""))
                yield f"{what} {container['name']} with envVar {env['name']} referencing secret.secretName={secret} {words}"
        for source in container.get("envFrom") or ():
            ref = source.get("secretRef")
            if ref is not None and ref.get("name", "") not in named:
                secret = go.quote(ref.get("name", ""))
                yield f"{what} {container['name']} with envFrom referencing secret.secretName={secret} {words}"


def _named(account: Object, key: str) -> frozenset[str]:
    return frozenset(each.get("name", "") for each in account.get(key) or () if isinstance(each, Mapping))


def _shown(account: Object) -> str:
    return str((account.get("metadata") or {}).get("name", ""))
