"""The clients against an API server with TLS: through a proxy, with plugins, with credentials that are replaced."""

from __future__ import annotations

import asyncio
import json
import socket
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from podstrat.kubeclient import aio, kubeconfig, official, sync
from podstrat.kubeclient.answer import Answer
from podstrat.kubeclient.config import ClientConfig
from podstrat.kubeclient.errors import Expired, StatusError, Unavailable
from podstrat.testing.server import Server
from tests.kubeclient import files
from tests.kubeclient.files import config, write
from tests.kubeclient.tunnel import Tunnels

WHO = "/apis/authentication.k8s.io/v1/selfsubjectreviews"
PODS = "/api/v1/namespaces/default/pods"
REVIEW = {"apiVersion": "authentication.k8s.io/v1", "kind": "SelfSubjectReview"}
Request = Callable[..., Answer]


def over_sync(config: ClientConfig, *request: Any) -> Answer:
    with sync.Client(config) as client:
        return client.request(*request)


def over_aio(config: ClientConfig, *request: Any) -> Answer:
    async def run() -> Answer:
        client = aio.Client(config, timeout=30.0)
        try:
            return await client.request(*request)
        finally:
            await client.close()

    return asyncio.run(run())


def over_official(config: ClientConfig, *request: Any) -> Answer:
    client = official.Client(config, 30.0, 30.0)
    try:
        return client.request(*request)
    finally:
        client.close()


every_client = pytest.mark.parametrize("request_once", [over_sync, over_aio, over_official], ids=["sync", "aio", "official"])


def cluster_of(server: Server) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(server.kubeconfig.read_text())["clusters"][0]["cluster"]
    return found


def load(folder: Path, at: Server, user: dict[str, Any], **cluster: Any) -> ClientConfig:
    path = write(folder / "config", config(user, {**cluster_of(at), **cluster}))
    return kubeconfig.load(path, environ={"PATH": "/usr/bin:/bin"})


def user_of(answer: Answer) -> Any:
    assert answer.code == 201, answer.text
    return answer.body["status"]["userInfo"]["username"]


@every_client
def test_a_token(tmp_path: Path, server: Server, request_once: Request) -> None:
    assert user_of(request_once(load(tmp_path, server, {"token": "alice-token"}), "POST", WHO, REVIEW)) == "alice"


@every_client
def test_a_plugin_whose_token_is_refused_is_run_again(tmp_path: Path, server: Server, request_once: Request) -> None:
    files.plugin(tmp_path, files.PRINT)
    env = [{"name": "COUNT", "value": str(tmp_path / "count")}]
    plugin = {"apiVersion": "client.authentication.k8s.io/v1", "interactiveMode": "Never", "command": "./plugin", "env": env}
    assert user_of(request_once(load(tmp_path, server, {"exec": plugin}), "POST", WHO, REVIEW)) == "bob"
    assert len((tmp_path / "count").read_text().splitlines()) == 2


@every_client
def test_a_plugin_that_fails(tmp_path: Path, server: Server, request_once: Request) -> None:
    files.plugin(tmp_path, "sys.exit(4)")
    plugin = {"apiVersion": "client.authentication.k8s.io/v1", "interactiveMode": "Never", "command": "./plugin"}
    with pytest.raises(Unavailable, match=r"credential plugin .*: exit code 4"):
        request_once(load(tmp_path, server, {"exec": plugin}), "GET", PODS)


@every_client
def test_a_plugin_with_a_certificate_that_is_none(tmp_path: Path, server: Server, request_once: Request) -> None:
    status = {"clientCertificateData": "nonsense", "clientKeyData": "nonsense"}
    code = f"print({json.dumps({'kind': 'ExecCredential', 'apiVersion': 'client.authentication.k8s.io/v1', 'status': status})!r})"
    files.plugin(tmp_path, code)
    plugin = {"apiVersion": "client.authentication.k8s.io/v1", "interactiveMode": "Never", "command": "./plugin"}
    with pytest.raises(Unavailable) as caught:
        request_once(load(tmp_path, server, {"exec": plugin}), "GET", PODS)
    assert str(caught.value) == (
        "client-certificate of the credential plugin: the certificate and the key do not form a pair in PEM form"
    )


@every_client
def test_a_token_file_is_read_again_after_a_401(tmp_path: Path, server: Server, request_once: Request) -> None:
    (tmp_path / "token").write_text("gone")
    found = load(tmp_path, server, {"tokenFile": "token"})
    assert request_once(found, "POST", WHO, REVIEW).code == 401
    (tmp_path / "token").write_text("alice-token\n")
    assert user_of(request_once(found, "POST", WHO, REVIEW)) == "alice"


@every_client
@pytest.mark.parametrize(
    "authorization, secret", [("", ""), ("Basic bWU6cEBzcw==", "me:p%40ss@")], ids=["open", "with-a-password"]
)
def test_a_proxy(tmp_path: Path, server: Server, request_once: Request, authorization: str, secret: str) -> None:
    with Tunnels(authorization) as proxy:
        url = proxy.url.replace("://", f"://{secret}")
        found = load(tmp_path, server, {"token": "alice-token"}, **{"proxy-url": url})
        assert user_of(request_once(found, "POST", WHO, REVIEW)) == "alice"
        assert proxy.asked == [f"CONNECT {server.url.removeprefix('https://')}"]


@every_client
def test_a_proxy_that_refuses(tmp_path: Path, server: Server, request_once: Request) -> None:
    with Tunnels("Basic secret") as proxy:
        found = load(tmp_path, server, {"token": "alice-token"}, **{"proxy-url": proxy.url})
        with pytest.raises(Unavailable) as caught:
            request_once(found, "GET", PODS)
    assert str(caught.value).startswith(f"{server.url} cannot be reached: ")
    assert "407 Proxy Authentication Required" in str(caught.value)


@every_client
def test_a_name_that_only_the_proxy_knows(tmp_path: Path, server: Server, request_once: Request) -> None:
    address = load(tmp_path, server, {})
    with Tunnels(redirect=(address.host, address.port)) as proxy:
        options = {"server": "https://cluster.invalid:6443", "proxy-url": proxy.url, "tls-server-name": "kubernetes.default.svc"}
        found = load(tmp_path, server, {"token": "alice-token"}, **options)
        assert user_of(request_once(found, "POST", WHO, REVIEW)) == "alice"
        assert proxy.asked == ["CONNECT cluster.invalid:6443"]


@every_client
def test_the_server_name_is_checked(tmp_path: Path, server: Server, request_once: Request) -> None:
    token = {"token": "alice-token"}
    with pytest.raises(Unavailable, match=r"certificate is not valid for 'other\.example\.com'"):
        request_once(load(tmp_path, server, token, **{"tls-server-name": "other.example.com"}), "GET", PODS)
    assert request_once(load(tmp_path, server, token, **{"tls-server-name": "localhost"}), "GET", PODS).code == 200


@every_client
def test_an_unknown_authority_and_no_verification(tmp_path: Path, server: Server, request_once: Request) -> None:
    other = files.base64_of(files.Certificates().authority)
    with pytest.raises(Unavailable, match="cannot be reached: certificate verify failed: "):
        request_once(load(tmp_path, server, {}, **{"certificate-authority-data": other}), "GET", PODS)
    insecure = {"certificate-authority-data": None, "insecure-skip-tls-verify": True}
    assert request_once(load(tmp_path, server, {"token": "alice-token"}, **insecure), "GET", PODS).code == 200


@every_client
def test_plain_http_through_a_proxy(tmp_path: Path, request_once: Request) -> None:
    with Server("--http", "--token", "t,alice") as plain, Tunnels() as proxy:
        found = load(tmp_path, plain, {"token": "t"}, **{"proxy-url": proxy.url})
        assert user_of(request_once(found, "POST", WHO, REVIEW)) == "alice"
        assert proxy.asked == [f"POST {plain.url}{WHO}"]


@every_client
def test_impersonation_is_sent(tmp_path: Path, server: Server, request_once: Request) -> None:
    answer = request_once(load(tmp_path, server, {"token": "alice-token", "as": "bob"}), "POST", WHO, REVIEW)
    assert user_of(answer) == "bob"


@every_client
def test_nobody_listens(request_once: Request) -> None:
    with pytest.raises(Unavailable) as caught:
        request_once(ClientConfig("https://127.0.0.1:1"), "GET", "/")
    assert str(caught.value) == "https://127.0.0.1:1 cannot be reached: Connection refused"


@every_client
def test_a_name_that_does_not_exist(request_once: Request) -> None:
    with pytest.raises(Unavailable, match=r"^https://api\.invalid:443 cannot be reached: .*(Name|name)"):
        request_once(ClientConfig("https://api.invalid"), "GET", "/")


@every_client
def test_an_error_of_the_server(tmp_path: Path, server: Server, request_once: Request) -> None:
    answer = request_once(load(tmp_path, server, {"token": "alice-token"}), "GET", f"{PODS}/none")
    assert (answer.code, answer.reason, answer.message) == (404, "NotFound", 'pods "none" not found')
    assert str(answer.error()) == '404: pods "none" not found'


def test_several_groups_are_several_headers(tmp_path: Path) -> None:
    """All clients send them; the kubernetes package alone would send the last."""
    received: list[str] = []
    with socket.create_server(("127.0.0.1", 0)) as listener:
        user = {"as": "jane", "as-groups": ["dev", "ops"]}
        cluster = {"server": f"http://127.0.0.1:{listener.getsockname()[1]}"}
        found = kubeconfig.load(write(tmp_path / "config", config(user, cluster)), environ={})

        def serve() -> None:
            for _ in range(3):
                connection, _ = listener.accept()
                with connection:
                    received.append(connection.recv(65536).decode())
                    connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}")

        thread = threading.Thread(target=serve)
        thread.start()
        for request_once in (over_sync, over_aio, over_official):
            assert request_once(found, "GET", "/").body == {}
        thread.join()
    groups = [[line for line in head.split("\r\n") if line.lower().startswith("impersonate-group")] for head in received]
    assert groups == [["Impersonate-Group: dev", "Impersonate-Group: ops"]] * 3
    assert [head.count("User-Agent: podstrat\r\n") for head in received] == [1, 1, 1]


# ---- the blocking client ---------------------------------------------------------------------------


def test_calls_and_their_errors(tmp_path: Path, server: Server) -> None:
    with sync.Client(load(tmp_path, server, {"token": "alice-token"})) as client:
        assert client.call("GET", PODS)["kind"] == "PodList"
        with pytest.raises(StatusError) as caught:
            client.call("DELETE", f"{PODS}/none")
    assert (caught.value.code, caught.value.reason, str(caught.value)) == (404, "NotFound", '404: pods "none" not found')


def test_a_watch(tmp_path: Path, server: Server) -> None:
    with sync.Client(load(tmp_path, server, {"token": "alice-token"})) as client:
        name = "/api/v1/namespaces/default/configmaps"
        version = client.call("GET", name)["metadata"]["resourceVersion"]
        client.call("POST", name, {"metadata": {"name": "seen"}})
        events = client.watch(f"{name}?watch=1&resourceVersion={version}")
        assert next(events)["object"]["metadata"]["name"] == "seen"
        events.close()
        with pytest.raises(StatusError) as caught:
            next(client.watch("/api/v1/nonsense?watch=1"))
        assert caught.value.code == 404


def test_no_file_is_left_behind(tmp_path: Path, server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "tmp"
    folder.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(folder))
    made = files.Certificates()
    user = {"client-certificate-data": files.base64_of(made.certificate), "client-key-data": files.base64_of(made.key)}
    found = load(tmp_path, server, user)
    assert found.tls(found.credentials.current()) is found.tls(found.credentials.current())
    assert list(folder.iterdir()) == []


# ---- answers ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text, message",
    [
        (b'{"kind": "Status", "message": "no"}', "no"),
        (b"<html>Bad gateway</html>", "<html>Bad gateway</html>"),
        (b"", ""),
        (b"[]", ""),
    ],
)
def test_messages(text: bytes, message: str) -> None:
    assert Answer(502, Answer.of(200, None).headers, text).message == message


@pytest.mark.parametrize("value, seconds", [("5", 5.0), ("-1", 0.0), ("soon", None), ("", None)])
def test_retry_after(value: str, seconds: float | None) -> None:
    assert Answer.of(429, {}, Retry_After=value).retry_after == seconds


def test_expired() -> None:
    error = Answer.of(410, {"message": "too old resource version"}).error()
    assert isinstance(error, Expired)
    assert str(error) == "410: too old resource version"
