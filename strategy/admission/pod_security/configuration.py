"""PodSecurityConfiguration: the defaults and exemptions of a server."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from podstrat.strategy.admission.pod_security import levels, policy
from podstrat.strategy.admission.pod_security.levels import LevelVersion
from podstrat.strategy.admission.pod_security.policy import Policy

GROUP = "pod-security.admission.config.k8s.io"
VERSIONS = ("v1", "v1beta1", "v1alpha1")
KIND = "PodSecurityConfiguration"
_EXEMPTIONS = ("usernames", "namespaces", "runtimeClasses")
_FIELDS = ("apiVersion", "kind", "defaults", "exemptions")


class Configuration(NamedTuple):
    """What a server is started with."""

    defaults: Policy = Policy()
    """For namespaces without labels."""
    usernames: frozenset[str] = frozenset()
    namespaces: frozenset[str] = frozenset()
    runtime_classes: frozenset[str] = frozenset()


def parse(given: Any) -> Configuration:
    """The configuration from its file; None stands for none. A ValueError says what is wrong, with the field.

    Upstream: LoadFromFile, ValidatePodSecurityConfiguration
    """
    if given is None:
        return Configuration()
    found = _mapping(given, KIND)
    if found.get("kind") != KIND or found.get("apiVersion") not in {f"{GROUP}/{version}" for version in VERSIONS}:
        raise ValueError(f"expected kind {KIND} of {GROUP}/v1, not {found.get('kind')} of {found.get('apiVersion')}")
    _known(found, _FIELDS, "")
    exemptions = _mapping(found.get("exemptions"), "exemptions")
    _known(exemptions, _EXEMPTIONS, "exemptions.")
    return Configuration(_defaults(found.get("defaults")), *(_names(exemptions, name) for name in _EXEMPTIONS))


def _defaults(given: Any) -> Policy:
    fields = _mapping(given, "defaults")
    _known(fields, [name for mode in policy.MODES for name in (mode, f"{mode}-version")], "defaults.")
    return Policy(*(_mode(fields, mode) for mode in policy.MODES))


def _mode(fields: Mapping[str, Any], mode: str) -> LevelVersion:
    # Empty stands for the default: it is set before the configuration is validated.
    level = fields.get(mode) or levels.PRIVILEGED
    version = fields.get(f"{mode}-version") or "latest"
    if level not in levels.LEVELS:
        raise ValueError(f'defaults.{mode}: Invalid value: "{level}": {levels.BAD_LEVEL}')
    minor = levels.parse_version(version) if isinstance(version, str) else None
    if minor is None:
        raise ValueError(f'defaults.{mode}-version: Invalid value: "{version}": {levels.BAD_VERSION}')
    return LevelVersion(level, minor)


def _names(fields: Mapping[str, Any], name: str) -> frozenset[str]:
    given = fields.get(name) or []
    if not isinstance(given, list) or not all(isinstance(each, str) for each in given):
        raise ValueError(f"exemptions.{name}: expected a list of strings")
    seen: set[str] = set()
    for i, each in enumerate(given):
        if not each:
            raise ValueError(f'exemptions.{name}[{i}]: Invalid value: "": must not be empty')
        if each in seen:
            raise ValueError(f'exemptions.{name}[{i}]: Duplicate value: "{each}"')
        seen.add(each)
    return frozenset(given)


def _mapping(given: Any, what: str) -> Mapping[str, Any]:
    if given is None:
        return {}
    if not isinstance(given, Mapping):
        raise ValueError(f"{what}: expected a mapping")
    return given


def _known(fields: Mapping[str, Any], names: Any, prefix: str) -> None:
    for name in fields:
        if name not in names:
            raise ValueError(f'unknown field "{prefix}{name}"')
