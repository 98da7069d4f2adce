"""The demonstration shows what it says it shows."""

from __future__ import annotations

import pytest

from podstrat import cli, exits


@pytest.fixture
def shown(capsys):
    assert cli.main(["demo"]) == exits.OK
    return [" ".join(line.split()) for line in capsys.readouterr().out.splitlines()]


@pytest.mark.parametrize(
    "line",
    [
        pytest.param('defaulted spec.restartPolicy to "Always"', id="a-default"),
        pytest.param("a new label generation 1 -> 1", id="metadata-does-not-count"),
        pytest.param("a new image generation 1 -> 2", id="the-spec-counts"),
        pytest.param("left out, it stays 2", id="observedGeneration-is-kept"),
        pytest.param("gpu-1 Unhealthy ECC error", id="device-health"),
        pytest.param(
            '422 Invalid Pod "training" is invalid: status.containerStatuses[0].allocatedResourcesStatus[0].resources[0].health: '
            'Unsupported value: "Broken": supported values: "Healthy", "Unhealthy", "Unknown"',
            id="a-health-that-does-not-exist",
        ),
    ],
)
def test_a_scene(line, shown):
    assert line in shown


def test_a_refused_pod(shown):
    assert any(
        line.startswith('422 Invalid Pod "Training_Run" is invalid: metadata.name: Invalid value: "Training_Run": ')
        for line in shown
    )
