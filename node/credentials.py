"""Where the API server is, and who we are to it: from a kubeconfig, or from what a pod finds in its own file system.

Tokens are files that are replaced while we run. So a token is read again now and then, and whenever the server refuses it.
"""

from __future__ import annotations

import base64
import os
import ssl
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import yaml

ACCOUNT = Path("/var/run/secrets/kubernetes.io/serviceaccount")
TOKEN_LIFE = 60.0
"""Seconds after which a token's file is read again, as client-go does."""


class BadCredentials(ValueError):
    """The kubeconfig cannot be used. The text says why, for whoever wrote it."""


@dataclass
class Credentials:
    host: str
    port: int
    prefix: str = ""
    """Of every path, for servers that do not stand at the root."""
    tls: ssl.SSLContext | None = None
    name: str | None = None
    """The server's name in its certificate, where it is not the host's."""
    token: str = ""
    token_file: Path | None = None
    _read: float = float("-inf")

    @property
    def address(self) -> str:
        return f"{'https' if self.tls else 'http'}://{f'[{self.host}]' if ':' in self.host else self.host}:{self.port}"

    def bearer(self, now: float) -> str:
        """The token to show, or an empty text."""
        if self.token_file is not None and now >= self._read + TOKEN_LIFE:
            self.reload(now)
        return self.token

    def reload(self, now: float) -> bool:
        """Reads the token again; whether it is another one. A file that cannot be read leaves the old one in force."""
        if self.token_file is None:
            return False
        self._read = now
        try:
            token = self.token_file.read_text().strip()
        except OSError:
            return False
        before, self.token = self.token, token or self.token
        return before != self.token


def load(kubeconfig: Path | None, environ: Mapping[str, str], account: Path = ACCOUNT) -> Credentials:
    """The kubeconfig that was named; else the pod's own; else what KUBECONFIG says; else the file in the home directory."""
    if kubeconfig is None and environ.get("KUBERNETES_SERVICE_HOST") and (account / "token").exists():
        return _in_cluster(environ, account)
    path = kubeconfig or Path(environ.get("KUBECONFIG") or Path(environ.get("HOME", "/")) / ".kube" / "config")
    try:
        config = yaml.safe_load(path.read_text())
    except OSError as error:
        raise BadCredentials(f"{path}: {error.strerror}; name a kubeconfig with --kubeconfig") from None
    except yaml.YAMLError:
        raise BadCredentials(f"{path} is no YAML") from None
    try:
        return _from_config(config, path.parent)
    except (LookupError, TypeError, AttributeError) as error:
        raise BadCredentials(f"{path} is no kubeconfig: {error}") from None
    except (OSError, ValueError) as error:
        raise BadCredentials(f"{path}: {error}") from None


def _in_cluster(environ: Mapping[str, str], account: Path) -> Credentials:
    context = ssl.create_default_context(cafile=str(account / "ca.crt"))
    host, port = environ["KUBERNETES_SERVICE_HOST"], int(environ.get("KUBERNETES_SERVICE_PORT", "443"))
    return Credentials(host, port, tls=context, token_file=account / "token")


def _from_config(config: Any, folder: Path) -> Credentials:
    current = config.get("current-context") or config["contexts"][0]["name"]
    context = _named(config, "contexts", current)["context"]
    cluster = _named(config, "clusters", context["cluster"])["cluster"]
    user = _named(config, "users", context["user"]).get("user") or {} if context.get("user") else {}
    if not user.keys() <= _USER:
        unknown = ", ".join(sorted(user.keys() - _USER))
        raise BadCredentials(f"the user {context['user']} has {unknown}; there may be certificates or a token")
    url = urlsplit(cluster["server"])
    tls = _tls(cluster, user, folder) if url.scheme == "https" else None
    return Credentials(
        url.hostname or "",
        url.port or (443 if tls else 80),
        url.path.rstrip("/"),
        tls,
        cluster.get("tls-server-name"),
        user.get("token") or "",
        folder / user["tokenFile"] if user.get("tokenFile") else None,
    )


_USER = {"token", "tokenFile", "client-certificate", "client-certificate-data", "client-key", "client-key-data"}


def _named(config: Any, key: str, name: str) -> Any:
    for each in config.get(key) or ():
        if each["name"] == name:
            return each
    raise BadCredentials(f"{key} has no {name!r}")


def _tls(cluster: Mapping[str, Any], user: Mapping[str, Any], folder: Path) -> ssl.SSLContext:
    authority = _content(cluster, "certificate-authority", folder)
    context = ssl.create_default_context(cadata=authority.decode() if authority else None)
    if cluster.get("insecure-skip-tls-verify"):
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    certificate = _content(user, "client-certificate", folder)
    if certificate:
        # The standard library takes a certificate from a file only.
        with tempfile.NamedTemporaryFile() as pair:
            os.fchmod(pair.fileno(), 0o600)
            pair.write(certificate + b"\n" + _content(user, "client-key", folder))
            pair.flush()
            context.load_cert_chain(pair.name)
    return context


def _content(holder: Mapping[str, Any], key: str, folder: Path) -> bytes:
    if data := holder.get(f"{key}-data"):
        return base64.b64decode(data)
    return (folder / holder[key]).read_bytes() if holder.get(key) else b""
