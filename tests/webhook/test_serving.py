"""The webhook as a process: TLS, probes, metrics, signals."""

from __future__ import annotations

import http.client
import json
import os
import signal
import socket
import ssl
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from podstrat.certs import files, folder, rotation
from podstrat.certs.issuing import Authority
from tests.strategy import make
from tests.webhook.child import PATIENCE, Balancer, Caller, Load, Replica, certificates, trusting, until
from tests.webhook.reviews import UID, review

BODY = json.dumps(review(make.pod())).encode()


@pytest.fixture(scope="module")
def replica(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Replica]:
    place = tmp_path_factory.mktemp("webhook")
    with Replica(place / "replica", cert_dir=certificates(place / "tls"), workers=2) as made:
        until(made.is_ready)
        yield made


@pytest.fixture
def caller(replica: Replica) -> Iterator[Caller]:
    made = Caller(("127.0.0.1", replica.port), lambda: trusting(replica.folder.parent / "tls" / "ca.crt"))
    yield made
    made.close()


def test_a_review_over_tls(caller: Caller) -> None:
    code, answer = caller.call("/mutate?timeout=5s", BODY)
    assert code == 200
    assert json.loads(answer)["response"]["uid"] == UID


def test_connections_are_kept(caller: Caller) -> None:
    for _ in range(20):
        assert caller.call("/validate", BODY)[0] == 200
    assert caller.connections == 1


@pytest.mark.parametrize(
    "body, code",
    [
        pytest.param(b"", 400, id="empty"),
        pytest.param(b"{", 400, id="no-json"),
        pytest.param(b" " * (7 * 1024 * 1024 + 1), 413, id="too-large"),
    ],
)
def test_failures_over_tls(caller: Caller, body: bytes, code: int) -> None:
    got, answer = caller.call("/mutate", body)
    assert (got, json.loads(answer)["code"]) == (code, code)
    assert caller.call("/mutate", BODY)[0] == 200, "the next call is answered"


def test_a_body_in_chunks(replica: Replica, caller: Caller) -> None:
    caller.served()
    connection = caller._connection
    assert connection is not None
    connection.request(
        "POST", "/mutate", iter([BODY[:100], BODY[100:]]), {"Content-Type": "application/json"}, encode_chunked=True
    )
    response = connection.getresponse()
    assert response.status == 200
    assert json.loads(response.read())["response"]["allowed"]


def test_old_protocols_are_refused(replica: Replica) -> None:
    context = trusting(replica.folder.parent / "tls" / "ca.crt")
    context.maximum_version = ssl.TLSVersion.TLSv1_2
    caller = Caller(("127.0.0.1", replica.port), lambda: context)
    assert caller.call("/mutate", BODY)[0] == 200
    caller.close()
    plain = http.client.HTTPConnection("127.0.0.1", replica.port, timeout=10)
    plain.request("GET", "/livez")
    try:
        assert plain.getresponse().status != 200
    except (http.client.HTTPException, OSError):
        pass
    finally:
        plain.close()


def test_probes_and_metrics_on_the_plain_port(replica: Replica, caller: Caller) -> None:
    assert caller.call("/mutate", BODY)[0] == 200
    for path in ("/livez", "/readyz", "/healthz"):
        assert replica.plain(path) == (200, "ok")
    assert "[+]certificate ok" in replica.plain("/readyz?verbose")[1]
    assert replica.plain("/mutate")[0] == 404
    before = replica.metric("admission_requests_total")
    assert before > 0
    assert caller.call("/mutate", BODY)[0] == 200
    assert replica.metric("admission_requests_total") == before + 1, "whichever process answers, all are counted"
    assert replica.metric("certificate_expiry_timestamp_seconds") > time.time()
    assert replica.metric("certificate_files_usable") == 1
    assert replica.metric("certificate_published") == 1
    assert replica.metric("build_info") == 1


BEGUN = {
    "handshake": b"\x16\x03\x01",
    "header": b"POST /mutate HTTP/1.1\r\nContent-",
    "body": b"POST /mutate HTTP/1.1\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{",
}


@pytest.mark.parametrize("stop_in", ["handshake", "header", "body"])
def test_whoever_stops_in_the_middle_is_given_up(tmp_path: Path, stop_in: str) -> None:
    """Threads that wait for slow clients come back: more of those than there are threads do no lasting harm."""
    tls = certificates(tmp_path / "tls")
    threads = {"threads": 6, "concurrency": 2, "waiting": 4}
    with Replica(tmp_path / "replica", cert_dir=tls, read_seconds=3, workers=1, **threads) as replica:
        until(replica.is_ready)
        slow: list[socket.socket] = []
        for _ in range(8):
            plain = socket.create_connection(("127.0.0.1", replica.port), PATIENCE)
            if stop_in != "handshake":
                plain = trusting(tls / "ca.crt").wrap_socket(plain, server_hostname="localhost")
            plain.sendall(BEGUN[stop_in])
            slow.append(plain)
        caller = Caller(("127.0.0.1", replica.port), lambda: trusting(tls / "ca.crt"))
        assert caller.call("/mutate", BODY)[0] == 200
        caller.close()
        if stop_in == "body":
            answers = [each.recv(65536) for each in slow]
            assert {answer.split(b"\r\n")[0] for answer in answers} == {b"HTTP/1.1 408 Request Timeout"}
        for each in slow:
            each.close()
        assert "Traceback" not in replica.log.read_text()


def test_a_worker_that_dies_is_replaced(replica: Replica) -> None:
    before = until(lambda: len(replica.workers()) == 2 and replica.workers())
    os.kill(before[0], signal.SIGKILL)
    until(lambda: len(replica.workers()) == 2 and before[0] not in replica.workers())
    caller = Caller(("127.0.0.1", replica.port), lambda: trusting(replica.folder.parent / "tls" / "ca.crt"), keep=False)
    for _ in range(10):
        assert caller.call("/mutate", BODY)[0] == 200
    until(lambda: replica.metric("certificate_published") == 1)


# ---- certificates ----------------------------------------------------------------------------------


@pytest.mark.parametrize("broken", ["half", "wrong-key", "ended"])
def test_a_bad_pair_does_not_replace_the_good_one(tmp_path: Path, broken: str) -> None:
    tls = certificates(tmp_path / "tls")
    state = folder.read(tls)
    assert state is not None
    now = datetime.now(UTC)
    with Replica(tmp_path / "replica", cert_dir=tls, keeper_seconds=0.1) as replica:
        until(replica.is_ready)
        caller = Caller(("127.0.0.1", replica.port), lambda: trusting(state.bundle), keep=False)
        served = caller.served()
        caller.close()
        if broken == "half":
            files.write(tls / "tls.crt", state.leaf.certificate[:100])
        elif broken == "wrong-key":
            files.write(tls / "tls.key", state.authority.key, 0o600)
        else:
            old = Authority(state.authority).server(["localhost"], now - timedelta(days=9), timedelta(days=1))
            files.write(tls / "tls.key", old.key, 0o600)
            files.write(tls / "tls.crt", old.certificate)
        until(lambda: replica.metric("certificate_files_usable") == 0)
        code, text = replica.plain("/readyz")
        assert code == 200
        assert "[+]certificate ok, serving an earlier pair: " in text
        assert caller.call("/mutate", BODY)[0] == 200
        assert caller.served() == served
        caller.close()
        folder.write(tls, rotation.carried_out("leaf", state, ["localhost"], now, rotation.Policy()))
        until(lambda: replica.metric("certificate_files_usable") == 1)
        assert replica.plain("/readyz") == (200, "ok")
        assert caller.served() != served
        caller.close()


def test_not_ready_without_a_certificate_and_without_trust(tmp_path: Path) -> None:
    tls = tmp_path / "tls"
    with Replica(tmp_path / "replica", cert_dir=tls) as replica:
        code, text = replica.plain("/readyz")
        assert code == 503
        assert "[-]certificate " in text
        assert replica.plain("/livez") == (200, "ok")
        until(lambda: f"certificate: {tls}/tls.crt is not there" in replica.log.read_text())
        certificates(tls)
        until(replica.is_ready)
        files.write(tls / "ca.crt", Authority.new("another", datetime.now(UTC)).certificate)
        code, text = replica.plain("/readyz")
        assert code == 503
        assert "the published bundle does not vouch for the served certificate" in text


def test_clients_may_have_to_be_known(tmp_path: Path) -> None:
    tls = certificates(tmp_path / "tls")
    now = datetime.now(UTC)
    authority = Authority.new("clients", now)
    files.write(tmp_path / "clients.crt", authority.certificate)

    def calling(name: str | None) -> Caller:
        context = trusting(tls / "ca.crt")
        if name is not None:
            pair = authority.client(name, [], now)
            files.write(tmp_path / "client.pem", pair.certificate + pair.key, 0o600)
            context.load_cert_chain(tmp_path / "client.pem")
        return Caller(("127.0.0.1", replica.port), lambda: context, keep=False)

    with Replica(tmp_path / "replica", cert_dir=tls, client_ca=tmp_path / "clients.crt", client_names="apiserver") as replica:
        until(replica.is_ready)
        assert calling("apiserver").call("/mutate", BODY)[0] == 200
        code, answer = calling("eve").call("/mutate", BODY)
        assert (code, json.loads(answer)["reason"]) == (403, "Forbidden")
        with pytest.raises((OSError, http.client.HTTPException)):
            calling(None).call("/mutate", BODY)


# ---- too much --------------------------------------------------------------------------------------


def test_too_many_at_a_time_are_turned_away_at_once(tmp_path: Path) -> None:
    """Late answers help nobody: whoever cannot be served soon is told so, and whoever is served is served."""
    slow = review(make.pod())
    slow["request"]["name"] = "stuck-in-sleep"
    answers: list[tuple[int, bytes]] = []

    def call(body: bytes) -> threading.Thread:
        caller = Caller(("127.0.0.1", replica.port), lambda: trust, keep=False)
        thread = threading.Thread(target=lambda: answers.append(caller.call("/mutate", body)))
        thread.start()
        return thread

    limits = {"concurrency": 1, "waiting": 1, "review_seconds": int(PATIENCE)}
    replica = Replica(tmp_path / "replica", cert_dir=certificates(tmp_path / "tls"), **limits)
    replica.module = "tests.webhook.stuck"
    with replica:
        until(replica.is_ready)
        trust = trusting(tmp_path / "tls" / "ca.crt")
        active = call(json.dumps(slow).encode())
        until((replica.folder / "stuck").exists)
        queued = call(BODY)
        until(lambda: replica.metric("reviews_queued") == 1)
        rejected = [call(BODY) for _ in range(10)]
        for thread in rejected:
            thread.join()
        assert [code for code, _ in answers] == [503] * 10
        assert {json.loads(body)["reason"] for _, body in answers} == {"ServiceUnavailable"}
        (replica.folder / "freed").touch()
        active.join()
        queued.join()
        assert [code for code, _ in answers[10:]] == [200, 200], "and then all is well again"
        assert replica.metric('failed_calls_total{code="503"') == 10


# ---- the end ---------------------------------------------------------------------------------------


def pair_of(tmp_path: Path, **settings: object) -> list[Replica]:
    tls = certificates(tmp_path / "tls")
    return [Replica(tmp_path / name, cert_dir=tls, **settings) for name in ("a", "b")]


def test_sigterm_loses_nothing(tmp_path: Path) -> None:
    """Told to stop under load, behind a balancer that asks for readiness: no call fails.

    The drain lasts until the balancer has noticed and every caller has been answered since; a second signal ends it then.
    """
    one, two = pair_of(tmp_path, drain_seconds=PATIENCE)
    trust = trusting(tmp_path / "tls" / "ca.crt")
    with one, two:
        until(one.is_ready)
        until(two.is_ready)
        with Balancer([one, two]) as balancer:
            callers = [Caller(balancer.address, lambda: trust, keep=number % 2 == 0) for number in range(8)]
            with Load(callers, "/mutate", BODY) as load:
                load.progress()
                assert one.process is not None
                one.process.send_signal(signal.SIGTERM)
                until(lambda: not one.is_ready())
                assert one.plain("/readyz")[1].startswith("[+]ping ok\n[-]shutdown shutting down\n")
                until(lambda: balancer.has_left(one))
                load.progress()
                for worker in one.workers():
                    os.kill(worker, signal.SIGTERM)
                assert one.process.wait(PATIENCE) == 0
                load.progress()
            assert load.failures == []


def test_a_balancer_that_is_late_loses_nothing(tmp_path: Path) -> None:
    """Connections that are made but not used yet when the drain ends are served; later ones are refused, and go elsewhere."""
    one, two = pair_of(tmp_path)
    trust = trusting(tmp_path / "tls" / "ca.crt")
    with one, two:
        until(one.is_ready)
        until(two.is_ready)
        with Balancer([one, two], look_seconds=PATIENCE) as balancer:
            with Load([Caller(balancer.address, lambda: trust, keep=False) for _ in range(8)], "/mutate", BODY) as load:
                load.progress()
                assert one.kill(signal.SIGTERM) == 0
                load.progress()
            assert load.failures == []


def test_sigkill_loses_what_is_in_flight_only(tmp_path: Path) -> None:
    one, two = pair_of(tmp_path)
    trust = trusting(tmp_path / "tls" / "ca.crt")
    with one, two:
        until(one.is_ready)
        until(two.is_ready)
        with Balancer([one, two]) as balancer:
            callers = [Caller(balancer.address, lambda: trust, keep=number % 2 == 0) for number in range(8)]
            with Load(callers, "/mutate", BODY) as load:
                load.progress()
                one.kill(signal.SIGKILL)
                load.progress(20)
            assert all(balancer.routes[port] is one for port, _ in load.failures), load.failures
            assert len({port for port, _ in load.failures}) == len(load.failures), "one call for a connection"
            assert all(not text[:1].isdigit() for _, text in load.failures), "no call was answered with an error"


def test_sigterm_without_load_is_quick_and_clean(tmp_path: Path) -> None:
    with Replica(tmp_path / "replica", cert_dir=certificates(tmp_path / "tls")) as replica:
        until(replica.is_ready)
        caller = Caller(("127.0.0.1", replica.port), lambda: trusting(tmp_path / "tls" / "ca.crt"))
        assert caller.call("/mutate", BODY)[0] == 200
        assert replica.kill(signal.SIGTERM) == 0
        caller.close()
    assert "Traceback" not in replica.log.read_text()


# ---- the command -----------------------------------------------------------------------------------


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-m", "podstrat", *arguments], capture_output=True, text=True, check=False, timeout=60)


def test_print_config() -> None:
    done = run("webhook", "--print-config", "--health", "auto")
    assert done.returncode == 0
    assert 'health: "auto"  # flag' in done.stdout.splitlines()
    assert "# health: on (auto: the server has only the basic rules)" in done.stdout.splitlines()


def test_wrong_settings_are_told() -> None:
    done = run("webhook", "--port", "x")
    assert done.returncode == 2
    assert "port (flag): Input should be a valid integer" in done.stderr


def test_a_port_that_is_taken_is_told(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        done = run("webhook", "--host", "127.0.0.1", "--port", str(taken.getsockname()[1]), "--metrics-port", "0")
    assert done.returncode == 2
    assert "choose another port with --port N" in done.stderr


def test_what_is_imported_without_a_secret() -> None:
    code = (
        "import sys, podstrat.webhook.serving; print(sorted(m for m in ('kubernetes', 'jsonpatch', 'grpc') if m in sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
