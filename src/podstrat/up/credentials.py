"""Credentials: the certificate authorities, and a kubeconfig for each client of the API server. Keys never leave the folder."""

from __future__ import annotations

import base64
import json
from datetime import UTC, datetime
from pathlib import Path

from podstrat.certs import files, folder, rotation
from podstrat.certs.issuing import Authority
from podstrat.install import objects

WEBHOOK = f"{objects.NAME}.{objects.NAMESPACE}.svc"
"""The name by which the API server calls the webhook."""


class Credentials:
    """The server's CA is placed where `podstrat serve` looks for one, so that further client certificates can be issued."""

    def __init__(self, place: Path) -> None:
        self._place = place
        self._now = datetime.now(UTC)
        self._authority = Authority.new("podstrat up", self._now)
        tls = self.server_data / "tls"
        files.write(tls / "ca.key", self._authority.pair.key, 0o600)
        files.write(tls / "ca.crt", self._authority.certificate)
        folder.write(self.webhook_folder, rotation.begin((WEBHOOK,), self._now, rotation.Policy()))

    @property
    def server_data(self) -> Path:
        return self._place / "data"

    @property
    def webhook_folder(self) -> Path:
        return self._place / "webhook"

    @property
    def webhook_bundle(self) -> str:
        """The caBundle with which the API server trusts the webhook."""
        return base64.b64encode((self.webhook_folder / "ca.crt").read_bytes()).decode()

    def kubeconfig(self, user: str, groups: tuple[str, ...], url: str) -> Path:
        """A kubeconfig with a client certificate."""
        pair = self._authority.client(user, groups, self._now)
        identity = {"client-certificate-data": _text(pair.certificate), "client-key-data": _text(pair.key)}
        cluster = {"server": url, "certificate-authority-data": _text(self._authority.certificate)}
        config = {
            "apiVersion": "v1",
            "kind": "Config",
            "clusters": [{"name": "podstrat", "cluster": cluster}],
            "users": [{"name": user, "user": identity}],
            "contexts": [{"name": user, "context": {"cluster": "podstrat", "user": user, "namespace": "default"}}],
            "current-context": user,
        }
        path = self._place / f"kubeconfig-{user.rpartition(':')[2]}"
        files.write(path, json.dumps(config, indent=2).encode() + b"\n", 0o600)
        return path


def _text(pem: bytes) -> str:
    return base64.b64encode(pem).decode()
