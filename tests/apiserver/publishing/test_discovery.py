"""Discovery: what is served is announced as a real server announces it, and nothing else is."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from podstrat.apiserver.kinds import KINDS, groups, of_release
from podstrat.apiserver.publishing import discovery
from podstrat.strategy.api import types
from podstrat.strategy.api.types import RELEASES

UPSTREAM = Path(__file__).parents[3] / "tools" / "upstream"
CONNECTED = {
    "pods": {"attach", "exec", "log", "portforward", "proxy"},
    "nodes": {"proxy"},
    "services": {"proxy"},
}
"""Subresources that lead to a node or a pod: they may be missing where there is none to be reached."""
ALL = ["create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"]

# Entries of the lists of a 1.37 server.
RECORDED = {
    ("", "pods"): {
        "name": "pods",
        "singularName": "pod",
        "namespaced": True,
        "kind": "Pod",
        "verbs": ALL,
        "shortNames": ["po"],
        "categories": ["all"],
        "storageVersionHash": "xPOwRZ+Yhw8=",
    },
    ("", "pods/binding"): {
        "name": "pods/binding",
        "singularName": "",
        "namespaced": True,
        "kind": "Binding",
        "verbs": ["create"],
    },
    ("", "pods/ephemeralcontainers"): {
        "name": "pods/ephemeralcontainers",
        "singularName": "",
        "namespaced": True,
        "kind": "Pod",
        "verbs": ["get", "patch", "update"],
    },
    ("", "pods/eviction"): {
        "name": "pods/eviction",
        "singularName": "",
        "namespaced": True,
        "group": "policy",
        "version": "v1",
        "kind": "Eviction",
        "verbs": ["create"],
    },
    ("", "namespaces"): {
        "name": "namespaces",
        "singularName": "namespace",
        "namespaced": False,
        "kind": "Namespace",
        "verbs": [verb for verb in ALL if verb != "deletecollection"],
        "shortNames": ["ns"],
        "storageVersionHash": "Q3oi5N2YM8M=",
    },
    ("", "namespaces/finalize"): {
        "name": "namespaces/finalize",
        "singularName": "",
        "namespaced": False,
        "kind": "Namespace",
        "verbs": ["update"],
    },
    ("", "secrets"): {
        "name": "secrets",
        "singularName": "secret",
        "namespaced": True,
        "kind": "Secret",
        "verbs": ALL,
        "storageVersionHash": "S6u1pOWzb84=",
    },
    ("coordination.k8s.io", "leases"): {
        "name": "leases",
        "singularName": "lease",
        "namespaced": True,
        "kind": "Lease",
        "verbs": ALL,
        "storageVersionHash": "gqkMMb/YqFM=",
    },
    ("policy", "poddisruptionbudgets"): {
        "name": "poddisruptionbudgets",
        "singularName": "poddisruptionbudget",
        "namespaced": True,
        "kind": "PodDisruptionBudget",
        "verbs": ALL,
        "shortNames": ["pdb"],
        "storageVersionHash": "EVWiDmWqyJw=",
    },
    ("resource.k8s.io", "deviceclasses"): {
        "name": "deviceclasses",
        "singularName": "deviceclass",
        "namespaced": False,
        "kind": "DeviceClass",
        "verbs": ALL,
        "storageVersionHash": "Yk2PTc1Ybxk=",
    },
    ("admissionregistration.k8s.io", "mutatingwebhookconfigurations"): {
        "name": "mutatingwebhookconfigurations",
        "singularName": "mutatingwebhookconfiguration",
        "namespaced": False,
        "kind": "MutatingWebhookConfiguration",
        "verbs": ALL,
        "categories": ["api-extensions"],
        "storageVersionHash": "Sqi0GUgDaX0=",
    },
    ("authentication.k8s.io", "selfsubjectreviews"): {
        "name": "selfsubjectreviews",
        "singularName": "selfsubjectreview",
        "namespaced": False,
        "kind": "SelfSubjectReview",
        "verbs": ["create"],
    },
}


@pytest.mark.parametrize("group, name", [pytest.param(*key, id=key[1]) for key in RECORDED])
def test_a_resource_as_the_server_lists_it(group, name):
    listed = discovery.api_resource_list(group, "v1")
    assert [each for each in listed["resources"] if each["name"] == name] == [RECORDED[group, name]]


def test_the_core_list_does_not_say_its_api_version():
    assert {key: value for key, value in discovery.api_resource_list("", "v1").items() if key != "resources"} == {
        "kind": "APIResourceList",
        "groupVersion": "v1",
    }
    assert discovery.api_resource_list("policy", "v1")["apiVersion"] == "v1"
    assert discovery.api_resource_list("policy", "v1")["groupVersion"] == "policy/v1"


def test_only_what_is_served_is_announced():
    listed = {
        (group, each["name"])
        for group, versions in groups().items()
        for version in versions
        for each in discovery.api_resource_list(group, version)["resources"]
    }
    served = {(kind.group, kind.plural) for kind in KINDS}
    assert {(group, name) for group, name in listed if "/" not in name} == served
    assert {(group, name.partition("/")[0]) for group, name in listed} == served
    assert ("", "pods/proxy") not in listed


def recorded(release: str) -> dict[str, Any]:
    """What a server of the release answers: both aggregated documents, and the groups of /apis."""
    return json.loads(gzip.decompress((UPSTREAM / f"discovery-{release}.json.gz").read_bytes()))


def without_connected(document: dict[str, Any]) -> dict[str, Any]:
    for item in document["items"]:
        for version in item["versions"]:
            for each in version["resources"]:
                left_out = CONNECTED.get(each["resource"], set())
                kept = [sub for sub in each.pop("subresources", []) if sub["subresource"] not in left_out]
                if kept:
                    each["subresources"] = kept
    return document


@pytest.mark.parametrize("release", RELEASES)
def test_the_aggregated_documents_are_those_of_the_release(release):
    kinds = of_release(types.version(release))
    told = recorded(release)
    assert without_connected(discovery.aggregated_core(kinds)) == without_connected(told["api"])
    assert without_connected(discovery.aggregated_groups(kinds)) == without_connected(told["apis"])
    assert discovery.api_group_list(kinds)["groups"] == told["groups"]


def test_two_versions_of_one_resource_are_stored_alike():
    def hash_of(group: str, version: str, name: str) -> str:
        listed = discovery.api_resource_list(group, version)["resources"]
        return next(each["storageVersionHash"] for each in listed if each["name"] == name)

    assert hash_of("", "v1", "events") == hash_of("events.k8s.io", "v1", "events") == "r2yiGXH7wu8="
    autoscalers = "horizontalpodautoscalers"
    assert hash_of("autoscaling", "v1", autoscalers) == hash_of("autoscaling", "v2", autoscalers) == "qwQve8ut294="


def test_resources_are_in_order():
    names = [each["name"] for each in discovery.api_resource_list("", "v1")["resources"]]
    assert names == sorted(names)
    assert names.index("pods") + 1 == names.index("pods/attach")


def test_api_versions():
    assert discovery.api_versions("127.0.0.1:6443") == {
        "kind": "APIVersions",
        "versions": ["v1"],
        "serverAddressByClientCIDRs": [{"clientCIDR": "0.0.0.0/0", "serverAddress": "127.0.0.1:6443"}],
    }


def test_groups():
    listed = discovery.api_group_list()
    assert (listed["kind"], listed["apiVersion"]) == ("APIGroupList", "v1")
    assert listed["groups"] == recorded("1.37")["groups"]
    assert discovery.api_group("policy") == {
        "kind": "APIGroup",
        "apiVersion": "v1",
        "name": "policy",
        "versions": [{"groupVersion": "policy/v1", "version": "v1"}],
        "preferredVersion": {"groupVersion": "policy/v1", "version": "v1"},
    }


@pytest.mark.parametrize("group", ["", "extensions", "policy/v1"])
def test_no_such_group(group):
    assert discovery.api_group(group) is None


@pytest.mark.parametrize("group, version", [("", "v2"), ("extensions", "v1beta1"), ("policy", "v1beta1")])
def test_no_such_version(group, version):
    assert discovery.api_resource_list(group, version) is None


def test_aggregated_core():
    document = discovery.aggregated_core()
    assert (document["kind"], document["apiVersion"]) == ("APIGroupDiscoveryList", "apidiscovery.k8s.io/v2")
    (item,) = document["items"]
    assert item["metadata"] == {}
    (version,) = item["versions"]
    assert (version["version"], version["freshness"]) == ("v1", "Current")
    pods = next(each for each in version["resources"] if each["resource"] == "pods")
    subresources = pods.pop("subresources")
    assert pods == {
        "resource": "pods",
        "responseKind": {"group": "", "version": "", "kind": "Pod"},
        "scope": "Namespaced",
        "singularResource": "pod",
        "verbs": ALL,
        "shortNames": ["po"],
        "categories": ["all"],
    }
    assert [(each["subresource"], each["responseKind"]["kind"], each["verbs"]) for each in subresources] == [
        ("attach", "PodAttachOptions", ["create", "get"]),
        ("binding", "Binding", ["create"]),
        ("ephemeralcontainers", "Pod", ["get", "patch", "update"]),
        ("eviction", "Eviction", ["create"]),
        ("exec", "PodExecOptions", ["create", "get"]),
        ("log", "Pod", ["get"]),
        ("portforward", "PodPortForwardOptions", ["create", "get"]),
        ("resize", "Pod", ["get", "patch", "update"]),
        ("status", "Pod", ["get", "patch", "update"]),
    ]
    assert subresources[3] == {
        "subresource": "eviction",
        "responseKind": {"group": "policy", "version": "v1", "kind": "Eviction"},
        "verbs": ["create"],
    }


def test_aggregated_groups_say_what_the_lists_say():
    document = discovery.aggregated_groups()
    for item in document["items"]:
        group = item["metadata"]["name"]
        for version in item["versions"]:
            names = {each["name"] for each in discovery.api_resource_list(group, version["version"])["resources"]}
            found = set()
            for each in version["resources"]:
                found.add(each["resource"])
                found |= {f"{each['resource']}/{sub['subresource']}" for sub in each.get("subresources", ())}
            assert found == names
    assert {item["metadata"]["name"] for item in document["items"]} == set(groups()) - {""}


def test_version():
    told = discovery.version("1.36")
    assert sorted(told) == [
        "buildDate",
        "compiler",
        "emulationMajor",
        "emulationMinor",
        "gitCommit",
        "gitTreeState",
        "gitVersion",
        "goVersion",
        "major",
        "minCompatibilityMajor",
        "minCompatibilityMinor",
        "minor",
        "platform",
    ]
    assert (told["major"], told["minor"], told["minCompatibilityMinor"]) == ("1", "36", "35")
    assert told["gitVersion"] == "v1.36.0+podstrat"
    assert all(isinstance(each, str) for each in told.values())


def test_root_paths():
    paths = discovery.root_paths()["paths"]
    assert paths == sorted(set(paths))
    assert {"/api", "/api/v1", "/apis", "/apis/policy", "/apis/policy/v1", "/healthz", "/openapi/v3", "/version"} <= set(paths)
