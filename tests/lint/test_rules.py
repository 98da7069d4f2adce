"""Each rule by itself: a configuration that is right, one tweak, and what is found."""

from __future__ import annotations

import base64
import copy
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from podstrat.certs.issuing import Authority
from podstrat.lint import evaluate, rules
from podstrat.lint.subjects import Scene

Object = dict[str, Any]
Problem = list[tuple[str, str, str]]
"""Severity, rule, place."""

FULL = {
    "apiGroups": [""],
    "apiVersions": ["v1"],
    "operations": ["CREATE", "UPDATE"],
    "resources": ["pods"],
    "scope": "Namespaced",
}
EXEMPT = {
    "matchExpressions": [
        {"key": "kubernetes.io/metadata.name", "operator": "NotIn", "values": ["kube-system", "kube-node-lease", "hooks"]}
    ]
}


def bundle(days: float, days_ago: float = 0) -> str:
    """An authority that was made some days ago, and lives for some."""
    authority = Authority.new("test", datetime.now(UTC) - timedelta(days=days_ago), timedelta(days=days))
    return base64.b64encode(authority.certificate).decode()


GOOD = bundle(3650)


def hook(**changes: Any) -> Object:
    """A webhook that is right; what is None is left out."""
    made = {
        "name": "pods.hooks.example.com",
        "admissionReviewVersions": ["v1"],
        "clientConfig": {"service": {"namespace": "hooks", "name": "hook", "path": "/x"}, "caBundle": GOOD},
        "failurePolicy": "Ignore",
        "sideEffects": "None",
        "timeoutSeconds": 3,
        "rules": [FULL],
        "namespaceSelector": EXEMPT,
        **changes,
    }
    return {key: value for key, value in copy.deepcopy(made).items() if value is not None}


def configuration(*hooks: Object, kind: str = "Validating", **meta: Any) -> Object:
    return {
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": f"{kind}WebhookConfiguration",
        "metadata": {"name": "c", **meta},
        "webhooks": list(hooks),
    }


def mutating(**changes: Any) -> list[Object]:
    """A mutating configuration, with a validating one that confirms it."""
    return [
        configuration(hook(**{"reinvocationPolicy": "IfNeeded", **changes}), kind="Mutating"),
        configuration(hook(name="confirm.hooks.example.com")),
    ]


def rule(*resources: str, group: str = "", **changes: Any) -> Object:
    return {**FULL, "apiGroups": [group], "resources": list(resources), **changes}


SERVICE = {
    "apiVersion": "v1",
    "kind": "Service",
    "metadata": {"name": "hook", "namespace": "hooks"},
    "spec": {"selector": {"app": "hook"}, "ports": [{"port": 443}]},
}


def budget(**spec: Any) -> Object:
    return {
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "metadata": {"name": "hook", "namespace": "hooks"},
        "spec": {"selector": {"matchLabels": {"app": "hook"}}, **spec},
    }


def deployment(pod: Object | None = None, container: Object | None = None, meta: Object | None = None, **spec: Any) -> Object:
    """A Deployment that is right; what is None is left out."""
    made = {
        "name": "hook",
        "image": "hook:1",
        "readinessProbe": {"httpGet": {"port": 1}},
        "lifecycle": {"preStop": {"sleep": {"seconds": 5}}},
        **(container or {}),
    }
    template = {
        "containers": [{key: value for key, value in made.items() if value is not None}],
        "topologySpreadConstraints": [{"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "ScheduleAnyway"}],
        **(pod or {}),
    }
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "hook", "namespace": "hooks", **(meta or {})},
        "spec": {
            "replicas": 2,
            "template": {
                "metadata": {"labels": {"app": "hook"}},
                "spec": {key: value for key, value in template.items() if value is not None},
            },
            **spec,
        },
    }


def behind(*objects: Object) -> list[Object]:
    return [configuration(hook()), SERVICE, *objects]


def role(**rule: Any) -> Object:
    meant = {"apiGroups": ["admissionregistration.k8s.io"], "resources": ["mutatingwebhookconfigurations"]}
    meant |= {"verbs": ["get", "update"], "resourceNames": ["mine"]}
    rules = [{key: value for key, value in {**meant, **rule}.items() if value is not None}]
    return {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole", "metadata": {"name": "r"}, "rules": rules}


def lint(*objects: Object, live: bool = False) -> list[str]:
    """Everything that is found, remarks too: severity, rule, place."""
    scene = Scene(live)
    subjects = [subject for subject in map(scene.add, objects) if subject is not None]
    return [
        f"{found.severity or rule.severity} {rule.id} {'.'.join(map(str, found.place))}"
        for subject in subjects
        for rule, found in evaluate.findings(subject)
    ]


def one(**changes: Any) -> list[Object]:
    """A validating configuration with one webhook."""
    return [configuration(hook(**changes))]


def exempt(*names: str) -> Object:
    """A selector that leaves out only these namespaces."""
    return {"matchExpressions": [{"key": "kubernetes.io/metadata.name", "operator": "NotIn", "values": list(names)}]}


def conditions(*expressions: str) -> list[Object]:
    return [{"name": f"c{i}", "expression": each} for i, each in enumerate(expressions)]


def client(**changes: Any) -> Object:
    return {**hook()["clientConfig"], **changes}


def several(*hooks: Object, kind: str = "Validating") -> list[Object]:
    return [configuration(*hooks, kind=kind)]


WATCHED = {"matchLabels": {"watched": "yes"}}
WIDGETS = [rule("widgets", group="example.com")]
BY_NAMESPACE = "!(request.namespace in ['kube-system', 'hooks'])"
ASKING = "authorizer.group('').resource('x').check('y').allowed()"
UNFILLED = {"service": {"namespace": "hooks", "name": "hook"}}

CLEAN = [
    pytest.param(one(), id="validating"),
    pytest.param(one(failurePolicy="Fail"), id="fails-closed"),
    pytest.param(one(timeoutSeconds=5), id="five-seconds"),
    pytest.param(mutating(), id="mutating"),
    pytest.param(
        [configuration(hook(clientConfig=UNFILLED), annotations={"cert-manager.io/inject-ca-from": "hooks/hook"})], id="injected"
    ),
    pytest.param(one(rules=WIDGETS, namespaceSelector=None, failurePolicy="Fail"), id="own-kinds-need-no-selector"),
    pytest.param(several(hook(rules=WIDGETS, failurePolicy="Fail"), kind="Mutating"), id="own-kinds-may-fail-closed"),
    pytest.param(one(namespaceSelector=WATCHED, failurePolicy="Fail"), id="namespaces-ask"),
    pytest.param(one(objectSelector=WATCHED, namespaceSelector=None, failurePolicy="Fail"), id="objects-ask"),
    pytest.param(
        one(rules=[rule("pods/status")], failurePolicy="Fail", matchConditions=conditions("has(object.status.x)")),
        id="status-with-a-condition",
    ),
    pytest.param(
        one(namespaceSelector=None, failurePolicy="Fail", matchConditions=conditions(BY_NAMESPACE)), id="exempt-by-a-condition"
    ),
    pytest.param(one(matchConditions=conditions(ASKING)), id="functions-of-the-server"),
    pytest.param(
        several(
            hook(name="a.hooks.example.com", namespaceSelector={"matchLabels": {"v": "a"}}),
            hook(name="b.hooks.example.com", namespaceSelector={"matchLabels": {"v": "b"}}),
        ),
        id="one-or-the-other",
    ),
    pytest.param(behind(deployment(), budget(maxUnavailable=1)), id="deployment"),
    pytest.param(
        behind(
            deployment(pod={"topologySpreadConstraints": None, "affinity": {"podAntiAffinity": {"x": []}}}),
            budget(minAvailable=1),
        ),
        id="anti-affinity",
    ),
    pytest.param([role()], id="named-configurations"),
    pytest.param([role(resourceNames=None, verbs=["get", "list", "watch"])], id="looking-is-free"),
]


@pytest.mark.parametrize("objects", CLEAN)
def test_no_false_alarm(objects: list[Object]) -> None:
    assert lint(*objects) == []


ENDS_SOON, ENDED = bundle(20), bundle(0.001, days_ago=1)
NOTHING = base64.b64encode(b"nothing").decode()
LETTERS = [client(service={"namespace": "hooks", "name": letter}) for letter in "abcdefg"]
PATIENT = [
    hook(name=f"a{i}.hooks.example.com", timeoutSeconds=5, reinvocationPolicy="IfNeeded", clientConfig=each)
    for i, each in enumerate(LETTERS)
]
CONFIRMING = [hook(name=f"a{i}.hooks.example.com", rules=[rule("secrets")], clientConfig=each) for i, each in enumerate(LETTERS)]
EVERYTHING = [rule("*", group="*", operations=["CREATE"])]
TOKENS = [rule("tokenreviews", group="authentication.k8s.io", scope="Cluster")]
LEASES = [rule("leases", group="coordination.k8s.io")]
SKIPPED = {"matchExpressions": [{"key": "skip", "operator": "DoesNotExist"}]}
ONE = budget(maxUnavailable=1)

VALIDITY = [
    pytest.param(
        [{**configuration(hook()), "apiVersion": "admissionregistration.k8s.io/v1beta1"}],
        ["error removed-api-version apiVersion"],
        id="v1beta1",
    ),
    pytest.param(one(name="hook"), ["error webhook-name webhooks.0.name"], id="short-name"),
    pytest.param(several(hook(), hook(rules=[rule("secrets")])), ["error webhook-name webhooks.1.name"], id="same-name"),
    pytest.param(one(clientConfig={}), ["error client-config webhooks.0.clientConfig"], id="nowhere"),
    pytest.param(
        one(clientConfig=client(url="https://h.example.com/")),
        ["error client-config webhooks.0.clientConfig", "warning not-a-service webhooks.0.clientConfig.url"],
        id="two-places",
    ),
    pytest.param(
        one(clientConfig={"url": "http://h.example.com/"}),
        ["error client-config webhooks.0.clientConfig.url", "warning not-a-service webhooks.0.clientConfig.url"],
        id="http",
    ),
    pytest.param(
        one(admissionReviewVersions=["v1beta1"]), ["warning review-version webhooks.0.admissionReviewVersions"], id="old-reviews"
    ),
    pytest.param(
        one(admissionReviewVersions=None), ["error review-version webhooks.0.admissionReviewVersions"], id="reviews-not-said"
    ),
    pytest.param(
        one(admissionReviewVersions=["v2"]), ["error review-version webhooks.0.admissionReviewVersions"], id="unknown-reviews"
    ),
    pytest.param(
        one(matchConditions=conditions("object.spec.(")),
        ["error unreadable-condition webhooks.0.matchConditions.0.expression"],
        id="no-cel",
    ),
    pytest.param(
        one(matchConditions=conditions("true", " ")),
        ["error unreadable-condition webhooks.0.matchConditions.1.expression"],
        id="empty-condition",
    ),
]
CALLS = [
    pytest.param(
        one(matchConditions=conditions("object.spec.a.all(x, object.spec.b.exists(y, x == y))")),
        ["warning nested-loops webhooks.0.matchConditions.0.expression"],
        id="nested-loops",
    ),
    pytest.param(one(timeoutSeconds=None), ["warning timeout-long webhooks.0"], id="no-timeout"),
    pytest.param(one(timeoutSeconds=30), ["warning timeout-long webhooks.0.timeoutSeconds"], id="half-a-minute"),
    pytest.param(one(timeoutSeconds=0), ["error timeout-long webhooks.0.timeoutSeconds"], id="no-time"),
    pytest.param(one(rules=[rule("pods/status")]), ["warning status-writes webhooks.0.rules.0.resources"], id="status-open"),
    pytest.param(
        one(rules=[rule("pods"), rule("pods/*")], failurePolicy="Fail"),
        ["error status-writes webhooks.0.rules.1.resources"],
        id="status-closed",
    ),
    pytest.param(one(rules=[rule("events")]), ["warning status-writes webhooks.0.rules.0.resources"], id="events"),
    pytest.param(
        [configuration(*PATIENT, kind="Mutating"), configuration(*CONFIRMING)],
        ["error timeouts-together webhooks.0.timeoutSeconds"],
        id="seven-times-five-seconds",
    ),
    pytest.param(several(hook(), hook(name="b.hooks.example.com")), ["warning several-webhooks webhooks.1.rules"], id="twice"),
]
SCOPE = [
    pytest.param(
        one(rules=EVERYTHING, failurePolicy="Fail"),
        [
            "error foundations webhooks.0.rules.0.resources",
            "error virtual-resources webhooks.0.rules.0.resources",
            "warning status-writes webhooks.0.rules.0.resources",
            "warning wildcard-rules webhooks.0.rules.0",
        ],
        id="everything",
    ),
    pytest.param(
        one(namespaceSelector=None, rules=[rule("secrets")]), ["warning no-namespace-selector webhooks.0"], id="everywhere-open"
    ),
    pytest.param(
        one(namespaceSelector=None, rules=[rule("secrets")], failurePolicy="Fail"),
        ["error no-namespace-selector webhooks.0"],
        id="everywhere-closed",
    ),
    pytest.param(
        one(namespaceSelector=exempt("hooks"), failurePolicy="Fail"),
        ["error kube-system webhooks.0.namespaceSelector"],
        id="kube-system",
    ),
    pytest.param(
        one(namespaceSelector=exempt("kube-system"), failurePolicy="Fail"),
        ["error own-namespace webhooks.0.namespaceSelector"],
        id="own-pods-closed",
    ),
    pytest.param(
        one(namespaceSelector=exempt("kube-system")), ["warning own-namespace webhooks.0.namespaceSelector"], id="own-pods-open"
    ),
    pytest.param(
        one(rules=LEASES, failurePolicy="Fail", namespaceSelector=exempt("kube-system")),
        ["error node-leases webhooks.0.rules.0.resources"],
        id="leases",
    ),
    pytest.param(one(rules=TOKENS), ["warning virtual-resources webhooks.0.rules.0.resources"], id="tokens"),
    pytest.param(
        one(rules=[rule("nodes", scope="Cluster")], failurePolicy="Fail"),
        ["error foundations webhooks.0.rules.0.resources"],
        id="nodes",
    ),
    pytest.param(
        one(rules=[rule("pods", operations=["*"])]), ["warning all-operations webhooks.0.rules.0.operations"], id="all-operations"
    ),
    pytest.param(one(matchPolicy="Exact"), ["warning match-policy webhooks.0.matchPolicy"], id="exact"),
    pytest.param(
        one(objectSelector=SKIPPED), ["warning opt-out-by-label webhooks.0.objectSelector.matchExpressions.0"], id="opt-out"
    ),
]
MUTATION = [
    pytest.param(one(sideEffects="Some"), ["error side-effects webhooks.0.sideEffects"], id="side-effects"),
    pytest.param(one(sideEffects=None), ["error side-effects webhooks.0"], id="side-effects-not-said"),
    pytest.param(mutating(failurePolicy="Fail"), ["warning mutating-fails-closed webhooks.0.failurePolicy"], id="closed"),
    pytest.param(mutating(failurePolicy=None), ["warning mutating-fails-closed webhooks.0"], id="closed-by-default"),
    pytest.param(mutating(reinvocationPolicy=None), ["info never-asked-again webhooks.0"], id="asked-once"),
    pytest.param(mutating()[:1], ["info nothing-confirms webhooks.0"], id="unconfirmed"),
    pytest.param(
        mutating(namespaceSelector=exempt("hooks")),
        ["info mirror-pods webhooks.0.rules.0.resources", "warning kube-system webhooks.0.namespaceSelector"],
        id="mirror-pods",
    ),
]
TRUST = [
    pytest.param(one(clientConfig=UNFILLED), ["info no-ca-bundle webhooks.0.clientConfig"], id="no-bundle"),
    pytest.param(one(clientConfig=client(caBundle="Cg==")), ["info no-ca-bundle webhooks.0.clientConfig"], id="placeholder"),
    pytest.param(
        one(clientConfig=client(caBundle="%%%")),
        ["error ca-bundle-unusable webhooks.0.clientConfig.caBundle", "info no-ca-bundle webhooks.0.clientConfig"],
        id="no-base64",
    ),
    pytest.param(
        one(clientConfig=client(caBundle=NOTHING)),
        ["error ca-bundle-unusable webhooks.0.clientConfig.caBundle"],
        id="no-certificate",
    ),
    pytest.param(
        one(clientConfig=client(caBundle=ENDED)), ["error ca-bundle-unusable webhooks.0.clientConfig.caBundle"], id="ended"
    ),
    pytest.param(
        one(clientConfig=client(caBundle=ENDS_SOON)),
        ["warning ca-bundle-ends-soon webhooks.0.clientConfig.caBundle"],
        id="ends-soon",
    ),
    pytest.param(
        one(clientConfig={"url": "https://127.0.0.1:9443/x"}), ["warning not-a-service webhooks.0.clientConfig.url"], id="url"
    ),
]
SERVER = [
    pytest.param(
        [*one(clientConfig=client(service={"namespace": "hooks", "name": "hook", "port": 8443})), SERVICE],
        ["error service-missing webhooks.0.clientConfig.service"],
        id="no-such-port",
    ),
    pytest.param(behind(deployment(replicas=1), ONE), ["warning single-replica spec.replicas"], id="one-replica"),
    pytest.param(
        behind(deployment(pod={"topologySpreadConstraints": None}), ONE),
        ["warning not-spread spec.template.spec"],
        id="not-spread",
    ),
    pytest.param(behind(deployment()), ["warning no-disruption-budget spec"], id="no-budget"),
    pytest.param(behind(deployment(), budget(minAvailable=2)), ["warning budget-holds-up-drains spec"], id="budget-of-all"),
    pytest.param(behind(deployment(), budget(maxUnavailable=0)), ["warning budget-holds-up-drains spec"], id="budget-of-none"),
    pytest.param(
        behind(deployment(strategy={"type": "Recreate"}), ONE), ["warning gap-in-rollouts spec.strategy"], id="recreate"
    ),
    pytest.param(
        behind(deployment(strategy={"rollingUpdate": {"maxUnavailable": 2}}), ONE),
        ["warning gap-in-rollouts spec.strategy.rollingUpdate.maxUnavailable"],
        id="all-at-once",
    ),
    pytest.param(
        behind(deployment(container={"readinessProbe": None}), ONE),
        ["warning no-readiness-probe spec.template.spec.containers"],
        id="no-probe",
    ),
    pytest.param(
        behind(deployment(container={"lifecycle": None}), ONE), ["info abrupt-end spec.template.spec.containers"], id="abrupt"
    ),
]
ACCESS = [
    pytest.param([role(resourceNames=None)], ["warning rights-over-all-configurations rules.0"], id="all-configurations"),
    pytest.param([role(resourceNames=None, verbs=["*"])], ["warning rights-over-all-configurations rules.0"], id="all-verbs"),
]
MISTAKES: list[Any] = [*VALIDITY, *CALLS, *SCOPE, *MUTATION, *TRUST, *SERVER, *ACCESS]


@pytest.mark.parametrize("objects, wanted", MISTAKES)
def test_mistakes(objects: list[Object], wanted: list[str]) -> None:
    assert sorted(lint(*objects)) == sorted(wanted)


def test_every_rule_has_a_mistake() -> None:
    assert {found.split()[1] for each in MISTAKES for found in each.values[1]} == set(rules.BY_ID)


def test_every_rule_says_why_and_what_instead() -> None:
    for each in rules.ALL:
        assert each.reason.endswith(".")
        assert each.fix.endswith(".")
        assert each.title
        assert all(1 <= point <= 50 for point in each.points)
    assert len(rules.BY_ID) == len(rules.ALL)


def test_a_server_tells_more_than_files() -> None:
    without = configuration(hook(clientConfig={"service": {"namespace": "hooks", "name": "hook"}}))
    assert lint(without, live=True) == [
        "error no-ca-bundle webhooks.0.clientConfig",
        "error service-missing webhooks.0.clientConfig.service",
    ]


def test_an_annotation_leaves_rules_out() -> None:
    long = configuration(hook(timeoutSeconds=30, matchPolicy="Exact"), annotations={evaluate.IGNORE: "timeout-long, other"})
    assert lint(long) == ["warning match-policy webhooks.0.matchPolicy"]


BROKEN: list[Any] = [
    pytest.param({**configuration(), "webhooks": ["x", None, 3]}, id="no-webhooks"),
    pytest.param({**configuration(), "webhooks": "x"}, id="no-list"),
    pytest.param({**configuration(), "metadata": None}, id="no-metadata"),
    pytest.param(configuration(hook(rules="x", clientConfig=[], namespaceSelector="x", timeoutSeconds="3")), id="no-fields"),
    pytest.param(configuration(hook(rules=[{"apiGroups": "x", "resources": [1], "operations": None}])), id="no-rules"),
    pytest.param(configuration(hook(matchConditions={"a": 1}, objectSelector=[])), id="no-conditions"),
    pytest.param(
        configuration(hook(namespaceSelector={"matchExpressions": [1, {"operator": "Odd"}], "matchLabels": []})), id="no-selector"
    ),
    pytest.param({**deployment(), "spec": "x"}, id="no-spec"),
    pytest.param({**deployment(), "spec": {"template": [], "replicas": "two"}}, id="no-template"),
    pytest.param({**role(), "rules": "x"}, id="no-rights"),
]


@pytest.mark.parametrize("obj", BROKEN)
@pytest.mark.parametrize("kind", ["Mutating", "Validating"])
def test_whatever_is_written_is_read(obj: Object, kind: str) -> None:
    """Nothing that stands in a file is an error of ours."""
    if "webhooks" in obj:
        obj = {**obj, "kind": f"{kind}WebhookConfiguration"}
    assert all(found.split()[1] in rules.BY_ID for found in lint(obj, live=True))
    assert all(found.split()[1] in rules.BY_ID for found in lint(obj, SERVICE, budget(), configuration(hook())))
