"""`podstrat policy cost`: estimates of how the work of policies grows."""

from __future__ import annotations

import json

POLICY = """\
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: ports}
spec:
  paramKind: {apiVersion: v1, kind: ConfigMap}
  variables:
  - {name: allowed, expression: "params.data.ports.split(',')"}
  - {name: fixed, expression: "['a', 'b']"}
  matchConditions:
  - {name: c, expression: object.metadata.name != 'x'}
  validations:
  - expression: object.spec.containers.all(c, c.ports.all(p, string(p.containerPort) in variables.allowed))
    messageExpression: variables.fixed.filter(f, f != 'a').join(',')
"""


def test_text(podstrat, tmp_path):
    (tmp_path / "policy.yaml").write_text(POLICY)
    done = podstrat("policy", "cost", "policy.yaml")
    assert (done.code, done.err) == (0, "")
    assert done.out == (
        "Estimates of how the work grows with the lengths of lists and maps:\n"
        "ValidatingAdmissionPolicy/ports (policy.yaml)\n"
        "  7:33 spec.variables[0].expression: constant\n"
        "  8:31 spec.variables[1].expression: constant\n"
        "  10:27 spec.matchConditions[0].expression: constant\n"
        "  12:17 spec.validations[0].expression: quadratic in object.spec.containers[].ports × params.data.ports\n"
        "  13:24 spec.validations[0].messageExpression: constant\n"
    )


def test_json(podstrat, tmp_path):
    (tmp_path / "policy.yaml").write_text(POLICY)
    report = json.loads(podstrat("policy", "cost", "-o", "json", "policy.yaml").out)
    found = {each["field"]: (each["degree"], each["terms"]) for each in report["estimates"]}
    terms = [["object.spec.containers"], ["object.spec.containers[].ports", "params.data.ports"]]
    assert found["spec.validations[0].expression"] == (2, terms)
    assert found["spec.variables[1].expression"] == (0, [])


def test_an_expression_that_does_not_compile(podstrat, tmp_path):
    (tmp_path / "policy.yaml").write_text(POLICY.replace("object.metadata", "obj.metadata"))
    done = podstrat("policy", "cost", "policy.yaml")
    assert done.code == 1
    assert (
        "  10:27 spec.matchConditions[0].expression: compilation failed: ERROR: <input>:1:1: undeclared reference to 'obj'"
        in done.out
    )


def test_nothing_to_estimate(podstrat, tmp_path):
    (tmp_path / "pod.yaml").write_text("apiVersion: v1\nkind: Pod\nmetadata: {name: web}\n")
    done = podstrat("policy", "cost", "pod.yaml")
    assert (done.code, done.err) == (2, "podstrat: no ValidatingAdmissionPolicy or MutatingAdmissionPolicy found\n")
    (tmp_path / "bad.yaml").write_text("a: [")
    assert podstrat("policy", "cost", "bad.yaml").code == 2
    assert podstrat("policy", "cost", "gone.yaml").code == 2


def test_the_examples(podstrat, examples):
    done = podstrat("policy", "cost", examples)
    assert done.code == 0
    assert done.out.count("AdmissionPolicy/") == 20
    assert "cubic" not in done.out
