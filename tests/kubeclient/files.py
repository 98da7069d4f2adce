"""Kubeconfig files, credential plugins and certificates for the tests."""

from __future__ import annotations

import base64
import json
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from podstrat.certs.issuing import Authority

SERVER = "https://10.0.0.1:6443"


def config(
    user: dict[str, Any] | None = None,
    cluster: dict[str, Any] | None = None,
    context: dict[str, Any] | None = None,
    **top: Any,
) -> dict[str, Any]:
    """A kubeconfig with the context `here`: cluster `main`, user `alice`."""
    return {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": "main", "cluster": {"server": SERVER, **(cluster or {})}}],
        "users": [{"name": "alice", "user": user or {}}],
        "contexts": [{"name": "here", "context": {"cluster": "main", "user": "alice", **(context or {})}}],
        "current-context": "here",
        **top,
    }


def write(path: Path, value: Any) -> Path:
    path.write_text(value if isinstance(value, str) else json.dumps(value))
    return path


def base64_of(data: bytes) -> str:
    return base64.b64encode(data).decode()


class Certificates:
    """An authority, and a client certificate of it."""

    def __init__(self) -> None:
        now = datetime.now(UTC)
        self._authority = Authority.new("tests", now)
        self.authority = self._authority.certificate
        leaf = self._authority.client("alice", ["system:masters"], now)
        self.certificate, self.key = leaf.certificate, leaf.key


def plugin(folder: Path, code: str, name: str = "plugin") -> Path:
    """A credential plugin: a Python program."""
    path = folder / name
    path.write_text(f"#!{sys.executable} -S\nimport json, os, sys\n{code}\n")
    path.chmod(0o755)
    return path


PRINT = """
count = os.environ["COUNT"]
with open(count, "a") as file:
    file.write(os.environ["KUBERNETES_EXEC_INFO"] + "\\n")
number = len(open(count).readlines())
status = json.loads(os.environ.get("STATUS") or "{}") or {"token": f"token-{number}"}
version = json.loads(os.environ["KUBERNETES_EXEC_INFO"])["apiVersion"]
print(json.dumps({"kind": "ExecCredential", "apiVersion": version, "status": status}))
"""
"""Prints the status that STATUS holds, or a token with the number of the call; notes each call in the file COUNT."""
