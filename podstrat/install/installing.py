"""Installing, step by step: the server first; then, when it answers and its certificate is there, what makes others call it.

Every step can be repeated, and none depends on what an earlier run has done or left undone: one that was killed in the middle is
run again. A later version is installed over an earlier one in the same order.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import NamedTuple

from podstrat.install import objects
from podstrat.install.cluster import Cluster, Refused
from podstrat.install.objects import Object, Wanted

OLDEST = (1, 30)
"""The first release in which match conditions are there for good. Without them we would get every status write of every pod."""
POLL_SECONDS = 0.5
CERT_MANAGER = "cert-manager.io/v1"
PROMETHEUS = "monitoring.coreos.com/v1"

Say = Callable[[str], None]


class NotReady(Exception):
    """Something was not there in time; the text says what, and what to type next."""


class Patience(NamedTuple):
    """How long to wait. Time is told from outside, for tests."""

    seconds: float = 300.0
    clock: Callable[[], float] = time.monotonic
    sleep: Callable[[float], None] = time.sleep

    def until(self, done: Callable[[], str | None], say: Say) -> None:
        """Waits until there is nothing left to wait for; ``done`` says what there still is."""
        end = self.clock() + self.seconds
        said = ""
        while missing := done():
            if missing != said:
                say(f"waiting: {missing}")
                said = missing
            if self.clock() >= end:
                raise NotReady(missing)
            self.sleep(POLL_SECONDS)


# ---- looking first -----------------------------------------------------------------------------------


def release(cluster: Cluster) -> tuple[int, int]:
    """The release of the API server."""
    told = cluster.get("/version") or {}
    try:
        return int(told["major"]), int(told["minor"].rstrip("+"))
    except (KeyError, ValueError):
        raise Refused(f"this is no Kubernetes API server: it calls itself {told.get('gitVersion', 'nothing')}") from None


def serves(cluster: Cluster, api_version: str) -> bool:
    """Whether the server has a group and version that not every server has."""
    return cluster.get(f"/apis/{api_version}") is not None


def fitted(cluster: Cluster, wanted: Wanted, monitoring: bool | None) -> Wanted:
    """What is wanted, fitted to the cluster; Refused if it cannot be had there. Monitoring: None for as it comes."""
    major, minor = release(cluster)
    if (major, minor) < OLDEST:
        raise Refused(f"Kubernetes {major}.{minor} is too old: match conditions need {OLDEST[0]}.{OLDEST[1]} or later")
    if wanted.overlay == "cert-manager" and not serves(cluster, CERT_MANAGER):
        raise Refused("cert-manager is not installed in this cluster: install it first, or take the overlay production")
    there = serves(cluster, PROMETHEUS)
    if monitoring and not there:
        raise Refused("the Prometheus operator is not installed in this cluster: install it first, or leave --monitoring out")
    return wanted._replace(server_version=f"{major}.{minor}", monitoring=there and monitoring is not False)


# ---- the steps ---------------------------------------------------------------------------------------


def install(cluster: Cluster, wanted: Wanted, patience: Patience, say: Say) -> None:
    """All of it."""
    everything = objects.load(wanted)
    namespace = _namespace(cluster, wanted, patience, say)
    for obj in everything:
        if obj["kind"] == "Namespace" and namespace is not None and not objects.is_ours(namespace):
            say(f"{objects.title(obj)} is somebody else's, and stays as it is")
        elif not objects.is_configuration(obj):
            _apply(cluster, obj, say)
    wait_for_server(cluster, everything, patience, say)
    for obj in everything:
        if objects.is_configuration(obj):
            _apply(cluster, with_trust(cluster, obj, wanted.namespace), say)
    patience.until(lambda: _untrusted(cluster, everything, wanted.namespace), say)
    for obj in left_over(cluster, everything, wanted.namespace):
        if cluster.delete(obj):
            say(f"{objects.title(obj)} deleted: the overlay {wanted.overlay} has no such object")


def planned(cluster: Cluster, wanted: Wanted, say: Say) -> None:
    """What `install` would do; the server is asked, and nothing is changed."""
    everything = objects.load(wanted)
    there = cluster.get(f"/api/v1/namespaces/{wanted.namespace}")
    for obj in everything:
        if obj["kind"] == "Namespace" and there is not None and not objects.is_ours(there):
            say(f"{objects.title(obj)} is somebody else's, and stays as it is (dry run)")
        elif there is None and "namespace" in obj["metadata"]:
            # In a namespace that is not there nothing can be tried.
            say(f"{objects.title(obj)} created (dry run)")
        else:
            made = with_trust(cluster, obj, wanted.namespace) if objects.is_configuration(obj) else obj
            say(f"{objects.title(obj)} {cluster.apply(made, dry_run=True).outcome} (dry run)")
    for obj in left_over(cluster, everything, wanted.namespace):
        say(f"{objects.title(obj)} deleted (dry run)")


def _namespace(cluster: Cluster, wanted: Wanted, patience: Patience, say: Say) -> Object | None:
    """The namespace as it is; one that is on its way out is waited for."""
    where = f"/api/v1/namespaces/{wanted.namespace}"

    def going() -> str | None:
        found = cluster.get(where)
        leaving = found is not None and "deletionTimestamp" in found["metadata"]
        return f"namespace/{wanted.namespace} is still being deleted" if leaving else None

    patience.until(going, say)
    return cluster.get(where)


def _apply(cluster: Cluster, obj: Object, say: Say) -> None:
    say(f"{objects.title(obj)} {cluster.apply(obj).outcome}")


def wait_for_server(cluster: Cluster, everything: list[Object], patience: Patience, say: Say) -> None:
    """Until every replica is of the new template, and ready."""
    deployment = next(obj for obj in everything if obj["kind"] == "Deployment")
    where, name = objects.path(deployment), f"--namespace {deployment['metadata']['namespace']} deployment/{objects.NAME}"
    try:
        patience.until(lambda: rollout(cluster.get(where)), say)
    except NotReady as missing:
        raise NotReady(
            f"{missing}, after {patience.seconds:g} s. Nothing calls the webhook yet.\n"
            f"Look at it with: kubectl describe {name}; kubectl logs {name}\n"
            f"Then run the same command again, or: podstrat webhook uninstall"
        ) from None


def rollout(deployment: Object | None) -> str | None:
    """What a Deployment still lacks; None if nothing.

    Upstream: DeploymentStatusViewer.Status (kubectl)
    """
    if deployment is None:
        return "the Deployment is not there"
    spec, status = deployment["spec"], deployment.get("status") or {}
    wanted = spec.get("replicas", 1)
    if status.get("observedGeneration", 0) < deployment["metadata"].get("generation", 0):
        return "the Deployment has not been looked at yet"
    updated, available = status.get("updatedReplicas", 0), status.get("availableReplicas", 0)
    if updated < wanted:
        return f"{updated} of {wanted} replicas are of the new template"
    if status.get("replicas", 0) > updated:
        return f"{status['replicas'] - updated} old replicas are still there"
    if available < updated:
        return f"{available} of {wanted} replicas are ready"
    return None


# ---- trust -------------------------------------------------------------------------------------------


def published(cluster: Cluster, namespace: str) -> str:
    """The bundle that clients are to trust, as a caBundle, from the Secret of the replicas; empty if there is none."""
    secret = cluster.get(f"/api/v1/namespaces/{namespace}/secrets/{objects.SECRET}") or {}
    bundle: str = (secret.get("data") or {}).get("ca.crt") or ""
    return bundle


def with_trust(cluster: Cluster, configuration: Object, namespace: str) -> Object:
    """A configuration with its caBundle, so that there is no moment in which we are called and not trusted.

    What has been applied once must be said again, or it would be taken away: without a Secret it is what is there already.
    cert-manager fills its own in.
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
        found = objects.bundles(cluster.get(objects.path(obj)) or {})
        if not found or not all(found):
            return f"{objects.title(obj)} has no caBundle yet"
        if not _is_injected(obj) and any(each != published(cluster, namespace) for each in found):
            return f"the caBundle of {objects.title(obj)} is not that of the Secret yet"
    return None


def left_over(cluster: Cluster, everything: list[Object], namespace: str) -> Iterator[Object]:
    """What another overlay has brought, and this one does not have: last in, first out."""
    wanted = {objects.path(obj) for obj in everything}
    for obj in possible(cluster, namespace):
        found = None if objects.path(obj) in wanted else cluster.get(objects.path(obj))
        if found is not None and objects.is_ours(found):
            yield obj


def possible(cluster: Cluster, namespace: str) -> list[Object]:
    """Everything of ours that may be in a cluster, last in first out: of kinds that it has."""
    missing = {each for each in (CERT_MANAGER, PROMETHEUS) if not serves(cluster, each)}
    return [obj for obj in reversed(objects.every(namespace)) if obj["apiVersion"] not in missing]
