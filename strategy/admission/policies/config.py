"""What the plugins of admission policies keep for an engine."""

from __future__ import annotations

from typing import Any

from podstrat.strategy.admission.settings import Authorize, Settings
from podstrat.strategy.context import Context

GROUP = "admissionregistration.k8s.io/v1"


class Config:
    """What one plugin keeps."""

    __slots__ = ("authorize", "plan")

    def __init__(self, authorize: Authorize | None) -> None:
        self.authorize = authorize
        self.plan: Any = None
        """The compiled policies: policies.compiled.Plan, made with the first."""


def configure(settings: Settings, configuration: Any, ctx: Context) -> Config:
    return Config(settings.authorize)
