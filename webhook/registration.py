"""Registration: the webhook configurations as shipped, restricted to the entries that are needed, and kept that way.

| part of an entry                                  | source                                                        |
|---------------------------------------------------|---------------------------------------------------------------|
| presence                                          | the concerns that are on                                      |
| rules, matchConditions, service, path, and others | the shipped manifests                                         |
| failurePolicy                                     | the settings, unless the owner annotated the configuration    |
| namespaceSelector, objectSelector, timeoutSeconds | the owner; the shipped ones when a removed entry is restored  |
| caBundle                                          | the certificates                                              |

Entries under other names than ours are left alone.
"""

from __future__ import annotations

import base64
import copy
import logging
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any

from podstrat.certs.cluster import Cluster, Conflict
from podstrat.webhook.chain import Chain, Phase
from podstrat.webhook.settings import Settings

Object = dict[str, Any]

COLLECTIONS = {
    "mutating": "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations",
    "validating": "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations",
}
KINDS = {"mutating": "MutatingWebhookConfiguration", "validating": "ValidatingWebhookConfiguration"}
SUFFIX = ".podstrat.dev"
"""The names of our entries are a phase and this."""
OWN_POLICY = "podstrat.dev/failure-policy"
"""An annotation of a configuration: its owner decides about failurePolicy."""
SHIPPED = ("rules", "matchConditions", "sideEffects", "matchPolicy", "reinvocationPolicy", "admissionReviewVersions")
POLICY_PHASES = ("validate", "policy")
"""The entries whose failurePolicy is a setting; the others always fail open."""
OPT_IN = {"podstrat.dev/webhook": "enabled"}
SHIPPED_NAMESPACE, SHIPPED_SERVICE = "podstrat-system", "podstrat-webhook"
log = logging.getLogger("podstrat.webhook")


def entries(settings: Settings, chain: Chain) -> dict[str, list[Object]]:
    """The wanted entries of each configuration, without caBundle."""
    entries = {}
    for kind, shipped in _shipped().items():
        active = [entry for entry in shipped if chain.names(phase_of(entry))]
        entries[kind] = [_adapted(entry, settings) for entry in active]
    return entries


def phase_of(entry: Object) -> Phase:
    phase: Phase = entry["clientConfig"]["service"]["path"].removeprefix("/")
    return phase


@cache
def _shipped() -> dict[str, list[Object]]:
    """Every entry of manifests/rendered/complete.yaml, by kind."""
    from podstrat import goyaml

    text = resources.files("podstrat.manifests").joinpath("rendered", "complete.yaml").read_bytes()
    objects = [document.value for document in goyaml.documents(text, "complete.yaml")]
    return {kind: next(obj["webhooks"] for obj in objects if obj["kind"] == name) for kind, name in KINDS.items()}


def _adapted(entry: Object, settings: Settings) -> Object:
    """An entry with the names and policies of the settings."""
    copied: Object = copy.deepcopy(entry)
    copied["clientConfig"]["service"] |= {"namespace": settings.namespace, "name": settings.service}
    if phase_of(copied) in POLICY_PHASES:
        copied["failurePolicy"] = settings.failure_policy
    selector = copied["namespaceSelector"]
    for expression in selector["matchExpressions"]:
        expression["values"] = [settings.namespace if each == SHIPPED_NAMESPACE else each for each in expression["values"]]
    if settings.opt_in:
        selector["matchLabels"] = dict(OPT_IN)
    return copied


# ---- stored and wanted -------------------------------------------------------------------------------


def is_ours(entry: Object) -> bool:
    return str(entry.get("name", "")).endswith(SUFFIX)


def drift(configuration: Object, shipped: list[Object]) -> list[str]:
    """How a stored configuration differs from the wanted entries, one text a difference."""
    return list(_drift(configuration, shipped))


def _drift(configuration: Object, shipped: list[Object]) -> Iterator[str]:
    stored = {entry.get("name"): entry for entry in configuration.get("webhooks") or () if is_ours(entry)}
    for entry in shipped:
        current = stored.pop(entry["name"], None)
        if current is None:
            yield f"{entry['name']} is missing"
            continue
        healed = _healed(current, entry, configuration, "")
        for key in (*SHIPPED, "clientConfig", "failurePolicy"):
            if healed.get(key) != current.get(key):
                yield f"{entry['name']}: {key} differs"
    for name in stored:
        yield f"{name} is not needed"


def healed(configuration: Object, shipped: list[Object], bundle: str) -> Object:
    """The configuration with the wanted entries; ``bundle`` is the caBundle, in base64, for entries that have none."""
    stored = {entry.get("name"): entry for entry in configuration.get("webhooks") or ()}
    foreign = [entry for entry in stored.values() if not is_ours(entry)]
    own = [_healed(stored.get(entry["name"]) or {}, entry, configuration, bundle) for entry in shipped]
    return {**configuration, "webhooks": own + foreign}


def _healed(current: Object, shipped: Object, configuration: Object, bundle: str) -> Object:
    """One entry; ``current`` is empty for an entry that was removed."""
    entry = {**shipped, **current, **{key: shipped[key] for key in SHIPPED if key in shipped}}
    client = current.get("clientConfig") or {}
    if "url" not in client:
        trusted = client.get("caBundle") or bundle
        entry["clientConfig"] = {**shipped["clientConfig"], **({"caBundle": trusted} if trusted else {})}
    if not current or OWN_POLICY not in ((configuration.get("metadata") or {}).get("annotations") or {}):
        entry["failurePolicy"] = shipped["failurePolicy"]
    return entry


# ---- in the cluster ----------------------------------------------------------------------------------


class Reconciler:
    """Keeps the configurations of a cluster as they should be, or reports how they differ."""

    def __init__(
        self,
        cluster: Cluster,
        settings: Settings,
        shipped: Callable[[], Mapping[str, list[Object]]],
        report: Callable[[str, int, bool], None] = lambda kind, differences, repaired: None,
    ) -> None:
        self._cluster = cluster
        self._settings = settings
        self._shipped = shipped
        self._report = report
        names = {"mutating": settings.mutating_configuration, "validating": settings.validating_configuration}
        self._paths = {kind: f"{COLLECTIONS[kind]}/{name}" for kind, name in names.items() if name}
        self._logged: dict[str, list[str]] = {}

    def round(self) -> None:
        """Compares, and repairs with the resourceVersion that was read. A concurrent write is compared in the next round."""
        stored = {kind: self._cluster.get(path) for kind, path in self._paths.items()}
        bundle = self._bundle(stored)
        for kind, configuration in stored.items():
            if configuration is not None:
                self._compare(kind, configuration, self._shipped()[kind], bundle)

    def _compare(self, kind: str, configuration: Object, shipped: list[Object], bundle: str) -> None:
        differences = drift(configuration, shipped)
        repair = bool(differences) and self._settings.registration == "manage"
        if differences and differences != self._logged.get(kind):
            log.warning(
                "webhook configuration differs",
                extra={"fields": {"kind": KINDS[kind], "differences": differences, "repair": repair}},
            )
        self._logged[kind] = differences
        if repair:
            try:
                self._cluster.replace(self._paths[kind], healed(configuration, shipped, bundle))
            except Conflict:
                return
        self._report(kind, len(differences), repair)

    def _bundle(self, stored: Mapping[str, Object | None]) -> str:
        """A caBundle for entries without one: that of another entry, or of the replica's own files."""
        for configuration in stored.values():
            for entry in (configuration or {}).get("webhooks") or ():
                if bundle := (entry.get("clientConfig") or {}).get("caBundle"):
                    return str(bundle)
        return own_bundle(self._settings.cert_dir) if self._settings.certificates == "secret" else ""


def own_bundle(folder: Path) -> str:
    """ca.crt of a folder as a caBundle; empty if there is none."""
    try:
        return base64.b64encode((folder / "ca.crt").read_bytes()).decode()
    except OSError:
        return ""
