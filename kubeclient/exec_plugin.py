"""Credential plugins: a program that prints an ExecCredential (client.authentication.k8s.io, v1 and v1beta1).

The credential is kept in memory until it expires or the server answers 401, as client-go does.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from podstrat.kubeclient.credentials import Identity
from podstrat.kubeclient.errors import PluginError

GROUP = "client.authentication.k8s.io"
VERSIONS = (f"{GROUP}/v1", f"{GROUP}/v1beta1")
EXTENSION = f"{GROUP}/exec"
"""The extension of a cluster that is passed to plugins with provideClusterInfo."""
NEVER, IF_AVAILABLE, ALWAYS = "Never", "IfAvailable", "Always"
MODES = (NEVER, IF_AVAILABLE, ALWAYS)
TIMEOUT = 60.0
"""Timeout of a non-interactive plugin in seconds; those of cloud providers send one request, which takes a second or two."""


def _utc_now() -> datetime:
    return datetime.now(UTC)


@dataclass
class Plugin:
    """The `exec` of a user, checked."""

    name: str
    """For messages: the file and the user."""
    api_version: str
    command: str
    args: Sequence[str] = ()
    env: Mapping[str, str] = field(default_factory=dict)
    install_hint: str = ""
    interactive_mode: str = NEVER
    cluster: Mapping[str, Any] | None = None
    """Passed on with provideClusterInfo."""
    environ: Mapping[str, str] = field(default_factory=lambda: os.environ)
    now: Callable[[], datetime] = _utc_now
    timeout: float = TIMEOUT
    _identity: Identity | None = None
    _expires: datetime | None = None
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def is_slow(self) -> bool:
        return self._identity is None or self._has_expired()

    def current(self) -> Identity:
        with self._lock:
            if self._identity is None or self._has_expired():
                self._run()
            assert self._identity is not None
            return self._identity

    def renewed(self, identity: Identity) -> bool:
        with self._lock:
            # Another thread may have renewed it since.
            if self._identity == identity:
                self._run()
            return self._identity != identity

    def missing(self) -> str | None:
        """Why the program cannot be started; None if it can."""
        if shutil.which(self.command, path=self.environ.get("PATH")) is not None:
            return None
        return f"executable {self.command} not found{self._hint()}"

    def _hint(self) -> str:
        return f"\n{self.install_hint.strip()}" if self.install_hint.strip() else ""

    def _has_expired(self) -> bool:
        return self._expires is not None and self.now() >= self._expires

    def _fail(self, message: str) -> PluginError:
        return PluginError(f"{self.name}: credential plugin {self.command}: {message}")

    def _run(self) -> None:
        interactive = self.interactive_mode != NEVER and has_terminal()
        spec: dict[str, Any] = {"interactive": interactive}
        if self.cluster is not None:
            spec["cluster"] = self.cluster
        request = {"kind": "ExecCredential", "apiVersion": self.api_version, "spec": spec}
        try:
            process = subprocess.run(
                [shutil.which(self.command, path=self.environ.get("PATH")) or self.command, *self.args],
                env={**self.environ, **self.env, "KUBERNETES_EXEC_INFO": json.dumps(request)},
                stdin=None if interactive else subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                timeout=None if interactive else self.timeout,
                check=False,
            )
        except subprocess.TimeoutExpired:
            raise self._fail(f"no credential within {self.timeout:g} s") from None
        except OSError as error:
            raise self._fail(f"{error.strerror}{self._hint()}") from None
        if process.returncode != 0:
            raise self._fail(f"exit code {process.returncode}{self._hint()}")
        self._take(process.stdout)

    def _take(self, output: bytes) -> None:
        """Reads the ExecCredential that the plugin printed."""
        try:
            printed = json.loads(output)
        except ValueError:
            raise self._fail("the output is not JSON") from None
        if not isinstance(printed, dict) or printed.get("kind") != "ExecCredential":
            raise self._fail("the output is not an ExecCredential")
        if printed.get("apiVersion") != self.api_version:
            raise self._fail(f"apiVersion is {printed.get('apiVersion')}, the kubeconfig asks for {self.api_version}")
        status = printed.get("status")
        if not isinstance(status, dict):
            raise self._fail("the ExecCredential has no status")
        texts = [status.get(key) or "" for key in ("token", "clientCertificateData", "clientKeyData")]
        if not all(isinstance(each, str) for each in texts):
            raise self._fail("token, clientCertificateData and clientKeyData must be strings")
        token, certificate, key = texts
        if bool(certificate) != bool(key):
            raise self._fail("clientCertificateData and clientKeyData must be set together")
        if not token and not certificate:
            raise self._fail("the status has neither a token nor a client certificate")
        if not token.isprintable():
            raise self._fail("the token contains control characters")
        self._expires = self._expiration(status.get("expirationTimestamp"))
        self._identity = Identity(f"Bearer {token}" if token else "", certificate.encode(), key.encode())

    def _expiration(self, value: Any) -> datetime | None:
        if not value:
            return None
        try:
            time = datetime.fromisoformat(value)
        except (TypeError, ValueError):
            raise self._fail(f"expirationTimestamp {value!r} is not an RFC 3339 time") from None
        return time if time.tzinfo else time.replace(tzinfo=UTC)


def has_terminal() -> bool:
    return sys.stdin is not None and sys.stdin.isatty()
