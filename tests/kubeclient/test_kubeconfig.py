"""Kubeconfig files: what is read, in which order, and what is said of a bad one."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from podstrat.check import yaml_writer
from podstrat.kubeclient import kubeconfig
from podstrat.kubeclient.config import ClientConfig
from podstrat.kubeclient.credentials import Identity
from podstrat.kubeclient.errors import ConfigError
from podstrat.kubeclient.proxy import Proxy
from tests.kubeclient.files import SERVER, Certificates, base64_of, config, write

MADE = Certificates()


def load(folder: Path, value: Any, context: str | None = None) -> ClientConfig:
    return kubeconfig.load(write(folder / "config", value), context, environ={})


# ---- what is read ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "server, address, prefix",
    [
        ("https://10.0.0.1:6443", "https://10.0.0.1:6443", ""),
        ("https://api.example.com", "https://api.example.com:443", ""),
        ("http://10.0.0.1", "http://10.0.0.1:80", ""),
        ("https://rancher.example.com/k8s/clusters/c-1/", "https://rancher.example.com:443", "/k8s/clusters/c-1"),
        ("https://[fd00::1]:6443", "https://[fd00::1]:6443", ""),
        ("localhost:8080", "http://localhost:8080", ""),
    ],
)
def test_server(tmp_path: Path, server: str, address: str, prefix: str) -> None:
    found = load(tmp_path, config(cluster={"server": server}))
    assert (found.address, found.prefix) == (address, prefix)
    assert found.target("/api") == f"{prefix}/api"


def test_yaml_and_relative_paths(tmp_path: Path) -> None:
    (tmp_path / "pki").mkdir()
    for name, data in (("ca.crt", MADE.authority), ("alice.crt", MADE.certificate), ("alice.key", MADE.key)):
        (tmp_path / "pki" / name).write_bytes(data)
    found = load(
        tmp_path,
        """\
apiVersion: v1
kind: Config
current-context: here
contexts:
- name: here
  context: {cluster: main, user: alice, namespace: team-a}
clusters:
- name: main
  cluster:
    server: https://10.0.0.1:6443
    certificate-authority: pki/ca.crt
    tls-server-name: kubernetes.example.com
users:
- name: alice
  user:
    client-certificate: pki/alice.crt
    client-key: pki/alice.key
""",
    )
    assert found.authority == MADE.authority
    assert found.credentials.current() == Identity("", MADE.certificate, MADE.key)
    assert (found.namespace, found.server_name, found.verify) == ("team-a", "kubernetes.example.com", True)


def test_data_wins_over_files(tmp_path: Path) -> None:
    cluster = {"certificate-authority": "nowhere", "certificate-authority-data": base64_of(MADE.authority)}
    assert load(tmp_path, config(cluster=cluster)).authority == MADE.authority


@pytest.mark.parametrize(
    "user, authorization",
    [
        pytest.param({"token": "t"}, "Bearer t", id="token"),
        pytest.param({"username": "alice", "password": "pw"}, "Basic YWxpY2U6cHc=", id="basic"),
        pytest.param({"tokenFile": "token"}, "Bearer of-the-file", id="token-file"),
        pytest.param({"token": "t", "tokenFile": "token"}, "Bearer of-the-file", id="a-token-file-wins-over-a-token"),
        pytest.param({"token": "t", "exec": {"command": "none"}}, "Bearer t", id="a-token-wins-over-a-plugin"),
        pytest.param({}, "", id="nobody"),
    ],
)
def test_authorization(tmp_path: Path, user: dict[str, Any], authorization: str) -> None:
    (tmp_path / "token").write_text("of-the-file\n")
    assert load(tmp_path, config(user)).credentials.current().authorization == authorization


def test_impersonation(tmp_path: Path) -> None:
    user = {
        "as": "jane",
        "as-uid": "u-1",
        "as-groups": ["dev", "ops"],
        "as-user-extra": {"scopes": ["a", "b"], "example.com/team%": ["x"]},
    }
    assert load(tmp_path, config(user)).headers(Identity("Bearer t")) == [
        ("User-Agent", "podstrat"),
        ("Impersonate-User", "jane"),
        ("Impersonate-Uid", "u-1"),
        ("Impersonate-Group", "dev"),
        ("Impersonate-Group", "ops"),
        ("Impersonate-Extra-scopes", "a"),
        ("Impersonate-Extra-scopes", "b"),
        ("Impersonate-Extra-example.com%2Fteam%25", "x"),
        ("Authorization", "Bearer t"),
    ]


@pytest.mark.parametrize(
    "url, proxy",
    [
        ("http://proxy:3128", Proxy("proxy", 3128)),
        ("http://proxy", Proxy("proxy", 80)),
        ("http://me:p%40ss@proxy:3128", Proxy("proxy", 3128, "Basic bWU6cEBzcw==")),
    ],
)
def test_proxy_url(tmp_path: Path, url: str, proxy: Proxy) -> None:
    assert load(tmp_path, config(cluster={"proxy-url": url})).proxy == proxy


def test_insecure(tmp_path: Path) -> None:
    assert load(tmp_path, config(cluster={"insecure-skip-tls-verify": True})).verify is False


# ---- contexts and several files --------------------------------------------------------------------


def test_a_context_by_name(tmp_path: Path) -> None:
    value = config({"token": "a"}, contexts=[])
    value["clusters"].append({"name": "other", "cluster": {"server": "https://10.0.0.2"}})
    value["users"].append({"name": "bob", "user": {"token": "b"}})
    value["contexts"] = [
        {"name": "here", "context": {"cluster": "main", "user": "alice"}},
        {"name": "there", "context": {"cluster": "other", "user": "bob", "namespace": "n"}},
        {"name": "nobody", "context": {"cluster": "other"}},
    ]
    found = {name: load(tmp_path, value, name) for name in (None, "here", "there", "nobody")}
    assert {name: (each.address, each.credentials.current().authorization, each.namespace) for name, each in found.items()} == {
        None: ("https://10.0.0.1:6443", "Bearer a", "default"),
        "here": ("https://10.0.0.1:6443", "Bearer a", "default"),
        "there": ("https://10.0.0.2:443", "Bearer b", "n"),
        "nobody": ("https://10.0.0.2:443", "", "default"),
    }


def test_the_first_of_several_files_wins(tmp_path: Path) -> None:
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "token").write_text(f"of {name}")
    one = write(
        tmp_path / "one" / "config", {"current-context": "here", "users": [{"name": "alice", "user": {"tokenFile": "token"}}]}
    )
    two = write(tmp_path / "two" / "config", config({"tokenFile": "token"}, **{"current-context": "there"}))
    for paths, authorization in ((f"{one}:{two}", "Bearer of one"), (f"{tmp_path / 'none'}:{one}::{two}", "Bearer of one")):
        found = kubeconfig.load(environ={"KUBECONFIG": paths})
        assert (found.server, found.credentials.current().authorization) == (SERVER, authorization)


def test_the_file_in_the_home_directory(tmp_path: Path) -> None:
    (tmp_path / ".kube").mkdir()
    write(tmp_path / ".kube" / "config", config())
    assert kubeconfig.load(environ={"HOME": str(tmp_path)}).server == SERVER


# ---- in a pod --------------------------------------------------------------------------------------

IN_POD = {"KUBERNETES_SERVICE_HOST": "10.96.0.1", "KUBERNETES_SERVICE_PORT": "443"}


@pytest.fixture
def account(tmp_path: Path) -> Path:
    folder = tmp_path / "account"
    folder.mkdir()
    (folder / "token").write_text("of-the-pod\n")
    (folder / "ca.crt").write_bytes(MADE.authority)
    (folder / "namespace").write_text("podstrat-system")
    return folder


def test_in_a_pod(account: Path) -> None:
    found = kubeconfig.load(environ={**IN_POD, "HOME": "/nowhere"}, account=account)
    assert (found.address, found.namespace, found.authority) == ("https://10.96.0.1:443", "podstrat-system", MADE.authority)
    assert found.credentials.current().authorization == "Bearer of-the-pod"
    assert (
        kubeconfig.load(environ={**IN_POD, "KUBERNETES_SERVICE_HOST": "fd00::1"}, account=account).address
        == "https://[fd00::1]:443"
    )


def test_files_before_the_account_and_the_account_before_files(tmp_path: Path, account: Path) -> None:
    environ = {**IN_POD, "KUBECONFIG": str(write(tmp_path / "config", config()))}
    assert kubeconfig.load(environ=environ, account=account).server == SERVER
    assert kubeconfig.load(environ=environ, account=account, in_cluster_first=True).host == "10.96.0.1"
    assert kubeconfig.load(tmp_path / "config", environ=environ, account=account, in_cluster_first=True).server == SERVER
    assert kubeconfig.load(None, "here", environ=environ, account=account, in_cluster_first=True).server == SERVER


@pytest.mark.parametrize(
    "name, content, text",
    [
        ("ca.crt", None, "{account}: No such file or directory: ca.crt"),
        ("ca.crt", "nonsense", "{account}/ca.crt: not a certificate in PEM form"),
        ("token", "", "{account}/token: no token"),
    ],
)
def test_a_broken_account(account: Path, name: str, content: str | None, text: str) -> None:
    if content is None:
        (account / name).unlink()
    else:
        (account / name).write_text(content)
    with pytest.raises(ConfigError) as caught:
        kubeconfig.load(environ=IN_POD, account=account)
    assert str(caught.value) == text.format(account=account)


# ---- bad files -------------------------------------------------------------------------------------

EXEC = {"apiVersion": "client.authentication.k8s.io/v1", "interactiveMode": "Never", "command": "python3"}
PLUGIN = "user alice: exec"


@pytest.mark.parametrize(
    "value, text",
    [
        pytest.param([], "must be an object, not a list", id="a-list"),
        pytest.param("a: 1\n---\nb: 2\n", "2 YAML documents, a kubeconfig is one", id="two-documents"),
        pytest.param({"kind": "Pod"}, "kind: is Pod, not Config", id="another-kind"),
        pytest.param({}, "current-context is not set (and there are no contexts)", id="empty"),
        pytest.param(config(**{"current-context": ""}), "current-context is not set (contexts: here)", id="no-current-context"),
        pytest.param(config(**{"current-context": "x"}), "no context x (contexts: here)", id="unknown-context"),
        pytest.param(config(**{"current-context": 7}), "current-context: must be a string, not a number", id="a-number"),
        pytest.param(config(contexts={}), "contexts: must be a list, not an object", id="contexts-object"),
        pytest.param(config(contexts=[1]), "contexts[0]: must be an object, not a number", id="context-number"),
        pytest.param(config(contexts=[{}]), "contexts[0].name: required", id="context-without-a-name"),
        pytest.param(config(clusters=[]), "context here: cluster: no cluster main", id="no-cluster"),
        pytest.param(config(users=[]), "context here: user: no user alice", id="no-user"),
        pytest.param(config(cluster={"server": ""}), "cluster main: server: required", id="no-server"),
        pytest.param(
            config(cluster={"server": "ftp://x"}), "cluster main: server ftp://x: must be a URL, https://HOST:PORT", id="ftp"
        ),
        pytest.param(
            config(cluster={"server": "https://x:999999"}),
            "cluster main: server https://x:999999: not a URL: Port out of range 0-65535",
            id="bad-port",
        ),
        pytest.param(
            config(cluster={"certificate-authority": "ca.crt"}),
            "cluster main: certificate-authority: {folder}/ca.crt: No such file or directory",
            id="no-authority",
        ),
        pytest.param(
            config(cluster={"certificate-authority-data": "%"}),
            "cluster main: certificate-authority-data: not valid base64",
            id="authority-not-base64",
        ),
        pytest.param(
            config(cluster={"certificate-authority-data": "YQ=="}),
            "cluster main: certificate-authority-data: not a certificate in PEM form",
            id="authority-not-pem",
        ),
        pytest.param(
            config(cluster={"insecure-skip-tls-verify": True, "certificate-authority-data": base64_of(MADE.authority)}),
            "cluster main: insecure-skip-tls-verify: not allowed together with certificate-authority",
            id="insecure-with-authority",
        ),
        pytest.param(
            config(cluster={"insecure-skip-tls-verify": "true"}),
            "cluster main: insecure-skip-tls-verify: must be a boolean, not a string",
            id="flag-as-text",
        ),
        pytest.param(
            config(cluster={"proxy-url": "socks5://proxy:1080"}),
            "cluster main: proxy-url: scheme socks5 is not supported: use an HTTP proxy, http://HOST:PORT",
            id="socks",
        ),
        pytest.param(
            config(cluster={"proxy-url": "proxy:3128"}),
            "cluster main: proxy-url: an address without a scheme is not supported: use an HTTP proxy, http://HOST:PORT",
            id="proxy-without-scheme",
        ),
        pytest.param(config({"token": 5}), "user alice: token: must be a string, not a number", id="token-number"),
        pytest.param(config({"token": "a\nb"}), "user alice: token: contains control characters", id="token-lines"),
        pytest.param(
            config({"token": "a", "username": "b"}), "user alice: username: not allowed together with token", id="two-ways"
        ),
        pytest.param(config({"tokenFile": "t"}), "user alice: tokenFile: no token in {folder}/t", id="no-token-file"),
        pytest.param(
            config({"client-certificate-data": base64_of(MADE.certificate)}),
            "user alice: client-key: required with client-certificate",
            id="no-key",
        ),
        pytest.param(
            config({"client-certificate-data": base64_of(MADE.certificate), "client-key-data": base64_of(Certificates().key)}),
            "user alice: client-certificate-data: the certificate and the key do not form a pair in PEM form",
            id="another-key",
        ),
        pytest.param(
            config({"as-groups": ["g"]}), "user alice: as: required with as-uid, as-groups or as-user-extra", id="as-nobody"
        ),
        pytest.param(config({"as": "a", "as-groups": [1]}), "user alice: as-groups: must be a list of strings", id="groups"),
        pytest.param(
            config({"as": "a", "as-user-extra": {"k": "v"}}),
            "user alice: as-user-extra.k: must be a list, not a string",
            id="extra",
        ),
        pytest.param(
            config({"auth-provider": {"name": "gcp"}}),
            "user alice: auth-provider: auth-provider gcp is not supported any more, as in kubectl since 1.26: "
            "use an exec credential plugin",
            id="auth-provider",
        ),
        pytest.param(config({"exec": {}}), f"{PLUGIN}.apiVersion: required", id="exec-without-version"),
        pytest.param(
            config({"exec": {**EXEC, "apiVersion": "client.authentication.k8s.io/v1alpha1"}}),
            f"{PLUGIN}.apiVersion: client.authentication.k8s.io/v1alpha1 is not supported: "
            "use one of client.authentication.k8s.io/v1, client.authentication.k8s.io/v1beta1",
            id="exec-v1alpha1",
        ),
        pytest.param(
            config({"exec": {**EXEC, "interactiveMode": None}}),
            f"{PLUGIN}.interactiveMode: required: one of Never, IfAvailable, Always",
            id="exec-without-mode",
        ),
        pytest.param(
            config({"exec": {**EXEC, "interactiveMode": "Sometimes"}}),
            f"{PLUGIN}.interactiveMode: Sometimes is not one of Never, IfAvailable, Always",
            id="exec-mode",
        ),
        pytest.param(
            config({"exec": {**EXEC, "interactiveMode": "Always"}}),
            f"{PLUGIN}.interactiveMode: Always requires a terminal on standard input",
            id="exec-always",
        ),
        pytest.param(config({"exec": {**EXEC, "command": ""}}), f"{PLUGIN}.command: required", id="exec-without-command"),
        pytest.param(
            config({"exec": {**EXEC, "command": "no-such-plugin", "installHint": "Install it:\n  brew install plugin\n"}}),
            f"{PLUGIN}.command: executable no-such-plugin not found\nInstall it:\n  brew install plugin",
            id="exec-not-found",
        ),
        pytest.param(
            config({"exec": {**EXEC, "command": "./bin/plugin"}}),
            f"{PLUGIN}.command: executable {{folder}}/bin/plugin not found",
            id="exec-relative",
        ),
        pytest.param(config({"exec": {**EXEC, "args": "a"}}), f"{PLUGIN}.args: must be a list, not a string", id="exec-args"),
        pytest.param(config({"exec": {**EXEC, "env": [{"value": "v"}]}}), f"{PLUGIN}.env[0].name: required", id="exec-env"),
    ],
)
def test_a_bad_file(tmp_path: Path, value: Any, text: str) -> None:
    with pytest.raises(ConfigError) as caught:
        load(tmp_path, value)
    assert str(caught.value) == f"{tmp_path / 'config'}: {text.format(folder=tmp_path)}"


def test_a_file_that_is_not_yaml(tmp_path: Path) -> None:
    with pytest.raises(ConfigError) as caught:
        load(tmp_path, "a: [")
    assert str(caught.value) == f"{tmp_path / 'config'}:1:5: did not find expected node content"


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(ConfigError) as caught:
        kubeconfig.load(tmp_path / "none", environ={})
    assert str(caught.value) == f"{tmp_path / 'none'}: No such file or directory"
    with pytest.raises(ConfigError) as caught:
        kubeconfig.load(tmp_path, environ={})
    assert str(caught.value) == f"{tmp_path}: Is a directory"


@pytest.mark.parametrize("environ, tried", [({"HOME": "/none"}, "/none/.kube/config"), ({"KUBECONFIG": "/a:/b"}, "/a or /b")])
def test_nothing_is_configured(environ: dict[str, str], tried: str) -> None:
    with pytest.raises(ConfigError) as caught:
        kubeconfig.load(environ=environ)
    assert str(caught.value) == (
        f"no kubeconfig or in-cluster configuration found: no file {tried}; name one with --kubeconfig or KUBECONFIG"
    )


def test_an_encrypted_key_is_refused_without_a_question(tmp_path: Path) -> None:
    from cryptography.hazmat.primitives import serialization

    key = serialization.load_pem_private_key(MADE.key, None)
    encrypted = key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.BestAvailableEncryption(b"secret"),
    )
    user = {"client-certificate-data": base64_of(MADE.certificate), "client-key-data": base64_of(encrypted)}
    with pytest.raises(ConfigError) as caught:
        load(tmp_path, config(user))
    assert str(caught.value).endswith("user alice: client-key-data: the key is encrypted: use one without a password")


# ---- what it costs ---------------------------------------------------------------------------------

HEAVY = {"asyncio", "cryptography", "http", "kubernetes", "pydantic", "ssl", "subprocess", "urllib3", "yaml"}


PLAIN = config({"token": "t"}, {"server": "http://10.0.0.1"})


@pytest.mark.parametrize("content", [json.dumps(PLAIN), yaml_writer.text(PLAIN)], ids=["json", "yaml"])
def test_reading_a_file_loads_nothing_heavy(tmp_path: Path, content: str) -> None:
    path = write(tmp_path / "config", content)
    code = (
        f"import sys, pathlib; sys.path[:0] = {[each for each in sys.path if each]!r}\n"
        "from podstrat.kubeclient import kubeconfig\n"
        f"kubeconfig.load(pathlib.Path({str(path)!r}), environ={{}})\nprint(*sys.modules)"
    )
    done = subprocess.run([sys.executable, "-S", "-c", code], capture_output=True, text=True, check=True)
    assert {name.partition(".")[0] for name in done.stdout.split()} & HEAVY == set()
