"""`podstrat check`: what it says, its flags, its exit codes."""

from __future__ import annotations

import gc
import json

import pytest

from podstrat.check import command, config
from tests.check.conftest import GOOD

BAD = GOOD.replace("name: web\nspec", "name: Web\nspec")
UNKNOWN = GOOD + "    imagePolicy: Always\n"
TWICE = GOOD + "    image: nginx:1.30\n"
ENDPOINTS = "apiVersion: v1\nkind: Endpoints\nmetadata:\n  name: s\n"
ROLLOUT = """\
apiVersion: argoproj.io/v1alpha1
kind: Rollout
metadata:
  name: r
spec:
  template:
    metadata: {}
    spec:
      containers:
      - name: c
        image: x:1
"""


def first(done):
    """The first error of a JSON report."""
    return json.loads(done.out)["results"][0]["errors"][0]


# ---- exit codes ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "argv, text, code",
    [
        pytest.param([], GOOD, 0, id="valid"),
        pytest.param([], BAD, 1, id="invalid"),
        pytest.param([], "a: [", 1, id="no-yaml"),
        pytest.param([], "a: 1\nb: a: c\n---\n" + GOOD, 1, id="no-yaml-in-one-document"),
        pytest.param([], ENDPOINTS, 2, id="nothing-checked"),
        pytest.param([], "", 2, id="empty"),
        pytest.param(["--allow-empty"], ENDPOINTS, 0, id="nothing-checked-is-fine"),
        pytest.param(["--allow-empty"], "", 0, id="empty-is-fine"),
        pytest.param(["--exit-zero"], BAD, 0, id="report-only"),
        pytest.param(["--exit-zero"], "", 2, id="report-only-of-nothing"),
        pytest.param(["-o", "xml"], GOOD, 2, id="unknown-format"),
        pytest.param(["-j", "-1"], GOOD, 2, id="negative-jobs"),
        pytest.param(["--kubernetes-version", "1.12"], GOOD, 2, id="unknown-release"),
        pytest.param(["-v", "v1.36.4"], GOOD, 0, id="release-of-a-patch"),
        pytest.param(["--feature-gates", "Nope=true"], GOOD, 2, id="unknown-gate"),
        pytest.param(["--template-path", "=x"], GOOD, 2, id="bad-template-path"),
        pytest.param(["--field-validation", "loud"], GOOD, 2, id="bad-validation"),
        pytest.param(["--skip", "Pod"], GOOD, 2, id="everything-skipped"),
    ],
)
def test_exit_codes(podstrat, argv, text, code):
    assert podstrat("check", "-", *argv, stdin=text).code == code


def test_nothing_checked_says_why(podstrat):
    done = podstrat("check", "-", stdin=ENDPOINTS)
    assert done.err == (
        "podstrat: nothing was checked (1 skipped: not a kind with a known pod template); --allow-empty accepts that\n"
    )


def test_a_process_that_is_not_ours_stays_as_it_is(podstrat):
    before = gc.get_threshold()
    assert podstrat("check", "-", stdin=GOOD).code == 0
    assert gc.get_threshold() == before


def test_a_bug_is_three(podstrat, monkeypatch):
    monkeypatch.setattr(command, "checked", lambda args, output: 1 / 0)
    done = podstrat("check", "-", stdin=GOOD)
    assert done.code == 3
    assert "internal error: ZeroDivisionError" in done.err


# ---- field validation ----------------------------------------------------------------------------------

DUPLICATE = "spec.containers[0].image: duplicate key: already defined on line 8; kubectl silently uses the last one"
UNKNOWN_FIELD = 'unknown field "spec.containers[0].imagePolicy"'


@pytest.mark.parametrize(
    "validation, text, errors, warnings",
    [
        pytest.param(
            [],
            UNKNOWN,
            [f'Pod in version "v1" cannot be handled as a Pod: strict decoding error: {UNKNOWN_FIELD}'],
            [],
            id="strict",
        ),
        pytest.param(["warn"], UNKNOWN, [], [UNKNOWN_FIELD], id="warn"),
        pytest.param(["ignore"], UNKNOWN, [], [], id="ignore"),
        pytest.param(
            ["strict"],
            TWICE,
            [DUPLICATE],
            [],
            id="key-twice-strict",
        ),
        pytest.param(
            ["warn"],
            TWICE,
            [],
            [DUPLICATE],
            id="key-twice-warn",
        ),
        pytest.param(["ignore"], TWICE, [], [], id="key-twice-ignore"),
    ],
)
def test_field_validation(podstrat, validation, text, errors, warnings):
    flag = ["--field-validation", *validation] if validation else []
    done = podstrat("check", "-", *flag, "-o", "json", stdin=text)
    (result,) = json.loads(done.out)["results"]
    assert [each["message"] for each in result["errors"]] == errors
    assert [each["message"] for each in result["warnings"]] == warnings
    assert done.code == bool(errors)


def test_each_unknown_field_has_its_own_error(podstrat):
    text = UNKNOWN.replace("spec:", "spec:\n  colour: red")
    (result,) = json.loads(podstrat("check", "-", "-o", "json", stdin=text).out)["results"]
    assert [(each["field"], each["line"], each["column"]) for each in result["errors"]] == [
        ("spec.colour", 6, 3),
        ("spec.containers[0].imagePolicy", 10, 5),
    ]
    assert result["message"].endswith('unknown field "spec.colour", unknown field "spec.containers[0].imagePolicy"')


def test_a_key_that_a_merge_brings_is_no_error(podstrat):
    text = """\
apiVersion: v1
kind: Pod
metadata: {name: web}
spec:
  containers:
  - &base {name: a, image: x:1}
  - <<: *base
    name: b
"""
    assert podstrat("check", "-", stdin=text).code == 0


def test_keys_that_a_list_has_twice(podstrat):
    text = "apiVersion: v1\nkind: List\nitems: []\nitems: []\n"
    error = first(podstrat("check", "-", "-o", "json", stdin=text))
    assert (error["type"], error["field"], error["line"]) == ("DuplicateKey", "items", 4)


@pytest.mark.parametrize(
    "drop, field",
    [pytest.param("apiVersion: v1\n", "apiVersion", id="apiVersion"), pytest.param("kind: Pod\n", "kind", id="kind")],
)
def test_what_kubectl_does_not_send(podstrat, drop, field):
    text = GOOD.replace(drop, "")
    error = first(podstrat("check", "-", "-o", "json", stdin=text))
    assert error["message"] == f"error validating data: {field} not set"
    done = podstrat("check", "-", "-o", "json", "--field-validation", "warn", stdin=text)
    (result,) = json.loads(done.out)["results"]
    assert (done.code, result["code"], [each["type"] for each in result["warnings"]]) == (0, 201, ["NotSet"])


# ---- the server ----------------------------------------------------------------------------------------


def test_the_release_decides(podstrat):
    text = GOOD + "    restartPolicyRules:\n    - action: Restart\n      exitCodes: {operator: In, values: [1]}\n"
    codes = [podstrat("check", "-", "-v", version, "-q", stdin=text).code for version in ("1.34", "1.37")]
    assert codes == [0, 1]  # 1.34 drops the field, 1.37 wants a restartPolicy beside it


def test_gates_decide(podstrat):
    text = GOOD.replace("spec:", "spec:\n  resources: {limits: {cpu: 1, nope: 1}}")
    gate = "PodLevelResources=false,InPlacePodLevelResourcesVerticalScaling=false,PodLevelResourcesFixDefaulting=false"
    assert podstrat("check", "-", stdin=text).code == 1
    done = podstrat(
        "check", "-", "--feature-gates", gate, "--feature-gates", "PodLevelResourcesFixKubeletQOSClass=false", stdin=text
    )
    assert done.code == 0


def test_the_namespace_that_objects_go_to(podstrat):
    text = GOOD.replace("name: web\nspec", "name: web\n  namespace: ml\nspec")
    assert podstrat("check", "-", "-n", "ml", stdin=text).code == 0
    done = podstrat("check", "-", "-n", "web", stdin=text)
    assert done.out.startswith(
        "<stdin>:5:14: error: the namespace of the provided object does not match the namespace sent on the request\n"
    )
    assert "You must pass '--namespace=ml'" in done.out
    assert json.loads(podstrat("check", "-", "-n", "ml", "-o", "json", stdin=GOOD).out)["results"][0]["namespace"] == "ml"


def test_custom_resources(podstrat):
    flag = ("--template-path", "Rollout.argoproj.io=spec.template")
    assert podstrat("check", "-", "--custom-resources", "skip", stdin=ROLLOUT).code == 2
    assert podstrat("check", "-", *flag, stdin=ROLLOUT).code == 0
    error = first(podstrat("check", "-", *flag, "-o", "json", stdin=ROLLOUT.replace("name: c", "name: C")))
    assert (error["field"], error["line"], error["column"]) == ("spec.template.spec.containers[0].name", 10, 15)
    done = podstrat("check", "-", *flag, "-o", "status", stdin=ROLLOUT.replace("image: x:1", "image: ''"))
    assert json.loads(done.out)["message"] == (
        'Rollout.argoproj.io "r" is invalid: spec.template.spec.containers[0].image: Required value'
    )


@pytest.mark.parametrize(
    "old, new, message, place",
    [
        pytest.param(
            "image: x:1",
            "image: 5",
            'Rollout in version "v1alpha1" cannot be handled as a Rollout: json: cannot unmarshal number into Go struct field '
            "Container.spec.template.spec.containers.image of type string",
            (11, 16),
            id="wrong-type",
        ),
        pytest.param(
            "image: x:1",
            "image: x:1\n        colour: red",
            'Rollout in version "v1alpha1" cannot be handled as a Rollout: strict decoding error: unknown field '
            '"spec.template.spec.containers[0].colour"',
            (12, 9),
            id="unknown-field",
        ),
    ],
)
def test_custom_resources_that_cannot_be_read(podstrat, old, new, message, place):
    done = podstrat("check", "-", "--template-path", "spec.template", "-o", "json", stdin=ROLLOUT.replace(old, new))
    error = first(done)
    assert error["message"] == message
    assert (error["line"], error["column"]) == place


def test_a_misspelt_kind_is_told(podstrat):
    text = "apiVersion: apps/v1\nkind: deployment\nmetadata: {name: d}\n"
    error = first(podstrat("check", "-", "-o", "json", stdin=text))
    assert error["message"].startswith('deployment in version "v1" cannot be handled as a Deployment: no kind "deployment" is')
    assert (error["line"], error["column"]) == (2, 7)
    assert error["hint"].endswith("write apiVersion: apps/v1, kind: Deployment")


# ---- the run -------------------------------------------------------------------------------------------


def test_fail_fast(podstrat, write):
    for name in "abc":
        write(f"{name}.yaml", BAD if name != "a" else GOOD)
    done = podstrat("check", ".", "--fail-fast")
    assert done.code == 1
    assert "b.yaml:4:9" in done.out
    assert "c.yaml" not in done.out
    assert podstrat("check", ".", "--fail-fast", "-j", 2, "-q").out.startswith("b.yaml:4:9")


@pytest.mark.parametrize("jobs", [2, 5])
def test_processes_give_the_same_report(podstrat, write, jobs):
    for i in range(40):
        write(f"{i:02}.yaml", [GOOD, BAD, UNKNOWN, TWICE, ENDPOINTS, "a: ["][i % 6])
    alone = podstrat("check", ".", "-o", "json", "-j", 1)
    together = podstrat("check", ".", "-o", "json", "-j", jobs)
    assert alone == together


def test_machine_output_stands_alone(podstrat):
    done = podstrat("check", "-", "-o", "json", stdin=BAD)
    assert json.loads(done.out)["summary"]["invalid"] == 1
    assert done.err == "podstrat: 1 object checked in 1 file: 0 valid, 1 invalid (1 error, 0 warnings), 0 skipped\n"
    assert podstrat("check", "-", "-o", "json", "-q", stdin=BAD).err == ""


@pytest.mark.parametrize(
    "flag, variables, coloured",
    [
        pytest.param("auto", {}, False, id="no-terminal"),
        pytest.param("always", {}, True, id="always"),
        pytest.param("auto", {"FORCE_COLOR": "1"}, True, id="forced"),
        pytest.param("auto", {"FORCE_COLOR": "1", "NO_COLOR": "1"}, False, id="no-color"),
        pytest.param("never", {"FORCE_COLOR": "1"}, False, id="never"),
    ],
)
def test_colours(podstrat, monkeypatch, flag, variables, coloured):
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert ("\x1b[" in podstrat("check", "-", "--color", flag, stdin=BAD).out) == coloured


# ---- the configuration file ----------------------------------------------------------------------------


def test_settings_are_found_upwards(podstrat, write, monkeypatch, tmp_path):
    write(config.NAMES[0], 'kubernetesVersion: "1.36"\nfeatureGates: {PodLevelResources: true}\nskip: [Service]\n')
    write("a/b/pod.yaml")
    monkeypatch.chdir(tmp_path / "a" / "b")
    assert json.loads(podstrat("check", "pod.yaml", "-o", "json").out)["kubernetesVersion"] == "1.36"
    assert json.loads(podstrat("check", "pod.yaml", "-o", "json", "-v", "1.37").out)["kubernetesVersion"] == "1.37"
    done = podstrat("check", "pod.yaml", "--verbose")
    assert done.err == f"podstrat: settings from {tmp_path / config.NAMES[0]}\n"


def test_settings_by_variable_and_by_flag(podstrat, write, monkeypatch):
    monkeypatch.setenv(config.VARIABLE, write("env.yaml", 'kubernetesVersion: "1.35"\n'))
    write("flag.yaml", 'kubernetesVersion: "1.34"\noutput: json\n')
    write("pod.yaml")
    assert json.loads(podstrat("check", "pod.yaml", "-o", "json").out)["kubernetesVersion"] == "1.35"
    assert json.loads(podstrat("check", "pod.yaml", "--config", "flag.yaml").out)["kubernetesVersion"] == "1.34"


@pytest.mark.parametrize(
    "text, complaint",
    [
        pytest.param("\nskipp: [Pod]\n", "c.yaml:2:1: unknown setting 'skipp' (one of: kubernetesVersion, ", id="unknown"),
        pytest.param("kubernetesVersion: 1.36\n", 'c.yaml:1:1: kubernetesVersion must be a string, such as "1.37"', id="number"),
        pytest.param("skip: Pod\n", "c.yaml:1:1: skip must be a list of strings", id="no-list"),
        pytest.param("featureGates: {A: yep}\n", "c.yaml:1:1: featureGates must be a mapping", id="gates"),
        pytest.param("a: [\n", "c.yaml:1:5: ", id="no-yaml"),
        pytest.param("- a\n", "c.yaml: expected a mapping", id="no-mapping"),
        pytest.param(
            "fieldValidation: loud\n", "field validation must be one of strict, warn, ignore, not 'loud'", id="validation"
        ),
        pytest.param("output: xml\n", "unknown output format 'xml'", id="output"),
    ],
)
def test_bad_settings(podstrat, write, text, complaint):
    write("c.yaml", text)
    done = podstrat("check", "-", "--config", "c.yaml", stdin=GOOD)
    assert done.code == 2
    assert done.err.startswith(f"podstrat: {complaint}")


def test_every_setting_is_an_argument(podstrat, write):
    write(
        "c.yaml",
        'kubernetesVersion: "1.37"\nfeatureGates: {}\nfieldValidation: warn\nnamespace: ns\nskip: []\n'
        "duplicateKeys: ignore\nas: create\ncustomResources: error\ntemplatePaths: [spec.template]\nreferences: true\n"
        "podSecurity: baseline\npolicies: []\nworld: []\nadmission: none\nserviceClusterIPRange: 10.0.0.0/24\n"
        "ignoreFilenamePatterns: [^x]\noutput: json\njobs: 1\nsummary: true\nallowEmpty: true\nexitZero: true\nfailFast: true\n",
    )
    assert podstrat("check", "-", "--config", "c.yaml", stdin=UNKNOWN + "---\n" + ROLLOUT + "---\n" + BAD).code == 0
    assert len(config.KEYS) == 23


def test_the_network_of_services(podstrat, write):
    text = "apiVersion: v1\nkind: Service\nmetadata:\n  name: s\nspec:\n  clusterIP: 10.96.0.10\n  ports:\n  - port: 80\n"
    write("s.yaml", text)
    assert podstrat("check", "s.yaml").code == 0
    for send in ("raw", "server-side-apply"):
        done = podstrat("check", "s.yaml", "--as", send, "--service-cluster-ip-range", "10.0.0.0/24,fd00::/108")
        assert done.out.splitlines()[0] == (
            's.yaml:6:14: error: spec.clusterIPs: Invalid value: ["10.96.0.10"]: failed to allocate IP 10.96.0.10: '
            "the provided network does not match the current range"
        )
    write("s.yaml", text.replace("clusterIP: 10.96.0.10", "ipFamilyPolicy: RequireDualStack"))
    assert podstrat("check", "s.yaml").code == 1
    write(config.NAMES[0], "serviceClusterIPRange: 10.0.0.0/24,fd00::/108\n")
    assert podstrat("check", "s.yaml").code == 0
    done = podstrat("check", "s.yaml", "--service-cluster-ip-range", "x")
    assert (done.code, done.err) == (
        2,
        "podstrat: --service-cluster-ip-range: 'x' does not appear to be an IPv4 or IPv6 network\n",
    )
