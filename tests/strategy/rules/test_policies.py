# ruff: noqa: E501 - messages are the server's own, whatever their length
"""Rules of admission policies and bindings, each by the write that it refuses."""

import pytest

from podstrat import Engine
from podstrat.strategy.request import Request

GROUP = "admissionregistration.k8s.io"
RULE = {"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["pods"]}
SPECS = {
    "ValidatingAdmissionPolicy": {"matchConstraints": {"resourceRules": [RULE]}, "validations": [{"expression": "true"}]},
    "ValidatingAdmissionPolicyBinding": {"policyName": "x", "validationActions": ["Deny"]},
    "MutatingAdmissionPolicy": {
        "matchConstraints": {"resourceRules": [RULE]},
        "mutations": [{"patchType": "ApplyConfiguration", "applyConfiguration": {"expression": "Object{}"}}],
        "reinvocationPolicy": "Never",
    },
    "MutatingAdmissionPolicyBinding": {"policyName": "x"},
}
ENGINE = Engine("1.37")


def resource(kind):
    plural = f"{kind[:-1]}ies" if kind.endswith("y") else f"{kind}s"
    return f"{plural.lower()}.{GROUP}"


def obj(kind, name="new", **spec):
    given = {key: value for key, value in {**SPECS[kind], **spec}.items() if value is not None}
    return {"apiVersion": f"{GROUP}/v1", "kind": kind, "metadata": {"name": name}, "spec": given}


def answer(body, old=None, **request):
    verb = "create" if old is None else "update"
    name = "" if old is None else body["metadata"]["name"]
    return ENGINE.answer(Request(verb, body=body, name=name, namespace="", resource=resource(body["kind"]), **request), old)


def faults(body, old=None, **request):
    causes = (answer(body, old, **request).body.get("details") or {}).get("causes") or []
    return [f"{cause['field']}: {cause['message']}" for cause in causes]


def rule(**more):
    return {"matchConstraints": {"resourceRules": [{**RULE, **more}]}}


R = "spec.matchConstraints.resourceRules[0]"
LABEL = "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')"


@pytest.mark.parametrize("kind", SPECS)
def test_a_healthy_object(kind):
    got = answer(obj(kind))
    assert (got.code, got.body["metadata"]["generation"]) == (201, 1)


@pytest.mark.parametrize(
    "spec, expected",
    [
        ({"failurePolicy": "Never"}, ['spec.failurePolicy: Unsupported value: "Never": supported values: "Fail", "Ignore"']),
        ({"matchConstraints": None}, ["spec.matchConstraints: Required value"]),
        ({"matchConstraints": {}}, ["spec.matchConstraints.resourceRules: Required value"]),
        ({"matchConstraints": {"resourceRules": [RULE], "matchPolicy": "Near"}}, ['spec.matchConstraints.matchPolicy: Unsupported value: "Near": supported values: "Equivalent", "Exact"']),
        ({"matchConstraints": {"resourceRules": [RULE], "objectSelector": {"matchExpressions": [{"key": "a", "operator": "In"}]}}}, ["spec.matchConstraints.objectSelector.matchExpressions[0].values: Required value: must be specified when `operator` is 'In' or 'NotIn'"]),
        (rule(operations=[]), [f"{R}.operations: Required value"]),
        (rule(operations=["*", "CREATE"]), [f"{R}.operations: Invalid value: [\"*\",\"CREATE\"]: if '*' is present, must not specify other operations"]),
        (rule(operations=["EAT"]), [f'{R}.operations[0]: Unsupported value: "EAT": supported values: "*", "CONNECT", "CREATE", "DELETE", "UPDATE"']),
        (rule(apiGroups=[]), [f"{R}.apiGroups: Required value"]),
        (rule(apiVersions=[]), [f"{R}.apiVersions: Required value"]),
        (rule(apiVersions=[""]), [f"{R}.apiVersions[0]: Required value"]),
        (rule(resources=[]), [f"{R}.resources: Required value"]),
        (rule(resources=[""]), [f"{R}.resources[0]: Required value"]),
        (rule(resources=["pods/*", "pods/status"]), [f"{R}.resources[1]: Invalid value: \"pods/status\": if 'pods/*' is present, must not specify pods/status"]),
        (rule(resources=["*/status", "pods/status"]), [f"{R}.resources[1]: Invalid value: \"pods/status\": if '*/status' is present, must not specify pods/status"]),
        (rule(resources=["pods", "*/*"]), [f"{R}.resources: Invalid value: [\"pods\",\"*/*\"]: if '*/*' is present, must not specify other resources"]),
        (rule(resources=["pods", "*"]), [f"{R}.resources: Invalid value: [\"pods\",\"*\"]: if '*' is present, must not specify other resources without subresources"]),
        (rule(scope="Town"), [f'{R}.scope: Unsupported value: "Town": supported values: "*", "Cluster", "Namespaced"']),
        (rule(resourceNames=["a/b", "x", "x"]), [f"{R}.resourceNames[0]: Invalid value: \"a/b\": may not contain '/'", f'{R}.resourceNames[2]: Duplicate value: "x"']),
        (rule(resourceNames=[".."]), [f"{R}.resourceNames[0]: Invalid value: \"..\": may not be '..'"]),
        ({"paramKind": {}}, ["spec.paramKind.apiVersion: Required value", "spec.paramKind.kind: Required value"]),
        ({"paramKind": {"apiVersion": "a/b/c", "kind": "K"}}, ['spec.paramKind.apiVersion: Invalid value: "a/b/c": unexpected GroupVersion string: a/b/c']),
        ({"paramKind": {"apiVersion": "a/", "kind": "K"}}, ['spec.paramKind.apiVersion: Invalid value: "a/": version must be specified']),
        ({"paramKind": {"apiVersion": "1", "kind": "K"}}, [f'spec.paramKind.apiVersion: Invalid value: "1": {LABEL}']),
        ({"paramKind": {"apiVersion": f"{'v' * 64}", "kind": "K"}}, [f'spec.paramKind.apiVersion: Invalid value: "{"v" * 64}": must be no more than 63 characters']),
        ({"paramKind": {"apiVersion": "A/v1", "kind": "K"}}, ["spec.paramKind.apiVersion: Invalid value: \"A\": a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"]),
        ({"paramKind": {"apiVersion": "v1", "kind": "K K"}}, [f'spec.paramKind.kind: Invalid value: "K K": may have mixed case, but should otherwise match: {LABEL}']),
        ({"matchConditions": [{"name": "", "expression": " "}]}, ["spec.matchConditions[0].expression: Required value", "spec.matchConditions[0].name: Required value"]),
        ({"matchConditions": [{"name": "a", "expression": "1"}, {"name": "a", "expression": "true"}]}, ['spec.matchConditions[0].expression: Invalid value: "1": must evaluate to bool but got int', 'spec.matchConditions[1].name: Duplicate value: "a"']),
        ({"matchConditions": [{"name": f"a{i}", "expression": "true"} for i in range(65)]}, ["spec.matchConditions: Too many: 65: must have at most 64 items"]),
        ({"matchConditions": [{"name": "a b", "expression": "true"}]}, ["spec.matchConditions[0].name: Invalid value: \"a b\": name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')"]),
        ({"variables": [{"name": "", "expression": ""}]}, ["spec.variables[0].name: Required value: name is not specified", "spec.variables[0].expression: Required value: expression is not specified"]),
        ({"variables": [{"name": "for", "expression": "1"}]}, ['spec.variables[0].name: Invalid value: "for": name is not a valid CEL identifier']),
        ({"variables": [{"name": "a", "expression": "1"}, {"name": "b", "expression": "variables.c"}]}, ["spec.variables[1].expression: Invalid value: \"variables.c\": compilation failed: ERROR: <input>:1:10: undefined field 'c'\n | variables.c\n | .........^"]),
        ({"validations": None}, ["spec.validations: Required value: validations or auditAnnotations must contain at least one item", "spec.auditAnnotations: Required value: validations or auditAnnotations must contain at least one item"]),
        ({"validations": [{"expression": " "}]}, ["spec.validations[0].expression: Required value: expression is not specified"]),
        ({"validations": [{"expression": "'a'"}]}, ['spec.validations[0].expression: Invalid value: "\'a\'": must evaluate to bool but got string']),
        ({"validations": [{"expression": "true", "messageExpression": " "}]}, ['spec.validations[0].messageExpression: Invalid value: " ": must be non-empty if specified']),
        ({"validations": [{"expression": "true", "messageExpression": "null"}]}, ['spec.validations[0].messageExpression: Invalid value: "null": must evaluate to string but got null_type']),
        ({"validations": [{"expression": "true", "message": " "}]}, ['spec.validations[0].message: Invalid value: " ": must be non-empty if specified']),
        ({"validations": [{"expression": "true", "message": "a\nb"}]}, ['spec.validations[0].message: Invalid value: "a\\nb": must not contain line breaks']),
        ({"validations": [{"expression": "true", "reason": "Why"}]}, ['spec.validations[0].reason: Unsupported value: "Why": supported values: "Forbidden", "Invalid", "RequestEntityTooLarge"']),
        ({"auditAnnotations": [{"key": "a", "valueExpression": " "}]}, ["spec.auditAnnotations[0].valueExpression: Required value: valueExpression is not specified"]),
        ({"auditAnnotations": [{"key": "a", "valueExpression": "1"}]}, ['spec.auditAnnotations[0].valueExpression: Invalid value: "1": must evaluate to one of [string null_type] but got int']),
        ({"auditAnnotations": [{"key": "a", "valueExpression": f"'{'x' * 5200}'"}]}, ["spec.auditAnnotations[0].valueExpression: Required value: must not exceed 5120 bytes in length"]),
        ({"auditAnnotations": [{"key": "a", "valueExpression": "'x'"}] * 2}, ['spec.auditAnnotations[1].key: Duplicate value: "a"']),
    ],
)  # fmt: skip
def test_validating_policy(spec, expected):
    body = obj("ValidatingAdmissionPolicy", **spec)
    assert faults(body) == expected
    old = answer(obj("ValidatingAdmissionPolicy")).body
    assert faults({**old, "spec": body["spec"]}, old) == expected


def test_there_are_at_most_twenty_annotations():
    many = [{"key": f"a{i}", "valueExpression": "'x'"} for i in range(21)]
    (fault,) = faults(obj("ValidatingAdmissionPolicy", auditAnnotations=many))
    assert fault.startswith("spec.auditAnnotations: Invalid value: [{")
    assert fault.endswith("must not have more than 20 auditAnnotations")


def test_annotations_need_the_name_of_the_policy():
    body = obj("ValidatingAdmissionPolicy", auditAnnotations=[{"key": "Not Valid", "valueExpression": "'x'"}])
    assert faults(body)[0].startswith('spec.auditAnnotations[0].key: Invalid value: "new/Not Valid": name part must consist')
    body["metadata"] = {}
    assert 'spec.auditAnnotations[0].key: Invalid value: "Not Valid": requires metadata.name be non-empty' in faults(body)


@pytest.mark.parametrize(
    "status, expected",
    [
        ({"typeChecking": {"expressionWarnings": [{"fieldRef": "spec", "warning": "w"}]}}, []),
        ({"typeChecking": {"expressionWarnings": [{"fieldRef": "", "warning": " "}]}}, ["status.typeChecking.expressionWarnings[0].warning: Required value", "status.typeChecking.expressionWarnings[0].fieldRef: Required value"]),
        ({"conditions": [{"type": "", "status": "True", "reason": "R", "message": "", "lastTransitionTime": "2024-01-01T00:00:00Z"}]}, ["status.conditions[0].type: Required value: is required"]),
    ],
)  # fmt: skip
def test_status_of_a_validating_policy(status, expected):
    old = answer(obj("ValidatingAdmissionPolicy")).body
    assert faults({**old, "status": status, "spec": {}}, old, subresource="status") == expected


@pytest.mark.parametrize("kind", [kind for kind in SPECS if kind.endswith("Binding")])
@pytest.mark.parametrize(
    "spec, expected",
    [
        ({"policyName": None}, ["spec.policyName: Required value"]),
        ({"policyName": "A"}, ["spec.policyName: Invalid value: \"A\": a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"]),
        ({"paramRef": {"parameterNotFoundAction": "Deny"}}, ["spec.paramRef: Required value: one of name or selector must be specified"]),
        ({"paramRef": {"name": "a"}}, ["spec.paramRef.parameterNotFoundAction: Required value"]),
        ({"paramRef": {"name": "a", "parameterNotFoundAction": "Cry"}}, ['spec.paramRef.parameterNotFoundAction: Unsupported value: "Cry": supported values: "Deny", "Allow"']),
        ({"paramRef": {"name": "a%", "parameterNotFoundAction": "Deny"}}, ["spec.paramRef.name: Invalid value: \"a%\": may not contain '%'"]),
        ({"paramRef": {"name": "a", "selector": {}, "parameterNotFoundAction": "Deny"}}, ["spec.paramRef.name: Forbidden: name and selector are mutually exclusive", "spec.paramRef.selector: Forbidden: name and selector are mutually exclusive"]),
        ({"paramRef": {"selector": {"matchExpressions": [{"key": "a", "operator": "In"}]}, "parameterNotFoundAction": "Deny"}}, ["spec.paramRef.selector.matchExpressions[0].values: Required value: must be specified when `operator` is 'In' or 'NotIn'"]),
        ({"matchResources": {"matchPolicy": "Near"}}, ['spec.matchResouces.matchPolicy: Unsupported value: "Near": supported values: "Equivalent", "Exact"']),
    ],
)  # fmt: skip
def test_binding(kind, spec, expected):
    body = obj(kind, **spec)
    assert faults(body) == expected
    old = answer(obj(kind)).body
    assert faults({**old, "spec": body["spec"]}, old) == expected


@pytest.mark.parametrize(
    "actions, expected",
    [
        ([], ["spec.validationActions: Required value"]),
        (["Shout"], ['spec.validationActions[0]: Unsupported value: "Shout": supported values: "Audit", "Deny", "Warn"']),
        (["Warn", "Warn"], ['spec.validationActions[1]: Duplicate value: "Warn"']),
        (["Deny", "Warn"], ['spec.validationActions: Invalid value: ["Deny","Warn"]: must not contain both Deny and Warn (repeating the same validation failure information in the API response and headers serves no purpose)']),
    ],
)  # fmt: skip
def test_validation_actions(actions, expected):
    assert faults(obj("ValidatingAdmissionPolicyBinding", validationActions=actions)) == expected


@pytest.mark.parametrize(
    "spec, expected",
    [
        ({"mutations": []}, ["spec.mutations: Required value: mutations must contain at least one item"]),
        ({"mutations": [{"applyConfiguration": {"expression": "Object{}"}}]}, ["spec.mutations[0].patchType: Required value"]),
        ({"mutations": [{"patchType": "Glue"}]}, ['spec.mutations[0].patchType: Unsupported value: "Glue": supported values: "ApplyConfiguration", "JSONPatch"']),
        ({"mutations": [{"patchType": "JSONPatch"}]}, ["spec.mutations[0].jsonPatch: Required value: must be specified when patchType is JSONPatch"]),
        ({"mutations": [{"patchType": "JSONPatch", "jsonPatch": {"expression": " "}}]}, ["spec.mutations[0].jsonPatch.expression: Required value: expression is not specified"]),
        ({"mutations": [{"patchType": "JSONPatch", "jsonPatch": {"expression": "[JSONPatch{op: 'test'}]"}, "applyConfiguration": {"expression": "Object{}"}}]}, ["spec.mutations[0].applyConfiguration: Forbidden: must not be specified when patchType is JSONPatch"]),
        ({"mutations": [{"patchType": "ApplyConfiguration", "applyConfiguration": {"expression": "{}"}}]}, ['spec.mutations[0].applyConfiguration.expression: Invalid value: "{}": must evaluate to Object but got map(dyn, dyn)']),
        ({"reinvocationPolicy": None}, ["spec.reinvocationPolicy: Required value"]),
        ({"reinvocationPolicy": "Often"}, ['spec.reinvocationPolicy: Unsupported value: "Often": supported values: "IfNeeded", "Never"']),
        (rule(operations=["DELETE"]), ['spec.matchConstraints.resourceRules.operations: Unsupported value: "DELETE": supported values: "*", "CONNECT", "CREATE", "UPDATE"']),
        ({"failurePolicy": "Never"}, ['spec.failurePolicy: Unsupported value: "Never": supported values: "Fail", "Ignore"']),
        ({"matchConditions": [{"name": "a", "expression": "1"}]}, ['spec.matchConditions[0].expression: Invalid value: "1": must evaluate to bool but got int']),
        ({"variables": [{"name": "1", "expression": "1"}]}, ['spec.variables[0].name: Invalid value: "1": name is not a valid CEL identifier']),
    ],
)  # fmt: skip
def test_mutating_policy(spec, expected):
    body = obj("MutatingAdmissionPolicy", **spec)
    assert faults(body) == expected
    old = answer(obj("MutatingAdmissionPolicy")).body
    assert faults({**old, "spec": body["spec"]}, old) == expected


@pytest.mark.parametrize("kind", SPECS)
def test_metadata_is_judged(kind):
    assert any(fault.startswith("metadata.name: Invalid value") for fault in faults(obj(kind, name="Not a name")))
    old = answer(obj(kind)).body
    changed = {**old, "metadata": {**old["metadata"], "labels": {"a b": "c"}}}
    assert any(fault.startswith("metadata.labels: Invalid value") for fault in faults(changed, old))


@pytest.mark.parametrize("kind", SPECS)
def test_generation_rises_with_the_spec(kind):
    old = answer(obj(kind)).body
    other = {**old["spec"], **({"policyName": "y"} if "policyName" in old["spec"] else {"failurePolicy": "Ignore"})}
    assert answer({**old, "spec": other}, old).body["metadata"]["generation"] == 2
    labelled = {**old, "metadata": {**old["metadata"], "labels": {"a": "b"}}}
    assert answer(labelled, old).body["metadata"]["generation"] == 1


def test_without_the_library_it_is_said_what_is_missing(monkeypatch):
    import sys

    from podstrat.cel import parser

    monkeypatch.setitem(sys.modules, "cel_expr_python", None)
    parser.environment.cache_clear()
    body = obj("ValidatingAdmissionPolicy", validations=[{"expression": "1 == 12345"}])
    assert faults(body) == [
        "spec.validations[0].expression: Internal error: CEL expressions need the package cel-expr-python: pip install 'podstrat[policies]'"
    ]
    monkeypatch.undo()
    assert faults(body) == []


def test_a_write_of_the_status_is_judged_by_its_metadata():
    old = answer(obj("ValidatingAdmissionPolicy")).body
    changed = {**old, "metadata": {**old["metadata"], "labels": {"a b": "c"}}}
    assert any(fault.startswith("metadata.labels: Invalid value") for fault in faults(changed, old, subresource="status"))
