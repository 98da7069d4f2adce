"""Server-side apply: what is merged, what is removed, who owns what afterwards, and what is refused."""

from __future__ import annotations

import copy
import json

import pytest

from podstrat.strategy import defaults, errors
from podstrat.strategy.engine import Engine
from podstrat.strategy.patch import lastapplied, managed, serverside
from podstrat.strategy.patch.managed import WriteOrigin

SERVER = Engine("1.37")._server
PODS = managed.ManagedKind(SERVER.ctx.types)
T0, T1, T2 = "2026-01-01T00:00:00Z", "2026-01-01T00:00:01Z", "2026-01-01T00:00:02Z"
C = 'k:{"name":"c"}'


def body(spec=None, **meta):
    made = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p", "namespace": "default", **meta}}
    return {**made, "spec": spec} if spec is not None else made


def image(name="x"):
    return {"containers": [{"name": "c", "image": name}]}


def applied(live, sent, manager="a", now=T0, force=False, subresource=""):
    """The pod after an apply, as it would be stored if nothing else were done to it."""
    merged = serverside.apply(live, sent, WriteOrigin(manager, subresource, now), force, PODS)
    pod = serverside.read(merged, live, SERVER.decoder, PODS).value
    defaults.pod(pod, SERVER.ctx)
    pod["metadata"].setdefault("uid", "1")
    return pod


def entries(pod):
    return {entry["manager"]: entry["fieldsV1"] for entry in pod["metadata"].get("managedFields", ())}


def times(pod):
    return {entry["manager"]: entry.get("time") for entry in pod["metadata"]["managedFields"]}


# ---- owning and removing ---------------------------------------------------------------------------


def test_what_an_applier_names_no_longer_is_removed():
    live = applied(None, body(image(), labels={"a": "1", "b": "2"}, annotations={"c": "3"}))
    pod = applied(live, body(image(), labels={"a": "1"}))
    assert pod["metadata"]["labels"] == {"a": "1"}
    assert not pod["metadata"].get("annotations")
    assert entries(pod) == {
        "a": {"f:metadata": {"f:labels": {"f:a": {}}}, "f:spec": {"f:containers": {C: {".": {}, "f:image": {}, "f:name": {}}}}}
    }


def test_what_others_own_stays():
    live = applied(None, body(image(), labels={"a": "1"}))
    live = applied(live, body(labels={"a": "1"}), "b")
    pod = applied(live, body(image()))
    assert pod["metadata"]["labels"] == {"a": "1"}
    assert entries(pod)["b"] == {"f:metadata": {"f:labels": {"f:a": {}}}}


def test_an_item_goes_with_what_others_have_not_claimed():
    live = applied(None, body({"containers": [{"name": "c", "image": "x"}, {"name": "d", "image": "y"}]}))
    assert [each["name"] for each in applied(live, body(image()))["spec"]["containers"]] == ["c"]


def test_an_item_stays_for_its_other_owner_without_what_he_does_not_own():
    spec = {"containers": [{"name": "c", "image": "x"}, {"name": "d", "image": "y", "tty": True}]}
    live = applied(None, body(spec))
    live = applied(live, body({"containers": [{"name": "d", "image": "y"}]}), "b")
    kept = applied(live, body(image()))["spec"]["containers"][1]
    assert (kept["name"], kept["image"], "tty" in kept) == ("d", "y", False)


def test_defaults_that_nobody_owns_stay_with_the_item():
    live = applied(None, body({"containers": [{"name": "c", "image": "x", "tty": True}]}))
    container = applied(live, body(image()))["spec"]["containers"][0]
    assert (container["terminationMessagePolicy"], "tty" in container) == ("File", False)


def test_who_applies_nothing_owns_nothing():
    live = applied(None, body(image()))
    live = applied(live, body(labels={"a": "1"}), "b")
    assert list(entries(applied(live, body(), "b"))) == ["a"]


def test_what_was_updated_since_belongs_to_the_updater():
    live = applied(None, body(image()))
    new = copy.deepcopy(live)
    new["spec"]["containers"][0]["image"] = "y"
    live = {**new, "metadata": {**new["metadata"], "managedFields": managed.updated(live, new, WriteOrigin("u", "", T1), PODS)}}
    pod = applied(live, body({"containers": [{"name": "c"}]}), now=T2)
    assert pod["spec"]["containers"][0]["image"] == "y"
    assert entries(pod)["u"] == {"f:spec": {"f:containers": {C: {"f:image": {}}}}}


def test_lists_keep_the_applied_order():
    live = applied(None, body({"containers": [{"name": name, "image": "x"} for name in "abc"]}))
    pod = applied(live, body({"containers": [{"name": name, "image": "x"} for name in "ca"]}), "b")
    assert [each["name"] for each in pod["spec"]["containers"]] == ["b", "c", "a"]


def test_before_the_first_apply():
    live = applied(None, body(image(), labels={"a": "1"}))
    del live["metadata"]["managedFields"]
    pod = applied(live, body(labels={"b": "2"}), now=T1)
    assert list(entries(pod)) == ["a", "before-first-apply"]
    assert entries(pod)["before-first-apply"]["f:metadata"] == {"f:labels": {".": {}, "f:a": {}}}
    with pytest.raises(serverside.ApplyConflict) as refused:
        applied(live, body(labels={"a": "2"}))
    assert refused.value.message == (
        'Apply failed with 1 conflict: conflict with "before-first-apply" using v1: .metadata.labels.a'
    )


# ---- times -----------------------------------------------------------------------------------------


def test_a_time_changes_with_the_object():
    live = applied(None, body(image()))
    assert times(applied(live, body(image("y")), now=T1)) == {"a": T1}


def test_an_apply_that_changes_nothing_has_no_time_of_its_own():
    live = applied(None, body(image()))
    assert times(applied(live, body(image()), now=T1)) == {"a": T0}
    pod = applied(live, body(image()), "b", now=T1)
    assert times(pod) == {"b": None, "a": T0}
    assert times(applied(pod, body(image(), labels={"x": "1"}), "b", now=T2)) == {"a": T0, "b": T2}


# ---- conflicts -------------------------------------------------------------------------------------


def test_conflicts_are_told_by_manager():
    live = applied(None, body(image(), labels={"x": "1"}))
    new = copy.deepcopy(live)
    new["metadata"]["annotations"] = {"n": "1"}
    live = {
        **new,
        "metadata": {**new["metadata"], "managedFields": managed.updated(live, new, WriteOrigin("u", "status", T1), PODS)},
    }
    with pytest.raises(serverside.ApplyConflict) as refused:
        applied(live, body(image("y"), labels={"x": "2"}, annotations={"n": "2"}), "b")
    error = refused.value
    assert error.message == (
        "Apply failed with 3 conflicts: "
        'conflicts with "a":\n- .metadata.labels.x\n- .spec.containers[name="c"].image\n'
        'conflicts with "u" with subresource "status" using v1:\n- .metadata.annotations.n'
    )
    assert (error.code, error.reason) == (409, "Conflict")
    assert error.details == {
        "causes": [
            {"reason": "FieldManagerConflict", "message": 'conflict with "a"', "field": ".metadata.labels.x"},
            {"reason": "FieldManagerConflict", "message": 'conflict with "a"', "field": '.spec.containers[name="c"].image'},
            {
                "reason": "FieldManagerConflict",
                "message": 'conflict with "u" with subresource "status" using v1',
                "field": ".metadata.annotations.n",
            },
        ]
    }


def test_force_takes_over():
    live = applied(None, body(image(), labels={"x": "1"}))
    pod = applied(live, body(labels={"x": "2"}), "b", T1, force=True)
    assert pod["metadata"]["labels"] == {"x": "2"}
    assert entries(pod) == {
        "a": {"f:spec": {"f:containers": {C: {".": {}, "f:image": {}, "f:name": {}}}}},
        "b": {"f:metadata": {"f:labels": {"f:x": {}}}},
    }


def test_the_same_value_is_no_conflict():
    live = applied(None, body(image(), labels={"x": "1"}))
    assert set(entries(applied(live, body(labels={"x": "1"}), "b"))) == {"a", "b"}


# ---- what is refused -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "sent, code, message",
    [
        pytest.param(None, 400, "invalid object type: /, Kind=", id="nothing"),
        pytest.param({}, 400, "invalid object type: /, Kind=", id="empty"),
        pytest.param({"kind": "Pod"}, 400, "invalid object type: /, Kind=Pod", id="no-version"),
        pytest.param({"apiVersion": "apps/v1", "kind": "Pod"}, 400, "invalid object type: apps/v1, Kind=Pod", id="another-group"),
        pytest.param({"apiVersion": "a/b/c", "kind": "Pod"}, 400, "invalid object type: /, Kind=", id="no-version-at-all"),
        pytest.param({"apiVersion": 1, "kind": []}, 400, "invalid object type: /, Kind=", id="no-texts"),
        pytest.param(
            [1],
            400,
            "error decoding patch: error unmarshaling JSON: while decoding JSON: "
            "json: cannot unmarshal array into Go value of type map[string]interface {}",
            id="list",
        ),
        pytest.param(body(managedFields=[]), 400, "metadata.managedFields must be nil", id="empty-entries"),
        pytest.param(
            {"apiVersion": "v1", "kind": "Pod", "metadata": [], "x": 1},
            500,
            "failed to create typed patch object (/; /v1, Kind=Pod): errors:\n"
            "  .metadata: expected map, got &{[]}\n  .x: field not declared in schema",
            id="two-faults",
        ),
        pytest.param(
            body({"containers": [{"name": "c", "resources": {"limits": {"cpu": "much"}}}]}),
            500,
            "failed to convert new object (default/p; /v1, Kind=Pod) to proper version: unable to convert unstructured object to "
            "/v1, Kind=Pod: quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'",
            id="no-quantity",
        ),
        pytest.param(
            body({"priority": 1.5}),
            500,
            "failed to convert new object (default/p; /v1, Kind=Pod) to proper version: unable to convert unstructured object to "
            "/v1, Kind=Pod: cannot convert float64 to int32",
            id="fraction",
        ),
    ],
)
def test_refused(sent, code, message):
    with pytest.raises(errors.ApiError) as refused:
        applied(None, sent)
    assert (refused.value.code, refused.value.message) == (code, message)


def test_stored_entries_that_cannot_be_decoded_are_refused():
    live = applied(None, body(image()))
    live["metadata"]["managedFields"][0]["fieldsType"] = "V2"
    with pytest.raises(
        errors.ServerError, match='failed to decode managed fields: invalid fieldsType "V2" in managed fields entry 0'
    ):
        applied(live, body(image()))


def test_entries_of_null_are_none():
    assert entries(applied(None, body(image(), managedFields=None)))["a"]["f:spec"]


def test_a_whole_number_may_have_a_point():
    pod = applied(None, body({"containers": [{"name": "c", "ports": [{"containerPort": 80.0}]}], "priority": 1.0}))
    assert pod["spec"]["priority"] == 1
    ports = entries(pod)["a"]["f:spec"]["f:containers"][C]["f:ports"]
    assert ports == {'k:{"containerPort":80,"protocol":"TCP"}': {".": {}, "f:containerPort": {}}}


# ---- kubectl ---------------------------------------------------------------------------------------

NOTE = lastapplied.ANNOTATION


def client_side(image_name="x", noted=None):
    """A pod that kubectl has applied on the client's side."""
    config = json.dumps(noted or body(image("x")))
    live = applied(None, body(image(image_name), annotations={NOTE: config, "other": "1"}))
    live["metadata"]["managedFields"] = managed.updated(None, live, WriteOrigin("kubectl-client-side-apply", "", T0), PODS)
    return live


def test_kubectl_takes_over_what_it_applied_on_the_clients_side():
    pod = applied(client_side(), body(image("y")), "kubectl", T1)
    assert pod["spec"]["containers"][0]["image"] == "y"
    text = (
        '{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p","namespace":"default"},'
        '"spec":{"containers":[{"image":"y","name":"c"}]}}\n'
    )
    assert pod["metadata"]["annotations"] == {NOTE: text, "other": "1"}


def test_kubectl_does_not_take_over_what_was_changed_since():
    with pytest.raises(serverside.ApplyConflict, match=r'1 conflict: .*containers\[name="c"\]\.image'):
        applied(client_side("z"), body(image("y"), labels={"a": "1"}), "kubectl", T1)


@pytest.mark.parametrize(
    "noted",
    [
        pytest.param({"apiVersion": "v2", "kind": "Pod"}, id="another-version"),
        pytest.param({"apiVersion": "v1", "kind": "Pod", "spec": {"x": 1}}, id="unknown-field"),
        pytest.param("{", id="no-object"),
    ],
)
def test_an_annotation_that_says_nothing(noted):
    with pytest.raises(serverside.ApplyConflict):
        applied(client_side(noted=noted), body(image("y")), "kubectl", T1)


def test_others_do_not_take_over():
    with pytest.raises(serverside.ApplyConflict):
        applied(client_side(), body(image("y")), "helm", T1)


def test_the_annotation_is_not_made():
    pod = applied(None, body(image()), "kubectl")
    assert "annotations" not in pod["metadata"]
    live = applied(None, body(image()))
    with pytest.raises(serverside.ApplyConflict):
        applied(live, body(image("y")), "kubectl")


def test_an_annotation_that_would_be_too_long_is_taken_away():
    pod = applied(client_side(), body(image(), annotations={"big": "x" * 200_000}), "kubectl", T1)
    assert set(pod["metadata"]["annotations"]) == {"other", "big"}


def test_the_annotation_does_not_hold_itself():
    pod = {"metadata": {"annotations": {NOTE: "x"}}}
    lastapplied.sync(pod, {"metadata": {"annotations": {NOTE: "y", "a": "<"}}})
    assert pod["metadata"]["annotations"][NOTE] == '{"metadata":{"annotations":{"a":"\\u003c"}}}\n'
