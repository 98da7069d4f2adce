"""Install and upgrade: the server first; the webhook configurations once it is ready and has a certificate.

Every step is idempotent and none depends on what an earlier run has done: an interrupted run is repeated. Upgrades follow the
same order.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import NamedTuple

from podstrat.install import objects
from podstrat.install.apply import Cluster, Refused
from podstrat.install.objects import Installation, Object

OLDEST = (1, 30)
"""The first release with matchConditions in v1. Without them every status update of every pod would be sent."""
POLL_SECONDS = 0.5  # a rollout takes seconds; two reads a second cost the server nothing
CERT_MANAGER = "cert-manager.io/v1"
PROMETHEUS = "monitoring.coreos.com/v1"

Say = Callable[[str], None]


class NotReady(Exception):
    """Timeout; the message says what is missing and what to run next."""


class Patience(NamedTuple):
    """How long to wait; clock and sleep are parameters for tests."""

    seconds: float = 300.0
    clock: Callable[[], float] = time.monotonic
    sleep: Callable[[float], None] = time.sleep

    def until(self, missing: Callable[[], str | None], say: Say) -> None:
        """Polls until ``missing`` returns None; otherwise it returns what is still missing."""
        end = self.clock() + self.seconds
        reported = ""
        while text := missing():
            if text != reported:
                say(f"waiting: {text}")
                reported = text
            if self.clock() >= end:
                raise NotReady(text)
            self.sleep(POLL_SECONDS)


# ---- preconditions -----------------------------------------------------------------------------------


def release(cluster: Cluster) -> tuple[int, int]:
    """The release of the API server."""
    version = cluster.get("/version") or {}
    try:
        return int(version["major"]), int(version["minor"].rstrip("+"))
    except (KeyError, ValueError):
        raise Refused(f"not a Kubernetes API server: /version says {version.get('gitVersion', 'nothing')}") from None


def serves(cluster: Cluster, api_version: str) -> bool:
    """Whether the server serves an optional API group and version."""
    return cluster.get(f"/apis/{api_version}") is not None


def fitted(cluster: Cluster, plan: Installation, monitoring: bool | None) -> Installation:
    """Adapts the request to the cluster; Refused if it cannot be met. ``monitoring`` None: if the operator is there."""
    major, minor = release(cluster)
    if (major, minor) < OLDEST:
        raise Refused(f"Kubernetes {major}.{minor} is not supported: matchConditions require {OLDEST[0]}.{OLDEST[1]} or later")
    if plan.overlay == "cert-manager" and not serves(cluster, CERT_MANAGER):
        raise Refused("cert-manager is not installed in this cluster: install it first, or use the overlay production")
    there = serves(cluster, PROMETHEUS)
    if monitoring and not there:
        raise Refused("the Prometheus operator is not installed in this cluster: install it first, or omit --monitoring")
    return plan._replace(server_version=f"{major}.{minor}", monitoring=there and monitoring is not False)


# ---- the steps ---------------------------------------------------------------------------------------


def install(cluster: Cluster, plan: Installation, patience: Patience, say: Say) -> None:
    """Installs or upgrades everything."""
    everything = objects.load(plan)
    namespace = _namespace(cluster, plan, patience, say)
    for obj in everything:
        if obj["kind"] == "Namespace" and namespace is not None and not objects.is_ours(namespace):
            say(f"{objects.title(obj)} exists and is not managed by podstrat: left unchanged")
        elif not objects.is_configuration(obj):
            _apply(cluster, obj, say)
    wait_for_server(cluster, everything, patience, say)
    for obj in everything:
        if objects.is_configuration(obj):
            _apply(cluster, with_trust(cluster, obj, plan.namespace), say)
    patience.until(lambda: _untrusted(cluster, everything, plan.namespace), say)
    for obj in left_over(cluster, everything, plan.namespace):
        if cluster.delete(obj):
            say(f"{objects.title(obj)} deleted: not part of overlay {plan.overlay}")


def planned(cluster: Cluster, plan: Installation, say: Say) -> None:
    """Server-side dry run of `install`."""
    everything = objects.load(plan)
    there = cluster.get(f"/api/v1/namespaces/{plan.namespace}")
    for obj in everything:
        if obj["kind"] == "Namespace" and there is not None and not objects.is_ours(there):
            say(f"{objects.title(obj)} exists and is not managed by podstrat: left unchanged (dry run)")
        elif there is None and "namespace" in obj["metadata"]:
            # A dry run needs the namespace.
            say(f"{objects.title(obj)} created (dry run)")
        else:
            target = with_trust(cluster, obj, plan.namespace) if objects.is_configuration(obj) else obj
            say(f"{objects.title(obj)} {cluster.apply(target, dry_run=True).outcome} (dry run)")
    for obj in left_over(cluster, everything, plan.namespace):
        say(f"{objects.title(obj)} deleted (dry run)")


def _namespace(cluster: Cluster, plan: Installation, patience: Patience, say: Say) -> Object | None:
    """The namespace; waits while it is being deleted."""
    where = f"/api/v1/namespaces/{plan.namespace}"

    def going() -> str | None:
        current = cluster.get(where)
        leaving = current is not None and "deletionTimestamp" in current["metadata"]
        return f"namespace/{plan.namespace} is still being deleted" if leaving else None

    patience.until(going, say)
    return cluster.get(where)


def _apply(cluster: Cluster, obj: Object, say: Say) -> None:
    say(f"{objects.title(obj)} {cluster.apply(obj).outcome}")


def wait_for_server(cluster: Cluster, everything: list[Object], patience: Patience, say: Say) -> None:
    """Waits until the rollout of the Deployment is complete."""
    deployment = next(obj for obj in everything if obj["kind"] == "Deployment")
    where, name = objects.path(deployment), f"--namespace {deployment['metadata']['namespace']} deployment/{objects.NAME}"
    try:
        patience.until(lambda: rollout(cluster.get(where)), say)
    except NotReady as error:
        raise NotReady(
            f"timeout after {patience.seconds:g} s: {error}. The webhook configurations are not registered yet.\n"
            f"Diagnose with: kubectl describe {name}; kubectl logs {name}\n"
            f"Then run the same command again, or: podstrat webhook uninstall"
        ) from None


def rollout(deployment: Object | None) -> str | None:
    """What is missing for the rollout to be complete; None if it is.

    Upstream: DeploymentStatusViewer.Status (kubectl)
    """
    if deployment is None:
        return "the Deployment does not exist"
    spec, status = deployment["spec"], deployment.get("status") or {}
    desired = spec.get("replicas", 1)
    if status.get("observedGeneration", 0) < deployment["metadata"].get("generation", 0):
        return "waiting for the Deployment spec update to be observed"
    updated, available = status.get("updatedReplicas", 0), status.get("availableReplicas", 0)
    if updated < desired:
        return f"{updated} of {desired} replicas are updated"
    if status.get("replicas", 0) > updated:
        return f"{status['replicas'] - updated} old replicas are pending termination"
    if available < updated:
        return f"{available} of {desired} replicas are available"
    return None


# ---- trust -------------------------------------------------------------------------------------------


def published(cluster: Cluster, namespace: str) -> str:
    """The caBundle from the Secret of the replicas; empty if there is none."""
    secret = cluster.get(f"/api/v1/namespaces/{namespace}/secrets/{objects.SECRET}") or {}
    bundle: str = (secret.get("data") or {}).get("ca.crt") or ""
    return bundle


def with_trust(cluster: Cluster, configuration: Object, namespace: str) -> Object:
    """The configuration with its caBundle, so that it is never registered without one.

    Server-side apply removes fields that were applied before and are left out now: without a Secret the stored caBundle is
    repeated. cert-manager injects its own.
    """
    if _is_injected(configuration):
        return configuration
    bundle = published(cluster, namespace)
    if not bundle:
        bundle = next(iter(objects.bundles(cluster.get(objects.path(configuration)) or {})), "")
    return objects.with_bundle(configuration, bundle) if bundle else configuration


def _is_injected(configuration: Object) -> bool:
    return objects.INJECTED in (configuration["metadata"].get("annotations") or {})


def _untrusted(cluster: Cluster, everything: list[Object], namespace: str) -> str | None:
    for obj in filter(objects.is_configuration, everything):
        bundles = objects.bundles(cluster.get(objects.path(obj)) or {})
        if len(bundles) < len(obj["webhooks"]) or not all(bundles):
            return f"{objects.title(obj)} has no caBundle yet"
        if not _is_injected(obj) and any(each != published(cluster, namespace) for each in bundles):
            return f"the caBundle of {objects.title(obj)} is not that of the Secret yet"
    return None


def left_over(cluster: Cluster, everything: list[Object], namespace: str) -> Iterator[Object]:
    """Objects of another overlay that this one does not have, in reverse order."""
    paths = {objects.path(obj) for obj in everything}
    for obj in possible(cluster, namespace):
        leftover = None if objects.path(obj) in paths else cluster.get(objects.path(obj))
        if leftover is not None and objects.is_ours(leftover):
            yield obj


def possible(cluster: Cluster, namespace: str) -> list[Object]:
    """All objects of ours that a cluster may have, in reverse order, of the kinds that it serves."""
    missing = {each for each in (CERT_MANAGER, PROMETHEUS) if not serves(cluster, each)}
    return [obj for obj in reversed(objects.every(namespace)) if obj["apiVersion"] not in missing]
