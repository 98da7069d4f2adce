"""The release of the API server is asked of it, and asked again: what the webhook does follows it."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from podstrat.strategy.review import edits
from podstrat.testing.server import Server
from podstrat.webhook.settings import Settings
from podstrat.webhook.version import Discovery, VersionedChain
from tests.manifests.proxy import Proxy, kubeconfig
from tests.strategy import make
from tests.webhook.child import Caller, Replica, certificates, trusting, until
from tests.webhook.reviews import review

BODY = json.dumps(review(make.pod())).encode()


@pytest.mark.parametrize(
    "answers, releases",
    [
        pytest.param(["1.32"], ["1.32"], id="the-first-answer-counts"),
        pytest.param(["1.33", "1.32"], ["1.33", "1.32"], id="an-older-one-counts-at-once"),
        pytest.param(["1.32"] + ["1.33"] * 3, ["1.32", "1.32", "1.32", "1.33"], id="a-newer-one-when-it-is-confirmed"),
        pytest.param(["1.32", "1.33", "1.33", "1.32", "1.33"], ["1.32"] * 5, id="an-upgrade-that-is-not-finished"),
        pytest.param(["1.9", "1.10", "1.10", "1.10"], ["1.9", "1.9", "1.9", "1.10"], id="by-number"),
    ],
)
def test_which_release_counts(answers: list[str], releases: list[str]) -> None:
    told = iter(answers)
    discovery = Discovery(lambda: next(told))
    found = []
    for _ in answers:
        discovery.poll()
        found.append(discovery.release)
    assert found == releases


def test_what_is_set_is_not_asked() -> None:
    def ask() -> str:
        raise AssertionError("asked")

    chain = VersionedChain(Settings(server_version="1.32"), ask)
    assert chain.check().good
    assert chain.chain.names("mutate") == ("generation", "backport")


def test_where_no_server_is_configured_the_newest_release_is_taken() -> None:
    chain = VersionedChain(Settings(), None)
    assert chain.check().good
    assert chain.chain.names("mutate") == ()
    assert chain.chain.names("validate") == ("node_restriction", "health")


def test_an_answer_that_does_not_come() -> None:
    def ask() -> str:
        raise OSError("no route to host")

    chain = VersionedChain(Settings(), ask)
    assert chain.check() == (False, "release of the API server: no route to host")


@pytest.fixture(scope="module")
def proxy() -> Iterator[Proxy]:
    with Server() as server, Proxy(server) as made:
        yield made


def test_a_cluster_is_upgraded(proxy: Proxy, tmp_path: Path) -> None:
    """Not ready before the release is known; then it works for that one, and after an upgrade for the next."""
    config = tmp_path / "kubeconfig"
    config.write_text(json.dumps(kubeconfig(proxy.url, "t")))
    proxy.allows = lambda user, method, path: False
    tls = certificates(tmp_path / "tls")
    with Replica(tmp_path / "replica", cert_dir=tls, kubeconfig=config, version_seconds=0.1, workers=2) as replica:
        assert "[-]server-version release of the API server: " in replica.plain("/readyz")[1]
        proxy.version, proxy.allows = "1.32", lambda user, method, path: True
        until(replica.is_ready)
        caller = Caller(("127.0.0.1", replica.port), lambda: trusting(tls / "ca.crt"), keep=False)

        def added() -> set[str]:
            """Everything that a new pod gets, whichever process answers."""
            answers = [json.loads(caller.call("/mutate", BODY)[1])["response"] for _ in range(8)]
            patches: list[Any] = [json.loads(base64.b64decode(each["patch"])) for each in answers if "patch" in each]
            return {str(operation["value"]) for patch in patches for operation in patch} | ({""} if len(patches) < 8 else set())

        both = {"1", str({"podstrat.dev/generation": "1", "podstrat.dev/generation-basis": edits.basis(make.pod())})}
        until(lambda: added() == both)
        proxy.version = "1.33"
        until(lambda: added() == {""})
        assert '"release": "1.33", "concerns": ["node_restriction"]' in replica.log.read_text()
        proxy.version = "1.32"
        until(lambda: added() == both)
