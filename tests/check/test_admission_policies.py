"""Policies in `podstrat check`."""

from __future__ import annotations

import pytest

from tests.check.conftest import GOOD

POLICY = """\
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: fixed-tags}
spec:
  matchConstraints:
    resourceRules:
    - {apiGroups: [""], apiVersions: [v1], operations: [CREATE], resources: [pods]}
  validations:
  - expression: object.spec.containers.all(c, !c.image.endsWith(':latest'))
    message: MESSAGE
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: everywhere}
spec: {policyName: fixed-tags, validationActions: [ACTION]}
"""
LATEST = GOOD.replace("1.29", "latest")


@pytest.mark.parametrize(
    "message, action, code, finding",
    [
        pytest.param("spec.containers[0].image has no tag", "Deny", 1, "pod.yaml:8:12: error: pods", id="at the field it names"),
        pytest.param("spec.nowhere is wrong", "Deny", 1, "pod.yaml:1:1: error: pods", id="at the object"),
        pytest.param("spec.containers[0].image has no tag", "Warn", 0, "pod.yaml:8:12: warning: Validation", id="a warning"),
    ],
)
def test_policies(podstrat, write, message, action, code, finding):
    policies = write("policies/tags.yaml", POLICY.replace("MESSAGE", message).replace("ACTION", action))
    done = podstrat("check", write("pod.yaml", LATEST), "--policies", policies)
    assert (done.code, done.err) == (code, "")
    assert done.out.startswith(finding)
    assert "'fixed-tags' with binding 'everywhere'" in done.out
    assert f": {message} [ValidatingAdmissionPolicy]" in done.out
    assert podstrat("check", "pod.yaml", "--policies", policies, "--admission", "none", "-q").code == 0


def test_policies_alone_run_no_other_plugin(podstrat, write):
    policies = write("policies.yaml", POLICY.replace("MESSAGE", "refused").replace("ACTION", "Deny"))
    done = podstrat("check", write("pod.yaml", LATEST.replace(":latest", ":1")), "--policies", policies)
    assert done == (0, "1 object checked in 1 file: 1 valid, 0 invalid (0 errors, 0 warnings), 0 skipped\n", "")
