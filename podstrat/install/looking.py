"""Whether the webhook is installed and well: what is there, what is missing, and until when the certificate is good."""

from __future__ import annotations

import base64
import binascii
from datetime import UTC, datetime
from typing import Any, NamedTuple

from podstrat.install import installing, objects
from podstrat.install.cluster import Cluster
from podstrat.install.objects import Object, Wanted

SOON_DAYS = 14
SECRETS = {"secret": (objects.SECRET, "tls.crt"), "files": ("podstrat-webhook-cert-manager", "tls.crt")}
"""Where the certificate is, by the setting `certificates`."""


class Row(NamedTuple):
    """One thing that was looked at."""

    what: str
    good: bool
    text: str

    def as_dict(self) -> dict[str, Any]:
        return self._asdict()


def look(cluster: Cluster, namespace: str, now: datetime) -> list[Row]:
    """Everything, in the order in which a request meets it. Nothing installed is one row."""
    wanted = objects.load(Wanted(namespace=namespace))
    configurations = {obj["kind"]: cluster.get(objects.path(obj)) for obj in wanted if objects.is_configuration(obj)}
    (planned,) = [obj for obj in wanted if obj["kind"] == "Deployment"]
    deployment = cluster.get(objects.path(planned))
    if deployment is None and not any(configurations.values()):
        return [Row("webhook", False, f"not installed in namespace {namespace}")]
    certificates = _setting(deployment or planned, "PODSTRAT_WEBHOOK__CERTIFICATES") or "files"
    bundle = installing.published(cluster, namespace) if certificates == "secret" else None
    rows = [_configuration(kind, found, bundle) for kind, found in configurations.items()]
    rows.append(_deployment(deployment))
    rows.append(_certificate(cluster, namespace, certificates, now))
    if certificates == "secret":
        rows.append(_lease(cluster, namespace))
    return rows


def _configuration(kind: str, found: Object | None, bundle: str | None) -> Row:
    """``bundle``: what the replicas want to be trusted by; None if somebody else sees to it."""
    if found is None:
        return Row(kind, False, "not there: the API server does not call the webhook")
    hooks = found.get("webhooks") or []
    policies = ", ".join(f"{hook['name']} {_policy(hook)}" for hook in hooks) or "no webhooks"
    trusted = objects.bundles(found)
    if not hooks or not all(trusted):
        return Row(kind, False, f"{policies}: no caBundle yet, so the webhook cannot be called")
    if bundle is not None and any(each != bundle for each in trusted):
        return Row(kind, False, f"{policies}: its caBundle is not that of the Secret")
    return Row(kind, True, policies)


def _policy(hook: Object) -> str:
    return "fails open" if hook.get("failurePolicy") == "Ignore" else "fails closed"


def _deployment(found: Object | None) -> Row:
    missing = installing.rollout(found)
    if found is None:
        return Row("Deployment", False, "not there")
    image = found["spec"]["template"]["spec"]["containers"][0].get("image", "")
    available = (found.get("status") or {}).get("availableReplicas", 0)
    return Row("Deployment", missing is None, f"{missing or f'{available} replicas ready'}, {image}")


def _setting(deployment: Object, name: str) -> str:
    for container in deployment["spec"]["template"]["spec"]["containers"]:
        for variable in container.get("env") or ():
            if variable["name"] == name:
                return str(variable.get("value", ""))
    return ""


def _certificate(cluster: Cluster, namespace: str, certificates: str, now: datetime) -> Row:
    from certs import reading

    name, key = SECRETS[certificates]
    secret = cluster.get(f"/api/v1/namespaces/{namespace}/secrets/{name}")
    text = ((secret or {}).get("data") or {}).get(key)
    if not text:
        return Row("certificate", False, f"there is none in secret/{name}")
    try:
        facts = reading.facts(base64.b64decode(text))
    except (binascii.Error, ValueError, reading.Unreadable) as error:
        return Row("certificate", False, f"the one in secret/{name} cannot be read: {error}")
    days = (facts.ends - now).total_seconds() / 86400
    told = f"good until {facts.ends:%Y-%m-%d %H:%M} UTC, {days:.0f} days"
    if not facts.is_valid(now):
        return Row("certificate", False, f"ended at {facts.ends:%Y-%m-%d %H:%M} UTC")
    # A certificate that is made to live for a few days is renewed in good time as well.
    if days < SOON_DAYS and facts.left(now) < 0.2:
        return Row("certificate", False, f"{told}, and has not been renewed")
    return Row("certificate", True, told)


def _lease(cluster: Cluster, namespace: str) -> Row:
    lease = cluster.get(f"/apis/coordination.k8s.io/v1/namespaces/{namespace}/leases/{objects.NAME}")
    holder = ((lease or {}).get("spec") or {}).get("holderIdentity") or ""
    return Row("renewal", bool(holder), f"by {holder}" if holder else "by nobody: no replica holds the Lease")


def now() -> datetime:
    return datetime.now(UTC)
