"""The registered webhooks: read from the v1 configurations in the store, in calling order."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from podstrat.apiserver.kinds import BY_KIND, Kind
from podstrat.apiserver.storage.store import Entry, Store

Object = dict[str, Any]

REGISTRATION = "admissionregistration.k8s.io"
MUTATING = BY_KIND[f"{REGISTRATION}/v1", "MutatingWebhookConfiguration"]
VALIDATING = BY_KIND[f"{REGISTRATION}/v1", "ValidatingWebhookConfiguration"]
EVERYTHING: Object = {}


@dataclass(frozen=True, slots=True)
class Hook:
    """One webhook, with the server's defaults for what its configuration does not say."""

    configuration: str
    uid: str
    """Tells it from every other: names are not unique."""
    name: str
    client: Object
    """Its clientConfig: a url or a service, and a caBundle."""
    rules: Sequence[Object]
    fails_open: bool
    """Whether its failurePolicy is Ignore."""
    equivalent: bool
    """Whether a rule for another version of the resource matches too."""
    namespaces: Object
    objects: Object
    side_effects: str | None
    seconds: int
    versions: Sequence[str]
    """The versions of AdmissionReview that it takes."""
    again: bool
    """Whether it is called again when a later webhook changed the object: reinvocationPolicy IfNeeded."""
    conditions: tuple[str, ...]
    """Expressions in CEL that must all hold."""


class Configurations:
    """What is registered at the moment. A configuration is read once for each of its versions."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._lock = threading.Lock()
        self._read: dict[tuple[str, str], tuple[int, tuple[Hook, ...]]] = {}

    def mutating(self) -> list[Hook]:
        return self._hooks(MUTATING)

    def validating(self) -> list[Hook]:
        return self._hooks(VALIDATING)

    def any(self) -> bool:
        return any(self._store.list(kind)[0] for kind in (MUTATING, VALIDATING))

    def _hooks(self, kind: Kind) -> list[Hook]:
        """By the names of the configurations, and in each as they stand there.

        Upstream: getMutatingWebhookConfigurations
        """
        entries, _ = self._store.list(kind)
        return [hook for entry in entries for hook in self._of(kind, entry)] if entries else []

    def _of(self, kind: Kind, entry: Entry) -> tuple[Hook, ...]:
        key = kind.plural, entry.obj["metadata"]["name"]
        with self._lock:
            version, hooks = self._read.get(key, (0, ()))
            if version != entry.version:
                hooks = tuple(_hooks(entry.obj))
                self._read[key] = entry.version, hooks
        return hooks


def _hooks(configuration: Object) -> Iterator[Hook]:
    name = configuration["metadata"]["name"]
    counts: dict[str, int] = {}
    for webhook in configuration.get("webhooks") or ():
        own = webhook.get("name", "")
        number = counts[own] = counts.get(own, -1) + 1
        yield _hook(webhook, name, f"{name}/{own}/{number}")


def _hook(webhook: Object, configuration: str, uid: str) -> Hook:
    """Upstream: SetDefaults_MutatingWebhook, SetDefaults_ValidatingWebhook"""
    return Hook(
        configuration=configuration,
        uid=uid,
        name=webhook.get("name", ""),
        client=webhook.get("clientConfig") or {},
        rules=webhook.get("rules") or (),
        fails_open=webhook.get("failurePolicy", "Fail") == "Ignore",
        equivalent=webhook.get("matchPolicy", "Equivalent") == "Equivalent",
        namespaces=webhook.get("namespaceSelector") or EVERYTHING,
        objects=webhook.get("objectSelector") or EVERYTHING,
        side_effects=webhook.get("sideEffects"),
        seconds=webhook.get("timeoutSeconds", 10),
        versions=webhook.get("admissionReviewVersions") or (),
        again=webhook.get("reinvocationPolicy", "Never") == "IfNeeded",
        conditions=tuple(each["expression"] for each in webhook.get("matchConditions") or ()),
    )
