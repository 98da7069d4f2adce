"""API servers to try the webhook with, the embedded one and a real one, and programs of a control plane for the embedded one.

envtest's convention: KUBEBUILDER_ASSETS names a folder with etcd, kube-apiserver and, if one has them, further binaries.
"""

from __future__ import annotations

import base64
import json
import os
import re
import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from podstrat.certs import files
from podstrat.certs.issuing import Authority
from podstrat.kubeclient.answer import Answer
from podstrat.kubeclient.sync import Client
from podstrat.testing.server import Server

ASSETS = "KUBEBUILDER_ASSETS"
MISSING = f"{ASSETS} does not name a folder with etcd and kube-apiserver"
PATIENCE = 60.0

USERS = {
    "admin": ("admin", ("system:masters",)),
    "n1": ("system:node:n1", ("system:nodes",)),
    "n2": ("system:node:n2", ("system:nodes",)),
    "eve": ("eve", ("people",)),
}
"""Who there is, by token."""


class ApiServer:
    """A server that is running, and its users."""

    def __init__(self, folder: Path, url: str, authority: bytes | None, version: str, feature_gates: str) -> None:
        self.folder, self.url, self.version, self.feature_gates = folder, url, version, feature_gates
        self._authority = authority
        self._clients: dict[str, Client] = {}

    def as_user(self, token: str) -> Client:
        """A client that is this user."""
        if token not in self._clients:
            cluster = {"server": self.url}
            if self._authority is not None:
                cluster["certificate-authority-data"] = base64.b64encode(self._authority).decode()
            file = self.folder / f"kubeconfig-{token[:20]}"
            context = {"name": "c", "context": {"cluster": "c", "user": "u"}}
            config = {
                "apiVersion": "v1",
                "kind": "Config",
                "current-context": "c",
                "clusters": [{"name": "c", "cluster": cluster}],
                "users": [{"name": "u", "user": {"token": token}}],
                "contexts": [context],
            }
            files.write(file, json.dumps(config).encode(), 0o600)
            self._clients[token] = Client(file)
        return self._clients[token]

    def send(self, method: str, path: str, body: Any = None, user: str = "admin", patch: str = "") -> Answer:
        kind = f"application/{patch}-patch+json" if patch else "application/json"
        data = None if body is None else json.dumps(body).encode()
        return self.as_user(user).exchange(method, path, data, {"Content-Type": kind})

    def close(self) -> None:
        for client in self._clients.values():
            client.close()


def with_health(version: str) -> str:
    """The feature gates for a server of this version: before 1.36 all about device health would be dropped without a word."""
    return "ResourceHealthStatus=true" if version in ("1.31", "1.32", "1.33", "1.34", "1.35") else ""


@contextmanager
def embedded(folder: Path, version: str, *flags: str) -> Iterator[ApiServer]:
    gates = with_health(version)
    tokens = [part for token, (user, groups) in USERS.items() for part in ("--token", ",".join((token, user, *groups)))]
    with Server("--kubernetes-version", version, "--feature-gates", gates, *tokens, *flags) as server:
        config = json.loads(server.kubeconfig.read_text())
        authority = base64.b64decode(config["clusters"][0]["cluster"]["certificate-authority-data"])
        made = ApiServer(folder, server.url, authority, version, gates)
        try:
            yield made
        finally:
            made.close()


# ---- a real one ------------------------------------------------------------------------------------


def assets(*names: str) -> Path | None:
    """The folder with the binaries, if there is one: those of an API server, unless others are named."""
    named = os.environ.get(ASSETS)
    if not named:
        return None
    folder = Path(named)
    return folder if all((folder / name).exists() for name in names or ("etcd", "kube-apiserver")) else None


def real_version(binaries: Path) -> str:
    told = subprocess.run([binaries / "kube-apiserver", "--version"], capture_output=True, text=True, check=True).stdout
    found = re.search(r"v(\d+\.\d+)", told)
    assert found, told
    return found[1]


@contextmanager
def real(folder: Path, binaries: Path) -> Iterator[ApiServer]:
    """etcd and kube-apiserver as child processes, with TLS, tokens, and no controllers."""
    version = real_version(binaries)
    gates = with_health(version)
    now = datetime.now(UTC)
    authority = Authority.new("e2e", now)
    leaf = authority.server(["127.0.0.1", "localhost"], now)
    account = Authority.new("accounts", now).pair
    files.write(folder / "tls.crt", leaf.certificate)
    files.write(folder / "tls.key", leaf.key, 0o600)
    files.write(folder / "accounts.crt", account.certificate)
    files.write(folder / "accounts.key", account.key, 0o600)
    rows = [f'{token},{user},{token}-uid,"{",".join(groups)}"' for token, (user, groups) in USERS.items()]
    files.write(folder / "tokens.csv", "\n".join(rows).encode(), 0o600)
    client_port, peer_port, port = free_ports(3)
    with ExitStack() as stack:
        client_url, peer_url = f"http://127.0.0.1:{client_port}", f"http://127.0.0.1:{peer_port}"
        etcd = ["--data-dir", folder / "etcd", "--listen-client-urls", client_url, "--advertise-client-urls", client_url]
        etcd += [
            "--listen-peer-urls",
            peer_url,
            "--initial-advertise-peer-urls",
            peer_url,
            "--initial-cluster",
            f"default={peer_url}",
        ]
        stack.enter_context(running(folder / "etcd.log", [binaries / "etcd", *etcd]))
        flags = {
            "etcd-servers": client_url,
            "bind-address": "127.0.0.1",
            # Without these it looks for an address that others reach it at, and fails on a machine that has no network.
            "advertise-address": "127.0.0.1",
            "endpoint-reconciler-type": "none",
            "secure-port": port,
            "tls-cert-file": folder / "tls.crt",
            "tls-private-key-file": folder / "tls.key",
            "cert-dir": folder,
            "token-auth-file": folder / "tokens.csv",
            "authorization-mode": "AlwaysAllow",
            "allow-privileged": "true",
            # There is no controller that would make the account of a namespace.
            "disable-admission-plugins": "ServiceAccount",
            "service-cluster-ip-range": "10.0.0.0/24",
            "service-account-issuer": "https://127.0.0.1",
            "service-account-key-file": folder / "accounts.crt",
            "service-account-signing-key-file": folder / "accounts.key",
        }
        if gates:
            flags["feature-gates"] = gates
        command = [binaries / "kube-apiserver", *(f"--{name}={value}" for name, value in flags.items())]
        process = stack.enter_context(running(folder / "apiserver.log", command))
        made = ApiServer(folder, f"https://127.0.0.1:{port}", authority.certificate, version, gates)
        stack.callback(made.close)
        _wait(made, process, folder / "apiserver.log")
        yield made


def free_ports(count: int) -> list[int]:
    taken = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [each.getsockname()[1] for each in taken]
    for each in taken:
        each.close()
    return ports


@contextmanager
def running(log: Path, command: list[Any]) -> Iterator[subprocess.Popen[bytes]]:
    with log.open("wb") as output:
        process = subprocess.Popen([str(word) for word in command], stdout=output, stderr=output, start_new_session=True)
    try:
        yield process
    finally:
        process.send_signal(signal.SIGTERM)
        try:
            process.wait(20)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _wait(server: ApiServer, process: subprocess.Popen[bytes], log: Path) -> None:
    deadline = time.monotonic() + PATIENCE
    while True:
        try:
            ready = server.send("GET", "/readyz").code == 200 and server.send("GET", "/api/v1/namespaces/default").code == 200
        except OSError:
            ready = False
        if ready:
            return
        assert process.poll() is None, log.read_text()[-3000:]
        assert time.monotonic() < deadline, log.read_text()[-3000:]
        time.sleep(0.2)
