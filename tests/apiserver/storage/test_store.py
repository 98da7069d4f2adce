from __future__ import annotations

import threading
from typing import Any

import pytest

from podstrat.apiserver.kinds import NAMESPACE, POD, Kind
from podstrat.apiserver.storage.history import FRESH
from podstrat.apiserver.storage.store import (
    Changed,
    Closed,
    Compacted,
    Entry,
    Event,
    Overflow,
    Store,
    StoreError,
    Subscription,
    Write,
)

Object = dict[str, Any]


def pod(name: str, namespace: str = "default", **labels: str) -> Object:
    return {
        "kind": "Pod",
        "apiVersion": "v1",
        "metadata": {"name": name, "namespace": namespace, "uid": f"u-{name}", "labels": labels},
    }


def namespace(name: str) -> Object:
    return {"kind": "Namespace", "apiVersion": "v1", "metadata": {"name": name}}


def put(store: Store, name: str, place: str = "default", expect: int | None = None, **labels: str) -> Entry:
    return store.commit([Write(POD, place, name, pod(name, place, **labels), expect)])[0]


def remove(store: Store, name: str) -> Entry:
    return store.commit([Write(POD, "default", name, None, None)])[0]


def names(entries: list[Entry]) -> list[str]:
    return [entry.obj["metadata"]["name"] for entry in entries]


@pytest.fixture
def store() -> Store:
    return Store.open()


def test_a_write_is_stamped_with_the_next_version(store: Store) -> None:
    given = pod("a")
    first, second = store.commit([Write(POD, "default", "a", given, 0), Write(POD, "default", "b", pod("b"), None)])
    assert (first.version, second.version, store.version) == (1, 2, 2)
    assert first.obj["metadata"]["resourceVersion"] == "1"
    assert list(first.obj["metadata"]) == ["name", "namespace", "uid", "resourceVersion", "labels"]
    assert "resourceVersion" not in given["metadata"]
    assert first.obj["metadata"]["labels"] is given["metadata"]["labels"]
    assert store.get(POD, "default", "a") == first
    assert store.get(POD, "other", "a") is None


def test_kinds_do_not_mix(store: Store) -> None:
    put(store, "x")
    store.commit([Write(NAMESPACE, "", "x", namespace("x"), 0)])
    found = store.get(NAMESPACE, "", "x")
    assert found is not None
    assert found.obj["kind"] == "Namespace"
    assert [len(store.list(kind)[0]) for kind in (POD, NAMESPACE)] == [1, 1]


def test_review_kinds_are_not_kept(store: Store) -> None:
    assert "selfsubjectreviews" not in [kind.plural for kind in store.kinds]


@pytest.mark.parametrize(
    "name, obj, expect",
    [
        pytest.param("a", pod("a"), 0, id="there-must-be-nothing"),
        pytest.param("a", pod("a"), 7, id="another-version"),
        pytest.param("a", None, 7, id="removal-of-another-version"),
        pytest.param("b", pod("b"), 1, id="nothing-is-there"),
        pytest.param("b", None, None, id="nothing-to-remove"),
    ],
)
def test_an_expectation_that_does_not_hold_undoes_all(store: Store, name: str, obj: Object | None, expect: int | None) -> None:
    before = put(store, "a")
    with pytest.raises(Changed):
        store.commit([Write(POD, "default", "c", pod("c"), None), Write(POD, "default", name, obj, expect)])
    assert store.list(POD) == ([before], 1)
    assert len(store.events_since(0)) == 1


def test_later_writes_see_earlier_ones(store: Store) -> None:
    writes = [Write(POD, "default", "a", pod("a"), 0), Write(POD, "default", "a", pod("a", x="1"), 1)]
    store.commit([*writes, Write(POD, "default", "a", None, 2)])
    assert store.list(POD) == ([], 3)
    assert [event.type for event in store.events_since(0)] == ["ADDED", "MODIFIED", "DELETED"]


def test_an_object_is_stored_under_its_own_name(store: Store) -> None:
    with pytest.raises(ValueError, match="default/a is not to be stored as default/b"):
        store.commit([Write(POD, "default", "b", pod("a"), None)])
    assert store.version == 0


def test_events_say_what_was_before(store: Store) -> None:
    added = put(store, "a")
    changed = put(store, "a", x="1")
    gone = remove(store, "a")
    assert [(event.type, event.version, event.obj, event.previous) for event in store.events_since(0)] == [
        ("ADDED", 1, added.obj, None),
        ("MODIFIED", 2, changed.obj, added.obj),
        ("DELETED", 3, gone.obj, changed.obj),
    ]
    assert gone.obj["metadata"] == {**changed.obj["metadata"], "resourceVersion": "3"}


def test_a_list_is_in_the_order_of_keys(store: Store) -> None:
    for place, name in [("b", "x"), ("a", "z"), ("a-b", "y"), ("a", "c"), ("ab", "d")]:
        put(store, name, place)
    assert names(store.list(POD)[0]) == ["y", "c", "z", "d", "x"]
    assert names(store.list(POD, "a")[0]) == ["c", "z"]
    assert names(store.list(POD, "none")[0]) == []


def test_a_list_is_not_changed_by_later_writes(store: Store) -> None:
    put(store, "a")
    entries, version = store.list(POD)
    put(store, "b")
    remove(store, "a")
    assert (names(entries), version) == (["a"], 1)


def test_a_list_of_the_past(store: Store) -> None:
    first = put(store, "a")
    second = put(store, "b")
    put(store, "a", x="1")
    put(store, "z", "other")
    remove(store, "b")
    put(store, "b", y="2")
    assert store.list(POD, None, 2) == ([first, second], 2)
    assert store.list(POD, "default", 1) == ([first], 1)
    assert store.list(POD, "other", 2) == ([], 2)
    assert store.list(POD, None, 0) == ([], 0)
    assert names(store.list(POD, None, 5)[0]) == ["a", "z"]
    store.compact(2)
    with pytest.raises(Compacted):
        store.list(POD, None, 3)


def test_the_log_is_bounded() -> None:
    store = Store.open(history=3)
    for i in range(5):
        put(store, f"p{i}")
    assert [event.version for event in store.events_since(2)] == [3, 4, 5]
    assert store.events_since(9) == []
    with pytest.raises(Compacted) as error:
        store.events_since(1)
    assert (error.value.version, error.value.oldest) == (1, 2)


def test_compaction(store: Store) -> None:
    for i in range(5):
        put(store, f"p{i}")
    store.compact()
    assert store.events_since(5) == []
    with pytest.raises(Compacted):
        store.events_since(4)
    assert len(store.list(POD)[0]) == 5


def test_texts_are_kept_of_fresh_events_only(store: Store) -> None:
    for i in range(FRESH):
        put(store, f"p{i}")
    first, last = store.events_since(0)[0], store.events_since(0)[-1]
    first.texts["", False, "ADDED"] = last.texts["", False, "ADDED"] = b"text"
    assert store.is_fresh(first)
    put(store, "one-more")
    assert (store.is_fresh(first), first.texts) == (False, {})
    assert (store.is_fresh(last), last.texts) == (True, {("", False, "ADDED"): b"text"})


# ---- subscriptions ---------------------------------------------------------------------------------------


def versions(events: list[Event]) -> list[int]:
    return [event.version for event in events]


def test_a_subscription_begins_in_the_past(store: Store) -> None:
    for i in range(4):
        put(store, f"p{i}")
    with store.subscribe(2) as subscription:
        put(store, "p4")
        assert versions(subscription.wait(0)) == [3, 4, 5]
        assert subscription.wait(0) == []


def test_a_subscription_may_begin_in_the_future(store: Store) -> None:
    with store.subscribe(2) as subscription:
        for i in range(4):
            put(store, f"p{i}")
        assert versions(subscription.wait(0)) == [3, 4]


def test_a_subscription_to_what_is_forgotten(store: Store) -> None:
    put(store, "a")
    store.compact()
    with pytest.raises(Compacted):
        store.subscribe(0)


@pytest.mark.parametrize("kind, expected", [(POD, [1, 3]), (NAMESPACE, [2]), (None, [1, 2, 3])])
def test_a_subscription_to_one_kind(store: Store, kind: Kind | None, expected: list[int]) -> None:
    def write() -> None:
        put(store, "a")
        store.commit([Write(NAMESPACE, "", "x", namespace("x"), None)])
        put(store, "b")

    with store.subscribe(0, kind) as before:
        write()
        assert versions(before.wait(0)) == expected
    with store.subscribe(0, kind) as after:
        assert versions(after.wait(0)) == expected


def test_a_subscriber_of_one_namespace_is_not_woken_by_the_others(store: Store) -> None:
    with (
        store.subscribe(0, POD, "default") as here,
        store.subscribe(0, POD, "elsewhere") as there,
        store.subscribe(0, POD) as all,
    ):
        put(store, "a")
        assert (len(here.wait(0)), len(there.wait(0)), len(all.wait(0))) == (1, 0, 1)
    with store.subscribe(0, POD, "elsewhere") as late:
        assert late.wait(0) == []
    assert store.watchers() == 0


def test_a_subscriber_of_one_name_is_not_woken_by_the_others(store: Store) -> None:
    with (
        store.subscribe(0, POD, "default", "a") as here,
        store.subscribe(0, POD, "", "a") as everywhere,
        store.subscribe(0, POD, "default", "b") as other,
    ):
        put(store, "a")
        assert (len(here.wait(0)), len(everywhere.wait(0)), len(other.wait(0))) == (1, 1, 0)
    with store.subscribe(0, POD, "default", "b") as late:
        assert late.wait(0) == []
    assert store.watchers() == 0


def test_subscribers_share_events(store: Store) -> None:
    with store.subscribe(0) as one, store.subscribe(0) as other:
        put(store, "a")
        assert one.wait(0)[0] is other.wait(0)[0]


def test_a_slow_subscriber_is_cut_off_and_resumes_without_a_gap(store: Store) -> None:
    with store.subscribe(0, limit=3) as slow:
        for i in range(5):
            put(store, f"p{i}")
        seen = versions(slow.wait(0))
        assert seen == [1, 2, 3]
        for _ in range(2):
            with pytest.raises(Overflow):
                slow.wait(0)
    with store.subscribe(seen[-1]) as again:
        assert versions(again.wait(0)) == [4, 5]


def test_the_past_does_not_count_as_slow(store: Store) -> None:
    for i in range(10):
        put(store, f"p{i}")
    with store.subscribe(0, limit=3) as subscription:
        for i in range(3):
            put(store, f"q{i}")
        assert versions(subscription.wait(0)) == list(range(1, 14))
        assert subscription.wait(0) == []


@pytest.mark.parametrize("end", [Store.close, Store.hang_up])
def test_subscriptions_end_with_the_store(store: Store, end: Any) -> None:
    subscription = store.subscribe(0)
    put(store, "a")
    end(store)
    with pytest.raises(Closed):
        subscription.wait()
    with store.subscribe(0) as late, pytest.raises(Closed):
        late.wait()


def test_a_waiting_subscriber_is_woken_by_the_end(store: Store) -> None:
    subscription = store.subscribe(0)
    batches: list[list[Event]] = []
    reader = threading.Thread(target=lambda: batches.extend(subscription.batches()))
    reader.start()
    put(store, "a")
    store.close()
    reader.join(10)
    assert not reader.is_alive()
    assert [versions(batch) for batch in batches] in ([], [[1]])


def test_batches_are_empty_when_nothing_comes(store: Store) -> None:
    with store.subscribe(0) as subscription:
        batches = subscription.batches(0.001)
        assert next(batches) == []
        put(store, "a")
        assert versions(next(batches)) == [1]
    assert list(batches) == []


def test_waiting_for_a_version(store: Store) -> None:
    put(store, "a")
    assert store.wait_for(1, 0)
    assert not store.wait_for(2, 0.001)
    writer = threading.Thread(target=lambda: [put(store, f"p{i}") for i in range(5)])
    writer.start()
    assert store.wait_for(6, 10)
    writer.join()
    store.close()
    assert not store.wait_for(7, 10)


def test_many_writers_and_many_followers() -> None:
    """Each follower sees each event once and in order; writers that collide try again; nothing gets lost."""
    store = Store.open()
    writers, rounds, followers = 4, 60, 40
    put(store, "counter", n="0")
    seen: list[list[int]] = [[] for _ in range(followers)]

    def follow(at: int, subscription: Subscription) -> None:
        for batch in subscription.batches():
            seen[at] += versions(batch)
            if seen[at][-1] == writers * rounds + 1:
                return

    def count() -> None:
        for _ in range(rounds):
            while True:
                entry = store.get(POD, "default", "counter")
                assert entry is not None
                try:
                    put(store, "counter", expect=entry.version, n=str(int(entry.obj["metadata"]["labels"]["n"]) + 1))
                    break
                except Changed:
                    continue

    threads = [threading.Thread(target=follow, args=(i, store.subscribe(0))) for i in range(followers)]
    threads += [threading.Thread(target=count) for _ in range(writers)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert store.list(POD)[0][0].obj["metadata"]["labels"] == {"n": str(writers * rounds)}
    assert all(each == list(range(1, writers * rounds + 2)) for each in seen)


def test_lists_are_consistent_while_there_are_writers() -> None:
    """Two objects that are always written together are always seen together."""
    store = Store.open()
    done = threading.Event()

    def write() -> None:
        for i in range(300):
            store.commit([Write(POD, "default", name, pod(name, n=str(i)), None) for name in ("a", "b")])
        done.set()

    writer = threading.Thread(target=write)
    writer.start()
    looks = 0
    while not done.is_set() or not looks:
        entries, version = store.list(POD)
        assert len({entry.obj["metadata"]["labels"]["n"] for entry in entries}) <= 1
        assert version == (entries[-1].version if entries else 0)
        looks += 1
    writer.join()


# ---- reset and close -------------------------------------------------------------------------------------


def test_reset_goes_back_to_what_bootstrap_made(store: Store) -> None:
    store.commit([Write(NAMESPACE, "", name, namespace(name), 0) for name in ("default", "kube-system", "extra")], bootstrap=True)
    put(store, "a")
    kept = store.get(NAMESPACE, "", "kube-system")
    changed = namespace("default") | {"metadata": {"name": "default", "labels": {"x": "1"}}}
    store.commit([Write(NAMESPACE, "", "default", changed, None), Write(NAMESPACE, "", "extra", None, None)])
    before = store.version
    with store.subscribe(before) as subscription:
        store.reset()
        assert sorted((event.type, event.obj["metadata"]["name"]) for event in subscription.wait(0)) == [
            ("ADDED", "extra"),
            ("DELETED", "a"),
            ("MODIFIED", "default"),
        ]
    assert store.version == before + 3
    assert names(store.list(NAMESPACE)[0]) == ["default", "extra", "kube-system"]
    assert store.get(NAMESPACE, "", "kube-system") == kept
    assert "labels" not in store.list(NAMESPACE)[0][0].obj["metadata"]
    store.reset()
    assert store.version == before + 3


def test_a_closed_store_is_not_written_to(store: Store) -> None:
    assert store.broken() is None
    put(store, "a")
    store.close()
    store.close()
    with pytest.raises(StoreError, match="the store is closed"):
        put(store, "b")
    assert store.broken() == "the store is closed"
    assert names(store.list(POD)[0]) == ["a"]
