"""The server that tests start: which admission plugins it has."""

from __future__ import annotations

import pytest

from podstrat.testing.server import without_admission

OF_1_34 = (
    "DefaultTolerationSeconds,LimitRanger,PodSecurity,PodTopologyLabels,Priority,ResourceQuota,RuntimeClass,ServiceAccount,"
    "StorageObjectInUseProtection,TaintNodesByCondition"
)


@pytest.mark.parametrize(
    "arguments, disabled",
    [
        pytest.param(["--kubernetes-version", "1.34"], OF_1_34, id="of-a-release"),
        pytest.param(["--kubernetes-version=1.34", "--http"], OF_1_34, id="with-an-equals-sign"),
        pytest.param(
            ["--kubernetes-version=1.34", "--enable-admission-plugins", "Priority,AlwaysPullImages"],
            OF_1_34.replace("Priority,", ""),
            id="but-for-what-is-enabled",
        ),
        pytest.param(["--kubernetes-version=0.1"], "", id="unknown-release"),
    ],
)
def test_plugins_beyond_the_strategies_are_off(arguments: list[str], disabled: str) -> None:
    assert without_admission(arguments) == (f"--disable-admission-plugins={disabled}", "--controllers=namespace")
