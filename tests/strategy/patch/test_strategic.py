"""Strategic merge patch: strategies and merge keys of the types, directives, the order of lists, and the server's errors."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from podstrat.strategy import errors, patch
from podstrat.strategy.api import types
from podstrat.strategy.patch import refusals

TYPES = types.load("1.37")
STORED: dict[str, Any] = {
    "apiVersion": "v1",
    "kind": "Pod",
    "metadata": {"name": "p", "labels": {"a": "1", "b": "2"}, "finalizers": ["f/1", "f/2"]},
    "spec": {
        "volumes": [{"name": "v", "hostPath": {"path": "/", "type": ""}}],
        "containers": [
            {"name": "a", "image": "x:1", "args": ["1"], "env": [{"name": "E", "value": "1"}], "ports": [{"containerPort": 80}]},
            {"name": "b", "image": "x:1", "resources": {"limits": {"cpu": "1"}}},
        ],
        "securityContext": {"runAsUser": 5},
        "tolerations": [{"key": "k"}],
        "imagePullSecrets": [{}],
        "dnsPolicy": "Default",
    },
    "status": {
        "podIPs": [{"ip": "1"}, {"ip": "2"}, {"ip": "3"}],
        "containerStatuses": [{"name": "a", "image": "x"}],
        "startTime": None,
    },
}
A, B = STORED["spec"]["containers"]


def merged(body: Any) -> Any:
    stored = copy.deepcopy(STORED)
    result = patch.apply("strategic", stored, body, TYPES, (1, 37))
    assert stored == STORED
    return result


def refusal(body: Any) -> errors.ApiError:
    with pytest.raises(errors.ApiError) as refused:
        merged(body)
    return refused.value


def spec(**members: Any) -> dict[str, Any]:
    return {"spec": members}


@pytest.mark.parametrize(
    "patch_of_spec, name, value",
    [
        pytest.param({"dnsPolicy": "None"}, "dnsPolicy", "None", id="scalar"),
        pytest.param({"dnsPolicy": None}, "dnsPolicy", None, id="null-removes"),
        pytest.param({"containers": [{"name": "b", "image": "y"}]}, "containers", [A, {**B, "image": "y"}], id="by-name"),
        pytest.param({"containers": []}, "containers", [A, B], id="empty-list-merges-to-the-same"),
        pytest.param({"containers": [{"name": "b", "$patch": "delete"}]}, "containers", [A], id="delete-item"),
        pytest.param({"containers": [{"name": "z", "$patch": "delete"}]}, "containers", [A, B], id="delete-unknown-item"),
        pytest.param(
            {"containers": [{"$patch": "replace"}, {"name": "c", "image": None}]},
            "containers",
            [{"name": "c", "image": None}],
            id="replace-list-keeps-nulls",
        ),
        pytest.param(
            {"containers": [{"name": "a", "ports": [{"containerPort": 80, "name": "h"}, {"containerPort": 81}]}]},
            "containers",
            [{**A, "ports": [{"containerPort": 80, "name": "h"}, {"containerPort": 81}]}, B],
            id="ports-by-number",
        ),
        pytest.param(
            {"containers": [{"name": "a", "ports": [{"containerPort": 80.0}]}]},
            "containers",
            [{**A, "ports": [{"containerPort": 80.0}, {"containerPort": 80}]}, B],
            id="a-float-is-another-key",
        ),
        pytest.param(
            {"containers": [{"name": "a", "args": ["2"], "env": [{"name": "F"}]}]},
            "containers",
            [{**A, "args": ["2"], "env": [{"name": "F"}, {"name": "E", "value": "1"}]}, B],
            id="args-replaced-env-merged",
        ),
        pytest.param(
            {"containers": [{"name": "b", "resources": {"limits": {"cpu": None, "memory": "1Gi"}}}]},
            "containers",
            [A, {**B, "resources": {"limits": {"memory": "1Gi"}}}],
            id="maps-merge-by-key",
        ),
        pytest.param(
            {"containers": [{"name": "b", "resources": {"$patch": "replace", "requests": {"cpu": "1"}}}]},
            "containers",
            [A, {**B, "resources": {"requests": {"cpu": "1"}}}],
            id="replace-object",
        ),
        pytest.param({"securityContext": {"$patch": "delete"}}, "securityContext", {}, id="delete-object"),
        pytest.param({"securityContext": "x"}, "securityContext", "x", id="other-type-taken-as-it-is"),
        pytest.param({"tolerations": [{"key": "l"}]}, "tolerations", [{"key": "l"}], id="no-strategy-replaces"),
        pytest.param(
            {"tolerations": [{"$patch": "replace"}, {"key": "l"}]},
            "tolerations",
            [{"$patch": "replace"}, {"key": "l"}],
            id="directive-not-understood-where-the-list-is-replaced",
        ),
        pytest.param(
            {"hostAliases": [{"$patch": "replace"}, {"ip": "1", "hostnames": None}, None]},
            "hostAliases",
            [{"ip": "1"}, None],
            id="absent-list-without-directives-and-nulls",
        ),
        pytest.param(
            {"affinity": {"nodeAffinity": None, "podAffinity": {"$patch": "delete"}, "x": [{"$patch": "delete"}, 1]}},
            "affinity",
            {"x": [1]},
            id="absent-object-without-directives-and-nulls",
        ),
        pytest.param({"affinity": {"$patch": "delete"}}, "affinity", None, id="absent-object-that-is-a-directive"),
        pytest.param(
            {"volumes": [{"name": "v", "$retainKeys": ["name", "emptyDir"], "emptyDir": {}}]},
            "volumes",
            [{"name": "v", "emptyDir": {}}],
            id="retain-keys",
        ),
        pytest.param(
            {"volumes": [{"name": "v", "$retainKeys": ["name"], "hostPath": None}]}, "volumes", [{"name": "v"}], id="retain-null"
        ),
        pytest.param({"$deleteFromPrimitiveList/tolerations": None}, "tolerations", None, id="delete-list-null-removes"),
        pytest.param({"$deleteFromPrimitiveList/hostAliases": [1]}, "hostAliases", None, id="delete-from-absent-list"),
        pytest.param({"$deleteFromPrimitiveList/dnsPolicy": "None"}, "dnsPolicy", "None", id="delete-list-on-a-scalar-sets-it"),
        pytest.param({"Containers": [1]}, "containers", [A, B], id="names-are-case-sensitive"),
        pytest.param(
            {"containers": [{"name": "c", "image": "1"}, {"name": "c", "image": "2"}]},
            "containers",
            [{"name": "c", "image": "2"}, A, B],
            id="repeated-new-key-merges",
        ),
    ],
)
def test_merged(patch_of_spec: Any, name: str, value: Any) -> None:
    assert merged({"spec": patch_of_spec})["spec"].get(name) == value


@pytest.mark.parametrize(
    "body, value",
    [
        pytest.param({}, STORED, id="nothing"),
        pytest.param(None, STORED, id="null"),
        pytest.param({"$patch": "delete"}, {}, id="delete"),
        pytest.param({"$patch": "replace", "kind": "Pod"}, {"kind": "Pod"}, id="replace"),
    ],
)
def test_whole_object(body: Any, value: Any) -> None:
    assert merged(body) == value


@pytest.mark.parametrize(
    "patch_of_metadata, finalizers",
    [
        pytest.param({"finalizers": ["f/2"]}, ["f/1", "f/2"], id="known"),
        pytest.param({"finalizers": ["f/3"]}, ["f/3", "f/1", "f/2"], id="new-comes-first"),
        pytest.param({"finalizers": ["f/2", "f/3", "f/1"]}, ["f/2", "f/3", "f/1"], id="order-of-the-patch"),
        pytest.param({"finalizers": ["f/3", "f/3"]}, ["f/3", "f/1", "f/2"], id="repeated"),
        pytest.param({"$deleteFromPrimitiveList/finalizers": ["f/1", "zz"]}, ["f/2"], id="deleted"),
        pytest.param({"$deleteFromPrimitiveList/finalizers": ["f/1", "f/2"]}, [], id="all-deleted"),
        pytest.param({"$deleteFromPrimitiveList/finalizers": ["f/1"], "finalizers": ["f/3"]}, ["f/3", "f/2"], id="both"),
        pytest.param({"$setElementOrder/finalizers": ["f/2", "f/1"]}, ["f/2", "f/1"], id="reordered"),
        pytest.param({"$setElementOrder/finalizers": ["f/2", "f/3"], "finalizers": ["f/3"]}, ["f/1", "f/2", "f/3"], id="ordered"),
        pytest.param({"$deleteFromPrimitiveList/": ["f/1"]}, ["f/1", "f/2"], id="no-name"),
    ],
)
def test_lists_of_scalars(patch_of_metadata: Any, finalizers: list[str]) -> None:
    assert merged({"metadata": patch_of_metadata})["metadata"]["finalizers"] == finalizers


@pytest.mark.parametrize(
    "patch_of_status, ips",
    [
        pytest.param({"podIPs": [{"ip": "2"}]}, "123", id="known-item-stays"),
        pytest.param({"podIPs": [{"ip": "9"}]}, "9123", id="new-item-comes-first"),
        pytest.param({"podIPs": [{"ip": "2"}, {"ip": "9"}]}, "1293", id="new-item-after-a-known-one"),
        pytest.param({"podIPs": [{"ip": "3"}, {"ip": "1"}]}, "231", id="patch-order-wins"),
        pytest.param({"podIPs": [{"ip": "2", "$patch": "delete"}, {"ip": "2"}]}, "213", id="delete-and-add-again"),
        pytest.param({"podIPs": [{"$patch": "replace"}, {"ip": "3"}, {"ip": "2"}, {"ip": "3"}]}, "332", id="replaced-repeats"),
        pytest.param({"$setElementOrder/podIPs": [{"ip": "3"}, {"ip": "1"}]}, "231", id="reorder-some"),
        pytest.param({"$setElementOrder/podIPs": [{"ip": "9"}]}, "123", id="order-of-unknown-items"),
        pytest.param(
            {"$setElementOrder/podIPs": [{"ip": "3"}, {"ip": "9"}], "podIPs": [{"ip": "9"}]}, "1239", id="order-and-add"
        ),
        pytest.param(
            {"$setElementOrder/podIPs": [{"ip": "3"}], "podIPs": [{"ip": "1", "$patch": "delete"}, {"ip": "3"}]},
            "23",
            id="order-and-delete",
        ),
        pytest.param({"$setElementOrder/podIPs": [], "podIPs": [{"ip": "9"}]}, "1239", id="new-item-that-the-order-leaves-out"),
        pytest.param({"$setElementOrder/hostIPs": [{"ip": "1"}]}, "123", id="order-of-an-absent-list"),
    ],
)
def test_order_of_merged_lists(patch_of_status: Any, ips: str) -> None:
    assert "".join(item["ip"] for item in merged({"status": patch_of_status})["status"]["podIPs"]) == ips


def test_order_of_a_list_that_is_new() -> None:
    body = {
        "$setElementOrder/hostIPs": [{"ip": "2"}, {"ip": "1"}],
        "hostIPs": [{"ip": "9", "$patch": "delete"}, {"ip": "2", "x": None}, {"ip": "1"}],
    }
    assert merged({"status": body})["status"]["hostIPs"] == [{"ip": "2", "x": None}, {"ip": "1"}]


def test_only_the_first_of_several_stored_items_is_merged() -> None:
    stored = {"status": {"conditions": [{"type": "A"}, {"type": "A"}]}}
    body = {"status": {"conditions": [{"type": "A", "reason": "R"}]}}
    result = patch.apply("strategic", stored, body, TYPES, (1, 37))
    assert result["status"]["conditions"] == [{"type": "A", "reason": "R"}, {"type": "A"}]


def test_the_patch_that_is_given_is_not_used_up() -> None:
    body = spec(containers=[{"name": "a", "$retainKeys": ["name"]}], affinity={"x": None})
    given = copy.deepcopy(body)
    assert merged(body)["spec"]["containers"] == [{"name": "a"}, B]
    assert body == given


def test_what_is_not_touched_is_shared() -> None:
    result = patch.apply("strategic", STORED, spec(containers=[{"name": "b", "image": "y"}]), TYPES, (1, 37))
    assert result["spec"]["containers"][0] is A
    assert result["status"] is STORED["status"]


@pytest.mark.parametrize(
    "body, message",
    [
        pytest.param(
            spec(containers=[{"image": "x:2", "args": [1, "b", None, True, 1.5]}]),
            "map: map[args:[1 b <nil> true 1.5] image:x:2] does not contain declared merge key: name",
            id="no-merge-key",
        ),
        pytest.param(
            spec(containers=[{"$patch": "delete"}]),
            "map: map[$patch:delete] does not contain declared merge key: name",
            id="delete-nothing",
        ),
        pytest.param(
            spec(imagePullSecrets=[{"name": "s"}]),
            "map: map[] does not contain declared merge key: name",
            id="stored-without-key",
        ),
        pytest.param(
            spec(containers=[{"name": "c", "$patch": "explode"}]),
            "unknown patch type: explode in map: map[$patch:explode name:c]",
            id="unknown-directive",
        ),
        pytest.param(
            spec(securityContext={"$patch": 5}),
            "unknown patch type: %!s(int64=5) in map: map[$patch:5]",
            id="directive-is-a-number",
        ),
        pytest.param(
            spec(securityContext={"$patch": None}),
            "unknown patch type: %!s(<nil>) in map: map[$patch:<nil>]",
            id="directive-is-null",
        ),
        pytest.param(
            spec(securityContext={"$patch": "merge"}), "unknown patch type: merge in map: map[$patch:merge]", id="merge-an-object"
        ),
        pytest.param(
            spec(containers=[{"name": "c", "$patch": "merge"}]),
            "merging lists cannot yet be specified in the patch",
            id="merge-a-list",
        ),
        pytest.param(
            spec(tolerations=[], **{"$deleteFromPrimitiveList/tolerations": [{"key": "k"}]}),
            "cannot merge lists without merge key for struct",
            id="no-merge-key-in-the-types",
        ),
        pytest.param(
            {"metadata": {"finalizers": ["a", None]}},
            "list element types are not identical: [[f/1 f/2] [a <nil>]]",
            id="null-item",
        ),
        pytest.param(
            {"metadata": {"finalizers": [1]}}, "list element types are not identical: [[f/1 f/2] [1]]", id="number-among-strings"
        ),
        pytest.param(
            {"metadata": {"finalizers": [["a"]]}},
            "list element types are not identical: [[f/1 f/2] [[a]]]",
            id="list-among-strings",
        ),
        pytest.param(
            spec(containers=[{"name": "b", "image": "y"}], **{"$setElementOrder/containers": [{"name": "a"}]}),
            "The order in patch list:\n[map[image:y name:b]]\n doesn't match $setElementOrder list:\n[map[name:a]]\n",
            id="patch-not-in-order",
        ),
        pytest.param(
            spec(**{"$setElementOrder/containers": "a"}),
            "expected a []interface {}, but received a string",
            id="order-is-no-list",
        ),
        pytest.param(
            spec(**{"$setElementOrder/containers": None}),
            "expected a []interface {}, but received a %!s(<nil>)",
            id="order-is-null",
        ),
        pytest.param(
            spec(**{"$setElementOrder/dnsPolicy": []}), "expected a []interface {}, but received a string", id="order-of-a-string"
        ),
        pytest.param(
            spec(containers={}, **{"$setElementOrder/containers": []}),
            "expected a []interface {}, but received a map[string]interface {}",
            id="ordered-patch-is-an-object",
        ),
        pytest.param(spec(**{"$setElementOrder/containers": ["a"]}), "value for key 0 is not a map", id="order-of-names"),
        pytest.param(
            spec(containers=[1], **{"$setElementOrder/containers": [{"name": "a"}]}),
            "expected a map[string]interface {}, but received a int64",
            id="ordered-patch-of-numbers",
        ),
        pytest.param(
            spec(**{"$setElementOrder/containers": [{"x": 1}]}),
            "map: map[x:1] does not contain declared merge key: name",
            id="order-without-merge-key",
        ),
        pytest.param(
            spec(**{"$setElementOrder/nope": []}),
            'unable to find api field in struct PodSpec for the json field "nope"',
            id="order-of-an-unknown-field",
        ),
        pytest.param(
            spec(**{"$setElementOrder/hostname": []}),
            "expected slice or array type, but got: struct",
            id="order-of-a-scalar-field",
        ),
        pytest.param(
            spec(securityContext={"$setElementOrder/runAsUserName": []}),
            'unable to find api field in struct PodSecurityContext for the json field "runAsUserName"',
            id="order-of-an-unknown-field-inside",
        ),
        pytest.param(
            {"metadata": {"labels": {"$setElementOrder/a": []}}},
            "expected a []interface {}, but received a string",
            id="order-of-a-label",
        ),
        pytest.param(
            {"metadata": {"labels": {"$setElementOrder/z": []}}},
            "merging an object in json but data type is not struct, instead is: map",
            id="order-in-a-map",
        ),
        pytest.param(
            spec(hostAliases=[], **{"$setElementOrder/hostAliases": []}),
            "no elements in any of the given slices",
            id="nothing-to-order",
        ),
    ],
)
def test_refused_with_the_bare_text(body: Any, message: str) -> None:
    error = refusal(body)
    assert (error.code, error.reason, error.details, error.message) == (500, "", None, message)


@pytest.mark.parametrize(
    "body, message",
    [
        pytest.param(
            spec(**{"$retainKeys": ["volumes"], "dnsPolicy": "x"}), "invalid patch format of retainKeys", id="key-not-listed"
        ),
        pytest.param(spec(**{"$retainKeys": "volumes"}), "invalid patch format of retainKeys", id="keys-are-no-list"),
        pytest.param(
            spec(**{"$deleteFromPrimitiveList": []}), "invalid patch format of primitive list", id="deletions-of-nothing"
        ),
        pytest.param(spec(**{"$deleteFromPrimitiveListX/y": []}), "invalid patch format of primitive list", id="other-directive"),
        pytest.param(spec(**{"$setElementOrder": []}), "invalid patch format of setElementOrder list", id="order-of-nothing"),
    ],
)
def test_bad_requests(body: Any, message: str) -> None:
    error = refusal(body)
    assert (error.code, error.reason, error.message) == (400, "BadRequest", message)


def test_lists_of_lists_are_rejected() -> None:
    stored = {"metadata": {"finalizers": []}}
    with pytest.raises(errors.Unprocessable) as refused:
        patch.apply("strategic", stored, {"metadata": {"finalizers": [["a"]]}}, TYPES, (1, 37))
    assert (refused.value.message, refused.value.details) == (refusals.REJECTED, {})


@pytest.mark.parametrize(
    "body",
    [
        pytest.param(spec(containers=[{"name": {}}]), id="merge-key-is-an-object"),
        pytest.param(spec(**{"$setElementOrder/tolerations": []}), id="order-of-objects-without-merge-key"),
        pytest.param(spec(**{"$retainKeys": [{}]}), id="keys-are-objects"),
    ],
)
def test_crashes_the_server(body: Any) -> None:
    error = refusal(body)
    assert (error.code, error.message) == (500, "This request caused apiserver to panic. Look in the logs for details.")


def test_an_object_where_the_type_has_a_text() -> None:
    """No stored object has one, but it is an answer all the same."""
    stored = {"metadata": {"name": {"a": {"b": 1}}}}
    with pytest.raises(errors.ServerError, match="data type is not struct, instead is: string"):
        patch.apply("strategic", stored, {"metadata": {"name": {"a": {"b": 2}}}}, TYPES, (1, 37))
