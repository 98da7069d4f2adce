"""PodSecurityConfiguration: what a server takes, and what is wrong with the rest."""

from __future__ import annotations

import re
from typing import Any

import pytest

from podstrat.strategy.admission.pod_security import configuration
from podstrat.strategy.admission.pod_security.configuration import Configuration
from podstrat.strategy.admission.pod_security.levels import LevelVersion

NAMES = {"apiVersion": "pod-security.admission.config.k8s.io/v1", "kind": "PodSecurityConfiguration"}


def test_nothing_is_configured():
    assert configuration.parse(None) == Configuration()
    assert configuration.parse(NAMES) == Configuration()
    assert configuration.parse({**NAMES, "defaults": {"enforce": "", "warn-version": ""}}) == Configuration()


def test_all_of_it():
    found = configuration.parse(
        {
            **NAMES,
            "apiVersion": "pod-security.admission.config.k8s.io/v1beta1",
            "defaults": {"enforce": "baseline", "enforce-version": "v1.30", "audit": "restricted", "warn-version": "latest"},
            "exemptions": {"usernames": ["u"], "namespaces": ["n", "m"], "runtimeClasses": ["r"]},
        }
    )
    assert found.defaults == (LevelVersion("baseline", 30), LevelVersion("restricted"), LevelVersion())
    assert found[1:] == ({"u"}, {"n", "m"}, {"r"})


@pytest.mark.parametrize(
    "given, message",
    [
        ([], "PodSecurityConfiguration: expected a mapping"),
        (
            {"kind": "X", "apiVersion": "v1"},
            "expected kind PodSecurityConfiguration of pod-security.admission.config.k8s.io/v1, not X of v1",
        ),
        ({**NAMES, "more": 1}, 'unknown field "more"'),
        ({**NAMES, "defaults": {"enforced": "x"}}, 'unknown field "defaults.enforced"'),
        ({**NAMES, "defaults": []}, "defaults: expected a mapping"),
        (
            {**NAMES, "defaults": {"audit": "strict"}},
            'defaults.audit: Invalid value: "strict": must be one of privileged, baseline, restricted',
        ),
        ({**NAMES, "defaults": {"warn-version": 1.3}}, 'defaults.warn-version: Invalid value: "1.3": must be "latest" or "v1.x"'),
        ({**NAMES, "exemptions": {"users": []}}, 'unknown field "exemptions.users"'),
        ({**NAMES, "exemptions": {"usernames": "u"}}, "exemptions.usernames: expected a list of strings"),
        ({**NAMES, "exemptions": {"namespaces": ["a", ""]}}, 'exemptions.namespaces[1]: Invalid value: "": must not be empty'),
        ({**NAMES, "exemptions": {"runtimeClasses": ["a", "a"]}}, 'exemptions.runtimeClasses[1]: Duplicate value: "a"'),
    ],
)
def test_what_is_wrong(given: Any, message: str):
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        configuration.parse(given)
