"""Requests, limits, claims and resize policies of containers."""

from __future__ import annotations

import pytest

from podstrat.strategy.formats import validation
from podstrat.strategy.rules import resources
from tests.strategy.make import context, lines

AT = "spec.containers[0]"
R = f"{AT}.resources"
STANDARD = "must be a standard resource type or fully qualified"
FOR_CONTAINERS = "must be a standard resource for containers"
EXTENDED = "doesn't follow extended resource name standard"
NEGATIVE = "must be greater than or equal to 0"


def check(asked, spec=None, ctx=None):
    return list(resources.of_container({"resources": asked}, AT, spec or {}, ctx or context()))


def both(**amounts):
    return {"limits": amounts, "requests": dict(amounts)}


@pytest.mark.parametrize(
    "asked",
    [
        pytest.param({}, id="nothing"),
        pytest.param({"limits": {"cpu": "1", "memory": "1Gi"}, "requests": {"cpu": "100m", "memory": "1Gi"}}, id="ordinary"),
        pytest.param({"requests": {"ephemeral-storage": "1Gi"}}, id="storage"),
        pytest.param({"limits": {"cpu": "1"}, "requests": {"cpu": "1000m"}}, id="equal-by-value"),
        pytest.param(both(**{"nvidia.com/gpu": "2"}), id="extended"),
        pytest.param(both(**{"hugepages-2Mi": "4Mi", "cpu": "1"}), id="huge-pages"),
        pytest.param({"requests": {"kubernetes.io/batch": "1500m"}}, id="native-with-prefix"),
        pytest.param({"limits": {}, "requests": {}, "claims": []}, id="empty-maps"),
    ],
)
def test_healthy(asked):
    assert check(asked) == []


@pytest.mark.parametrize(
    "name, texts",
    [
        pytest.param("foo", [STANDARD, FOR_CONTAINERS], id="unknown"),
        pytest.param("CPU", [STANDARD, FOR_CONTAINERS], id="upper-case"),
        pytest.param("storage", [FOR_CONTAINERS], id="of-volumes"),
        pytest.param("pods", [FOR_CONTAINERS], id="of-quotas"),
        pytest.param("requests.hugepages-2Mi", [FOR_CONTAINERS], id="huge-pages-of-quotas"),
        pytest.param("a b", [validation.NAME_PART, FOR_CONTAINERS], id="no-label-key"),
        pytest.param("requests.example.com/x", [EXTENDED], id="prefix-of-quotas"),
        pytest.param("x" * 253 + "/y", [EXTENDED], id="too-long-for-a-quota"),
        pytest.param("A.com/x", [f"prefix part {validation.DNS_SUBDOMAIN}", EXTENDED], id="bad-prefix"),
    ],
)
def test_names(name, texts):
    asked = {"requests": {name: "1"}, "limits": {name: "1"}}
    assert lines(check(asked)) == [
        f'{R}.{part}[{name}]: Invalid value: "{name}": {text}' for part in ("limits", "requests") for text in texts
    ]


def test_names_print_as_json():
    assert lines(check({"limits": {"<": "1"}}))[1] == rf'{R}.limits[<]: Invalid value: "\u003c": {FOR_CONTAINERS}'


@pytest.mark.parametrize(
    "asked, errors",
    [
        pytest.param({"limits": {"cpu": "-1"}}, [f'{R}.limits[cpu]: Invalid value: "-1": {NEGATIVE}'], id="negative-limit"),
        pytest.param(
            {"requests": {"memory": "-1Ki"}}, [f'{R}.requests[memory]: Invalid value: "-1Ki": {NEGATIVE}'], id="negative-request"
        ),
        pytest.param(
            both(**{"example.com/x": "1500m"}),
            [f'{R}.{part}[example.com/x]: Invalid value: "1500m": must be an integer' for part in ("limits", "requests")],
            id="half-a-device",
        ),
        pytest.param(
            {"limits": {"memory": "1G"}, "requests": {"memory": "1Gi"}},
            [f'{R}.requests: Invalid value: "1Gi": must be less than or equal to memory limit of 1G'],
            id="more-than-the-limit",
        ),
        pytest.param(
            {"limits": {"example.com/x": "2"}, "requests": {"example.com/x": "1"}},
            [f'{R}.requests: Invalid value: "1": must be equal to example.com/x limit of 2'],
            id="devices-are-not-shared",
        ),
        pytest.param(
            {"requests": {"example.com/x": "1"}},
            [f"{R}.limits: Required value: Limit must be set for non overcommitable resources"],
            id="devices-need-a-limit",
        ),
        pytest.param(
            {"limits": {"hugepages-2Mi": "3Mi"}, "requests": {"hugepages-2Mi": "1Mi"}},
            [
                f'{R}.limits[hugepages-2Mi]: Invalid value: "3Mi": 3Mi is not positive integer multiple of hugepages-2Mi',
                f'{R}.requests: Invalid value: "1Mi": must be equal to hugepages-2Mi limit of 3Mi',
                f'{R}.requests[hugepages-2Mi]: Invalid value: "1Mi": 1Mi is not positive integer multiple of hugepages-2Mi',
                f"{R}: Forbidden: HugePages require cpu or memory",
            ],
            id="everything-about-huge-pages",
        ),
    ],
)
def test_amounts(asked, errors):
    assert lines(check(asked)) == errors


@pytest.mark.parametrize("size", ["0", "500m", "foo", "-2Mi", ""])
def test_pages_have_a_size(size):
    name = f"hugepages-{size}"
    text = f'{R}.limits[{name}]: Invalid value: "1Mi": 1Mi is not positive integer multiple of {name}'
    assert text in lines(check({"limits": {name: "1Mi", "cpu": "1"}}))


def stored(resources, kind="containers"):
    other = {"initContainers": "containers"}.get(kind, "initContainers")
    return {"spec": {kind: [{"name": "c", "resources": resources}], other: None, "overhead": {}}}


@pytest.mark.parametrize(
    "old, errors",
    [
        pytest.param(stored({"limits": {"hugepages-2Mi": "3Mi"}}), 0, id="limit"),
        pytest.param(stored({"requests": {"hugepages-2Mi": "3Mi"}}, "initContainers"), 0, id="request-of-init"),
        pytest.param({"spec": {"containers": None, "overhead": {"hugepages-2Mi": "3Mi"}}}, 0, id="overhead"),
        pytest.param(stored({"limits": {"hugepages-2Mi": "4Mi", "cpu": "1"}}), 1, id="whole"),
    ],
)
def test_parts_of_pages_pass_if_they_are_stored(old, errors):
    assert len(check({"limits": {"hugepages-2Mi": "5Mi", "cpu": "1"}}, ctx=context(old=old))) == errors


@pytest.mark.parametrize(
    "asked, place",
    [
        pytest.param({"requests": {"example.com/x": "1"}}, ("requests", "example.com/x"), id="no-limit"),
        pytest.param({"requests": {"cpu": "2"}, "limits": {"cpu": "1"}}, ("requests", "cpu"), id="over-limit"),
        pytest.param({"requests": {"a.b/c": "2"}, "limits": {"a.b/c": "1"}}, ("requests", "a.b/c"), id="unlike-limit"),
        pytest.param({"limits": {"storage": "1"}}, ("limits", "storage"), id="name"),
    ],
)
def test_faults_of_amounts_know_their_place(asked, place):
    (error,) = check(asked)
    assert error.where == ("spec", "containers", 0, "resources", *place)


C = f"{R}.claims"
SPEC = {"resourceClaims": [{"name": "gpu"}, {"name": "a"}, {"name": ""}]}
UNKNOWN = "must be one of the names in pod.spec.resourceClaims"


@pytest.mark.parametrize(
    "claims, errors",
    [
        pytest.param([{"name": "gpu"}, {"name": "a", "request": "r"}, {"name": "a", "request": "s"}], [], id="ordinary"),
        pytest.param([{"name": "gpu", "request": "r"}, {"name": "a"}], [], id="names-are-not-prefixes"),
        pytest.param([{"name": "", "request": "R"}], [f"{C}[0]: Required value"], id="no-name"),
        pytest.param([{"name": "x"}], [f'{C}[0]: Not found: "x": {UNKNOWN}: a, gpu'], id="unknown"),
        pytest.param(
            [{"name": "gpu"}, {"name": "gpu", "request": "R"}], [f'{C}[1]: Duplicate value: "gpu"'], id="part-of-a-whole"
        ),
        pytest.param(
            [{"name": "gpu", "request": "r"}, {"name": "gpu", "request": "r"}],
            [f'{C}[1]: Duplicate value: "gpu/r"'],
            id="same-part",
        ),
        pytest.param(
            [{"name": "gpu", "request": "r"}, {"name": "gpu", "request": "s"}, {"name": "gpu"}, {"name": "gpu"}],
            [f'{C}[2]: Duplicate value: "gpu"', f'{C}[2]: Duplicate value: "gpu"', f'{C}[3]: Duplicate value: "gpu"'],
            id="whole-after-parts",
        ),
        pytest.param(
            [{"name": "gpu", "request": "R"}], [f'{C}[0].request: Invalid value: "R": {validation.DNS_LABEL}'], id="bad-request"
        ),
    ],
)
def test_claims(claims, errors):
    assert lines(check({"claims": claims}, SPEC)) == errors


def test_claims_of_a_pod_without_any():
    assert lines(check({"claims": [{"name": "x"}]})) == [f'{C}[0]: Not found: "x": {UNKNOWN} which is empty']


P = f"{AT}.resizePolicy"


def policy(name="cpu", restart="NotRequired"):
    return {"resourceName": name, "restartPolicy": restart}


@pytest.mark.parametrize(
    "policies, errors",
    [
        pytest.param([policy(), policy("memory", "RestartContainer")], [], id="ordinary"),
        pytest.param([policy(), policy()], [f'{P}[1]: Duplicate value: "cpu"'], id="twice"),
        pytest.param([policy("", "")], [f"{P}: Required value", f"{P}: Required value"], id="empty"),
        pytest.param(
            [policy("gpu", "Never")],
            [
                f'{P}: Unsupported value: "gpu": supported values: "cpu", "memory"',
                f'{P}: Unsupported value: "Never": supported values: "NotRequired", "RestartContainer"',
            ],
            id="unknown",
        ),
    ],
)
def test_resize_policy(policies, errors):
    assert lines(resources.resize_policy({"resizePolicy": policies}, AT, {"restartPolicy": "Always"}, context())) == errors


@pytest.mark.parametrize("release, whose", [("1.35", "`restartPolicy`"), ("1.36", "pod `restartPolicy`")])
def test_a_pod_that_never_restarts_resizes_in_place(release, whose):
    container = {"resizePolicy": [policy(), policy("memory", "RestartContainer")]}
    (error,) = resources.resize_policy(container, AT, {"restartPolicy": "Never"}, context(release))
    assert str(error) == f"{P}: Invalid value: \"RestartContainer\": must be 'NotRequired' when {whose} is 'Never'"
    assert error.where == ("spec", "containers", 0, "resizePolicy", 1, "restartPolicy")


@pytest.mark.parametrize("given, member", [(policy("", "NotRequired"), "resourceName"), (policy("cpu", "x"), "restartPolicy")])
def test_resize_policies_know_their_place(given, member):
    (error,) = resources.resize_policy({"resizePolicy": [policy("memory"), given]}, AT, {}, context())
    assert error.where == ("spec", "containers", 0, "resizePolicy", 1, member)


INIT = {"resizePolicy": [policy(), policy("memory", "RestartContainer")]}


def test_init_containers_are_not_restarted_by_a_resize():
    text = "must not be set to 'RestartContainer' for non-sidecar initContainers"
    assert lines(resources.init_resize_policy(INIT, AT, context())) == [
        f'{P}[1].restartPolicy: Invalid value: "RestartContainer": {text}'
    ]
    assert lines(resources.init_resize_policy(INIT, AT, context("1.35"))) == []


@pytest.mark.parametrize(
    "stored_container, errors",
    [
        pytest.param({"name": "i"} | INIT, 0, id="already-so"),
        pytest.param({"name": "i", "restartPolicy": "Always"} | INIT, 1, id="only-sidecars-so"),
        pytest.param({"name": "i"}, 1, id="not-so"),
    ],
)
def test_init_containers_keep_a_stored_policy(stored_container, errors):
    ctx = context(old={"spec": {"initContainers": [stored_container], "containers": None}})
    assert len(list(resources.init_resize_policy(INIT, AT, ctx))) == errors


@pytest.mark.parametrize(
    "name, traits",
    [
        ("cpu", (False, True, False)),
        ("hugepages-1Gi", (False, False, True)),
        ("example.com/x", (True, False, False)),
        ("kubernetes.io/x", (False, True, False)),
        ("pods", (True, True, False)),
    ],
)
def test_traits(name, traits):
    assert resources.traits(name) == traits
