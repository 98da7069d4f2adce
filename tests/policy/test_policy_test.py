"""`podstrat policy test`: tests of admission policies as files."""

from __future__ import annotations

import json
import shutil
from xml.etree import ElementTree

import pytest

HEAD = "apiVersion: podstrat.dev/v1\nkind: PolicyTest\nmetadata: {name: t}\npolicies: [policy.yaml]\n"
POLICY = """\
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: few-keys}
spec:
  matchConstraints:
    resourceRules:
    - {apiGroups: [""], apiVersions: [v1], operations: ["*"], resources: [configmaps]}
  validations:
  - expression: request.operation == 'DELETE' || size(object.?data.orValue({})) <= 1
    message: at most one key
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: few-keys}
spec: {policyName: few-keys, validationActions: [ACTION]}
"""
MANY = "{apiVersion: v1, kind: ConfigMap, metadata: {name: c}, data: {a: x, b: w}}"
FEW = "{apiVersion: v1, kind: ConfigMap, metadata: {name: c}, data: {a: x}}"


@pytest.fixture
def test(podstrat, tmp_path):
    """Runs a PolicyTest with these requests."""

    def run(requests: str, *argv: str, head: str = HEAD, action: str = "Deny", policy: str = POLICY):
        (tmp_path / "policy.yaml").write_text(policy.replace("ACTION", action))
        (tmp_path / "t.yaml").write_text(f"{head}requests:\n{requests}\n")
        return podstrat("policy", "test", "t.yaml", *argv)

    return run


def test_the_examples_pass(podstrat, examples):
    done = podstrat("policy", "test", examples)
    assert done == (0, "63 cases in 20 files: 63 passed, 0 failed, 0 skipped\n", "")
    assert len([path for path in examples.glob("*.yaml") if ".test." not in path.name]) == 20


@pytest.mark.parametrize(
    "name, right, wrong",
    [
        pytest.param("no-latest-tag", "endsWith(':latest')", "endsWith(':newest')", id="validation"),
        pytest.param("required-labels", "'labels are required: '", "'labels: '", id="message"),
        pytest.param("image-digests", "[Warn, Audit]", "[Deny]", id="action"),
        pytest.param("no-host-path", "values: [kube-system]", "values: [kube-public]", id="binding"),
        pytest.param("replica-limits", "deployments/scale", "deployments/status", id="resource-rule"),
        pytest.param("protected-objects", "!('administrators' in", "('administrators' in", id="match-condition"),
        pytest.param("no-token", "orValue(false)", "orValue(true)", id="mutation"),
        pytest.param("gpu-tolerations", "'NoSchedule'", "'NoExecute'", id="json-patch"),
    ],
)
def test_a_broken_policy_fails(podstrat, examples, tmp_path, name, right, wrong):
    for path in examples.glob(f"{name}.*"):
        shutil.copy(path, tmp_path)
    policy = tmp_path / f"{name}.yaml"
    assert right in policy.read_text()
    assert podstrat("policy", "test", tmp_path).code == 0
    policy.write_text(policy.read_text().replace(right, wrong))
    done = podstrat("policy", "test", tmp_path)
    assert done.code == 1
    assert f"{name}.test.yaml:" in done.out
    assert " 0 failed" not in done.out


@pytest.mark.parametrize(
    "request_, action, failure",
    [
        pytest.param(f"expect: allow\n  object: {FEW}", "Deny", "", id="allow"),
        pytest.param(f"expect: deny\n  object: {MANY}\n  message: at most one key", "Deny", "", id="deny"),
        pytest.param(
            f'expect: deny\n  object: {MANY}\n  message: >-\n    configmaps "c" is forbidden: ValidatingAdmissionPolicy '
            "'few-keys' with binding 'few-keys' denied request: at most one key",
            "Deny",
            "",
            id="whole-message",
        ),
        pytest.param(f"expect: deny\n  object: {MANY}\n  messageContains: one", "Deny", "", id="part-of-the-message"),
        pytest.param(f"expect: warn\n  object: {MANY}\n  message: at most one key", "Warn", "", id="warn"),
        pytest.param(f"expect: allow\n  object: {MANY}", "Audit", "", id="audit"),
        pytest.param(f"expect: deny\n  object: {MANY}\n  oldObject: {FEW}", "Deny", "", id="update"),
        pytest.param(f"expect: allow\n  operation: DELETE\n  oldObject: {MANY}", "Deny", "", id="delete"),
        pytest.param(f"expect: deny\n  object: {FEW}", "Deny", "7:11: error: t: it: expected deny, got allow", id="not-denied"),
        pytest.param(
            f"expect: allow\n  object: {MANY}",
            "Warn",
            "7:11: error: t: it: expected allow, got warn: Validation failed for ValidatingAdmissionPolicy 'few-keys' "
            "with binding 'few-keys': at most one key",
            id="not-allowed",
        ),
        pytest.param(
            f"expect: warn\n  object: {MANY}\n  message: one key",
            "Warn",
            "9:12: error: t: it: expected the message 'one key', got \"Validation failed for ValidatingAdmissionPolicy "
            "'few-keys' with binding 'few-keys': at most one key\"",
            id="other-message",
        ),
        pytest.param(
            f"expect: allow\n  object: {FEW}\n  fields: {{data.a: z, data.b: z, data: {{a: x}}}}",
            "Deny",
            '9:20: error: t: it: expected data.a to be "z", got "x"',
            id="other-field",
        ),
        pytest.param(
            "expect: deny\n  object: {apiVersion: v1, kind: ConfigMap, metadata: {name: C}, data: {a: x}}",
            "Deny",
            '7:11: error: t: it: expected deny, got invalid: ConfigMap "C" is invalid: metadata.name: Invalid value: "C"',
            id="invalid-object",
        ),
    ],
)
def test_a_request(test, request_, action, failure):
    done = test(f"- name: it\n  {request_}", action=action)
    assert (done.code, done.err) == (1 if failure else 0, "")
    assert f"t.yaml:{failure}" in done.out if failure else done.out.startswith("1 case in 1 file: 1 passed")


def test_a_policy_that_the_server_refuses(test):
    done = test(f"- object: {FEW}\n  expect: allow", policy=POLICY.replace("request.operation", "request.operations"))
    assert done.code == 1
    assert "policy.yaml:9:17: error: spec.validations[0].expression: Invalid value" in done.out
    assert "undefined field 'operations'" in done.out
    assert done.out.endswith("1 case in 1 file: 0 passed, 1 failed, 1 skipped\n")


@pytest.mark.parametrize(
    "requests, complaint",
    [
        pytest.param(
            f"- object: {FEW}\n  expected: deny", "7:3: requests[0].expected: unknown field (one of: name, ", id="field"
        ),
        pytest.param(f"- object: {FEW}", "6:3: requests[0].expect: expected one of: allow, deny, warn", id="no-verdict"),
        pytest.param(
            f"- object: {FEW}\n  expect: denied", "7:11: requests[0].expect: expected one of: allow, deny, warn", id="verdict"
        ),
        pytest.param("- expect: deny", "6:3: requests[0]: CREATE needs object, and no oldObject", id="no-object"),
        pytest.param(f"- object: {FEW}\n  operation: UPDATE\n  expect: deny", "UPDATE needs object and oldObject", id="no-old"),
        pytest.param("- object: gone.yaml\n  expect: deny", "6:11: requests[0].object: 'gone.yaml': No such file", id="no-file"),
        pytest.param('- object: "a\\0b"\n  expect: deny', "embedded null byte", id="null-byte"),
        pytest.param(f"- object: {FEW}\n  expect: deny\n  expect: allow", "8:3: duplicate key 'expect'", id="twice"),
        pytest.param(
            f"- object: {FEW}\n  expect: deny\nworld: [{{apiVersion: v1, kind: Secret, metadata: {{}}}}]",
            "8:9: world[0]: object 1 of the world, a Secret, has no metadata.name",
            id="nameless",
        ),
        pytest.param("- object: policy.yaml\n  expect: deny", "policy.yaml: expected one object, not 2", id="two-objects"),
        pytest.param(
            "- object: {apiVersion: v2, kind: Pot, metadata: {}}\n  expect: deny", "unknown kind Pot of v2", id="unknown-kind"
        ),
        pytest.param(
            "- object: {kind: Pod}\n  expect: deny", "expected an object with apiVersion, kind and metadata", id="shape"
        ),
        pytest.param("  a: b", "requests: expected a list", id="no-table"),
        pytest.param("- deny", "6:3: requests[0]: expected a request", id="no-request"),
    ],
)
def test_bad_test_files(test, requests, complaint):
    done = test(requests)
    assert done.code == 2
    assert done.err.startswith("podstrat: t.yaml:")
    assert complaint in done.err


def test_the_line_is_shown(test):
    done = test(f"- name: it\n  object: {FEW}\n  expect: deny")
    assert done.out == (
        "t.yaml:8:11: error: t: it: expected deny, got allow\n"
        "    8 |   expect: deny\n"
        "      |           ^\n"
        "1 case in 1 file: 0 passed, 1 failed, 0 skipped\n"
    )
    assert test(f"- name: it\n  object: {FEW}\n  expect: deny", "-q").out == done.out.partition("\n")[0] + "\n"


def test_a_bad_test_does_not_stop_the_next(test):
    good = f"- object: {FEW}\n  expect: allow"
    done = test(f"- expect: deny\n---\n{HEAD}requests:\n{good}")
    assert (done.code, done.out) == (2, "1 case in 1 file: 1 passed, 0 failed, 0 skipped\n")


def test_releases(podstrat, examples):
    """Before 1.36 a server does not evaluate mutating policies by default."""
    for version, code in (("1.35", 1), ("1.36", 0)):
        assert podstrat("policy", "test", examples / "no-token.test.yaml", "-v", version).code == code
        assert podstrat("policy", "test", examples / "no-latest-tag.test.yaml", "-v", version).code == 0
    done = podstrat("policy", "test", examples, "-v", "1.2")
    assert (done.code, done.err.startswith("podstrat: --kubernetes-version: ")) == (2, True)


def test_nothing_to_test(podstrat, tmp_path):
    (tmp_path / "policy.yaml").write_text(POLICY)
    done = podstrat("policy", "test", ".")
    assert (done.code, done.err) == (2, "podstrat: no PolicyTest found\n")


def test_other_files_are_left_alone(podstrat, tmp_path, examples):
    shutil.copy(examples / "no-token.yaml", tmp_path)
    shutil.copy(examples / "no-token.test.yaml", tmp_path)
    (tmp_path / "other.yaml").write_text("a: [")
    assert podstrat("policy", "test", ".").out == "2 cases in 1 file: 2 passed, 0 failed, 0 skipped\n"


def test_outputs(test):
    requests = f"- name: good\n  object: {FEW}\n  expect: allow\n- name: bad\n  object: {MANY}\n  expect: allow"
    report = json.loads(test(requests, "-o", "json").out)
    assert [(each["name"], each["line"], each["valid"]) for each in report["results"]] == [
        ("t: good", 6, True),
        ("t: bad", 9, False),
    ]
    suites = ElementTree.fromstring(test(requests, "-o", "junit").out)
    assert (suites.get("tests"), suites.get("failures")) == ("2", "1")
    [run] = json.loads(test(requests, "-o", "sarif").out)["runs"]
    [result] = run["results"]
    assert (result["ruleId"], result["locations"][0]["physicalLocation"]["region"]["startLine"]) == ("PolicyTest", 11)
    assert test(requests, "-o", "github").out.startswith("::error file=t.yaml,line=11,")
    assert "not ok 2 - " in test(requests, "-o", "tap").out
