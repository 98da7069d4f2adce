"""Kubeconfig files and in-cluster configuration, read as kubectl and client-go read them.

A file that was named is the only one. KUBECONFIG names one or several, which are merged: the first file that has a value wins.
Relative paths are relative to the file that they stand in. Errors name the file and the field.
"""

from __future__ import annotations

import base64
import binascii
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import quote

from podstrat.kubeclient import proxy
from podstrat.kubeclient.config import ClientConfig
from podstrat.kubeclient.credentials import Credentials, Fixed, Identity, TokenFile
from podstrat.kubeclient.errors import ConfigError
from podstrat.kubeclient.fields import Fields

ACCOUNT = Path("/var/run/secrets/kubernetes.io/serviceaccount")
LARGEST = 16 * 1024 * 1024
"""Bytes of a kubeconfig; with certificates inside, one of a thousand clusters has about five million."""
HEADER_SAFE = "!#$&'*+-.^_`|~"
"""Characters of a header's name, besides letters and digits: others are percent-encoded in the keys of as-user-extra."""


class Merged(NamedTuple):
    """Several kubeconfig files as one."""

    files: tuple[Path, ...]
    current: str
    contexts: dict[str, Fields]
    clusters: dict[str, Fields]
    users: dict[str, Fields]


def load(
    path: Path | None = None,
    context: str | None = None,
    *,
    environ: Mapping[str, str] = os.environ,
    in_cluster_first: bool = False,
    account: Path = ACCOUNT,
) -> ClientConfig:
    """The configuration that is in force: the named file, or what KUBECONFIG, ~/.kube/config and the pod's service account say.

    Commands that people run look at files before the service account, as kubectl does; a server that runs in a pod
    (`in_cluster_first`) looks at its account before them.
    """
    if path is not None:
        return _chosen(merged([path]), context, environ)
    has_account = _is_in_cluster(environ, account) and context is None
    if has_account and in_cluster_first:
        return _of_account(environ, account)
    paths = _default_paths(environ)
    existing = [each for each in paths if each.exists()]
    if existing:
        return _chosen(merged(existing), context, environ)
    if has_account:
        return _of_account(environ, account)
    tried = " or ".join(map(str, paths))
    raise ConfigError(
        f"no kubeconfig or in-cluster configuration found: no file {tried}; name one with --kubeconfig or KUBECONFIG"
    )


def in_cluster(*, environ: Mapping[str, str] = os.environ, account: Path = ACCOUNT) -> ClientConfig:
    """The service account of the pod that we run in."""
    if not _is_in_cluster(environ, account):
        raise ConfigError("no in-cluster configuration found: not in a pod; name a kubeconfig with --kubeconfig")
    return _of_account(environ, account)


def _default_paths(environ: Mapping[str, str]) -> list[Path]:
    listed = [Path(each) for each in environ.get("KUBECONFIG", "").split(os.pathsep) if each]
    return listed or [Path(environ.get("HOME") or "/") / ".kube" / "config"]


# ---- files -----------------------------------------------------------------------------------------


def merged(paths: list[Path]) -> Merged:
    """Kubeconfig files as one: of entries with the same name, the first counts."""
    config = Merged(tuple(paths), "", {}, {}, {})
    for path in paths:
        top = Fields(_value(path), path)
        kind = top.text("kind")
        if kind not in ("", "Config"):
            raise top.error("kind", f"is {kind}, not Config")
        config = config._replace(current=config.current or top.text("current-context"))
        for key, noun, table in (
            ("contexts", "context", config.contexts),
            ("clusters", "cluster", config.clusters),
            ("users", "user", config.users),
        ):
            for entry in top.entries(key):
                name = entry.required("name")
                table.setdefault(name, entry.child(noun, f"{noun} {name}: "))
    return config


def _value(path: Path) -> Any:
    """The value of a file. JSON, which YAML includes, is read without the YAML parser."""
    try:
        if path.stat().st_size > LARGEST:
            raise ConfigError(f"{path}: larger than {LARGEST} bytes, not a kubeconfig")
        data = path.read_bytes()
    except OSError as error:
        raise ConfigError(f"{path}: {error.strerror}") from None
    try:
        return json.loads(data)
    except (ValueError, RecursionError):
        pass
    from podstrat import goyaml

    try:
        documents = [document.value for document in goyaml.documents(data, str(path))]
    except goyaml.YamlError as error:
        raise ConfigError(str(error)) from None
    if len(documents) != 1:
        raise ConfigError(f"{path}: {len(documents)} YAML documents, a kubeconfig is one")
    return documents[0]


def _chosen(config: Merged, context: str | None, environ: Mapping[str, str]) -> ClientConfig:
    """The configuration of one context."""
    files = ", ".join(map(str, config.files))
    name = context or config.current
    if not name:
        there = f"contexts: {', '.join(config.contexts)}" if config.contexts else "and there are no contexts"
        raise ConfigError(f"{files}: current-context is not set ({there})")
    entry = config.contexts.get(name)
    if entry is None:
        there = f" (contexts: {', '.join(config.contexts)})" if config.contexts else ""
        raise ConfigError(f"{files}: no context {name}{there}")
    cluster = config.clusters.get(entry.required("cluster"))
    if cluster is None:
        raise entry.error("cluster", f"no cluster {entry.text('cluster')}")
    user = Fields({}, cluster.file)
    if entry.text("user"):
        if entry.text("user") not in config.users:
            raise entry.error("user", f"no user {entry.text('user')}")
        user = config.users[entry.text("user")]
    return _configured(cluster, user, entry.text("namespace") or "default", environ)


def _configured(cluster: Fields, user: Fields, namespace: str, environ: Mapping[str, str]) -> ClientConfig:
    authority = _content(cluster, "certificate-authority")
    insecure = cluster.flag("insecure-skip-tls-verify")
    if insecure and authority:
        raise cluster.error("insecure-skip-tls-verify", "not allowed together with certificate-authority")
    server, impersonation = cluster.required("server"), _impersonation(user)
    try:
        config = ClientConfig(
            server if "://" in server else f"http://{server}",
            namespace=namespace,
            authority=authority,
            verify=not insecure,
            server_name=cluster.text("tls-server-name"),
            impersonation=impersonation,
        )
    except ConfigError as error:
        raise ConfigError(f"{cluster.place}{error}") from None
    config.proxy = _proxy(cluster, config, environ)
    config.credentials = _credentials(user, cluster, authority, environ)
    _check_certificates(config, cluster, user)
    return config


def _content(fields: Fields, key: str) -> bytes:
    """A certificate or a key: base64 in the file itself, or the path of another file. The data wins, as in client-go."""
    if data := fields.text(f"{key}-data"):
        try:
            return base64.b64decode(data, validate=True)
        except (binascii.Error, ValueError):
            raise fields.error(f"{key}-data", "not valid base64") from None
    if not fields.text(key):
        return b""
    path = fields.path(key)
    try:
        return path.read_bytes()
    except OSError as error:
        raise fields.error(key, f"{path}: {error.strerror}") from None


def _proxy(cluster: Fields, config: ClientConfig, environ: Mapping[str, str]) -> proxy.Proxy | None:
    try:
        if url := cluster.text("proxy-url"):
            return proxy.parse(url)
    except proxy.BadProxy as error:
        raise cluster.error("proxy-url", str(error)) from None
    return _proxy_of_environ(config, environ)


def _proxy_of_environ(config: ClientConfig, environ: Mapping[str, str]) -> proxy.Proxy | None:
    try:
        return proxy.from_environ(environ, "https" if config.is_tls else "http", config.host, config.port)
    except proxy.BadProxy as error:
        raise ConfigError(str(error)) from None


def _impersonation(user: Fields) -> tuple[tuple[str, str], ...]:
    """The headers by which a user acts as another."""
    name, uid, groups, extra = user.header("as"), user.header("as-uid"), user.headers("as-groups"), user.child("as-user-extra")
    if not name:
        if uid or groups or extra.value:
            raise user.error("as", "required with as-uid, as-groups or as-user-extra")
        return ()
    headers = [("Impersonate-User", name)]
    if uid:
        headers.append(("Impersonate-Uid", uid))
    headers += [("Impersonate-Group", group) for group in groups]
    for key in extra.value:
        headers += [(f"Impersonate-Extra-{quote(key, safe=HEADER_SAFE)}", value) for value in extra.headers(key)]
    return tuple(headers)


def _check_certificates(config: ClientConfig, cluster: Fields, user: Fields) -> None:
    """Certificates that cannot be used are reported now, with their field; those of a plugin when it was run."""
    if not config.is_tls:
        return
    from podstrat.kubeclient import tls

    identity = Identity() if config.credentials.is_slow() else config.credentials.current()
    try:
        tls.context(config.authority, config.verify, identity.certificate, identity.key)
    except tls.BadCertificate as error:
        fields = cluster if error.field == "certificate-authority" else user
        key = error.field if fields.text(error.field) else f"{error.field}-data"
        raise fields.error(key, str(error)) from None


# ---- users -----------------------------------------------------------------------------------------


def _credentials(user: Fields, cluster: Fields, authority: bytes, environ: Mapping[str, str]) -> Credentials:
    if user.value.get("auth-provider") is not None:
        name = user.child("auth-provider").text("name")
        message = f"auth-provider {name} is not supported any more, as in kubectl since 1.26: use an exec credential plugin"
        raise user.error("auth-provider", message)
    identity = _identity(user)
    if user.text("tokenFile"):
        token = TokenFile(user.path("tokenFile"), identity)
        if not token.current().authorization:
            raise user.error("tokenFile", f"no token in {user.path('tokenFile')}")
        return token
    if user.value.get("exec") is not None and identity == Identity():
        return _plugin(user, cluster, authority, environ)
    return Fixed(identity)


def _identity(user: Fields) -> Identity:
    certificate, key = _content(user, "client-certificate"), _content(user, "client-key")
    if certificate and not key:
        raise user.error("client-key", "required with client-certificate")
    token, name = user.header("token"), user.text("username")
    if token and name:
        raise user.error("username", "not allowed together with token")
    authorization = f"Bearer {token}" if token else ""
    if name:
        pair = f"{name}:{user.text('password')}".encode()
        authorization = f"Basic {base64.b64encode(pair).decode()}"
    return Identity(authorization, certificate, key if certificate else b"")


def _plugin(user: Fields, cluster: Fields, authority: bytes, environ: Mapping[str, str]) -> Credentials:
    from podstrat.kubeclient import exec_plugin

    fields = user.child("exec", f"{user.at}exec.")
    version = fields.required("apiVersion")
    if version not in exec_plugin.VERSIONS:
        raise fields.error("apiVersion", f"{version} is not supported: use one of {', '.join(exec_plugin.VERSIONS)}")
    mode = fields.text("interactiveMode")
    if not mode and version == exec_plugin.VERSIONS[0]:
        raise fields.error("interactiveMode", f"required: one of {', '.join(exec_plugin.MODES)}")
    if mode and mode not in exec_plugin.MODES:
        raise fields.error("interactiveMode", f"{mode} is not one of {', '.join(exec_plugin.MODES)}")
    if mode == exec_plugin.ALWAYS and not exec_plugin.has_terminal():
        raise fields.error("interactiveMode", "Always requires a terminal on standard input")
    command = fields.required("command")
    plugin = exec_plugin.Plugin(
        user.place.rstrip(": "),
        version,
        str(fields.path("command")) if os.sep in command else command,
        fields.texts("args"),
        {entry.required("name"): entry.text("value") for entry in fields.entries("env")},
        fields.text("installHint"),
        mode or exec_plugin.IF_AVAILABLE,
        _cluster_info(cluster, authority) if fields.flag("provideClusterInfo") else None,
        environ,
    )
    if missing := plugin.missing():
        raise fields.error("command", missing)
    return plugin


def _cluster_info(cluster: Fields, authority: bytes) -> dict[str, Any]:
    """A cluster as plugins see it: with the authority itself, and what the cluster has for plugins."""
    from podstrat.kubeclient import exec_plugin

    info: dict[str, Any] = {"server": cluster.text("server")}
    for key in ("tls-server-name", "proxy-url"):
        if cluster.text(key):
            info[key] = cluster.text(key)
    if cluster.flag("insecure-skip-tls-verify"):
        info["insecure-skip-tls-verify"] = True
    if authority:
        info["certificate-authority-data"] = base64.b64encode(authority).decode()
    for entry in cluster.entries("extensions"):
        if entry.text("name") == exec_plugin.EXTENSION:
            info["config"] = entry.value.get("extension")
    return info


# ---- in a pod --------------------------------------------------------------------------------------


def _is_in_cluster(environ: Mapping[str, str], account: Path) -> bool:
    return bool(environ.get("KUBERNETES_SERVICE_HOST")) and (account / "token").exists()


def _of_account(environ: Mapping[str, str], account: Path) -> ClientConfig:
    """The service account of the pod that we run in."""
    host, port = environ["KUBERNETES_SERVICE_HOST"], environ.get("KUBERNETES_SERVICE_PORT") or "443"
    token = TokenFile(account / "token")
    if not token.current().authorization:
        raise ConfigError(f"{account / 'token'}: no token")
    try:
        authority = (account / "ca.crt").read_bytes()
        namespace = (account / "namespace").read_text().strip() if (account / "namespace").exists() else "default"
    except OSError as error:
        raise ConfigError(f"{account}: {error.strerror}: {Path(str(error.filename)).name}") from None
    server = f"https://{f'[{host}]' if ':' in host else host}:{port}"
    config = ClientConfig(server, token, namespace or "default", authority)
    config.proxy = _proxy_of_environ(config, environ)
    from podstrat.kubeclient import tls

    try:
        tls.context(authority, True)
    except tls.BadCertificate as error:
        raise ConfigError(f"{account / 'ca.crt'}: {error}") from None
    return config
