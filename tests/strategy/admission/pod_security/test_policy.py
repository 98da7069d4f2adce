"""Levels, versions, and the policy of a namespace."""

from __future__ import annotations

import re

import pytest

from podstrat.strategy.admission.pod_security import levels, policy
from podstrat.strategy.admission.pod_security.levels import LATEST, LevelVersion
from podstrat.strategy.admission.pod_security.policy import Policy

PREFIX = "pod-security.kubernetes.io/"


def labels(**modes: str) -> dict[str, str]:
    return {PREFIX + name.replace("_", "-"): text for name, text in modes.items()}


@pytest.mark.parametrize(
    "text, minor",
    [
        ("latest", LATEST),
        ("v1.0", 0),
        ("v1.100", 100),
        ("v1.9223372036854775807", 2**63 - 1),
        ("v1.9223372036854775808", None),
        ("v1.99999999999999999999", None),
        ("v1.01", None),
        ("v1", None),
        ("1.20", None),
        ("v2.0", None),
        ("Latest", None),
        ("v1.1 ", None),
        ("v1.１", None),
        ("", None),
    ],
)
def test_versions(text, minor):
    assert levels.parse_version(text) == minor


@pytest.mark.parametrize(
    "text, shown",
    [("restricted", "restricted:latest"), ("baseline:v1.30", "baseline:v1.30"), ("privileged:latest", "privileged:latest")],
)
def test_level_and_version(text, shown):
    assert str(levels.parse(text)) == shown


@pytest.mark.parametrize(
    "text, message",
    [
        ("strict", "'strict' is not a Pod Security level: must be one of privileged, baseline, restricted"),
        ("baseline:1.30", '\'1.30\' is not a version of the Pod Security Standards: must be "latest" or "v1.x"'),
    ],
)
def test_what_is_no_level_or_version(text, message):
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        levels.parse(text)


@pytest.mark.parametrize(
    "given, expected",
    [
        pytest.param({}, "privileged:latest privileged:latest privileged:latest", id="nothing"),
        pytest.param(
            {"enforce": "baseline", "enforce_version": "v1.30"},
            "baseline:v1.30 privileged:latest baseline:v1.30",
            id="warns-of-what-it-enforces",
        ),
        pytest.param(
            {"enforce": "baseline", "enforce_version": "v1.30", "warn_version": "v1.20"},
            "baseline:v1.30 privileged:latest baseline:v1.20",
            id="with-its-own-version",
        ),
        pytest.param(
            {"enforce": "restricted", "warn": "baseline"}, "restricted:latest privileged:latest baseline:latest", id="own-warn"
        ),
        pytest.param(
            {"audit": "baseline", "audit_version": "v1.99"}, "privileged:latest baseline:v1.99 privileged:latest", id="audit"
        ),
    ],
)
def test_labels(given, expected):
    found, errors = policy.of_labels(labels(**given), Policy())
    assert (" ".join(map(str, found)), errors) == (expected, [])


def test_an_enforced_level_that_is_not_stricter_leaves_the_configured_warning():
    defaults = Policy(warn=LevelVersion("restricted", 25))
    found, _ = policy.of_labels(labels(enforce="baseline", enforce_version="v1.30"), defaults)
    assert found.warn == LevelVersion("restricted", 25)


def test_labels_that_cannot_be_read():
    given = labels(enforce="x", enforce_version="y", audit="z", audit_version="q", warn="w", warn_version="v")
    found, errors = policy.of_labels(given, Policy())
    assert " ".join(map(str, found)) == "restricted:latest privileged:latest privileged:latest"
    level, version = "must be one of privileged, baseline, restricted", 'must be "latest" or "v1.x"'
    assert [str(error) for error in errors] == [
        f'metadata.labels[{PREFIX}enforce]: Invalid value: "x": {level}',
        f'metadata.labels[{PREFIX}enforce-version]: Invalid value: "y": {version}',
        f'metadata.labels[{PREFIX}audit]: Invalid value: "z": {level}',
        f'metadata.labels[{PREFIX}audit-version]: Invalid value: "q": {version}',
        f'metadata.labels[{PREFIX}warn]: Invalid value: "w": {level}',
        f'metadata.labels[{PREFIX}warn-version]: Invalid value: "v": {version}',
    ]
    assert errors[0].where == ("metadata", "labels", PREFIX + "enforce")


def test_a_policy_that_asks_for_nothing():
    assert Policy().is_privileged
    assert not Policy(audit=LevelVersion("baseline")).is_privileged
