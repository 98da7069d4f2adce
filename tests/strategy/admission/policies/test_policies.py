# ruff: noqa: E501 - messages are the server's own, whatever their length
"""Admission policies over a world: matching, params, variables, actions, failures, mutations, rounds."""

import subprocess
import sys

import pytest

from podstrat import Engine
from podstrat.strategy.admission import Admission, Settings, World
from podstrat.strategy.admission.settings import Verdict, allow_all
from podstrat.strategy.request import Request, User

GROUP = "admissionregistration.k8s.io/v1"
RULES = [{"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE", "UPDATE"], "resources": ["pods"]}]
ACCOUNT = {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "default", "namespace": "default"}}
NAMESPACE = {
    "apiVersion": "v1",
    "kind": "Namespace",
    "metadata": {"name": "default", "labels": {"team": "blue"}, "creationTimestamp": "2024-01-01T00:00:00Z"},
    "status": {"phase": "Active"},
}


def policy(*validations, name="p1", kind="ValidatingAdmissionPolicy", **spec):
    spec = {"failurePolicy": "Fail", "matchConstraints": {"resourceRules": RULES}, **spec}
    if validations:
        spec["validations"] = [each if isinstance(each, dict) else {"expression": each} for each in validations]
    return {"apiVersion": GROUP, "kind": kind, "metadata": {"name": name}, "spec": spec}


def binding(*actions, name="b", policy="p1", kind="ValidatingAdmissionPolicyBinding", **spec):
    spec = {"policyName": policy, **spec}
    if actions:
        spec["validationActions"] = list(actions)
    return {"apiVersion": GROUP, "kind": kind, "metadata": {"name": name}, "spec": spec}


def mutating(*mutations, name="m1", reinvocation="Never", **spec):
    made = []
    for expression in mutations:
        patch = "jsonPatch" if expression.startswith("[") else "applyConfiguration"
        made.append(
            {
                "patchType": patch[0].upper() + patch[1:] if patch != "jsonPatch" else "JSONPatch",
                patch: {"expression": expression},
            }
        )
    return policy(name=name, kind="MutatingAdmissionPolicy", mutations=made, reinvocationPolicy=reinvocation, **spec)


def bind_mutating(name="m1", **spec):
    return binding(policy=name, name=f"{name}-b", kind="MutatingAdmissionPolicyBinding", **spec)


def pod(**spec):
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "p", "namespace": "default", "labels": {"app": "web"}},
        "spec": {"containers": [{"name": "c", "image": "busybox:1"}], **spec},
    }


def answer(*objects, body=None, old=None, only=True, authorize=None, **request):
    """The answer to a write; with ``only``, of a server that has no plugins but policies."""
    off = (
        {"ServiceAccount", "Priority", "DefaultTolerationSeconds", "ResourceQuota", "LimitRanger", "RuntimeClass"} if only else ()
    )
    settings = Settings(disable=frozenset(off), authorize=authorize)
    engine = Engine("1.37", admission=Admission(World([NAMESPACE, *objects], complete="*"), settings))
    verb = "update" if old is not None else "create"
    return engine.answer(Request(**{"verb": verb, "body": body or pod(), "user": User("jane"), **request}), old)


def message(*objects, **request):
    """What is wrong, without the words around it."""
    body = answer(*objects, **request).body
    return body["message"].partition("denied request: ")[2] if body["kind"] == "Status" else ""


# ---- validating ------------------------------------------------------------------------------------


def test_a_denial_is_a_status_with_its_cause():
    got = answer(policy({"expression": "false", "message": "no", "reason": "Forbidden"}), binding("Deny"))
    cause = "ValidatingAdmissionPolicy 'p1' with binding 'b' denied request: no"
    assert (got.code, got.body["reason"]) == (403, "Forbidden")
    assert got.body["message"] == f'pods "p" is forbidden: {cause}'
    assert got.body["details"] == {"name": "p", "kind": "pods", "causes": [{"message": cause}]}


def test_a_policy_without_a_binding_does_nothing():
    assert answer(policy("false")).code == 201


@pytest.mark.parametrize(
    "validation, text",
    [
        ({"expression": " false "}, "failed expression: false"),
        ({"expression": "false", "message": " m "}, "m"),
        ({"expression": "false", "message": "m", "messageExpression": "'is ' + object.metadata.name"}, "is p"),
        ({"expression": "false", "message": "m", "messageExpression": "' '"}, "m"),
        ({"expression": "false", "message": "m", "messageExpression": "'a\\nb'"}, "m"),
        ({"expression": "false", "message": "m", "messageExpression": "string(object.spec.nodeName)"}, "m"),
        ({"expression": "object.spec.nodeName == ''"}, "expression 'object.spec.nodeName == ''' resulted in error: no such key: nodeName"),
        ({"expression": "nonsense("}, "compilation error: compilation failed: ERROR: <input>:1:10: Syntax error: mismatched input '<EOF>' expecting {'[', '{', '(', ')', '.', '-', '!', 'true', 'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, STRING, BYTES, IDENTIFIER}\n | nonsense(\n | .........^"),
    ],
)  # fmt: skip
def test_message(validation, text):
    assert message(policy(validation), binding("Deny")) == text


def test_warnings_come_in_order_and_audit_is_silent():
    got = answer(policy("false", {"expression": "object.metadata.name != 'p'", "message": "two"}), binding("Warn", "Audit"))
    start = "Validation failed for ValidatingAdmissionPolicy 'p1' with binding 'b': "
    assert (got.code, got.warnings) == (201, (f"{start}failed expression: false", f"{start}two"))


def test_failures_and_annotations_are_audited():
    annotated = policy("false", auditAnnotations=[{"key": "who", "valueExpression": "request.userInfo.username"}])
    engine = Engine("1.37", admission=World([NAMESPACE, ACCOUNT, annotated, binding("Audit")], complete="*"))
    audit = engine.create(pod()).admission.audit
    assert audit["p1/who"] == "kubernetes-admin"
    assert '"message":"failed expression: false","policy":"p1","binding":"b","expressionIndex":0' in "".join(audit.values())


@pytest.mark.parametrize("failure_policy, code", [("Fail", 422), ("Ignore", 201)])
@pytest.mark.parametrize(
    "spec",
    [
        {"validations": [{"expression": "object.spec.nodeName == 'x'"}]},
        {
            "validations": [{"expression": "false"}],
            "matchConditions": [{"name": "a", "expression": "object.spec.nodeName == 'x'"}],
        },
        {"auditAnnotations": [{"key": "k", "valueExpression": "string(object.spec.nodeName)"}]},
        {"validations": [{"expression": "true"}], "paramKind": {"apiVersion": "none.example.com/v1", "kind": "None"}},
    ],
    ids=["validation", "condition", "annotation", "param-kind"],
)
def test_failure_policy(spec, failure_policy, code):
    assert answer(policy(failurePolicy=failure_policy, **spec), binding("Deny")).code == code


def test_a_false_condition_counts_more_than_one_that_fails():
    conditions = [{"name": "a", "expression": "object.spec.nodeName == 'x'"}, {"name": "b", "expression": "false"}]
    assert answer(policy("false", matchConditions=conditions), binding("Deny")).code == 201


def test_variables_are_lazy_and_see_earlier_ones():
    variables = [
        {"name": "n", "expression": "size(object.spec.containers)"},
        {"name": "twice", "expression": "variables.n * 2"},
        {"name": "bad", "expression": "object.spec.nodeName"},
    ]
    counted = policy({"expression": "variables.twice > 2", "messageExpression": "string(variables.twice)"}, variables=variables)
    assert message(counted, binding("Deny")) == "2"
    text = (
        "expression 'variables.bad == ''' resulted in error: composited variable \"bad\" fails to evaluate: no such key: nodeName"
    )
    assert message(policy("variables.bad == ''", variables=variables), binding("Deny")) == text


@pytest.mark.parametrize(
    "rule, matched",
    [
        ({}, True),
        ({"operations": ["*"]}, True),
        ({"operations": ["UPDATE"]}, False),
        ({"apiGroups": ["apps"]}, False),
        ({"resources": ["pods/*"]}, True),
        ({"resources": ["pods/status"]}, False),
        ({"resources": ["*"]}, True),
        ({"resourceNames": ["p", "q"]}, True),
        ({"resourceNames": ["q"]}, False),
        ({"scope": "Cluster"}, False),
    ],
)
def test_resource_rules(rule, matched):
    constraints = {"resourceRules": [{**RULES[0], **rule}]}
    assert (answer(policy("false", matchConstraints=constraints), binding("Deny")).code == 422) == matched
    excluded = {"resourceRules": RULES, "excludeResourceRules": [{**RULES[0], **rule}]}
    assert (answer(policy("false", matchConstraints=excluded), binding("Deny")).code == 201) == matched


@pytest.mark.parametrize(
    "resources, matched",
    [
        ({"namespaceSelector": {"matchLabels": {"team": "blue"}}}, True),
        ({"namespaceSelector": {"matchLabels": {"team": "red"}}}, False),
        ({"objectSelector": {"matchExpressions": [{"key": "app", "operator": "Exists"}]}}, True),
        ({"objectSelector": {"matchLabels": {"app": "db"}}}, False),
    ],
)
def test_selectors_of_a_binding(resources, matched):
    assert (answer(policy("false"), binding("Deny", matchResources=resources)).code == 422) == matched


def config_map(name, limit, **labels):
    meta = {"name": name, "namespace": "default", "labels": labels}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": meta, "data": {"max": limit}}


@pytest.mark.parametrize(
    "reference, text",
    [
        ({"name": "one"}, ""),
        ({"name": "zero"}, "more than 0"),
        ({"selector": {"matchLabels": {"use": "yes"}}}, "more than 0"),
        ({"name": "gone", "parameterNotFoundAction": "Allow"}, ""),
        ({"name": "gone", "parameterNotFoundAction": "Deny"}, "failed to configure binding: no params found for policy binding with `Deny` parameterNotFoundAction"),
    ],
)  # fmt: skip
def test_params(reference, text):
    limit = {
        "expression": "size(object.spec.containers) <= int(params.data.max)",
        "messageExpression": "'more than ' + params.data.max",
    }
    limited = policy(limit, paramKind={"apiVersion": "v1", "kind": "ConfigMap"})
    maps = [config_map("one", "1", use="yes"), config_map("zero", "0", use="yes")]
    assert message(limited, binding("Deny", paramRef=reference), *maps) == text


@pytest.mark.parametrize(
    "expression, shown",
    [
        ("request.operation + request.kind.kind + request.resource.resource + request.name", "CREATEPodpodsp"),
        ("string(has(request.subResource)) + request.userInfo.username", "falsejane"),
        (
            "namespaceObject.metadata.labels['team'] + string(namespaceObject.metadata.creationTimestamp.getFullYear())",
            "blue2024",
        ),
        ("string(oldObject == null) + object.status.phase + string(object.metadata.generation)", "truePending1"),
    ],
)
def test_what_expressions_see(expression, shown):
    assert message(policy({"expression": "false", "messageExpression": expression}), binding("Deny")) == shown


@pytest.mark.parametrize(
    "authorize, text",
    [
        (None, "authorization cannot be known offline: authorizer checks need a running API server"),
        (allow_all, ""),
        (lambda check: Verdict(check["resourceAttributes"]["verb"] == "get"), "failed expression"),
    ],
)
def test_authorizer(authorize, text):
    checked = policy("authorizer.group('').resource('pods').namespace('default').check('create').allowed()")
    assert text in message(checked, binding("Deny"), authorize=authorize)


def test_policies_do_not_judge_policies():
    everything = [{"apiGroups": ["*"], "apiVersions": ["*"], "operations": ["*"], "resources": ["*"]}]
    denied = policy("false", matchConstraints={"resourceRules": everything})
    got = answer(
        denied,
        binding("Deny"),
        body=policy("true", name="x"),
        resource="validatingadmissionpolicies.admissionregistration.k8s.io",
        namespace="",
    )
    assert got.code == 201


def test_a_policy_that_never_ends_is_stopped():
    text = message(policy("lists.range(1000).all(a, lists.range(1000).all(b, lists.range(1000).all(c, true)))"), binding("Deny"))
    assert text.endswith("resulted in error: operation cancelled: actual cost limit exceeded")


# ---- mutating --------------------------------------------------------------------------------------


def labels(*objects, **request):
    got = answer(*objects, **request)
    assert got.code == 201, got.body["message"]
    return {key: value for key, value in got.body["metadata"]["labels"].items() if key != "app"}


def test_apply_configurations_and_json_patches_follow_each_other():
    changed = mutating(
        "Object{metadata: Object.metadata{labels: {'one': '1'}}}",
        "[JSONPatch{op: 'add', path: '/metadata/labels/' + jsonpatch.escapeKey('x/y'), value: object.metadata.labels['one'] + '2'}]",
    )
    assert labels(changed, bind_mutating()) == {"one": "1", "x/y": "12"}


def test_the_result_is_defaulted():
    added = mutating("Object{spec: Object.spec{containers: [Object.spec.containers{name: 'side', image: 'side:1'}]}}")
    spec = answer(added, bind_mutating()).body["spec"]
    assert [each["name"] for each in spec["containers"]] == ["c", "side"]
    assert spec["containers"][1]["imagePullPolicy"] == "IfNotPresent"


@pytest.mark.parametrize(
    "expression, text",
    [
        ("Object{spec: Object.spec{nodeSelector: {'a': 'b'}}}", "error applying patch: invalid ApplyConfiguration: may not mutate atomic arrays, maps or structs: .spec.nodeSelector"),
        ("Object{spec: Object.spec{nonsense: 1}}", "error applying patch: failed to convert patch object to typed object: .spec.nonsense: field not declared in schema"),
        ("Object{spec: Object.spec{hostPID: 'yes'}}", "error applying patch: failed to convert patch object to typed object: .spec.hostPID: expected boolean, got &{yes}"),
        ("Object{spec: Object.spec{securityContext: Object.spec.other{}}}", 'type mismatch: unexpected type name "Object.spec.other", expected "Object.spec.securityContext", which matches field name path from root Object type'),
        ("[JSONPatch{op: 'remove', path: '/metadata/annotations'}]", "JSON Patch: error in remove for path: '/metadata/annotations': Unable to remove nonexistent key: annotations: missing value"),
        ("[JSONPatch{op: 'explode', path: '/spec'}]", "JSON Patch: Unexpected kind: explode"),
        ("Object{metadata: Object.metadata{labels: {'x': object.spec.nodeName}}}", "expression 'Object{metadata: Object.metadata{labels: {'x': object.spec.nodeName}}}' resulted in error: no such key: nodeName"),
    ],
)  # fmt: skip
def test_a_mutation_that_fails(expression, text):
    got = answer(mutating(expression), bind_mutating())
    whole = f"policy 'm1' with binding 'm1-b' denied request: {text}"
    assert (got.code, got.body["reason"], got.body["message"]) == (403, "Invalid", whole)
    assert got.body["details"] == {"name": "p", "kind": "pods", "causes": [{"message": whole}]}
    later = mutating(expression, "Object{metadata: Object.metadata{labels: {'later': 'yes'}}}", failurePolicy="Ignore")
    assert labels(later, bind_mutating()) == {"later": "yes"}


def test_a_result_that_does_not_decode_is_an_internal_error():
    got = answer(mutating("[JSONPatch{op: 'add', path: '/spec/nonsense', value: 1}]", failurePolicy="Ignore"), bind_mutating())
    assert (got.code, got.body["message"]) == (
        500,
        'Internal error occurred: strict decoding error: unknown field "spec.nonsense"',
    )


def test_a_failing_test_leaves_the_object():
    patch = "[JSONPatch{op: 'test', path: '/spec/restartPolicy', value: 'Never'}, JSONPatch{op: 'add', path: '/metadata/labels/a', value: 'b'}]"
    assert labels(mutating(patch), bind_mutating()) == {}


COUNT = "'n' in object.metadata.labels ? string(int(object.metadata.labels['n']) + 1) : '1'"


@pytest.mark.parametrize("reinvocation, count", [("Never", "1"), ("IfNeeded", "2")])
def test_reinvocation(reinvocation, count):
    counting = mutating(f"Object{{metadata: Object.metadata{{labels: {{'n': {COUNT}}}}}}}", reinvocation=reinvocation)
    assert labels(counting, bind_mutating()) == {"n": count}


def test_built_in_plugins_run_again_after_a_policy():
    removed = mutating("[JSONPatch{op: 'remove', path: '/spec/tolerations'}]")
    engine = Engine("1.37", admission=World([NAMESPACE, ACCOUNT, removed, bind_mutating()], complete="*"))
    assert len(engine.create(pod()).pod["spec"]["tolerations"]) == 2


def test_validating_policies_see_what_mutating_ones_did():
    added = mutating("Object{metadata: Object.metadata{labels: {'added': 'yes'}}}")
    refused = policy(
        {"expression": "object.metadata.labels.added == 'no'", "messageExpression": "object.metadata.labels.added + ''"}
    )
    assert message(added, bind_mutating(), refused, binding("Deny")) == "yes"


def test_mutating_policies_are_off_before_1_36():
    added = mutating("Object{metadata: Object.metadata{labels: {'added': 'yes'}}}")
    engine = Engine("1.35", admission=World([NAMESPACE, ACCOUNT, added, bind_mutating()], complete="*"))
    assert "added" not in engine.create(pod()).pod["metadata"]["labels"]


def test_without_policies_no_cel_is_imported():
    code = (
        "import sys; from podstrat.strategy.admission import World; from podstrat.strategy.engine import Engine; "
        "namespace = {'apiVersion': 'v1', 'kind': 'Namespace', 'metadata': {'name': 'default'}}; "
        "Engine('1.37', admission=World([namespace], complete='*')).create("
        "{'apiVersion': 'v1', 'kind': 'Pod', 'metadata': {'name': 'p'}, 'spec': {'containers': [{'name': 'c', 'image': 'i'}]}}); "
        "sys.exit(any(name.startswith(('cel_', 'podstrat.cel')) for name in sys.modules))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_a_policy_is_compiled_once_and_again_when_it_changes(monkeypatch):
    from podstrat.strategy.admission.policies import validation

    made = []
    monkeypatch.setattr(validation.Validating, "__init__", _counting(validation.Validating.__init__, made))
    engine = Engine("1.37", admission=World([NAMESPACE, ACCOUNT, policy("true"), binding("Deny")], complete="*"))
    for _ in range(3):
        assert engine.create(pod()).ok
    assert made == ["p1"]


def _counting(init, made):
    def counted(self, obj):
        made.append(obj["metadata"]["name"])
        init(self, obj)

    return counted
