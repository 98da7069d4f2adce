"""Status of the installation, each check in the order in which a request depends on it.

What is stored is compared with what is shipped, and a dry run is sent through every entry: an object that exists is not yet an
object that works.
"""

from __future__ import annotations

import base64
import binascii
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, NamedTuple

from podstrat.install import install, objects, trial
from podstrat.install.apply import Cluster
from podstrat.install.objects import Installation, Object

if TYPE_CHECKING:
    from podstrat.webhook.settings import Settings

SOON_DAYS = 14  # two weeks: renewal should have come long before, and there is time to act
SECRETS = {"secret": (objects.SECRET, "tls.crt"), "files": ("podstrat-webhook-cert-manager", "tls.crt")}
"""Where the certificate is, by the setting `certificates`."""


class Row(NamedTuple):
    """One check."""

    what: str
    good: bool
    text: str

    def as_dict(self) -> dict[str, Any]:
        return self._asdict()


def look(cluster: Cluster, namespace: str, now: datetime, probe_namespace: str = "default") -> list[Row]:
    """All checks; a single row if nothing is installed."""
    shipped = objects.load(Installation(namespace=namespace))
    stored = {obj["kind"]: cluster.get(objects.path(obj)) for obj in shipped if objects.is_configuration(obj)}
    (planned,) = [obj for obj in shipped if obj["kind"] == "Deployment"]
    deployment = cluster.get(objects.path(planned))
    if deployment is None and not any(stored.values()):
        return [Row("webhook", False, f"not installed in namespace {namespace}")]
    settings = objects.settings_of(deployment or planned, namespace)
    release = ".".join(map(str, install.release(cluster)))
    rows = [_release(settings, release)]
    entries = _entries(settings, release)
    bundle = install.published(cluster, namespace) if settings.certificates == "secret" else None
    rows += [_configuration(kind, configuration, entries[kind], bundle) for kind, configuration in stored.items()]
    rows += [_deployment(deployment), _endpoints(cluster, namespace)]
    rows.append(_certificate(cluster, namespace, settings.certificates, now))
    rows.append(_lease(cluster, namespace))
    rows += [Row(*row) for row in trial.rows(cluster, stored, probe_namespace, release)]
    return rows


def _release(settings: Settings, release: str) -> Row:
    """Which release the replicas work for, and what they cannot do for it."""
    from podstrat.webhook import activation

    if settings.server_version not in ("auto", release):
        return Row("release", False, f"the API server is {release}, but server_version is set to {settings.server_version}")
    decisions = activation.decide(settings.model_copy(update={"server_version": release}))
    on = ", ".join(name for name, decision in decisions.items() if decision.on)
    limits = "" if activation.is_engine_release(release) else "; not a release of the engine: without its rules"
    return Row("release", True, f"{release}: {on or 'no concern'} on{limits}")


def _entries(settings: Settings, release: str) -> dict[str, list[Object]]:
    """The entries that should be registered, by kind of configuration."""
    from podstrat.webhook import registration
    from podstrat.webhook.chain import Chain

    resolved = settings.model_copy(update={"server_version": release})
    shipped = registration.entries(resolved, Chain(resolved))
    return {name: shipped[kind] for kind, name in registration.KINDS.items()}


def _configuration(kind: str, configuration: Object | None, shipped: list[Object], bundle: str | None) -> Row:
    """``bundle``: the expected caBundle; None if cert-manager injects it."""
    from podstrat.webhook import registration

    if configuration is None:
        return Row(kind, False, "not found: the API server does not call the webhook")
    hooks = [hook for hook in configuration.get("webhooks") or () if registration.is_ours(hook)]
    policies = ", ".join(f"{hook['name']} {_policy(hook)}" for hook in hooks) or "no entries, none needed"
    if differences := registration.drift(configuration, shipped):
        return Row(kind, False, f"differs from what is shipped: {'; '.join(differences)}")
    trusted = objects.bundles({"webhooks": hooks})
    if not all(trusted):
        return Row(kind, False, f"{policies}: no caBundle, so the webhook cannot be called")
    if bundle is not None and any(each != bundle for each in trusted):
        return Row(kind, False, f"{policies}: caBundle differs from the Secret")
    return Row(kind, True, policies)


def _policy(hook: Object) -> str:
    return "fails open" if hook.get("failurePolicy") == "Ignore" else "fails closed"


def _deployment(deployment: Object | None) -> Row:
    missing = install.rollout(deployment)
    if deployment is None:
        return Row("Deployment", False, "not found")
    image = deployment["spec"]["template"]["spec"]["containers"][0].get("image", "")
    available = (deployment.get("status") or {}).get("availableReplicas", 0)
    if deployment["spec"].get("replicas", 1) == 0:
        missing = "scaled to 0 replicas"
    return Row("Deployment", missing is None, f"{missing or f'{available} replicas available'}, {image}")


def _endpoints(cluster: Cluster, namespace: str) -> Row:
    """The ready addresses behind the Service, which is what the API server connects to."""
    if not install.serves(cluster, "discovery.k8s.io/v1"):
        return Row("endpoints", True, "not checked: the API server does not serve discovery.k8s.io/v1")
    where = f"/apis/discovery.k8s.io/v1/namespaces/{namespace}/endpointslices"
    slices = (cluster.get(f"{where}?labelSelector=kubernetes.io%2Fservice-name%3D{objects.NAME}") or {}).get("items") or []
    endpoints = [each for one in slices for each in one.get("endpoints") or ()]
    ready = [each for each in endpoints if (each.get("conditions") or {}).get("ready") is not False]
    return Row("endpoints", bool(ready), f"{len(ready)} of {len(endpoints)} ready" if endpoints else "none behind the Service")


def _certificate(cluster: Cluster, namespace: str, certificates: str, now: datetime) -> Row:
    from podstrat.certs import inspect

    name, key = SECRETS[certificates]
    secret = cluster.get(f"/api/v1/namespaces/{namespace}/secrets/{name}")
    text = ((secret or {}).get("data") or {}).get(key)
    if not text:
        return Row("certificate", False, f"not found in secret/{name}")
    try:
        facts = inspect.facts(base64.b64decode(text))
    except (binascii.Error, ValueError, inspect.Unreadable) as error:
        return Row("certificate", False, f"secret/{name}: {error}")
    days = (facts.ends - now).total_seconds() / 86400
    validity = f"valid until {facts.ends:%Y-%m-%d %H:%M} UTC, {days:.0f} days"
    if not facts.is_valid(now):
        return Row("certificate", False, f"expired at {facts.ends:%Y-%m-%d %H:%M} UTC")
    # Short-lived certificates are renewed by their share of lifetime.
    if days < SOON_DAYS and facts.left(now) < 0.2:
        return Row("certificate", False, f"{validity}, not renewed")
    return Row("certificate", True, validity)


def _lease(cluster: Cluster, namespace: str) -> Row:
    lease = cluster.get(f"/apis/coordination.k8s.io/v1/namespaces/{namespace}/leases/{objects.NAME}")
    holder = ((lease or {}).get("spec") or {}).get("holderIdentity") or ""
    return Row("leader", bool(holder), holder or "no replica holds the Lease")


def now() -> datetime:
    return datetime.now(UTC)
