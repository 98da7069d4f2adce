from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from itertools import islice
from typing import Any

import pytest

from podstrat.apiserver.kinds import NAMESPACE, POD
from podstrat.apiserver.listing import list_options, watching
from podstrat.apiserver.storage.history import QUEUE
from podstrat.apiserver.storage.store import Store, Write
from podstrat.strategy import errors

Object = dict[str, Any]
END = {"k8s.io/initial-events-end": "true"}


def pod(name: str, namespace: str = "default", **labels: str) -> Object:
    return {"kind": "Pod", "apiVersion": "v1", "metadata": {"name": name, "namespace": namespace, "labels": labels}}


def put(store: Store, name: str, namespace: str = "default", **labels: str) -> None:
    store.commit([Write(POD, namespace, name, pod(name, namespace, **labels), None)])


def remove(store: Store, name: str) -> None:
    store.commit([Write(POD, "default", name, None, None)])


@pytest.fixture
def store() -> Iterator[Store]:
    store = Store.open()
    yield store
    store.close()


def stream(
    store: Store, namespace: str | None = None, *, watch_list: bool = True, more: Object | None = None, **query: str
) -> Any:
    options = list_options.decode({"watch": "1", **query}, POD, watch_list=watch_list)
    return watching.watch(store, POD, namespace, options, patience=0.01, **(more or {}))


def told(lines: Iterator[bytes], count: int | None = None) -> list[str]:
    """Each event as its type, name and version."""
    found = []
    for line in islice(lines, count):
        assert line.endswith(b"\n")
        event = json.loads(line)
        metadata = event["object"]["metadata"]
        found.append(f"{event['type']} {metadata.get('name', '-')} {metadata['resourceVersion']}")
    return found


# ---- where it begins -------------------------------------------------------------------------------------


@pytest.mark.parametrize("watch_list", [True, False])
@pytest.mark.parametrize("version", ["", "0"])
def test_from_no_version_it_begins_with_what_is_there(store: Store, version: str, watch_list: bool) -> None:
    put(store, "a")
    put(store, "b")
    lines = stream(store, resourceVersion=version, watch_list=watch_list)
    assert told(lines, 2) == ["ADDED a 1", "ADDED b 2"]
    put(store, "a")
    remove(store, "b")
    assert told(lines, 2) == ["MODIFIED a 3", "DELETED b 4"]


def test_from_a_version_it_begins_with_what_came_after(store: Store) -> None:
    for name in "abc":
        put(store, name)
    lines = stream(store, resourceVersion="1")
    assert told(lines, 2) == ["ADDED b 2", "ADDED c 3"]
    put(store, "d")
    assert told(lines, 1) == ["ADDED d 4"]


def test_from_a_version_that_is_still_to_come(store: Store) -> None:
    lines = stream(store, resourceVersion="2", more={"idle": 0.001})
    assert next(lines) == b""
    for name in "abc":
        put(store, name)
    assert told((line for line in lines if line), 1) == ["ADDED c 3"]


def test_an_event_as_it_is_sent(store: Store) -> None:
    put(store, "a")
    assert next(stream(store)) == (
        b'{"type":"ADDED","object":{"kind":"Pod","apiVersion":"v1",'
        b'"metadata":{"name":"a","namespace":"default","resourceVersion":"1","labels":{}}}}\n'
    )


def test_a_version_that_is_forgotten(store: Store) -> None:
    for name in "abc":
        put(store, name)
    store.compact(1)
    assert told(stream(store, resourceVersion="2"), 1) == ["ADDED c 3"]
    assert list(stream(store, resourceVersion="1")) == [
        b'{"type":"ERROR","object":{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure",'
        b'"message":"too old resource version: 1 (2)","reason":"Expired","code":410}}\n'
    ]


def test_a_version_that_is_no_number_is_refused_before_the_stream(store: Store) -> None:
    with pytest.raises(errors.ServerError) as error:
        stream(store, resourceVersion="x")
    assert error.value.message == 'resourceVersion: Invalid value: "x": strconv.ParseUint: parsing "x": invalid syntax'


def test_a_stream_that_is_never_read_follows_nothing(store: Store) -> None:
    stream(store).close()
    lines = stream(store, resourceVersion="0", more={"idle": 0.001})
    next(lines)
    lines.close()
    put(store, "a")
    assert told(stream(store), 1) == ["ADDED a 1"]


# ---- initial events --------------------------------------------------------------------------------------

INITIAL = {"sendInitialEvents": "true", "resourceVersionMatch": "NotOlderThan"}


def test_initial_events_end_with_a_bookmark(store: Store) -> None:
    put(store, "a")
    store.commit([Write(NAMESPACE, "", "x", {"metadata": {"name": "x"}}, None)])
    lines = stream(store, allowWatchBookmarks="true", **INITIAL)
    assert told(lines, 1) == ["ADDED a 1"]
    assert json.loads(next(lines)) == {
        "type": "BOOKMARK",
        "object": {"kind": "Pod", "apiVersion": "v1", "metadata": {"resourceVersion": "2", "annotations": END}},
    }
    put(store, "b")
    assert told(lines, 1) == ["ADDED b 3"]


def test_a_bookmark_is_an_object_without_content(store: Store) -> None:
    blank = {"kind": "Pod", "apiVersion": "v1", "metadata": {"creationTimestamp": None}, "spec": {"containers": None}}
    lines = stream(store, allowWatchBookmarks="true", more={"blank": blank}, **INITIAL)
    assert json.loads(next(lines))["object"] == {
        **blank,
        "metadata": {"resourceVersion": "0", "creationTimestamp": None, "annotations": END},
    }
    assert blank["metadata"] == {"creationTimestamp": None}


def test_initial_events_without_bookmarks(store: Store) -> None:
    put(store, "a")
    lines = stream(store, **INITIAL)
    assert told(lines, 1) == ["ADDED a 1"]
    put(store, "b")
    assert told(lines, 1) == ["ADDED b 2"]


@pytest.mark.parametrize("version", ["", "1"])
def test_initial_events_are_those_of_the_moment_of_the_request(store: Store, version: str) -> None:
    put(store, "a")
    query = {"sendInitialEvents": "true", "resourceVersionMatch": "NotOlderThan", "allowWatchBookmarks": "true"}
    lines = stream(store, resourceVersion=version, **query)
    put(store, "b")
    assert told(lines, 3) == ["ADDED a 1", "BOOKMARK - 1", "ADDED b 2"]


def test_changes_are_those_after_the_moment_of_the_request(store: Store) -> None:
    put(store, "a")
    lines = stream(store, sendInitialEvents="false", resourceVersionMatch="NotOlderThan")
    put(store, "b")
    assert told(lines, 1) == ["ADDED b 2"]


def test_initial_events_not_older_than_a_version(store: Store) -> None:
    put(store, "a")
    put(store, "b")
    lines = stream(store, resourceVersion="1", allowWatchBookmarks="1", **INITIAL)
    assert told(lines, 3) == ["ADDED a 1", "ADDED b 2", "BOOKMARK - 2"]


def test_initial_events_of_a_version_that_does_not_come(store: Store) -> None:
    (line,) = stream(store, resourceVersion="7", **INITIAL)
    event = json.loads(line)
    assert (event["type"], event["object"]["code"], event["object"]["reason"]) == ("ERROR", 504, "Timeout")
    assert event["object"]["message"] == "Timeout: Too large resource version: 7, current: 0"


@pytest.mark.parametrize("version, expected", [("", "ADDED c 3"), ("0", "ADDED c 3"), ("1", "ADDED b 2")])
def test_no_initial_events_wanted(store: Store, version: str, expected: str) -> None:
    put(store, "a")
    put(store, "b")
    query = {**INITIAL, "sendInitialEvents": "false", "resourceVersion": version}
    lines = stream(store, more={"idle": 0.001}, **query)
    first = next(lines)
    put(store, "c")
    assert told((line for line in [first, *islice(lines, 1)] if line), 1) == [expected]


# ---- selections ------------------------------------------------------------------------------------------


def test_objects_come_into_the_selection_and_leave_it(store: Store) -> None:
    put(store, "a", color="blue")
    put(store, "b")
    lines = stream(store, labelSelector="color=blue")
    assert told(lines, 1) == ["ADDED a 1"]
    put(store, "a", color="blue", size="1")
    put(store, "a", color="red")
    put(store, "b", color="red")
    put(store, "b", color="blue")
    remove(store, "a")
    remove(store, "b")
    first, left, entered, gone = (json.loads(line) for line in islice(lines, 4))
    assert (first["type"], first["object"]["metadata"]["labels"]) == ("MODIFIED", {"color": "blue", "size": "1"})
    # What left is told as it was when it was last in, with the version of the change that took it out.
    assert (left["type"], left["object"]["metadata"]) == (
        "DELETED",
        {"name": "a", "namespace": "default", "resourceVersion": "4", "labels": {"color": "blue", "size": "1"}},
    )
    assert (entered["type"], entered["object"]["metadata"]["name"]) == ("ADDED", "b")
    assert (gone["type"], gone["object"]["metadata"]["name"]) == ("DELETED", "b")


def test_the_past_is_selected_alike(store: Store) -> None:
    put(store, "a", color="blue")
    put(store, "a", color="red")
    put(store, "b", color="blue")
    assert told(stream(store, resourceVersion="1", labelSelector="color=blue"), 2) == ["DELETED a 2", "ADDED b 3"]


def test_a_namespace_and_fields(store: Store) -> None:
    put(store, "a", "other")
    lines = stream(store, "default", fieldSelector="metadata.name!=b")
    for namespace, name in [("other", "c"), ("default", "b"), ("default", "d")]:
        put(store, name, namespace)
    assert told(lines, 1) == ["ADDED d 4"]


def test_other_kinds_are_not_told(store: Store) -> None:
    lines = stream(store, resourceVersion="0")
    store.commit([Write(NAMESPACE, "", "x", {"metadata": {"name": "x"}}, None)])
    put(store, "a")
    assert told(lines, 1) == ["ADDED a 2"]


# ---- forms -----------------------------------------------------------------------------------------------


def test_texts_are_made_once_for_each_form(store: Store) -> None:
    made: list[tuple[str, bool]] = []

    def table(obj: Object, first: bool) -> Object:
        made.append((obj["metadata"]["name"], first))
        return {"kind": "Table", "columnDefinitions": ["Name"] if first else None, "metadata": obj["metadata"]}

    watchers = [stream(store, more={"convert": table, "form": "table", "idle": 0.001}) for _ in range(3)]
    for lines in watchers:
        assert next(lines) == b""
    put(store, "a")
    put(store, "b")
    seen = [list(islice((line for line in lines if line), 2)) for lines in watchers]
    assert seen[0] == seen[1] == seen[2]
    assert [json.loads(line)["object"]["columnDefinitions"] for line in seen[0]] == [["Name"], None]
    assert made == [("a", True), ("b", False)]
    plain = stream(store, resourceVersion="1")
    assert json.loads(next(plain))["object"]["kind"] == "Pod"
    late = stream(store, resourceVersion="1", more={"convert": table, "form": "table"})
    assert json.loads(next(late))["object"]["columnDefinitions"] == ["Name"]


def test_watchers_of_a_form_share_the_very_text(store: Store) -> None:
    put(store, "a")
    put(store, "b")
    assert next(stream(store, resourceVersion="1")) is next(stream(store, resourceVersion="1"))


def test_the_text_of_a_stored_object_serves_its_watchers(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    put(store, "first")
    for color in ("red", "blue"):
        put(store, "a", color=color)
    encoded: list[Object] = []
    monkeypatch.setattr(watching, "dumps", lambda obj: encoded.append(obj) or json.dumps(obj))
    assert told(stream(store), 2) == ["ADDED a 3", "ADDED first 1"]
    assert encoded == []
    assert told(stream(store, resourceVersion="1"), 2) == ["ADDED a 2", "MODIFIED a 3"]
    assert [obj["metadata"]["labels"] for obj in encoded] == [{"color": "red"}]


def test_a_selection_does_not_change_the_shared_text(store: Store) -> None:
    put(store, "a", color="blue")
    put(store, "a", color="red")
    everything, blue, red = (
        json.loads(next(stream(store, resourceVersion="1", **query)))
        for query in ({}, {"labelSelector": "color=blue"}, {"labelSelector": "color=red"})
    )
    assert (everything["type"], blue["type"], red["type"]) == ("MODIFIED", "DELETED", "ADDED")
    assert (blue["object"]["metadata"]["labels"], red["object"]) == ({"color": "blue"}, everything["object"])


# ---- bookmarks, and the end ------------------------------------------------------------------------------


def test_bookmarks_from_time_to_time(store: Store) -> None:
    put(store, "a")
    lines = stream(store, resourceVersion="1", allowWatchBookmarks="true", more={"bookmark_every": 0.001})
    assert told(lines, 2) == ["BOOKMARK - 1", "BOOKMARK - 1"]
    store.commit([Write(NAMESPACE, "", "x", {"metadata": {"name": "x"}}, None)])
    assert "BOOKMARK - 2" in told(lines, 2)


def test_no_bookmarks_unless_allowed(store: Store) -> None:
    lines = stream(store, resourceVersion="0", more={"bookmark_every": 0.0, "idle": 0.001})
    assert next(lines) == b""
    put(store, "a")
    assert told((line for line in lines if line), 1) == ["ADDED a 1"]


def test_the_time_is_up(store: Store) -> None:
    put(store, "a")
    assert told(stream(store, more={"timeout": 0.01})) == ["ADDED a 1"]
    assert told(stream(store, timeoutSeconds="-1")) == ["ADDED a 1"]


def test_at_last_there_is_a_bookmark(store: Store) -> None:
    put(store, "a")
    lines = stream(store, resourceVersion="0", allowWatchBookmarks="true", more={"timeout": 0.01})
    assert told(lines) == ["ADDED a 1", "BOOKMARK - 1", "BOOKMARK - 1"]


def test_what_is_waiting_is_told_before_the_bookmark(store: Store) -> None:
    for name in "abc":
        put(store, name)
    lines = stream(store, resourceVersion="1", allowWatchBookmarks="true", timeoutSeconds="-1")
    assert told(lines) == ["ADDED b 2", "ADDED c 3", "BOOKMARK - 3"]


@pytest.mark.parametrize("end", [Store.close, Store.hang_up])
def test_the_server_stops(store: Store, end: Any) -> None:
    seen: list[bytes] = []
    begun = threading.Event()

    def read() -> None:
        for line in stream(store, allowWatchBookmarks="true"):
            seen.append(line)
            begun.set()

    reader = threading.Thread(target=read)
    reader.start()
    assert begun.wait(10)
    end(store)
    reader.join(10)
    assert not reader.is_alive()
    assert told(iter(seen)) == ["BOOKMARK - 0"]


def test_a_slow_client_is_cut_off_and_resumes_without_a_gap(store: Store) -> None:
    lines = stream(store, resourceVersion="0", more={"idle": 0.001})
    assert next(lines) == b""
    for i in range(QUEUE + 50):
        put(store, f"p{i}")
    seen = told(lines)
    assert len(seen) == QUEUE
    rest = told(stream(store, resourceVersion=seen[-1].split()[-1]), 50)
    assert [line.split()[-1] for line in [*seen, *rest]] == [str(version) for version in range(1, QUEUE + 51)]


def test_a_client_that_takes_its_time_over_the_beginning_is_not_cut_off(store: Store) -> None:
    put(store, "p0")
    lines = stream(store, resourceVersion="0")
    assert told(lines, 1) == ["ADDED p0 1"]
    for i in range(1, QUEUE + 50):
        put(store, f"p{i}")
    assert [line.split()[-1] for line in told(lines, QUEUE + 49)] == [str(version) for version in range(2, QUEUE + 51)]


def all_see_all(watchers: int, writes: int) -> None:
    store = Store.open()
    put(store, "first")
    seen: list[list[str]] = [[] for _ in range(watchers)]
    lines = [stream(store, resourceVersion="1") for _ in range(watchers)]

    def read(at: int) -> None:
        for line in lines[at]:
            seen[at].append(json.loads(line)["object"]["metadata"]["resourceVersion"])
            if len(seen[at]) == writes:
                return

    readers = [threading.Thread(target=read, args=(i,)) for i in range(watchers)]
    writers = [threading.Thread(target=lambda i=i: [put(store, f"p{i}") for _ in range(writes // 2)]) for i in range(2)]
    for thread in [*readers, *writers]:
        thread.start()
    for thread in [*readers, *writers]:
        thread.join(120)
    expected = [str(version) for version in range(2, writes + 2)]
    assert all(each == expected for each in seen)
    store.close()


def test_every_watcher_sees_every_event_once_and_in_order() -> None:
    all_see_all(watchers=50, writes=100)


@pytest.mark.long
def test_two_hundred_watchers() -> None:
    all_see_all(watchers=200, writes=800)
