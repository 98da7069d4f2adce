"""Settings of the admission chain: which plugins run, over which world, and what they are configured with."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

from podstrat.strategy.admission.authorization import ALWAYS_ALLOW
from podstrat.strategy.admission.world import Lookup


class Verdict(NamedTuple):
    """What an authorizer says."""

    allowed: bool
    reason: str = ""


Authorize = Callable[[Mapping[str, Any]], Verdict]


def allow_all(check: Mapping[str, Any]) -> Verdict:
    """The authorizer of a server that allows everything."""
    return Verdict(True)


class Settings(NamedTuple):
    """kube-apiserver's admission flags."""

    enable: frozenset[str] = frozenset()
    """--enable-admission-plugins: beside those of the release."""
    disable: frozenset[str] = frozenset()
    """--disable-admission-plugins."""
    configurations: Mapping[str, Any] = MappingProxyType({})
    """By plugin: its configuration of --admission-control-config-file."""
    not_ready_seconds: int = 300
    """--default-not-ready-toleration-seconds."""
    unreachable_seconds: int = 300
    """--default-unreachable-toleration-seconds."""
    authorize: Authorize | None = None
    """Whether something is allowed, by the spec of a SubjectAccessReview; None where that cannot be known."""
    authorization_mode: str = ALWAYS_ALLOW
    """--authorization-mode: AlwaysAllow, or RBAC by the roles of the world."""


class Admission(NamedTuple):
    """What an Engine is given for admission where a World alone, with the plugins of the release, does not say it."""

    world: Lookup
    settings: Settings = Settings()
