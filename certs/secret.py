"""The shared state of rotation in a Secret, and the bundle that clients trust in webhook configurations."""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

from podstrat.certs import inspect
from podstrat.certs.cluster import Cluster, Object
from podstrat.certs.issuing import Pair
from podstrat.certs.rotation import State

CONFIGURATIONS = "/apis/admissionregistration.k8s.io/v1"
LABELS = {"app.kubernetes.io/name": "podstrat-webhook", "app.kubernetes.io/part-of": "podstrat"}
"""Of a Secret that was lost and is created again: by them the installer knows it."""
KINDS = {"mutating": "mutatingwebhookconfigurations", "validating": "validatingwebhookconfigurations"}


class Broken(Exception):
    """What should be a state is none; ``ours`` if it looks as if it had been one."""

    def __init__(self, message: str, ours: bool = True) -> None:
        super().__init__(message)
        self.ours = ours


def encoded(state: State) -> dict[str, str]:
    """A state as the data of a Secret. tls.crt, tls.key and ca.crt are named as everybody names them."""
    texts = {
        "tls.crt": state.leaf.certificate,
        "tls.key": state.leaf.key,
        "ca.crt": state.bundle,
        "authority.crt": state.authority.certificate,
        "authority.key": state.authority.key,
        "rotation.json": json.dumps({"introduced": _text(state.introduced), "switched": _text(state.switched)}).encode(),
    }
    if state.successor is not None:
        texts |= {"successor.crt": state.successor.certificate, "successor.key": state.successor.key}
    return {name: base64.b64encode(text).decode() for name, text in texts.items()}


def decoded(data: Mapping[str, str]) -> State | None:
    """The state in the data of a Secret; None if there is nothing in it."""
    if not data:
        return None
    try:
        texts = {name: base64.b64decode(text, validate=True) for name, text in data.items()}
    except (binascii.Error, ValueError, TypeError):
        raise Broken("its data is not base64") from None
    return of_files(texts)


def of_files(texts: Mapping[str, bytes]) -> State:
    """The state in files of these names."""
    if "authority.crt" not in texts:
        raise Broken("it contains no certificate authority", ours=False)
    try:
        times = json.loads(texts["rotation.json"])
        successor = Pair(texts["successor.crt"], texts["successor.key"]) if "successor.crt" in texts else None
        state = State(
            Pair(texts["authority.crt"], texts["authority.key"]),
            Pair(texts["tls.crt"], texts["tls.key"]),
            tuple(_blocks(texts["ca.crt"])),
            successor,
            _time(times["introduced"]),
            _time(times["switched"]),
        )
        # Without a key it was recovered: its successor is about to take over.
        keyless = not state.authority.key and successor is not None
        whole = (keyless or inspect.belong_together(state.authority)) and (
            successor is None or inspect.belong_together(successor)
        )
    except KeyError as error:
        raise Broken(f"it contains no {error.args[0]}") from None
    except (ValueError, TypeError, inspect.Unreadable) as error:
        raise Broken(str(error)) from None
    if not whole or state.authority.certificate not in state.trusted:
        raise Broken("its keys and certificates do not match")
    return state


def files(state: State) -> dict[str, bytes]:
    """A state as files."""
    return {name: base64.b64decode(text) for name, text in encoded(state).items()}


def _blocks(bundle: bytes) -> Iterable[bytes]:
    end = b"-----END CERTIFICATE-----\n"
    return [block + end for block in bundle.split(end) if block.strip()]


def _text(time: datetime | None) -> str | None:
    return None if time is None else time.isoformat()


def _time(text: Any) -> datetime | None:
    return None if text is None else datetime.fromisoformat(text)


# ---- in the cluster --------------------------------------------------------------------------------


class SharedSecret:
    """The Secret of all replicas. A write replaces what was read, or nothing."""

    def __init__(self, cluster: Cluster, namespace: str, name: str) -> None:
        self._cluster = cluster
        self._collection = f"/api/v1/namespaces/{namespace}/secrets"
        self._path = f"{self._collection}/{name}"
        self._empty: Object = {
            "apiVersion": "v1",
            "kind": "Secret",
            "type": "Opaque",
            "metadata": {"name": name, "namespace": namespace, "labels": LABELS},
        }

    def read(self) -> Object | None:
        return self._cluster.get(self._path)

    def write(self, state: State, before: Object | None) -> Object:
        """Stores a state in the place of what was read; Conflict if another replica was faster."""
        if before is None:
            return self._cluster.create(self._collection, {**self._empty, "data": encoded(state)})
        return self._cluster.replace(self._path, {**before, "data": encoded(state)})


class Configurations:
    """The webhook configurations that have our bundle."""

    def __init__(self, cluster: Cluster, names: Mapping[str, str]) -> None:
        self._cluster = cluster
        self._paths = {kind: f"{CONFIGURATIONS}/{KINDS[kind]}/{name}" for kind, name in names.items() if name}

    def read(self) -> dict[str, Object]:
        """Those that are there, by kind."""
        configurations = {kind: self._cluster.get(path) for kind, path in self._paths.items()}
        return {kind: each for kind, each in configurations.items() if each is not None}

    def publish(self, configurations: Mapping[str, Object], bundle: bytes) -> dict[str, Object]:
        """Puts the bundle into those that were read and have another one; gives them as they are afterwards."""
        return {kind: self._published(kind, each, bundle) for kind, each in configurations.items()}

    def _published(self, kind: str, configuration: Object, bundle: bytes) -> Object:
        if all(each == bundle for each in bundles(configuration)):
            return configuration
        text = base64.b64encode(bundle).decode()
        hooks = [
            {**hook, "clientConfig": {**(hook.get("clientConfig") or {}), "caBundle": text}}
            for hook in configuration.get("webhooks") or ()
        ]
        return self._cluster.replace(self._paths[kind], {**configuration, "webhooks": hooks})


def bundles(configuration: Object) -> list[bytes]:
    """The bundle of each webhook of a configuration."""
    texts = []
    for hook in configuration.get("webhooks") or ():
        try:
            texts.append(base64.b64decode((hook.get("clientConfig") or {}).get("caBundle") or ""))
        except (binascii.Error, ValueError):
            texts.append(b"")
    return texts
