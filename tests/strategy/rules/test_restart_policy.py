"""Restart policies and rules of containers."""

from __future__ import annotations

import pytest

from podstrat.strategy.rules import restart_policy
from tests.strategy.make import context, lines

AT = "spec.containers[0]"
BOTH = '"Restart", "RestartAllContainers"'


def rule(action="Restart", operator="In", values=(1,)):
    return {"action": action, "exitCodes": {"operator": operator, "values": list(values)}}


@pytest.mark.parametrize(
    "container, errors",
    [
        pytest.param({}, [], id="nothing"),
        pytest.param({"restartPolicyRules": []}, [], id="no-rules"),
        pytest.param({"restartPolicy": "OnFailure"}, [], id="policy"),
        pytest.param(
            {"restartPolicy": "Never", "restartPolicyRules": [rule(operator="NotIn", values=(-1, 300, 300))]}, [], id="odd-codes"
        ),
        pytest.param({"restartPolicy": "Never", "restartPolicyRules": [rule("RestartAllContainers")] * 20}, [], id="twenty"),
        pytest.param({"restartPolicy": "Never", "restartPolicyRules": [rule(values=range(255))]}, [], id="many-codes"),
        pytest.param(
            {"restartPolicy": ""},
            [f'{AT}.restartPolicy: Unsupported value: "": supported values: "Always", "Never", "OnFailure"'],
            id="empty-policy",
        ),
        pytest.param(
            {"restartPolicyRules": [{}]},
            [
                f"{AT}.restartPolicy: Required value: must specify restartPolicy when restart rules are used",
                f'{AT}.restartPolicyRules[0].action: Unsupported value: "": supported values: {BOTH}',
                f"{AT}.restartPolicyRules[0].exitCodes: Required value: must be specified",
            ],
            id="rules-without-policy",
        ),
        pytest.param(
            {"restartPolicy": "Always", "restartPolicyRules": [rule(), rule("Stop", "Eq", range(256))]},
            [
                f'{AT}.restartPolicyRules[1].action: Unsupported value: "Stop": supported values: {BOTH}',
                f'{AT}.restartPolicyRules[1].exitCodes.operator: Unsupported value: "Eq": supported values: "In", "NotIn"',
                f"{AT}.restartPolicyRules[1].exitCodes.values: Too many: 256: must have at most 255 items",
            ],
            id="bad-rule",
        ),
        pytest.param(
            {"restartPolicy": "Always", "restartPolicyRules": [rule()] * 21},
            [f"{AT}.restartPolicyRules: Too many: 21: must have at most 20 items"],
            id="too-many-rules",
        ),
    ],
)
def test_policy(container, errors):
    assert lines(restart_policy.policy(container, AT, context())) == errors


def test_up_to_1_35_items_were_counted_in_bytes():
    container = {"restartPolicy": "Always", "restartPolicyRules": [rule(values=range(256))] + [rule()] * 20}
    assert lines(restart_policy.policy(container, AT, context("1.35"))) == [
        f"{AT}.restartPolicyRules: Too long: may not be more than 20 bytes",
        f"{AT}.restartPolicyRules[0].exitCodes.values: Too long: may not be more than 255 bytes",
    ]


@pytest.mark.parametrize(
    "ctx, allowed, listed",
    [
        pytest.param(context("1.35"), False, '"Restart"', id="1.35"),
        pytest.param(
            context("1.35", RestartAllContainersOnContainerExits=True, NodeDeclaredFeatures=True), True, '"Restart"', id="1.35-on"
        ),
        pytest.param(context("1.36", RestartAllContainersOnContainerExits=False), False, '"Restart"', id="1.36-off"),
        pytest.param(context("1.36"), True, BOTH, id="1.36"),
    ],
)
def test_restarting_all_containers_is_a_feature(ctx, allowed, listed):
    text = f"{AT}.restartPolicyRules[0].action: Unsupported value: "
    given = {"restartPolicy": "Never", "restartPolicyRules": [rule("RestartAllContainers")]}
    assert lines(restart_policy.policy(given, AT, ctx)) == (
        [] if allowed else [f'{text}"RestartAllContainers": supported values: {listed}']
    )
    given = {"restartPolicy": "Never", "restartPolicyRules": [rule("Stop")]}
    assert lines(restart_policy.policy(given, AT, ctx)) == [f'{text}"Stop": supported values: {listed}']


I = "spec.initContainers[0]"  # noqa: E741


@pytest.mark.parametrize(
    "container, errors",
    [
        pytest.param(
            {"restartPolicy": "Always", "restartPolicyRules": [rule("RestartAllContainers")]}, [], id="sidecar-with-rules"
        ),
        pytest.param({"restartPolicyRules": []}, [], id="no-rules"),
        pytest.param(
            {"restartPolicyRules": [{}]},
            [f"{I}.restartPolicy: Required value: must specify restartPolicy when restart rules are used"],
            id="rules-without-policy-not-looked-into",
        ),
        pytest.param(
            {"restartPolicy": "Sometimes", "restartPolicyRules": [{"action": "Restart"}]},
            [
                f'{I}.restartPolicy: Unsupported value: "Sometimes": supported values: "Always", "Never", "OnFailure"',
                f"{I}.restartPolicyRules[0].exitCodes: Required value: must be specified",
            ],
            id="bad-policy",
        ),
    ],
)
def test_init_policy(container, errors):
    assert lines(restart_policy.init_policy(container, I, context())) == errors


def test_sidecars_have_rules_only_if_all_containers_may_be_restarted():
    container = {"restartPolicy": "Always", "restartPolicyRules": [{}]}
    text = "restartPolicyRules are not allowed for init containers with restart policy Always"
    assert lines(restart_policy.init_policy(container, I, context("1.35"))) == [f"{I}.restartPolicyRules: Forbidden: {text}"]
    assert lines(restart_policy.init_policy({"restartPolicy": "Always", "restartPolicyRules": []}, I, context("1.35"))) == []


def test_1_34_does_not_miss_the_policy_of_an_init_container():
    ctx = context("1.34", ContainerRestartRules=True)
    assert lines(restart_policy.init_policy({"restartPolicyRules": [{}]}, I, ctx)) == []
