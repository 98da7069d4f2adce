"""Who leads, and when another one takes over."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from podstrat.certs.cluster import ClusterError
from podstrat.certs.election import Election
from tests.certs.memory import LEASE, Memory

NOW = datetime(2026, 1, 1, tzinfo=UTC)


def election(cluster: Memory, name: str) -> Election:
    return Election(cluster, "ns", "lease", name, 30)


def test_the_first_leads_and_goes_on_leading() -> None:
    cluster = Memory()
    a, b = election(cluster, "a"), election(cluster, "b")
    assert a.lead(NOW, 0)
    assert not b.lead(NOW, 0)
    for clock in range(0, 301, 5):
        now = NOW + timedelta(seconds=clock)
        assert a.lead(now, clock)
        assert not b.lead(now, clock)
    spec = cluster.objects[LEASE]["spec"]
    assert (spec["holderIdentity"], spec["leaseDurationSeconds"], spec["leaseTransitions"]) == ("a", 30, 0)
    assert spec["renewTime"] == "2026-01-01T00:05:00.000000Z"


def test_a_silent_leader_is_succeeded() -> None:
    cluster = Memory()
    a, b = election(cluster, "a"), election(cluster, "b")
    assert a.lead(NOW, 0)
    assert not b.lead(NOW, 10)
    assert not b.lead(NOW, 39)
    assert b.lead(NOW, 40)
    assert not a.lead(NOW, 41)
    assert cluster.objects[LEASE]["spec"]["leaseTransitions"] == 1


def test_whoever_lets_go_is_succeeded_at_once() -> None:
    cluster = Memory()
    a, b = election(cluster, "a"), election(cluster, "b")
    assert a.lead(NOW, 0)
    assert not b.lead(NOW, 0)
    a.release()
    a.release()
    assert b.lead(NOW, 1)


def test_two_who_take_over_at_the_same_time_do_not_both_lead() -> None:
    cluster = Memory()
    assert election(cluster, "dead").lead(NOW, 0)
    a, b = election(cluster, "a"), election(cluster, "b")
    assert not a.lead(NOW, 0)
    assert not b.lead(NOW, 0)

    def meanwhile(method: str, path: str) -> None:
        if method == "PUT":
            cluster.before = lambda method, path: None
            assert b.lead(NOW, 50)

    cluster.before = meanwhile
    assert not a.lead(NOW, 50)
    assert b.leading


def test_two_who_begin_at_the_same_time_do_not_both_lead() -> None:
    cluster = Memory()
    a, b = election(cluster, "a"), election(cluster, "b")

    def meanwhile(method: str, path: str) -> None:
        if method == "POST":
            cluster.before = lambda method, path: None
            assert b.lead(NOW, 0)

    cluster.before = meanwhile
    assert not a.lead(NOW, 0)


def test_who_cannot_reach_the_server_does_not_lead() -> None:
    cluster = Memory()
    a = election(cluster, "a")
    assert a.lead(NOW, 0)
    cluster.down = True
    with pytest.raises(ClusterError):
        a.lead(NOW, 1)
    assert not a.leading


def test_a_lease_without_a_spec_is_taken() -> None:
    cluster = Memory()
    cluster.put(LEASE)
    assert election(cluster, "a").lead(NOW, 0)
