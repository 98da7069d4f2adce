"""--references: names that none of the files has, and selectors that match nothing."""

from __future__ import annotations

import json
from typing import Any

import pytest

from podstrat.check.outputs.sarif import RULES
from podstrat.check.report import HINTS
from tests.check.conftest import GOOD

MISSING = "MissingReference"
POD = """\
apiVersion: v1
kind: Pod
metadata: {{name: web, labels: {{app: web}}}}
spec:
  containers:
  - name: web
    image: nginx:1.29
{0}
"""


def thing(kind: str, name: str, namespace: str = "", api_version: str = "v1", rest: str = "") -> str:
    where = f", namespace: {namespace}" if namespace else ""
    return f"---\napiVersion: {api_version}\nkind: {kind}\nmetadata: {{name: {name}{where}}}\n{rest}\n"


def hints(podstrat: Any, text: str, *argv: str) -> list[tuple[str, int, int]]:
    """Id, line and column of each hint."""
    done = podstrat("check", "--references", "-o", "json", "-", *argv, stdin=text)
    found = [each for result in json.loads(done.out)["results"] for each in result["warnings"] if each["type"] in HINTS]
    return [(each["id"], each["line"], each["column"]) for each in found]


def missing(podstrat: Any, text: str, *argv: str) -> list[str]:
    return [name.removeprefix(f"{MISSING}:") for name, _, _ in hints(podstrat, text, *argv)]


# ---- names -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "lines, field",
    [
        pytest.param("  serviceAccountName: absent", "serviceAccountName", id="service-account"),
        pytest.param("  serviceAccount: absent", "serviceAccount", id="deprecated-service-account"),
        pytest.param("  priorityClassName: absent", "priorityClassName", id="priority-class"),
        pytest.param("  runtimeClassName: absent", "runtimeClassName", id="runtime-class"),
        pytest.param("  imagePullSecrets: [{name: absent}]", "imagePullSecrets.name", id="pull-secret"),
        pytest.param(
            "    env: [{name: A, valueFrom: {configMapKeyRef: {name: absent, key: k}}}]",
            "containers.env.valueFrom.configMapKeyRef.name",
            id="config-map-key",
        ),
        pytest.param(
            "    env: [{name: A, valueFrom: {secretKeyRef: {name: absent, key: k}}}]",
            "containers.env.valueFrom.secretKeyRef.name",
            id="secret-key",
        ),
        pytest.param(
            "    envFrom: [{configMapRef: {name: absent}}]", "containers.envFrom.configMapRef.name", id="env-from-config-map"
        ),
        pytest.param("    envFrom: [{secretRef: {name: absent}}]", "containers.envFrom.secretRef.name", id="env-from-secret"),
        pytest.param(
            "  initContainers:\n  - {name: i, image: x, envFrom: [{secretRef: {name: absent}}]}",
            "initContainers.envFrom.secretRef.name",
            id="init-container",
        ),
        pytest.param("  volumes: [{name: v, configMap: {name: absent}}]", "volumes.configMap.name", id="config-map-volume"),
        pytest.param("  volumes: [{name: v, secret: {secretName: absent}}]", "volumes.secret.secretName", id="secret-volume"),
        pytest.param(
            "  volumes: [{name: v, persistentVolumeClaim: {claimName: absent}}]",
            "volumes.persistentVolumeClaim.claimName",
            id="claim",
        ),
        pytest.param(
            "  volumes: [{name: v, projected: {sources: [{secret: {name: absent}}]}}]",
            "volumes.projected.sources.secret.name",
            id="projected-secret",
        ),
        pytest.param(
            "  volumes: [{name: v, csi: {driver: d, nodePublishSecretRef: {name: absent}}}]",
            "volumes.csi.nodePublishSecretRef.name",
            id="driver-secret",
        ),
        pytest.param(
            "  resourceClaims: [{name: r, resourceClaimName: absent}]", "resourceClaims.resourceClaimName", id="resource-claim"
        ),
        pytest.param(
            "  resourceClaims: [{name: r, resourceClaimTemplateName: absent}]",
            "resourceClaims.resourceClaimTemplateName",
            id="resource-claim-template",
        ),
    ],
)
def test_a_name_that_no_file_has(podstrat: Any, lines: str, field: str) -> None:
    text = POD.format(lines)
    before = text[: text.index("absent")].split("\n")
    assert hints(podstrat, text) == [(f"{MISSING}:spec.{field}", len(before), len(before[-1]) + 1)]


@pytest.mark.parametrize(
    "lines, other",
    [
        pytest.param("  serviceAccountName: robot", thing("ServiceAccount", "robot"), id="same-default-namespace"),
        pytest.param("  serviceAccountName: robot", thing("ServiceAccount", "robot", "default"), id="namespace-default"),
        pytest.param("  serviceAccountName: default", "", id="every-namespace-has-it"),
        pytest.param("  volumes: [{name: v, configMap: {name: kube-root-ca.crt}}]", "", id="root-certificates"),
        pytest.param("  priorityClassName: system-node-critical", "", id="system-priority"),
        pytest.param(
            "  priorityClassName: high", thing("PriorityClass", "high", "", "scheduling.k8s.io/v1"), id="priority-class"
        ),
        pytest.param("  runtimeClassName: kata", thing("RuntimeClass", "kata", "", "node.k8s.io/v1"), id="runtime-class"),
        pytest.param("  volumes: [{name: v, configMap: {name: c, optional: true}}]", "", id="optional"),
        pytest.param("    envFrom: [{secretRef: {name: c, optional: true}}]", "", id="optional-environment"),
        pytest.param("    envFrom: [{secretRef: {name: ''}}]", "", id="no-name"),
        pytest.param("    envFrom: [{secretRef: {name: '${SECRET}'}}]", "", id="filled-in-by-a-tool"),
        pytest.param(
            "    envFrom: [{secretRef: {name: s}}]", thing("SealedSecret", "s", "", "bitnami.com/v1alpha1"), id="sealed-secret"
        ),
        pytest.param(
            "    envFrom: [{secretRef: {name: s}}]",
            thing("ExternalSecret", "e", "", "external-secrets.io/v1", "spec: {target: {name: s}}"),
            id="external-secret",
        ),
        pytest.param(
            "    envFrom: [{secretRef: {name: s}}]",
            thing("Certificate", "e", "", "cert-manager.io/v1", "spec: {secretName: s}"),
            id="certificate",
        ),
        pytest.param(
            "  resourceClaims: [{name: r, resourceClaimTemplateName: gpu}]",
            thing("ResourceClaimTemplate", "gpu", "", "resource.k8s.io/v1beta1"),
            id="any-version-of-the-group",
        ),
        pytest.param(
            "    envFrom: [{configMapRef: {name: c}}]",
            "---\napiVersion: v1\nkind: List\nitems:\n- {apiVersion: v1, kind: ConfigMap, metadata: {name: c}}\n",
            id="in-a-list",
        ),
        pytest.param(
            "  volumes: [{name: v, persistentVolumeClaim: {claimName: data-db-12}}]",
            thing("StatefulSet", "db", "", "apps/v1", "spec: {volumeClaimTemplates: [{metadata: {name: data}}]}"),
            id="claim-of-a-stateful-set",
        ),
    ],
)
def test_a_name_that_is_there(podstrat: Any, lines: str, other: str) -> None:
    assert missing(podstrat, POD.format(lines) + other) == []


@pytest.mark.parametrize(
    "other",
    [
        pytest.param(thing("ConfigMap", "c", "elsewhere"), id="other-namespace"),
        pytest.param(thing("Secret", "c"), id="other-kind"),
        pytest.param(thing("ConfigMap", "c", "", "example.com/v1"), id="other-group"),
    ],
)
def test_another_object_does_not_count(podstrat: Any, other: str) -> None:
    text = POD.format("    envFrom: [{configMapRef: {name: c}}]") + other
    assert missing(podstrat, text) == ["spec.containers.envFrom.configMapRef.name"]


def test_the_namespace_of_the_run_is_that_of_objects_without_one(podstrat: Any) -> None:
    text = POD.format("    envFrom: [{configMapRef: {name: c}}]") + thing("ConfigMap", "c", "shop")
    assert missing(podstrat, text, "-n", "shop") == []


CARRIED = "spec: {containers: [{name: c, image: x, envFrom: [{secretRef: {name: s}}]}]%s}"


@pytest.mark.parametrize(
    "text, at",
    [
        pytest.param(
            thing("CronJob", "c", "", "batch/v1", "spec: {jobTemplate: {spec: {template: {%s}}}}" % (CARRIED % "")),
            "spec.jobTemplate.spec.template",
            id="cron-job",
        ),
        pytest.param(
            thing("Rollout", "r", "", "argoproj.io/v1alpha1", "spec: {template: {%s}}" % (CARRIED % "")),
            "spec.template",
            id="carrier",
        ),
        pytest.param(thing("PodTemplate", "p", "", "v1", "template: {%s}" % (CARRIED % "")), "template", id="pod-template"),
    ],
)
def test_pod_templates(podstrat: Any, text: str, at: str) -> None:
    assert missing(podstrat, text) == [f"{at}.spec.containers.envFrom.secretRef.name"]


def test_pull_secrets_of_a_service_account(podstrat: Any) -> None:
    text = thing("ServiceAccount", "robot", rest="imagePullSecrets: [{name: pull}]")
    assert missing(podstrat, text) == ["imagePullSecrets.name"]


def test_what_may_have_been_meant(podstrat: Any) -> None:
    text = POD.format("    envFrom: [{configMapRef: {name: setings}}, {secretRef: {name: key}}]")
    text += thing("ConfigMap", "settings") + thing("Secret", "key", "vault")
    done = podstrat("check", "--references", "-", stdin=text)
    assert done.code == 0
    words = 'ConfigMap "setings" of namespace default is in none of the checked files'
    assert f"<stdin>:8:37: hint: spec.containers[0].envFrom[0].configMapRef.name: {words}\n" in done.out
    assert "  hint: did you mean settings?\n" in done.out
    assert "  hint: namespace vault has one; a pod can use only those of its own namespace\n" in done.out
    assert done.out.endswith("3 valid, 0 invalid (0 errors, 0 warnings, 2 hints), 0 skipped\n")


def test_files_are_looked_at_together(podstrat: Any, write: Any) -> None:
    write(
        "a/pod.yaml", POD.format("    envFrom: [{configMapRef: {name: c}}, {secretRef: {name: made}}, {secretRef: {name: lost}}]")
    )
    write("b/settings.yaml", thing("ConfigMap", "c"))
    write("b/broken.yaml", "a: [\n")
    write("kustomization.yaml", "secretGenerator: [{name: made}, {literals: []}, 3]\n")
    for jobs in ("1", "2"):
        done = podstrat("check", "--references", ".", "-j", jobs, "-o", "json")
        results = json.loads(done.out)["results"]
        assert [each["value"] for result in results for each in result["warnings"]] == ["lost"]


# ---- selectors -------------------------------------------------------------------------------------------


def service(selector: str, rest: str = "") -> str:
    return thing("Service", "web", rest=f"spec:\n  ports: [{{port: 80}}]\n  selector: {selector}\n{rest}")


def budget(selector: str) -> str:
    return thing("PodDisruptionBudget", "web", "", "policy/v1", f"spec:\n  maxUnavailable: 1\n  selector: {selector}")


SERVICE = ["ServiceSelectsNothing:spec.selector"]
BUDGET = ["BudgetCoversNothing:spec.selector"]


@pytest.mark.parametrize(
    "text, expected",
    [
        pytest.param(service("{app: web}"), [], id="service-matches"),
        pytest.param(service("{app: other}"), SERVICE, id="service-matches-nothing"),
        pytest.param(service("{app: web, tier: front}"), SERVICE, id="one-label-of-two"),
        pytest.param(service("{}"), [], id="service-without-selector"),
        pytest.param(service("{app: other}", "  type: ExternalName"), [], id="external-name"),
        pytest.param(service("{app: [1]}"), [], id="not-a-selector"),
        pytest.param(service("{app: web, statefulset.kubernetes.io/pod-name: web-0}"), [], id="label-of-a-controller"),
        pytest.param(budget("{matchLabels: {app: web}}"), [], id="budget-covers"),
        pytest.param(budget("{}"), [], id="budget-covers-all"),
        pytest.param(budget("{matchLabels: {app: other}}"), BUDGET, id="budget-covers-nothing"),
        pytest.param(budget("{matchExpressions: [{key: app, operator: In, values: [a, web]}]}"), [], id="expression"),
        pytest.param(budget("{matchExpressions: [{key: app, operator: DoesNotExist}]}"), BUDGET, id="expression-matches-nothing"),
        pytest.param(budget("{matchExpressions: [{key: 1}]}"), [], id="not-an-expression"),
        pytest.param(budget("null"), BUDGET, id="no-selector"),
    ],
)
def test_selectors(podstrat: Any, text: str, expected: list[str]) -> None:
    whole = POD.format("") + text
    line = whole[: whole.index("  selector:")].count("\n") + 1
    assert hints(podstrat, whole) == [(name, line, 3) for name in expected]


def test_pods_of_another_namespace_are_not_selected(podstrat: Any) -> None:
    text = POD.format("") + thing("Service", "web", "shop", rest="spec: {selector: {app: web}, ports: [{port: 80}]}")
    assert [name for name, _, _ in hints(podstrat, text)] == ["ServiceSelectsNothing:spec.selector"]


# ---- hints among findings ----------------------------------------------------------------------------------


def test_without_the_option_there_are_no_hints(podstrat: Any) -> None:
    done = podstrat("check", "-", stdin=POD.format("  serviceAccountName: robot"))
    assert "hint" not in done.out


def test_an_error_and_a_hint_of_one_object(podstrat: Any) -> None:
    text = GOOD.replace("name: web\n    image", "name: Web\n    image") + "  serviceAccountName: robot\n"
    (result,) = json.loads(podstrat("check", "--references", "-", "-o", "json", stdin=text).out)["results"]
    assert [each["type"] for each in result["errors"]] == ["FieldValueInvalid"]
    assert [each["type"] for each in result["warnings"]] == [MISSING]


def test_suppression(podstrat: Any) -> None:
    text = POD.format(f"  serviceAccountName: robot # podstrat: ignore={MISSING}:spec.serviceAccountName the cluster has it")
    assert missing(podstrat, text) == []
    # Whether there is such a hint depends on the other files, so that none is no fault of the comment.
    assert json.loads(podstrat("check", "-", "-o", "json", stdin=text).out)["summary"]["warnings"] == 0


def test_suppression_by_annotation(podstrat: Any) -> None:
    ignored = f"annotations: {{podstrat.dev/ignore: '{MISSING}:spec.serviceAccountName'}}"
    text = POD.format("  serviceAccountName: robot").replace("labels: {app: web}", ignored)
    assert missing(podstrat, text) == []
    assert json.loads(podstrat("check", "-", "-o", "json", stdin=text).out)["summary"]["warnings"] == 0


def test_quiet_leaves_hints_out(podstrat: Any) -> None:
    done = podstrat("check", "--references", "-q", "-", stdin=POD.format("  serviceAccountName: robot"))
    assert (done.code, done.out) == (0, "")


@pytest.mark.parametrize(
    "output, words",
    [
        pytest.param("github", "::notice file=<stdin>,line=8,col=23", id="github"),
        pytest.param("sarif", '"level": "note"', id="sarif"),
        pytest.param("gitlab", '"severity": "info"', id="gitlab"),
        pytest.param("junit", "&lt;stdin&gt;:8:23: hint: spec.serviceAccountName", id="junit"),
    ],
)
def test_formats_tell_hints_from_warnings(podstrat: Any, output: str, words: str) -> None:
    assert words in podstrat("check", "--references", "-", "-o", output, stdin=POD.format("  serviceAccountName: robot")).out


def test_every_hint_is_a_rule_of_the_reports() -> None:
    assert set(RULES) >= HINTS


def test_the_configuration_file_may_ask_for_them(podstrat: Any, write: Any) -> None:
    write(".podstrat.yaml", "references: true\n")
    done = podstrat("check", write("pod.yaml", POD.format("  serviceAccountName: robot")))
    assert "1 hint)" in done.out
