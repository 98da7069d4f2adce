"""Who has set which field, for ordinary writes."""

from __future__ import annotations

import copy
from datetime import UTC, datetime

import pytest

from podstrat.strategy.api import types
from podstrat.strategy.patch import managed
from podstrat.strategy.patch.managed import WriteOrigin

PODS = managed.ManagedKind(types.load("1.37"))
T0, T1, T2 = "2026-01-01T00:00:00Z", "2026-01-01T00:00:01Z", "2026-01-01T00:00:02Z"
PHASE = {"f:status": {"f:phase": {}}}
IMAGE = {"f:spec": {"f:containers": {'k:{"name":"c"}': {"f:image": {}}}}}


def pod(image="a", labels=None, status=None, entries=None):
    meta = {"name": "p", "namespace": "default", "uid": "1", "generation": 1, **({"labels": labels} if labels else {})}
    made = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": meta,
        "spec": {"containers": [{"name": "c", "image": image, "resources": {}}]},
    }
    if status:
        made["status"] = status
    if entries is not None:
        meta["managedFields"] = entries
    return made


def entry(manager, fields, time=T0, operation="Update", subresource=""):
    made = {"manager": manager, "operation": operation, "apiVersion": "v1", "time": time, "fieldsType": "FieldsV1"}
    return {**made, "fieldsV1": fields, **({"subresource": subresource} if subresource else {})}


def labels(*names, self=False):
    return {"f:metadata": {"f:labels": {**({".": {}} if self else {}), **{f"f:{name}": {} for name in names}}}}


def test_a_creator_owns_all_that_it_sends():
    made = managed.updated(
        None, pod(labels={"b": "1", "a": "2"}, status={"phase": "Running"}), WriteOrigin("kubectl-create", "", T0), PODS
    )
    assert made == [
        entry(
            "kubectl-create",
            {
                **labels("a", "b", self=True),
                "f:spec": {"f:containers": {'k:{"name":"c"}': {".": {}, "f:image": {}, "f:name": {}, "f:resources": {}}}},
            },
        )
    ]
    assert list(made[0]) == ["manager", "operation", "apiVersion", "time", "fieldsType", "fieldsV1"]
    assert list(made[0]["fieldsV1"]["f:metadata"]["f:labels"]) == [".", "f:a", "f:b"]


def test_who_changes_a_field_takes_it():
    live = pod(entries=[entry("a", IMAGE)])
    assert managed.updated(live, pod("b"), WriteOrigin("u", "", T1), PODS) == [entry("u", IMAGE, T1)]


def test_an_entry_grows():
    live = pod(labels={"x": "1"}, entries=[entry("a", labels("x", self=True))])
    made = managed.updated(live, pod(labels={"x": "1", "y": "2"}), WriteOrigin("a", "", T1), PODS)
    assert made == [entry("a", labels("x", "y", self=True), T1)]


def test_what_is_gone_is_nobodys_and_who_removes_it_is_not_noted():
    live = pod(labels={"x": "1", "y": "2"}, entries=[entry("a", labels("x", "y", self=True)), entry("b", labels("y"))])
    made = managed.updated(live, pod(labels={"x": "1"}), WriteOrigin("u", "", T1), PODS)
    assert made == [entry("a", labels("x", self=True))]


def test_a_write_that_changes_nothing_is_not_noted():
    live = pod(entries=[entry("a", IMAGE)])
    assert managed.updated(live, copy.deepcopy(live), WriteOrigin("u", "", T1), PODS) == [entry("a", IMAGE)]


def test_empty_lists_are_not_there():
    live = pod(entries=[entry("a", IMAGE)])
    new = pod()
    new["metadata"]["finalizers"], new["spec"]["containers"][0]["env"] = [], []
    assert managed.updated(live, new, WriteOrigin("u", "", T1), PODS) == [entry("a", IMAGE)]


@pytest.mark.parametrize(
    "subresource, want",
    [
        pytest.param("", [entry("u", IMAGE, T1)], id="pod"),
        pytest.param(
            "status", [entry("a", IMAGE), entry("u", {"f:status": {"f:phase": {}}}, T1, subresource="status")], id="status"
        ),
        pytest.param("resize", [entry("u", {**IMAGE, **PHASE}, T1, subresource="resize")], id="resize"),
    ],
)
def test_a_subresource_owns_what_it_can_write(subresource, want):
    live = pod(status={"phase": "Pending"}, entries=[entry("a", IMAGE)])
    made = managed.updated(live, pod("b", status={"phase": "Running"}), WriteOrigin("u", subresource, T1), PODS)
    assert made == want


@pytest.mark.parametrize(
    "sent, want",
    [
        pytest.param(None, [entry("a", IMAGE)], id="none"),
        pytest.param([], None, id="an-empty-list-takes-all-away"),
        pytest.param([{}], None, id="and-so-does-an-empty-entry"),
        pytest.param([entry("z", IMAGE, T2)], [entry("z", IMAGE, T2)], id="others"),
        pytest.param(
            [entry("z", {"f:spec": {"f:tolerations": {"i:0": {}}}})], [entry("z", {"f:spec": {"f:tolerations": {}}})], id="odd"
        ),
        pytest.param([{**entry("z", IMAGE), "operation": "Take"}], [entry("a", IMAGE)], id="no-operation"),
        pytest.param([{**entry("z", IMAGE), "fieldsType": ""}], [entry("a", IMAGE)], id="no-fields-type"),
        pytest.param([{**entry("z", IMAGE), "fieldsType": "V2"}], [entry("a", IMAGE)], id="another-fields-type"),
        pytest.param([{**entry("z", IMAGE), "apiVersion": ""}], [entry("a", IMAGE)], id="no-version"),
        pytest.param([entry("z", {"bad": {}})], [entry("a", IMAGE)], id="no-set"),
        pytest.param([{**entry("z", IMAGE), "apiVersion": "v2"}], [entry("a", IMAGE)], id="another-version"),
    ],
)
def test_entries_that_are_sent(sent, want):
    live = pod(entries=[entry("a", IMAGE)])
    assert managed.updated(live, pod(entries=sent), WriteOrigin("u", "", T1), PODS) == want


def test_a_subresource_does_not_send_entries():
    live = pod(entries=[entry("a", IMAGE)])
    assert managed.updated(live, pod(entries=[]), WriteOrigin("u", "status", T1), PODS) == [entry("a", IMAGE)]


def test_an_object_without_entries_stays_without():
    assert managed.updated(pod(), pod("b"), WriteOrigin("u", "", T1), PODS) is None


@pytest.mark.parametrize(
    "fields",
    [
        pytest.param({"f:spec": 1}, id="number"),
        pytest.param({"f:spec": {"f:containers": ["x"]}}, id="list"),
        pytest.param({"f:spec": {"f:containers": {'k:{"name":"c"}': {"f:image": 1}}}}, id="leaf"),
    ],
)
def test_stored_entries_that_no_server_has_written_are_forgotten(fields):
    assert managed.updated(pod(entries=[entry("a", fields)]), pod("b"), WriteOrigin("u", "", T1), PODS) is None


def test_stored_entries_that_cannot_be_decoded_are_none():
    live = pod(entries=[{**entry("a", IMAGE), "operation": ""}])
    assert managed.updated(live, pod("b"), WriteOrigin("u", "", T1), PODS) is None


def test_an_owner_of_an_empty_object_does_not_own_what_comes_into_it():
    container = {"f:containers": {'k:{"name":"c"}': {"f:resources": {}}}}
    live = pod(entries=[entry("a", {"f:spec": container})])
    live["spec"]["containers"][0]["resources"] = {"limits": {"cpu": "1"}}
    new = copy.deepcopy(live)
    new["metadata"]["labels"] = {"x": "1"}
    made = managed.updated(live, new, WriteOrigin("u", "", T1), PODS)
    assert made == [entry("a", {"f:spec": container}), entry("u", labels("x", self=True), T1)]


def test_entries_have_an_order():
    entries = [
        entry("b", labels("x"), T1),
        entry("a", labels("x"), T1, subresource="status"),
        entry("a", labels("x"), T1),
        entry("c", labels("x"), T0),
        entry("z", labels("x"), T2, "Apply"),
        {key: value for key, value in entry("y", labels("x"), T0, "Apply").items() if key != "time"},
    ]
    made = managed.encode(managed.decode(entries, PODS), "v1")
    assert [(each["manager"], each.get("subresource")) for each in made] == [
        ("y", None),
        ("z", None),
        ("c", None),
        ("a", None),
        ("a", "status"),
        ("b", None),
    ]


def test_of_more_than_ten_updaters_the_oldest_become_one():
    names = [f"m{number:02}" for number in range(10)]
    live = pod(
        labels=dict.fromkeys(names, "1"),
        entries=[entry(name, labels(name), f"2026-01-01T00:00:{number:02}Z") for number, name in enumerate(names)],
    )
    new = pod(labels={**live["metadata"]["labels"], "new": "1"})
    made = managed.updated(live, new, WriteOrigin("u", "", "2026-01-01T00:01:00Z"), PODS)
    assert [each["manager"] for each in made] == ["ancient-changes", *names[2:], "u"]
    assert made[0] == entry("ancient-changes", labels("m00", "m01"), "2026-01-01T00:00:01Z")
    live = pod(labels=new["metadata"]["labels"], entries=made)
    made = managed.updated(
        live, pod(labels={**live["metadata"]["labels"], "x": "1"}), WriteOrigin("v", "", "2026-01-01T00:02:00Z"), PODS
    )
    assert [each["manager"] for each in made] == ["ancient-changes", *names[3:], "u", "v"]
    assert made[0]["fieldsV1"] == labels("m00", "m01", "m02")


def test_a_bucket_that_is_not_the_oldest_is_lost():
    names = ["aa", "ancient-changes", *(f"m{number:02}" for number in range(8))]
    live = pod(labels=dict.fromkeys(names, "1"), entries=[entry(name, labels(name)) for name in names])
    made = managed.updated(live, pod(labels={**live["metadata"]["labels"], "new": "1"}), WriteOrigin("u", "", T1), PODS)
    assert [each["manager"] for each in made] == ["aa", *names[2:], "u"]


@pytest.mark.parametrize(
    "field_manager, user_agent, want",
    [
        pytest.param("me", "kubectl/v1.37", "me", id="said"),
        pytest.param("", "kubectl/v1.37 (linux/amd64)", "kubectl", id="client"),
        pytest.param("", "no slash", "no slash", id="no-slash"),
        pytest.param("", "a\tb\n/c", "ab", id="printable"),
        pytest.param("", "ä" * 100, "ä" * 64, id="no-longer-than-128-bytes"),
        pytest.param("", "", "", id="nameless"),
    ],
)
def test_writers(field_manager, user_agent, want):
    now = datetime(2026, 1, 1, tzinfo=UTC)
    assert managed.writer(field_manager, user_agent, "status", now) == WriteOrigin(want, "status", T0)


def test_the_nameless_are_unknown():
    made = managed.updated(None, pod(labels={"x": "1"}), WriteOrigin("", "", T0), PODS)
    assert made[0]["manager"] == "unknown"


@pytest.mark.parametrize(
    "new, want",
    [
        pytest.param(pod(entries=[entry("a", IMAGE, T1)]), T0, id="only-times"),
        pytest.param(pod("b", entries=[entry("a", IMAGE, T1)]), T1, id="the-object-too"),
        pytest.param(pod(entries=[entry("b", IMAGE, T1)]), T1, id="another-manager"),
        pytest.param(pod(entries=[entry("a", IMAGE, T1), entry("b", IMAGE, T1)]), T1, id="one-more"),
        pytest.param(pod(entries=[entry("a", IMAGE, T0)]), T0, id="nothing"),
    ],
)
def test_settled(new, want):
    stored = pod(entries=[entry("a", IMAGE, T0)])
    assert managed.settled(new, stored)[0]["time"] == want


def test_nothing_is_settled_without_entries():
    assert managed.settled(pod(), pod(entries=[entry("a", IMAGE)])) is None


def test_answers_do_not_change_what_is_asked_later():
    first = managed.updated(None, pod(labels={"x": "1"}), WriteOrigin("a", "", T0), PODS)
    want = copy.deepcopy(first)
    live = pod(labels={"x": "1"}, entries=first)
    managed.updated(live, pod("b", labels={"y": "1"}), WriteOrigin("u", "", T1), PODS)
    assert managed.updated(None, pod(labels={"x": "1"}), WriteOrigin("a", "", T0), PODS) == first == want
