"""The server itself: who is let in, how it is, what it counts, what it is started with."""

from __future__ import annotations

import base64
import json
import re
import socket
import ssl
import threading
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from podstrat.apiserver import serving
from podstrat.apiserver.app import Http
from podstrat.apiserver.auth import Authenticator
from podstrat.apiserver.metrics import Metrics
from podstrat.certs.issuing import Authority, Pair
from podstrat.kubeclient.sync import Client
from podstrat.testing.server import Server
from tests.eventually import eventually

PODS = "/api/v1/namespaces/default/pods"
POD = {"metadata": {"name": "p"}, "spec": {"containers": [{"name": "c", "image": "i"}]}}
WHO = "/apis/authentication.k8s.io/v1/selfsubjectreviews"


def whoami(client: Client, **headers: str) -> tuple[int, Any]:
    answer = client.exchange("POST", WHO, b"{}", {"Content-Type": "application/json", **headers})
    if answer.code != 201:
        return answer.code, answer.body["message"]
    info = answer.body["status"]["userInfo"]
    return info["username"], info["groups"]


def as_user(server: Server, user: dict[str, str], folder: Path) -> Client:
    """A client that shows what the user of a kubeconfig has, and nothing else."""
    config = json.loads(server.kubeconfig.read_text())
    config["users"][0]["user"] = user
    path = folder / "kubeconfig"
    path.write_text(json.dumps(config))
    return Client(path)


# ---- who is let in ---------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def guarded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    data = tmp_path_factory.mktemp("guarded")
    tokens = ("--token", "first", "--token", "second,alice", "--token", "third,bob,dev,ops", "--data-dir", str(data))
    with Server(*tokens) as server:
        yield server


@pytest.mark.parametrize(
    "header, who",
    [
        pytest.param("Bearer first", ("admin", ["system:masters", "system:authenticated"]), id="a-token-alone"),
        pytest.param("Bearer second", ("alice", ["system:masters", "system:authenticated"]), id="with-a-user"),
        pytest.param("bearer third", ("bob", ["dev", "ops", "system:authenticated"]), id="with-groups"),
        pytest.param("Bearer wrong", (401, "Unauthorized"), id="wrong"),
        pytest.param("Bearer ", (401, "Unauthorized"), id="empty"),
        pytest.param("Bearer firs\u00e9", (401, "Unauthorized"), id="not-ascii"),
        pytest.param("Basic Zmlyc3Q6", (401, "Unauthorized"), id="another-scheme"),
        pytest.param("", (401, "Unauthorized"), id="nothing"),
    ],
)
def test_tokens(guarded: Server, tmp_path: Path, header: str, who: tuple[Any, Any]) -> None:
    with as_user(guarded, {}, tmp_path) as client:
        assert whoami(client, **({"Authorization": header} if header else {})) == who


def test_everything_but_the_health_is_for_those_who_are_known(guarded: Server, tmp_path: Path) -> None:
    with as_user(guarded, {}, tmp_path) as client:
        for path in (PODS, "/api", "/apis", "/version", "/openapi/v3", "/metrics", "/"):
            answer = client.exchange("GET", path)
            assert (answer.code, answer.body["reason"], answer.body["kind"]) == (401, "Unauthorized", "Status"), path
        assert client.send("POST", "/podstrat/reset")[0] == 401
        assert [client.exchange("GET", path).code for path in ("/healthz", "/livez", "/readyz")] == [200, 200, 200]


def test_the_kubeconfig_has_the_first_token(guarded: Server) -> None:
    with Client(guarded.kubeconfig) as client:
        assert whoami(client)[0] == "admin"
    assert json.loads(guarded.kubeconfig.read_text())["users"][0]["user"] == {"token": "first"}


def _certificate(authority: Authority, user: str, groups: list[str]) -> dict[str, str]:
    pair = authority.client(user, groups, datetime.now(UTC))
    return {
        "client-certificate-data": base64.b64encode(pair.certificate).decode(),
        "client-key-data": base64.b64encode(pair.key).decode(),
    }


@pytest.fixture(scope="module")
def authority(guarded: Server) -> Authority:
    """The server's own, which is kept with its data."""
    assert guarded.process is not None
    folder = Path(str(guarded.process.args[guarded.process.args.index("--data-dir") + 1])) / "tls"  # type: ignore[index,union-attr]
    assert (folder / "ca.key").stat().st_mode & 0o077 == 0
    return Authority(Pair((folder / "ca.crt").read_bytes(), (folder / "ca.key").read_bytes()))


def test_client_certificates(guarded: Server, authority: Authority, tmp_path: Path) -> None:
    with as_user(guarded, _certificate(authority, "carol", ["dev", "ops"]), tmp_path) as client:
        assert whoami(client) == ("carol", ["dev", "ops", "system:authenticated"])
        # A token that is shown decides, right or wrong.
        assert whoami(client, Authorization="Bearer second")[0] == "alice"
        assert whoami(client, Authorization="Bearer wrong") == (401, "Unauthorized")


def test_a_certificate_of_somebody_else(guarded: Server, tmp_path: Path) -> None:
    stranger = Authority.new("stranger", datetime.now(UTC))
    with as_user(guarded, _certificate(stranger, "carol", []), tmp_path) as client, pytest.raises(OSError):  # noqa: PT011
        whoami(client)
    with Client(guarded.kubeconfig) as client:
        assert whoami(client)[0] == "admin"


def test_a_certificate_of_a_server_is_none_of_a_client(guarded: Server, authority: Authority, tmp_path: Path) -> None:
    pair = authority.server(["system:masters"], datetime.now(UTC))
    user = {
        "client-certificate-data": base64.b64encode(pair.certificate).decode(),
        "client-key-data": base64.b64encode(pair.key).decode(),
    }
    with as_user(guarded, user, tmp_path) as client, pytest.raises(OSError):  # noqa: PT011
        whoami(client)


def test_anonymous_on_this_machine(podstrat_server: Server, tmp_path: Path) -> None:
    with as_user(podstrat_server, {}, tmp_path) as client:
        assert whoami(client) == ("system:anonymous", ["system:unauthenticated"])
        assert client.send("GET", PODS)[0] == 200
        assert whoami(client, Authorization="Bearer x") == (401, "Unauthorized")
    with Client(podstrat_server.kubeconfig) as client:
        assert whoami(client) == ("kubernetes-admin", ["system:masters", "system:authenticated"])


def test_nobody_is_anonymous_from_elsewhere(tmp_path: Path) -> None:
    with Server("--host", "0.0.0.0") as server:
        assert server.url.startswith("https://127.0.0.1:")
        with as_user(server, {}, tmp_path) as client:
            assert client.send("GET", PODS)[0] == 401
        with Client(server.kubeconfig) as client:
            assert whoami(client)[0] == "kubernetes-admin"


def test_an_administrator_acts_as_somebody(client: Client) -> None:
    headers = {"Impersonate-User": "jane", "Impersonate-Group": "dev", "Impersonate-Uid": "7"}
    assert whoami(client, **headers) == ("jane", ["dev", "system:authenticated"])


def test_impersonation_needs_a_user(client: Client) -> None:
    answer = client.exchange("GET", PODS, headers={"Impersonate-Group": "dev"})
    assert answer.code == 500
    assert answer.body["message"] == "Internal Server Error: requested impersonation without impersonating a user"


def test_others_act_as_nobody_else(tmp_path: Path) -> None:
    with Server("--token", "t,bob,people") as server, as_user(server, {"token": "t"}, tmp_path) as client:
        answer = client.exchange("GET", PODS, headers={"Impersonate-User": "admin"})
        assert answer.code == 403
        assert answer.body["message"] == (
            'users "admin" is forbidden: User "bob" cannot impersonate resource "users" in API group "" at the cluster scope'
        )


# ---- how it is, and what it counts -----------------------------------------------------------------


@pytest.mark.parametrize("path", ["/healthz", "/livez", "/readyz"])
def test_health(client: Client, path: str) -> None:
    answer = client.exchange("GET", path)
    assert (answer.code, answer.text, answer.headers["Content-Type"]) == (200, b"ok", "text/plain; charset=utf-8")
    told = client.exchange("GET", f"{path}?verbose").text.decode()
    assert told == f"[+]ping ok\n[+]store ok\n{path[1:]} check passed\n"


def test_health_of_a_store_that_cannot_be_written() -> None:
    api = serving.api(serving.Settings())
    app = Http(api, Authenticator((), True), lambda _: None, Metrics()).app()
    api.store.close()
    answer = app.test_client().get("/readyz")
    assert (answer.status_code, answer.text) == (500, "[+]ping ok\n[-]store the store is closed\nreadyz check failed\n")


def test_watches_leave_room_for_everything_else(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("podstrat.apiserver.reads.WATCHES", 2)
    api = serving.api(serving.Settings())
    app = Http(api, Authenticator((), True), lambda _: None, Metrics()).app()
    watches = [threading.Thread(target=lambda: app.test_client().get("/api/v1/pods?watch=1").data) for _ in range(2)]
    for each in watches:
        each.start()
    eventually(lambda: api.store.watchers() == 2)
    refused = app.test_client().get("/api/v1/pods?watch=1")
    assert (refused.status_code, refused.json["reason"], refused.headers["Retry-After"]) == (429, "TooManyRequests", "1")
    assert app.test_client().get("/api/v1/pods").status_code == 200
    api.store.hang_up()
    for each in watches:
        each.join()
    assert api.store.watchers() == 0


def test_metrics() -> None:
    with Server() as server, Client(server.kubeconfig) as client:
        client.send("POST", PODS, POD)
        client.send("GET", PODS)
        client.send("GET", PODS)
        client.send("GET", f"{PODS}/nobody")
        client.send("GET", "/api/v1/nonsense")
        answer = client.exchange("GET", "/metrics")
    assert answer.headers["Content-Type"].startswith("text/plain; version=")
    found = dict(re.findall(r"^(podstrat_\S+(?:\{.*?\})?) (\S+)$", answer.text.decode(), re.MULTILINE))
    prefix = "podstrat_apiserver_"
    expected = {
        'requests_total{code="201",method="POST",resource="pods"}': 1,
        'requests_total{code="200",method="GET",resource="pods"}': 2,
        'requests_total{code="404",method="GET",resource="pods"}': 1,
        'requests_total{code="404",method="GET",resource=""}': 1,
        'request_duration_seconds_count{method="GET",resource="pods"}': 3,
        'request_duration_seconds_bucket{le="+Inf",method="GET",resource="pods"}': 3,
        'objects{resource="pods"}': 1,
        'objects{resource="namespaces"}': 4,
        "watches": 0,
    }
    assert {name: float(found[prefix + name]) for name in expected} == expected


def test_each_request_is_a_line_of_the_log() -> None:
    with Server("--token", "secret,alice", log_requests=True) as server, Client(server.kubeconfig) as client:
        client.send("POST", PODS, POD)
        client.send("GET", f"{PODS}?limit=1")
        lines = [json.loads(line) for line in server.log.read_text().splitlines() if line.startswith("{")]
    took = [line.pop("ms") for line in lines]
    assert all(isinstance(each, float) for each in took)
    assert [{key: line[key] for key in ("method", "path", "code", "user")} for line in lines] == [
        {"method": "POST", "path": PODS, "code": 201, "user": "alice"},
        {"method": "GET", "path": f"{PODS}?limit=1", "code": 200, "user": "alice"},
    ]


def test_the_log_does_not_show_tokens() -> None:
    with Server("--token", "secret,alice", log_requests=True) as server, Client(server.kubeconfig) as client:
        client.exchange("GET", PODS)
        assert "secret" not in server.log.read_text()


def test_http_where_tls_is_spoken(podstrat_server: Server) -> None:
    address = urlsplit(podstrat_server.url)
    with socket.create_connection((address.hostname, address.port), timeout=30) as plain:
        plain.sendall(b"GET /version HTTP/1.1\r\nHost: x\r\n\r\n")
        said = b"".join(iter(lambda: plain.recv(4096), b""))
    assert said == b"HTTP/1.0 400 Bad Request\r\n\r\nClient sent an HTTP request to an HTTPS server.\n"


def test_plain_http_on_request() -> None:
    with Server("--http") as server, Client(server.kubeconfig) as client:
        assert server.url.startswith("http://")
        assert client.send("POST", PODS, POD)[0] == 201


def test_the_certificate_names_the_server(podstrat_server: Server) -> None:
    """Whoever trusts the authority of the kubeconfig reaches the server by any of its names."""
    config = json.loads(podstrat_server.kubeconfig.read_text())
    authority = base64.b64decode(config["clusters"][0]["cluster"]["certificate-authority-data"]).decode()
    context, address = ssl.create_default_context(cadata=authority), urlsplit(podstrat_server.url)
    for name in ("127.0.0.1", "localhost", "::1", "kubernetes.default.svc"):
        with socket.create_connection((address.hostname, address.port)) as plain:
            context.wrap_socket(plain, server_hostname=name).close()


# ---- what it is started with -----------------------------------------------------------------------


def test_pods_as_they_are(tmp_path: Path) -> None:
    """Without the strategy nothing is filled in, nothing is judged and nothing is counted."""
    with Server("--pod-strategy", "off") as server, Client(server.kubeconfig) as client:
        code, pod = client.send("POST", PODS, {"metadata": {"name": "p"}, "spec": {"containers": [{"name": "NOT A NAME"}]}})
        assert code == 201
        assert pod["spec"] == {"containers": [{"name": "NOT A NAME", "resources": {}}]}
        assert "generation" not in pod["metadata"]
        patch = {"spec": {"containers": [{"name": "c", "ports": [{"containerPort": 99999}]}]}}
        code, pod = client.send("PATCH", f"{PODS}/p", patch, "application/merge-patch+json")
        assert (code, pod["spec"]["containers"][0]["ports"]) == (200, [{"containerPort": 99999}])


LOADED = """\
apiVersion: v1
kind: Pod
metadata: {name: old, namespace: team, uid: 11111111-1111-1111-1111-111111111111, generation: 7}
spec: {nodeName: node-1, containers: [{name: c, image: i}]}
status: {phase: Running}
---
apiVersion: v1
kind: List
items:
- {apiVersion: v1, kind: ConfigMap, metadata: {name: settings}, data: {a: "1"}}
- {apiVersion: v1, kind: Node, metadata: {name: node-1}}
"""


def test_objects_that_are_there_from_the_beginning(tmp_path: Path) -> None:
    (tmp_path / "objects.yaml").write_text(LOADED)
    (tmp_path / "more.json").write_text(
        json.dumps({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s"}, "data": {"k": "dg=="}})
    )
    files = ("--load", str(tmp_path / "objects.yaml"), "--load", str(tmp_path / "more.json"))
    with Server(*files) as server, Client(server.kubeconfig) as client:
        pod = client.send("GET", "/api/v1/namespaces/team/pods/old")[1]
        assert (pod["metadata"]["generation"], pod["metadata"]["uid"][:8], pod["status"]["phase"]) == (7, "11111111", "Running")
        assert pod["spec"]["restartPolicy"] == "Always"
        assert client.send("GET", "/api/v1/namespaces/team")[1]["status"] == {"phase": "Active"}
        assert client.send("GET", "/api/v1/namespaces/default/configmaps/settings")[1]["data"] == {"a": "1"}
        assert client.send("GET", "/api/v1/namespaces/default/secrets/s")[1]["data"] == {"k": "dg=="}
        _changed_and_reset(client)


def _changed_and_reset(client: Client) -> None:
    """A reset goes back to what was loaded, whatever has become of it."""
    client.send("PATCH", "/api/v1/namespaces/default/configmaps/settings", {"data": {"a": "2"}}, "application/merge-patch+json")
    client.send("DELETE", "/api/v1/nodes/node-1")
    client.send("POST", PODS, POD)
    before = int(client.send("GET", PODS)[1]["metadata"]["resourceVersion"])
    assert client.send("POST", "/podstrat/reset")[0] == 200
    assert client.send("GET", "/api/v1/namespaces/default/configmaps/settings")[1]["data"] == {"a": "1"}
    assert client.send("GET", "/api/v1/nodes/node-1")[0] == 200
    found = client.send("GET", "/api/v1/pods")[1]
    assert [each["metadata"]["name"] for each in found["items"]] == ["old"]
    assert int(found["metadata"]["resourceVersion"]) > before


def test_what_was_kept_is_newer_than_what_is_loaded(tmp_path: Path) -> None:
    (tmp_path / "objects.yaml").write_text(LOADED)
    arguments = ("--load", str(tmp_path / "objects.yaml"), "--data-dir", str(tmp_path / "data"))
    settings = "/api/v1/namespaces/default/configmaps/settings"
    with Server(*arguments) as server:
        with Client(server.kubeconfig) as client:
            first = client.send("PATCH", settings, {"data": {"a": "2"}}, "application/merge-patch+json")[1]
        server.stop()
        server.start()
        with Client(server.kubeconfig) as again:
            assert again.send("GET", settings)[1] == first


def test_certificates_are_kept_with_the_data(tmp_path: Path) -> None:
    """A kubeconfig that was handed out goes on working."""
    with Server("--data-dir", str(tmp_path)) as server:
        port, kept = str(urlsplit(server.url).port), tmp_path / "kubeconfig"
        kept.write_bytes(server.kubeconfig.read_bytes())
        server.stop()
        with Server("--data-dir", str(tmp_path), "--port", port), Client(kept) as client:
            assert whoami(client)[0] == "kubernetes-admin"


@pytest.mark.parametrize("version", ["1.34", "1.35", "1.36", "1.37"])
def test_every_release(version: str) -> None:
    with Server("--kubernetes-version", version, "--http") as server, Client(server.kubeconfig) as client:
        assert client.send("GET", "/version")[1]["minor"] == version.partition(".")[2]
        assert client.send("POST", PODS, POD)[0] == 201


def test_feature_gates() -> None:
    """A field whose gate is off is dropped."""
    pod = {"metadata": {"name": "p"}, "spec": {**POD["spec"], "hostnameOverride": "other"}}
    for value, kept in (("true", "other"), ("false", None)):
        gates = ("--kubernetes-version", "1.35", "--feature-gates", f"HostnameOverride={value}")
        with Server("--http", *gates) as server, Client(server.kubeconfig) as client:
            assert client.send("POST", PODS, pod)[1]["spec"].get("hostnameOverride") == kept
