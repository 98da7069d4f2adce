"""Replicas that share a Secret: what they write, what they publish, and that they never get in each other's way."""

from __future__ import annotations

import base64
import json
import stat
import threading
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from podstrat.certs import inspect, reconciler, rotation, secret
from podstrat.certs.cluster import ClusterError
from podstrat.certs.election import Election
from podstrat.certs.reconciler import Keeper
from podstrat.certs.rotation import Policy, Step
from podstrat.certs.secret import Configurations, SharedSecret
from tests.certs.memory import MUTATING, SECRET, VALIDATING, Memory

NOW = datetime(2026, 1, 1, tzinfo=UTC)
DAY, HOUR = timedelta(days=1), timedelta(hours=1)
POLICY = Policy(leaf=3 * DAY, authority=12 * DAY, settle=2 * HOUR, overlap=6 * HOUR)
NAMES = ("hook.ns.svc",)


def keeper(cluster: Memory, folder: Path, name: str = "a", done: Callable[[Step], None] = lambda step: None) -> Keeper:
    return Keeper(
        SharedSecret(cluster, "ns", "tls"),
        Configurations(cluster, {"mutating": "hook", "validating": "hook"}),
        Election(cluster, "ns", "lease", name, 30),
        folder,
        NAMES,
        POLICY,
        done,
    )


def test_the_first_round(tmp_path: Path) -> None:
    cluster = Memory()
    cluster.install(hooks=2)
    keeper(cluster, tmp_path).round(NOW, 0)
    kept = cluster.secret()
    assert cluster.published() == [kept["ca.crt"]] * 4
    assert (tmp_path / "tls.crt").read_bytes() == kept["tls.crt"]
    assert (tmp_path / "tls.key").read_bytes() == kept["tls.key"]
    assert stat.S_IMODE((tmp_path / "tls.key").stat().st_mode) == 0o600
    assert inspect.vouches(kept["ca.crt"], kept["tls.crt"], NOW)
    assert reconciler.published(tmp_path, kept["tls.crt"], NOW) is None
    assert cluster.objects[MUTATING]["webhooks"][0]["clientConfig"]["service"] == {"name": "s"}, "the rest is left alone"


def test_a_round_without_news_writes_nothing(tmp_path: Path) -> None:
    cluster = Memory()
    cluster.install()
    one = keeper(cluster, tmp_path)
    one.round(NOW, 0)
    before = {path.name: path.stat().st_mtime_ns for path in tmp_path.iterdir()}
    cluster.calls.clear()
    one.round(NOW, 1)
    assert {method for method, _ in cluster.calls} == {"GET"}
    assert {path.name: path.stat().st_mtime_ns for path in tmp_path.iterdir()} == before


def test_others_take_up_what_is_in_the_secret(tmp_path: Path) -> None:
    cluster = Memory()
    cluster.install()
    keeper(cluster, tmp_path / "a").round(NOW, 0)
    cluster.calls.clear()
    keeper(cluster, tmp_path / "b", "b").round(NOW, 0)
    assert {method for method, _ in cluster.calls} == {"GET"}, "only the leader writes"
    for name in ("tls.crt", "tls.key", "ca.crt", "published.json"):
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes()


def test_configurations_that_come_later_get_the_bundle(tmp_path: Path) -> None:
    cluster = Memory()
    one = keeper(cluster, tmp_path)
    one.round(NOW, 0)
    assert json.loads((tmp_path / "published.json").read_bytes()) == []
    assert reconciler.published(tmp_path, (tmp_path / "tls.crt").read_bytes(), NOW) is None, "nobody calls yet"
    cluster.install()
    one.round(NOW, 1)
    assert cluster.published() == [cluster.secret()["ca.crt"]] * 2


def test_a_bundle_that_somebody_changes_is_put_back_and_noticed(tmp_path: Path) -> None:
    cluster = Memory()
    cluster.install()
    one, two = keeper(cluster, tmp_path / "a"), keeper(cluster, tmp_path / "b", "b")
    one.round(NOW, 0)
    cluster.put(VALIDATING, webhooks=[{"name": "h", "clientConfig": {"caBundle": base64.b64encode(b"x").decode()}}])
    two.round(NOW, 1)
    chain = (tmp_path / "b" / "tls.crt").read_bytes()
    assert "bundle cannot be read" in (reconciler.published(tmp_path / "b", chain, NOW) or "")
    one.round(NOW, 2)
    two.round(NOW, 2)
    assert reconciler.published(tmp_path / "b", chain, NOW) is None


def test_a_leaf_of_another_authority_is_not_vouched_for(tmp_path: Path) -> None:
    cluster = Memory()
    cluster.install()
    keeper(cluster, tmp_path).round(NOW, 0)
    other = rotation.begin(NAMES, NOW, POLICY)
    assert reconciler.published(tmp_path, other.leaf.certificate, NOW) == (
        "the published bundle does not vouch for the served certificate"
    )


def test_without_a_keeper_the_bundle_beside_the_certificate_counts(tmp_path: Path) -> None:
    """As cert-manager writes it."""
    state = rotation.begin(NAMES, NOW, POLICY)
    assert reconciler.published(tmp_path, state.leaf.certificate, NOW) is None
    (tmp_path / "ca.crt").write_bytes(state.bundle)
    assert reconciler.published(tmp_path, state.leaf.certificate, NOW) is None
    (tmp_path / "ca.crt").write_bytes(rotation.begin(NAMES, NOW, POLICY).bundle)
    assert reconciler.published(tmp_path, state.leaf.certificate, NOW) is not None


def test_the_files_stay_when_the_server_does_not_answer(tmp_path: Path) -> None:
    cluster = Memory()
    cluster.install()
    one = keeper(cluster, tmp_path)
    one.round(NOW, 0)
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    cluster.down = True
    with pytest.raises(ClusterError):
        one.round(NOW + 100 * DAY, 10)
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before


def test_somebody_elses_secret_is_left_alone(tmp_path: Path) -> None:
    cluster = Memory()
    cluster.install()
    data = {"tls.crt": base64.b64encode(b"theirs").decode()}
    cluster.put(SECRET, data=data)
    with pytest.raises(ClusterError, match="managed by another party"):
        keeper(cluster, tmp_path).round(NOW, 0)
    assert cluster.objects[SECRET]["data"] == data


@pytest.mark.parametrize("broken", ["tls.key", "rotation.json", "authority.key", "ca.crt"])
def test_a_secret_of_ours_that_is_broken_is_made_anew(tmp_path: Path, broken: str) -> None:
    cluster = Memory()
    cluster.install()
    one = keeper(cluster, tmp_path)
    one.round(NOW, 0)
    del cluster.objects[SECRET]["data"][broken]
    one.round(NOW, 1)
    assert cluster.published() == [cluster.secret()["ca.crt"]] * 2
    assert secret.decoded(cluster.objects[SECRET]["data"]) is not None


def test_a_secret_that_is_there_but_empty_is_filled(tmp_path: Path) -> None:
    cluster = Memory()
    cluster.put(SECRET, type="Opaque")
    keeper(cluster, tmp_path).round(NOW, 0)
    assert cluster.secret()["tls.crt"]


def test_forty_days_with_two_replicas(tmp_path: Path) -> None:
    """At every moment every replica's certificate is trusted by whoever trusts what is published."""
    cluster = Memory()
    cluster.install()
    steps: list[Step] = []
    replicas = {name: keeper(cluster, tmp_path / name, name, steps.append) for name in ("a", "b")}
    authorities, leaves = set(), set()
    for hours in range(0, 40 * 24, 2):
        now = NOW + hours * HOUR
        for name, each in replicas.items():
            if not (name == "a" and 200 < hours < 300):  # one of them is away for a while, and it was the leader
                each.round(now, hours * 3600.0)
                chain = (tmp_path / name / "tls.crt").read_bytes()
                leaves.add(chain)
                assert all(inspect.vouches(bundle, chain, now) for bundle in cluster.published()), (name, hours)
        authorities.add(cluster.secret()["authority.crt"])
        assert all(len(bundle.split(b"END CERT")) <= 3 for bundle in cluster.published()), "two at a time at the most"
    assert len(authorities) >= 4
    assert len(leaves) > 10
    assert [step for step in steps if step != "leaf"][:8] == ["introduce", "note", "switch", "retire"] * 2


class Schedule:
    """Lets several threads into the cluster one call at a time, in an order that is drawn."""

    def __init__(self, names: list[str], draw: Callable[[list[str]], str]) -> None:
        self._waiting = set(names)
        self._draw = draw
        self._turn: str | None = None
        self._condition = threading.Condition()
        self._at_gate: set[str] = set()

    def gate(self, name: str) -> None:
        with self._condition:
            self._at_gate.add(name)
            self._next()
            while self._turn != name:
                self._condition.wait()
            self._turn = None
            self._at_gate.discard(name)

    def leave(self, name: str) -> None:
        with self._condition:
            self._waiting.discard(name)
            self._next()

    def _next(self) -> None:
        if self._turn is None and self._waiting and self._at_gate == self._waiting:
            self._turn = self._draw(sorted(self._at_gate))
            self._condition.notify_all()


@settings(max_examples=40, deadline=None)
@given(st.lists(st.integers(0, 1), min_size=60, max_size=60), st.booleans())
def test_in_whatever_order_they_work_there_is_one_line_of_authorities(
    tmp_path_factory: pytest.TempPathFactory, order: list[int], lead: bool
) -> None:
    """Two replicas, each call to the server an opportunity to be overtaken; even if both think that they lead."""
    folder = tmp_path_factory.mktemp("order")
    choices = iter(order)
    schedule = Schedule(["a", "b"], lambda names: names[next(choices, 0) % len(names)])
    cluster = Memory()
    cluster.install()
    bundles: set[bytes] = set()

    def watch(method: str, path: str) -> None:
        name = threading.current_thread().name
        schedule.gate(name)
        if SECRET in cluster.objects:
            bundles.add(cluster.secret()["ca.crt"])

    cluster.before = watch

    def work(name: str) -> None:
        try:
            each = keeper(cluster, folder / name, name)
            if lead:
                each.election.lead = lambda now, clock: True  # type: ignore[method-assign]
            for number in range(4):
                each.round(NOW + number * 60 * HOUR, number * 1000.0)
        finally:
            schedule.leave(name)

    threads = [threading.Thread(target=work, args=(name,), name=name) for name in ("a", "b")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    cluster.before = lambda method, path: None
    bundles.add(cluster.secret()["ca.crt"])
    assert all(bundle in bundles for bundle in cluster.published() if bundle), "whatever is published comes from the Secret"
    first = {bundle.split(b"-----END")[0] for bundle in bundles}
    assert len(first) == 1, "and there has been one first authority only"
    keeper(cluster, folder / "c", "a").round(NOW + 9 * DAY, 9999.0)
    assert set(cluster.published()) == {cluster.secret()["ca.crt"]}
