"""Resources of the pod as a whole."""

from __future__ import annotations

import pytest

from podstrat.strategy.rules import pod_resources
from tests.strategy.make import context, lines

R = "spec.resources"
CTX = context()
SUPPORTED = 'supported values: "cpu", "hugepages-", "memory"'


def spec(resources, *containers, **fields):
    return {"containers": [{"name": "c", "resources": asked} for asked in containers], "resources": resources} | fields


@pytest.mark.parametrize(
    "given, errors",
    [
        pytest.param({"containers": []}, [], id="none"),
        pytest.param(spec({}), [], id="empty"),
        pytest.param(
            spec({"limits": {"cpu": "2"}, "requests": {"cpu": "2"}}, *[{"limits": {"cpu": "2"}, "requests": {"cpu": "1"}}] * 2),
            [],
            id="limits-of-containers-may-sum-to-more",
        ),
        pytest.param(spec({}, os={"name": "windows"}), [f"{R}: Forbidden: may not be set for a windows pod"], id="windows"),
        pytest.param(
            spec({"claims": []}), [f"{R}.claims: Forbidden: claims may not be set for Resources at pod-level"], id="claims"
        ),
        pytest.param(
            spec({"claims": [{"name": "x"}]}),
            [
                f"{R}.claims: Forbidden: claims may not be set for Resources at pod-level",
                f'{R}.claims[0]: Not found: "x": must be one of the names in pod.spec.resourceClaims which is empty',
            ],
            id="claims-are-looked-into",
        ),
        pytest.param(
            spec({"requests": {"ephemeral-storage": "1"}}, {"requests": {"ephemeral-storage": "5"}}),
            [
                f'{R}.requests[ephemeral-storage]: Unsupported value: "ephemeral-storage": {SUPPORTED}',
                f'{R}.requests[ephemeral-storage]: Invalid value: "1": '
                "must be greater than or equal to aggregate container requests of 5",
            ],
            id="not-for-pods",
        ),
        pytest.param(
            spec({"limits": {"foo": "1"}}),
            [f'{R}.limits[foo]: Invalid value: "foo": must be a standard resource type or fully qualified'],
            id="bad-name",
        ),
        pytest.param(
            spec({"requests": {"cpu": "-1"}}),
            [f'{R}.requests[cpu]: Invalid value: "-1": must be greater than or equal to 0'],
            id="negative",
        ),
        pytest.param(
            spec({"requests": {"cpu": "1"}}, {"requests": {"cpu": "700m"}}, {"requests": {"cpu": "700m"}}),
            [f'{R}.requests[cpu]: Invalid value: "1": must be greater than or equal to aggregate container requests of 1400m'],
            id="less-than-the-containers",
        ),
        pytest.param(
            spec({"requests": {"cpu": "1"}}, initContainers=[{"name": "i", "resources": {"requests": {"cpu": "2"}}}]),
            [f'{R}.requests[cpu]: Invalid value: "1": must be greater than or equal to aggregate container requests of 2'],
            id="less-than-an-init-container",
        ),
        pytest.param(
            spec({"requests": {"cpu": "100m"}}, {"requests": {"cpu": "0.50"}}),
            [f'{R}.requests[cpu]: Invalid value: "100m": must be greater than or equal to aggregate container requests of 500m'],
            id="a-sum-prints-canonically",
        ),
        pytest.param(
            spec(
                {"limits": {"cpu": "2", "hugepages-2Mi": "2Mi"}, "requests": {"hugepages-2Mi": "2Mi"}},
                {"limits": {"cpu": "1"}},
                {"limits": {"hugepages-2Mi": "4Mi"}, "requests": {"hugepages-2Mi": "4Mi"}},
            ),
            [
                f'{R}.requests[hugepages-2Mi]: Invalid value: "2Mi": '
                "must be greater than or equal to aggregate container requests of 4Mi",
                f'{R}.limits[hugepages-2Mi]: Invalid value: "2Mi": '
                "must be greater than or equal to aggregate container limits of 4Mi",
                f'{R}.containers[1][hugepages-2Mi].limits: Invalid value: "4Mi": must be less than or equal to pod limits of 2Mi',
            ],
            id="huge-pages",
        ),
        pytest.param(
            spec({"limits": {"cpu": "500m"}}, {"limits": {"memory": "1Gi"}}, {"limits": {"cpu": "1"}}),
            [f'{R}.containers[1][cpu].limits: Invalid value: "1": must be less than or equal to pod limits of 500m'],
            id="limit-below-a-container",
        ),
    ],
)
def test_pod_level(given, errors):
    assert lines(pod_resources.pod_level(given, "spec", CTX)) == errors


def test_a_container_above_the_pod_knows_its_place():
    given = spec({"limits": {"cpu": "500m"}}, {}, {"limits": {"cpu": "1"}})
    (error,) = pod_resources.pod_level(given, "spec.template.spec", CTX)
    assert error.field == "spec.template.spec.resources.containers[1][cpu].limits"
    assert error.where == ("spec", "template", "spec", "containers", 1, "resources", "limits", "cpu")
