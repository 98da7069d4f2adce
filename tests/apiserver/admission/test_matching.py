"""Which webhooks a write concerns."""

from __future__ import annotations

import sys
from typing import Any

import pytest

from podstrat.apiserver.admission import attributes, matching
from podstrat.apiserver.admission.attributes import Subject
from podstrat.apiserver.admission.configurations import Hook
from podstrat.apiserver.admission.refusals import Internal
from podstrat.apiserver.auth import User
from podstrat.cel import parser
from podstrat.strategy import errors
from podstrat.strategy.rules import expressions
from podstrat.strategy.verbs.reviewers import Proposal, finished
from tests.apiserver.admission import hooks
from tests.apiserver.admission.conftest import Start
from tests.apiserver.admission.scene import BY_PLURAL, Scene, node, said

Object = dict[str, Any]

EVERY = {"operations": ["*"], "apiGroups": ["*"], "apiVersions": ["*"], "resources": ["*/*"]}
LABELS = {"default": {"team": "a", "kubernetes.io/metadata.name": "default"}, "other": {}}
SLICE: Object = {"apiVersion": "resource.k8s.io/v1", "kind": "ResourceSlice", "metadata": {"name": "s"}}


def hook(**more: Any) -> Hook:
    given = {"rules": [EVERY], "namespaces": {}, "objects": {}, "conditions": (), "fails_open": False, "equivalent": True}
    rest = {"side_effects": "None", "seconds": 10, "versions": ("v1",), "again": False, "client": {}}
    return Hook(configuration="c", uid="c/h/0", name="h", **{**given, **rest, **more})


def labels(namespace: str) -> dict[str, str]:
    if namespace not in LABELS:
        raise errors.NotFound("namespaces", namespace)
    return LABELS[namespace]


def write(
    plural: str = "pods",
    subresource: str = "",
    new: Object | None = None,
    old: Object | None = None,
    namespace: str = "default",
    user: User | None = None,
) -> attributes.Attributes:
    kind = BY_PLURAL[plural]
    if new is None and old is None:
        new = hooks.pod()
    who = user or User("kubernetes-admin", ("system:masters",))
    asked = Proposal(None if new is None else finished(new), old, {})
    return attributes.of(Subject(kind, namespace if kind.namespaced else "", "", subresource, who), asked)


def matches(attr: attributes.Attributes, **more: Any) -> bool:
    return matching.invocation(hook(**more), attr, labels) is not None


@pytest.mark.parametrize(
    "rule, attr, expected",
    [
        pytest.param({}, write(), True, id="everything"),
        pytest.param({"resources": ["pods"]}, write(), True, id="resource"),
        pytest.param({"resources": ["pods"]}, write(subresource="status"), False, id="resource-is-not-its-status"),
        pytest.param({"resources": ["pods/status"]}, write(subresource="status"), True, id="status"),
        pytest.param({"resources": ["pods/*"]}, write(subresource="resize"), True, id="all-parts"),
        pytest.param({"resources": ["pods/*"]}, write(), True, id="all-parts-and-itself"),
        pytest.param({"resources": ["*"]}, write(subresource="status"), False, id="star-is-no-part"),
        pytest.param({"resources": ["*/status"]}, write(subresource="status"), True, id="every-status"),
        pytest.param({"resources": ["nodes", "pods"]}, write(), True, id="one-of-several"),
        pytest.param({"operations": ["UPDATE"]}, write(), False, id="operation"),
        pytest.param({"operations": ["UPDATE"]}, write(old=hooks.pod(), new=hooks.pod()), True, id="update"),
        pytest.param({"operations": ["CREATE", "DELETE"]}, write(old=hooks.pod()), True, id="delete"),
        pytest.param({"apiGroups": ["apps"]}, write(), False, id="group"),
        pytest.param({"apiGroups": ["", "apps"]}, write(), True, id="core-group"),
        pytest.param({"apiVersions": ["v1beta1"]}, write(), False, id="version"),
        pytest.param({"scope": "Namespaced"}, write(), True, id="namespaced"),
        pytest.param({"scope": "Cluster"}, write(), False, id="cluster"),
        pytest.param({"scope": "Cluster"}, write("resourceslices", new=SLICE), True, id="cluster-scoped"),
        pytest.param({"scope": "Namespaced"}, write("resourceslices", new=SLICE), False, id="not-namespaced"),
        pytest.param({"scope": "Cluster"}, write("namespaces", new=hooks.pod("other")), True, id="a-namespace-is-in-none"),
        pytest.param({"operations": []}, write(), False, id="no-operation"),
    ],
)
def test_rules(rule: Object, attr: attributes.Attributes, expected: bool) -> None:
    assert matches(attr, rules=[{**EVERY, **rule}]) is expected


def labelled(**given: str) -> Object:
    return hooks.pod(labels=given)


@pytest.mark.parametrize(
    "selector, new, old, expected",
    [
        pytest.param({}, labelled(), None, True, id="empty"),
        pytest.param({"matchLabels": {"a": "1"}}, labelled(a="1"), None, True, id="labels"),
        pytest.param({"matchLabels": {"a": "1"}}, labelled(), None, False, id="none"),
        pytest.param({"matchLabels": {"a": "1"}}, labelled(), labelled(a="1"), True, id="as-it-was"),
        pytest.param({"matchLabels": {"a": "1"}}, None, labelled(a="1"), True, id="deleted"),
        pytest.param({"matchExpressions": [{"key": "a", "operator": "DoesNotExist"}]}, labelled(), None, True, id="absent"),
    ],
)
def test_object_selector(selector: Object, new: Object | None, old: Object | None, expected: bool) -> None:
    assert matches(write(new=new, old=old), objects=selector) is expected


NOT_DEFAULT = {"matchExpressions": [{"key": "kubernetes.io/metadata.name", "operator": "NotIn", "values": ["default"]}]}


@pytest.mark.parametrize(
    "selector, attr, expected",
    [
        pytest.param({"matchLabels": {"team": "a"}}, write(), True, id="labels"),
        pytest.param({"matchLabels": {"team": "a"}}, write(namespace="other"), False, id="other"),
        pytest.param(NOT_DEFAULT, write(), False, id="by-name"),
        pytest.param({"matchLabels": {"team": "a"}}, write("resourceslices", new=SLICE), True, id="cluster-scoped"),
        pytest.param({"matchLabels": {"team": "b"}}, write("namespaces", new=labelled(team="b")), True, id="itself"),
        pytest.param({"matchLabels": {"team": "b"}}, write("namespaces", new=labelled(team="c")), False, id="itself-not"),
    ],
)
def test_namespace_selector(selector: Object, attr: attributes.Attributes, expected: bool) -> None:
    assert matches(attr, namespaces=selector) is expected


def test_an_equivalent_version_counts_unless_only_exact_ones_do(monkeypatch: pytest.MonkeyPatch) -> None:
    from dataclasses import replace

    monkeypatch.setattr(matching, "KINDS", (*matching.KINDS, replace(BY_PLURAL["leases"], version="v1beta1")))
    rule = {**EVERY, "apiVersions": ["v1beta1"], "resources": ["leases"]}
    lease = {"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": {"name": "l"}}
    attr = write("leases", new=lease)
    found = matching.invocation(hook(rules=[rule]), attr, labels)
    assert found is not None
    assert (found.kind.version, found.resource.version) == ("v1beta1", "v1beta1")
    assert matching.invocation(hook(rules=[rule], equivalent=False), attr, labels) is None


# ---- conditions ------------------------------------------------------------------------------------

POD = {**hooks.pod(labels={"app": "web", "team": "a"}), "status": {"phase": "Running"}}
KUBELET = node("n1")


@pytest.mark.parametrize(
    "expression, expected",
    [
        pytest.param("true", True, id="true"),
        pytest.param("object.metadata.name == 'web'", True, id="equal"),
        pytest.param("object.metadata.name != 'web'", False, id="unequal"),
        pytest.param("has(object.metadata.labels)", True, id="has"),
        pytest.param("has(object.metadata.annotations)", False, id="has-not"),
        pytest.param("has(object.metadata.labels) && object.metadata.labels.app == 'web'", True, id="and"),
        pytest.param("has(object.metadata.annotations) && object.metadata.annotations.x == 'y'", False, id="short-circuit"),
        pytest.param("object.metadata.name == 'x' || object.status.phase == 'Running'", True, id="or"),
        pytest.param("'team' in object.metadata.labels", True, id="in-map"),
        pytest.param("object.status.phase in ['Running', 'Failed']", True, id="in-list"),
        pytest.param("'system:nodes' in request.userInfo.groups", True, id="groups"),
        pytest.param("!request.userInfo.username.startsWith('system:node:')", False, id="starts-with"),
        pytest.param("request.userInfo.username.endsWith('n1')", True, id="ends-with"),
        pytest.param("object.metadata.name.matches('^w.b$')", True, id="matches"),
        pytest.param("request.operation == 'UPDATE' && request.subResource == 'status'", True, id="request"),
        pytest.param("request.resource.resource == 'pods' && request.kind.kind == 'Pod'", True, id="resource"),
        pytest.param("oldObject != null && object.spec == oldObject.spec", True, id="old"),
        pytest.param("object.spec.containers.all(c, c.image.contains('/'))", True, id="all"),
        pytest.param("object.spec.containers.exists(c, c.name == 'proxy')", False, id="exists"),
        pytest.param("size(object.spec.containers) > 0", True, id="size"),
        pytest.param("object.?metadata.?annotations.?x.orValue('none') == 'none'", True, id="optional"),
        pytest.param("request.dryRun == false", True, id="dry-run"),
    ],
)
def test_a_condition(expression: str, expected: bool) -> None:
    attr = write(subresource="status", new=POD, old=POD, user=KUBELET)
    assert matches(attr, conditions=(expression,)) is expected


def test_all_conditions_must_hold() -> None:
    assert matches(write(), conditions=("true", "request.operation == 'CREATE'"))
    assert not matches(write(), conditions=("true", "request.operation == 'DELETE'"))


NO_KEY = "expression 'object.metadata.labels.x == 'y'' resulted in error: no such key: labels"
MISSING = "object.metadata.labels.x == 'y'"


@pytest.mark.parametrize(
    "given, words",
    [
        pytest.param((MISSING,), NO_KEY, id="missing"),
        pytest.param((MISSING, "true"), NO_KEY, id="with-true"),
        pytest.param((MISSING, MISSING), f"[{NO_KEY}, {NO_KEY}]", id="two"),
        pytest.param(("'text'",), "compilation error: must evaluate to bool but got string", id="no-bool"),
    ],
)
def test_a_condition_that_cannot_be_told_refuses(given: tuple[str, ...], words: str) -> None:
    with pytest.raises(errors.Forbidden) as caught:
        matches(write(), conditions=given)
    assert caught.value.message == f'pods "web" is forbidden: {words}'
    assert not matches(write(), conditions=given, fails_open=True)


def test_a_condition_that_does_not_hold_counts_more_than_one_that_cannot_be_told() -> None:
    assert not matches(write(), conditions=(MISSING, "false"))


def test_a_condition_that_takes_too_long_refuses() -> None:
    with pytest.raises(errors.Forbidden, match="resulted in error: operation cancelled: actual cost limit exceeded"):
        matches(write(), conditions=("lists.range(1000).all(a, lists.range(1000).all(b, a + b < 10000))",))


def test_a_condition_that_is_no_expression() -> None:
    with pytest.raises(errors.Forbidden, match="compilation error: compilation failed: ERROR: <input>:1:4: Syntax error"):
        matches(write(), conditions=("1 +",))


def test_without_the_library_it_is_said_what_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    parser.environment.cache_clear()
    expressions._compiled.cache_clear()
    monkeypatch.setitem(sys.modules, "cel_expr_python", None)
    with pytest.raises(Internal, match=r"need the package cel-expr-python: pip install 'podstrat\[policies\]'"):
        matches(write(), conditions=("true",), fails_open=True)
    monkeypatch.undo()
    assert matches(write(), conditions=("true",))


def test_the_library_is_imported_for_conditions_only() -> None:
    import subprocess

    program = (
        "import sys\nfrom tests.apiserver.admission.scene import Scene\n"
        "pod = {'metadata': {'name': 'p'}, 'spec': {'containers': [{'name': 'c', 'image': 'i'}]}}\n"
        "assert Scene().create(pod).code == 201\n"
        "names = ('cel_', 'podstrat.cel', 'podstrat.apiserver.admission.conditions')\n"
        "print([name for name in sys.modules if name.startswith(names)])"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_a_kubelets_ordinary_status_writes_cause_no_call(scene: Scene, start: Start) -> None:
    """Match conditions keep them in the server; a write that does concern the webhook still reaches it."""
    pod = hooks.pod()
    pod["spec"]["containers"][0]["resources"] = {"limits": {"example.com/gpu": "1"}}
    assert scene.create(pod).code == 201
    webhook = start()
    reports = "object.status.?containerStatuses.orValue([]).exists(s, has(s.allocatedResourcesStatus))"
    wanted = [
        {"name": "health", "expression": reports},
        {"name": "subresource", "expression": "request.subResource == 'status'"},
    ]
    rule = {**hooks.PODS, "resources": ["pods/status"]}
    scene.register(hooks.validating("v", webhook.entry(rules=[rule], matchConditions=wanted)))
    for number in range(50):
        condition = {"type": "Ready", "status": "True" if number % 2 else "False"}
        assert scene.merge("web", {"status": {"conditions": [condition]}}, "status").code == 200
    assert webhook.requests == []
    health = {"name": "example.com/gpu", "resources": [{"resourceID": "GPU-0", "health": "Healthy"}]}
    status = {"name": "main", "image": "x", "imageID": "", "ready": True, "restartCount": 0, "allocatedResourcesStatus": [health]}
    assert scene.merge("web", {"status": {"containerStatuses": [status]}}, "status").code == 200
    assert len(webhook.requests) == 1


def test_a_condition_that_cannot_be_told_in_a_scene(scene: Scene, start: Start) -> None:
    webhook = start()
    entry = webhook.entry(matchConditions=[{"name": "labels", "expression": MISSING}])
    scene.register(hooks.mutating("m", entry))
    refused = scene.create(hooks.pod())
    assert (refused.code, said(refused)) == (403, f'pods "web" is forbidden: {NO_KEY}')
