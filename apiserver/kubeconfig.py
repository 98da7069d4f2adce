"""Writes the kubeconfig and the ready file: once they exist, the server answers."""

from __future__ import annotations

import base64
import json
import os
import sys
from pathlib import Path
from typing import Any

from podstrat.apiserver.settings import Settings, StartError
from podstrat.apiserver.tls import EVERYWHERE, Tls
from podstrat.certs import files


def announce(settings: Settings, port: int, tls: Tls | None) -> None:
    """Writes both files, and a line on standard error."""
    host = "127.0.0.1" if settings.host in EVERYWHERE else settings.host
    address = f"[{host}]" if ":" in host else host
    url = f"{'http' if tls is None else 'https'}://{address}:{port}"
    if settings.kubeconfig is not None:
        content = json.dumps(kubeconfig(settings, url, tls), indent=2) + "\n"
        files.write(settings.kubeconfig, content.encode(), 0o600)
    if settings.ready_file is not None:
        files.write(settings.ready_file, f"{url}\n".encode())
    print(f"podstrat serve: Kubernetes {settings.kubernetes_version} at {url}", file=sys.stderr, flush=True)
    if settings.kubeconfig is not None:
        print(f"  kubectl --kubeconfig {settings.kubeconfig} get pods", file=sys.stderr, flush=True)


def kubeconfig(settings: Settings, url: str, tls: Tls | None) -> dict[str, Any]:
    """A kubeconfig with certificates as data, in JSON, which is valid YAML."""
    cluster: dict[str, Any] = {"server": url}
    user: dict[str, Any] = {}
    if tls is not None:
        cluster["certificate-authority-data"] = base64.b64encode(tls.authority).decode()
        certificate, key = tls.client
        user["client-certificate-data"] = base64.b64encode(certificate).decode()
        user["client-key-data"] = base64.b64encode(key).decode()
    if settings.tokens:
        user = {"token": settings.tokens[0][0]}
    return {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": "podstrat", "cluster": cluster}],
        "users": [{"name": "podstrat", "user": user}],
        "contexts": [{"name": "podstrat", "context": {"cluster": "podstrat", "user": "podstrat", "namespace": "default"}}],
        "current-context": "podstrat",
    }


def check_writable(path: Path) -> None:
    """StartError if the file cannot be written."""
    if path.is_dir():
        raise StartError(f"cannot write {path}: it is a directory")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StartError(f"cannot write {path}: cannot create its directory: {error.strerror}") from None
    if not os.access(path.parent, os.W_OK):
        raise StartError(f"cannot write {path}: its directory is not writable")
