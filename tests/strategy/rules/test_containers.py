"""Lists of containers, and the order of checks in each."""

from __future__ import annotations

import pytest

from podstrat.strategy.formats import validation
from podstrat.strategy.rules import containers
from tests.strategy.make import context, lines

CTX = context()
VOLUMES = {"v": {"name": "v", "emptyDir": {}}}
COUNTS = {"timeoutSeconds": 1, "periodSeconds": 10, "successThreshold": 1, "failureThreshold": 3}
PROBE = COUNTS | {"exec": {"command": ["true"]}}


def container(name="c", **fields):
    made = {"name": name, "image": "i:1", "terminationMessagePolicy": "File", "imagePullPolicy": "Always", "resources": {}}
    return {key: value for key, value in (made | fields).items() if value is not None}


def spec(*listed, **fields):
    return {"containers": list(listed) or [container()], "restartPolicy": "Always"} | fields


def check(rule, given, at="spec"):
    return lines(rule(given, at, CTX, VOLUMES))


FULL = {
    "ports": [{"name": "http", "containerPort": 80, "protocol": "TCP"}],
    "env": [{"name": "A", "value": "1"}],
    "envFrom": [{"configMapRef": {"name": "cm"}}],
    "volumeMounts": [{"name": "v", "mountPath": "/data"}],
    "resources": {"limits": {"cpu": "1"}, "requests": {"cpu": "1"}},
    "resizePolicy": [{"resourceName": "cpu", "restartPolicy": "NotRequired"}],
    "securityContext": {"runAsUser": 1},
    "lifecycle": {"preStop": {"sleep": {"seconds": 1}}},
    "livenessProbe": PROBE,
    "readinessProbe": PROBE,
    "startupProbe": PROBE,
    "restartPolicy": "Always",
}


def test_a_full_container_is_healthy():
    given = spec(container("a", **FULL), container("b"), initContainers=[container("s", **FULL)])
    assert check(containers.regular, given) == []
    assert check(containers.init, given) == []


@pytest.mark.parametrize("listed", [None, []], ids=["null", "empty"])
def test_a_pod_has_a_container(listed):
    assert check(containers.regular, {"containers": listed}, "spec.template.spec") == [
        "spec.template.spec.containers: Required value"
    ]


BROKEN = {
    "image": None,
    "terminationMessagePolicy": "Log",
    "ports": [{"containerPort": 0, "protocol": "TCP"}],
    "env": [{"name": ""}],
    "envFrom": [{"secretRef": {}}],
    "volumeMounts": [{"name": "w", "mountPath": "/w"}],
    "volumeDevices": [{"name": "x", "devicePath": "/x"}],
    "imagePullPolicy": "Sometimes",
    "resources": {"limits": {"cpu": "-1"}},
    "resizePolicy": [{"resourceName": "gpu", "restartPolicy": "NotRequired"}],
    "securityContext": {"runAsUser": -1},
}


def broken_lines(at):
    return [
        f'{at}.name: Invalid value: "C": {validation.DNS_LABEL}',
        f"{at}.image: Required value",
        f'{at}.terminationMessagePolicy: Unsupported value: "Log": supported values: "File", "FallbackToLogsOnError"',
        f"{at}.ports[0].containerPort: Required value",
        f"{at}.env[0].name: Required value",
        f"{at}.envFrom[0].secretRef.name: Required value",
        f'{at}.volumeMounts[0].name: Not found: "w"',
        f'{at}.volumeDevices[0].name: Not found: "x"',
        f'{at}.imagePullPolicy: Unsupported value: "Sometimes": supported values: "Always", "IfNotPresent", "Never"',
        f'{at}.resources.limits[cpu]: Invalid value: "-1": must be greater than or equal to 0',
        f'{at}.resizePolicy: Unsupported value: "gpu": supported values: "cpu", "memory"',
        f"{at}.securityContext.runAsUser: Invalid value: -1: must be between 0 and 2147483647, inclusive",
    ]


NO_HANDLER = "Required value: must specify a handler type"
HOOKS = {"lifecycle": {"preStop": {}}, "livenessProbe": COUNTS, "readinessProbe": COUNTS, "startupProbe": COUNTS}


def test_order_in_a_regular_container():
    twice = [{"containerPort": 80, "hostPort": 80, "protocol": "TCP"}] * 2
    given = spec(container("C", ports=twice), container("C", **BROKEN, **HOOKS, restartPolicy="x"))
    at = "spec.containers[1]"
    assert check(containers.regular, given)[1:] == [
        *broken_lines(at),
        f'{at}.name: Duplicate value: "C"',
        f"{at}.lifecycle.preStop: {NO_HANDLER}",
        f"{at}.livenessProbe: {NO_HANDLER}",
        f"{at}.readinessProbe: {NO_HANDLER}",
        f"{at}.startupProbe: {NO_HANDLER}",
        f'{at}.restartPolicy: Unsupported value: "x": supported values: "Always", "Never", "OnFailure"',
        'spec.containers[0].ports[1].hostPort: Duplicate value: "TCP//80"',
    ]


def test_order_in_an_init_container():
    ports = [{"containerPort": 0, "hostPort": 80, "protocol": "TCP"}, {"containerPort": 80, "hostPort": 80, "protocol": "TCP"}]
    broken = BROKEN | HOOKS | {"ports": ports, "resizePolicy": [{"resourceName": "gpu", "restartPolicy": "RestartContainer"}]}
    given = spec(container("C"), initContainers=[container("C", **broken, restartPolicy="x")])
    at = "spec.initContainers[0]"
    forbidden = "Forbidden: may not be set for init containers without restartPolicy=Always"
    assert check(containers.init, given) == [
        *broken_lines(at),
        f'{at}.restartPolicy: Unsupported value: "x": supported values: "Always", "Never", "OnFailure"',
        f'{at}.name: Duplicate value: "C"',
        f'{at}.ports[1].hostPort: Duplicate value: "TCP//80"',
        f"{at}.lifecycle: {forbidden}",
        f"{at}.livenessProbe: {forbidden}",
        f"{at}.readinessProbe: {forbidden}",
        f"{at}.startupProbe: {forbidden}",
        f'{at}.resizePolicy[0].restartPolicy: Invalid value: "RestartContainer": '
        "must not be set to 'RestartContainer' for non-sidecar initContainers",
    ]


def test_sidecars_are_probed_and_may_be_restarted_by_a_resize():
    policies = [{"resourceName": "cpu", "restartPolicy": "RestartContainer"}]
    given = spec(initContainers=[container("s", restartPolicy="Always", resizePolicy=policies, **HOOKS)])
    assert check(containers.init, given) == [
        f"spec.initContainers[0].lifecycle.preStop: {NO_HANDLER}",
        f"spec.initContainers[0].livenessProbe: {NO_HANDLER}",
        f"spec.initContainers[0].readinessProbe: {NO_HANDLER}",
        f"spec.initContainers[0].startupProbe: {NO_HANDLER}",
    ]


def test_rules_of_an_init_container_need_a_policy():
    given = spec(initContainers=[container("i", restartPolicyRules=[{}])])
    text = "must specify restartPolicy when restart rules are used"
    assert check(containers.init, given) == [f"spec.initContainers[0].restartPolicy: Required value: {text}"]


@pytest.mark.parametrize(
    "names, errors",
    [
        pytest.param(["i", "j"], [], id="different"),
        pytest.param(["i", "c"], ['[1].name: Duplicate value: "c"'], id="as-a-container"),
        pytest.param(["i", "i"], ['[1].name: Duplicate value: "i"'], id="as-another"),
        pytest.param(["", ""], ["[0].name: Required value", "[1].name: Required value"], id="empty-names-do-not-clash"),
    ],
)
def test_names_of_init_containers(names, errors):
    given = spec(initContainers=[container(name) for name in names])
    assert check(containers.init, given) == [f"spec.initContainers{error}" for error in errors]


def test_empty_names_of_regular_containers_clash():
    assert check(containers.regular, spec(container(""), container(""))) == [
        "spec.containers[0].name: Required value",
        "spec.containers[1].name: Required value",
        'spec.containers[1].name: Duplicate value: ""',
    ]


def test_enums_without_a_value():
    given = spec(container(terminationMessagePolicy=None, imagePullPolicy=None))
    assert check(containers.regular, given) == [
        "spec.containers[0].terminationMessagePolicy: Required value",
        "spec.containers[0].imagePullPolicy: Required value",
    ]


E = "spec.ephemeralContainers"
FORBIDDEN = "Forbidden: cannot be set for an Ephemeral Container"


@pytest.mark.parametrize(
    "listed, errors",
    [
        pytest.param([], [], id="none"),
        pytest.param([container("e", targetContainerName="c")], [], id="ordinary"),
        pytest.param([container("e", env=[{"name": "A"}], securityContext={"runAsUser": 1})], [], id="may-have-much"),
        pytest.param([container("E")], [f'{E}[0].name: Invalid value: "E": {validation.DNS_LABEL}'], id="common-rules"),
        pytest.param([container("c")], [f'{E}[0].name: Duplicate value: "c"'], id="as-a-container"),
        pytest.param([container("i")], [f'{E}[0].name: Duplicate value: "i"'], id="as-an-init-container"),
        pytest.param([container("e"), container("e")], [f'{E}[1].name: Duplicate value: "e"'], id="as-another"),
        pytest.param(
            [container("e"), container("f", targetContainerName="e")],
            [f'{E}[1].targetContainerName: Not found: "e"'],
            id="target-is-ephemeral",
        ),
        pytest.param(
            [container("e", image="x ")],
            [f'{E}[0].image: Invalid value: "x ": must not have leading or trailing whitespace'],
            id="padded-image",
        ),
        pytest.param(
            [
                container(
                    "e",
                    lifecycle={},
                    startupProbe={},
                    readinessProbe={},
                    livenessProbe={},
                    restartPolicyRules=[],
                    restartPolicy="Always",
                    resizePolicy=[],
                    resources={"claims": []},
                    ports=[],
                )
            ],
            [
                f"{E}[0].{name}: {FORBIDDEN}"
                for name in (
                    *("ports", "resources", "resizePolicy", "restartPolicy", "restartPolicyRules"),
                    *("livenessProbe", "readinessProbe", "startupProbe", "lifecycle"),
                )
            ],
            id="empty-but-set",
        ),
        pytest.param(
            [
                container(
                    "e",
                    volumeMounts=[
                        {"name": "v", "mountPath": "/a", "subPath": "b"},
                        {"name": "v", "mountPath": "/b", "subPathExpr": "c"},
                    ],
                )
            ],
            [f"{E}[0].volumeMounts[0].subPath: {FORBIDDEN}", f"{E}[0].volumeMounts[1].subPathExpr: {FORBIDDEN}"],
            id="parts-of-volumes",
        ),
    ],
)
def test_ephemeral(listed, errors):
    assert check(containers.ephemeral, spec(initContainers=[container("i")], ephemeralContainers=listed)) == errors


@pytest.mark.parametrize(
    "image, padded",
    [("x:1", False), (" x", True), ("x\u3000", True), ("x\x1f", False), ("", False), (" ", True)],
    ids=["plain", "space", "wide-space", "separator", "empty", "blank"],
)
def test_images_are_not_padded(image, padded):
    given = spec(container(image=image or None), initContainers=[container("i", image=image or None)])
    found = [error.field for error in containers.image_whitespace(given, "spec")]
    assert found == (["spec.containers[0].image", "spec.initContainers[0].image"] if padded else [])
