"""Updates of other kinds that the recorded answers do not reach, through the request function."""

from __future__ import annotations

import copy

import pytest

from podstrat.strategy import kinds
from podstrat.strategy.engine import Engine
from podstrat.strategy.formats import validation
from podstrat.strategy.request import Request
from tests.strategy import devices
from tests.strategy.test_kind_rules import CLAIM, plain, send, status, stored
from tests.strategy.workload import make

BEFORE = Engine("1.36")
BODIES = {
    "ConfigMap": plain("ConfigMap"),
    "DeviceClass": devices.device_class(),
    "LimitRange": plain("LimitRange", spec={"limits": []}),
    "Namespace": plain("Namespace"),
    "PersistentVolumeClaim": CLAIM,
    "PodDisruptionBudget": plain("PodDisruptionBudget", spec={}),
    "PriorityClass": plain("PriorityClass", value=1),
    "ResourceClaim": devices.claim(),
    "ResourceClaimTemplate": devices.template(),
    "ResourceQuota": plain("ResourceQuota", spec={}),
    "ResourceSlice": devices.resource_slice(),
    "RuntimeClass": plain("RuntimeClass", handler="h"),
    "Secret": plain("Secret"),
    "Service": plain("Service", spec={"clusterIP": "None"}),
    "ServiceAccount": plain("ServiceAccount"),
}
EXTENDING = ("admissionregistration.k8s.io", "apiextensions.k8s.io")
TWICE = (("PodDisruptionBudget", ""), ("PodDisruptionBudget", "status"))
FOUR_TIMES = (
    *("ConfigMap", "DeviceClass", "Namespace", "PersistentVolumeClaim", "ResourceClaim", "ResourceClaimTemplate"),
    *("RuntimeClass", "Secret", "ServiceAccount"),
)


@pytest.mark.parametrize(
    "kind, endpoint",
    [(each.kind, endpoint) for each in kinds.KINDS if each.kind in BODIES for endpoint in each.strategy.updates],
)
def test_how_often_metadata_is_judged(kind, endpoint):
    """Up to 1.36 an answer says of a label what each of the rules says that look at it."""
    old = stored(BODIES[kind], BEFORE)
    old["metadata"]["labels"] = {**old["metadata"].get("labels", {}), "a": "-"}
    times = 2 if (kind, endpoint) in TWICE else 4 if kind in FOUR_TIMES and not endpoint else 3
    line = f'metadata.labels: Invalid value: "-": {validation.LABEL_VALUE}'
    assert send("update", copy.deepcopy(old), old, endpoint, BEFORE)[1] == [line] * times


def test_every_small_kind_is_among_them():
    """Kinds that extend the server itself have tests of their own."""
    others = {each.kind for each in kinds.KINDS if each.template or each.group in EXTENDING}
    assert {each.kind for each in kinds.KINDS} - others - {"Pod"} == BODIES.keys()


# ---- PersistentVolumeClaims ------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name, words",
    [(None, "update from non-nil value to nil is forbidden"), ("", "update from non-nil value to an empty string is forbidden")],
)
def test_a_claim_keeps_a_class_of_attributes(name, words):
    old = {**stored({**CLAIM, "spec": {**CLAIM["spec"], "volumeAttributesClassName": "a"}}), "status": {"phase": "Bound"}}
    new = copy.deepcopy(old)
    new["spec"].pop("volumeAttributesClassName")
    new["spec"] |= {} if name is None else {"volumeAttributesClassName": name}
    assert send("update", new, old)[1] == [f"spec.volumeAttributesClassName: Forbidden: {words}"]


def test_the_old_annotation_of_a_class_stays():
    key = "volume.beta.kubernetes.io/storage-class"
    old = stored({**CLAIM, "metadata": {**CLAIM["metadata"], "annotations": {key: "a"}}})
    new = copy.deepcopy(old)
    new["metadata"]["annotations"][key] = "b"
    assert send("update", new, old)[1] == [f'metadata.annotations[{key}]: Invalid value: "b": field is immutable']


@pytest.mark.parametrize(
    "new, line",
    [
        (
            {"allocatedResourceStatuses": {"storage": "Odd"}},
            'status.allocatedResourceStatuses[storage]: Unsupported value: "storage": supported values: '
            '"ControllerResizeInProgress", "ControllerResizeInfeasible", "NodeResizeInProgress", '
            '"NodeResizeInfeasible", "NodeResizePending"',
        ),
        (
            {"allocatedResourceStatuses": {"a b": "NodeResizePending"}},
            f'status.allocatedResourceStatuses[a b]: Invalid value: "a b": {validation.NAME_PART}',
        ),
    ],
)
def test_how_a_resize_stands(new, line):
    assert status(CLAIM, new) == [line]


# ---- others ----------------------------------------------------------------------------------------


def test_a_stored_schedule_with_a_zone_does_not_get_another():
    old = stored(make("CronJob"))
    old["spec"]["schedule"] = "TZ=UTC * * * * *"
    new = copy.deepcopy(old)
    assert send("update", new, old)[1] == []
    new["spec"]["timeZone"] = "UTC"
    assert send("update", new, old)[1] == [
        'spec.schedule: Invalid value: "TZ=UTC * * * * *": cannot use both timeZone field and TZ or CRON_TZ in schedule'
    ]


@pytest.mark.parametrize(
    "spec, line",
    [
        (
            {
                "hard": {"services": "1"},
                "scopeSelector": {"matchExpressions": [{"scopeName": "BestEffort", "operator": "Exists"}]},
            },
            'spec.scopeSelector.matchExpressions: Invalid value: {"MatchExpressions":[{"ScopeName":"BestEffort",'
            '"Operator":"Exists","Values":null}]}: unsupported scope applied to resource',
        ),
        (
            {
                "scopeSelector": {
                    "matchExpressions": [{"scopeName": name, "operator": "Exists"} for name in ("Terminating", "NotTerminating")]
                }
            },
            "spec.scopeSelector.matchExpressions: Invalid value: null: conflicting scopes",
        ),
    ],
)
def test_scopes_of_a_quota(spec, line):
    assert send("create", plain("ResourceQuota", spec=spec))[1] == [line]


def test_the_metadata_of_a_scale():
    metadata = {"name": "w", "namespace": "default", "generateName": "A"}
    body = {"apiVersion": "autoscaling/v1", "kind": "Scale", "metadata": metadata}
    request = Request("update", "scale", body, name="w", resource="deployments.apps")
    answer = BEFORE.answer(request, stored(make("Deployment"), BEFORE))
    assert answer.body["details"]["causes"] == [
        {
            "reason": "FieldValueInvalid",
            "message": f'Invalid value: "A": {validation.DNS_SUBDOMAIN}',
            "field": "metadata.generateName",
        }
    ]


def test_a_claim_template_with_a_fraction_warns_on_updates_too():
    requests = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1500m"}}}
    old = stored(make("StatefulSet", volumeClaimTemplates=[{"metadata": {"name": "c"}, "spec": requests}]))
    answer, _ = send("update", copy.deepcopy(old), old)
    at = "spec.volumeClaimTemplates[0].Spec.resources.requests[storage]"
    assert answer.warnings == (f'{at}: fractional byte value "1500m" is invalid, must be an integer',)


def test_a_deprecated_annotation_of_an_account_warns_once():
    key = "kubernetes.io/enforce-mountable-secrets"
    old = stored(BODIES["ServiceAccount"])
    new = copy.deepcopy(old)
    new["metadata"]["annotations"] = {key: "true"}
    assert send("update", new, old)[0].warnings == (
        f"metadata.annotations[{key}]: deprecated in v1.32+; prefer separate namespaces to isolate access to mounted secrets",
    )
    assert send("update", copy.deepcopy(new), new)[0].warnings == ()


def test_the_reason_of_a_condition_is_short():
    about = {"type": "A", "status": "True", "reason": "r" * 1025, "message": "", "lastTransitionTime": "2020-01-01T00:00:00Z"}
    assert status(BODIES["PodDisruptionBudget"], {"conditions": [about]}) == [
        "status.conditions[0].reason: Too long: may not be more than 1024 bytes"
    ]
