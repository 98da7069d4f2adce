"""Findings of admission plugins: their words, part by part, and the fields that each part is about."""

from __future__ import annotations

from typing import TYPE_CHECKING

from podstrat.strategy.admission.report import Located

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from podstrat.check.places import Place
    from podstrat.strategy.admission.report import Report

TYPE = "Admission"
"""The type of such a finding."""

_FIELDS: dict[str, Place] = {
    "AlwaysPullImages": ("spec", "containers"),
    "LimitPodHardAntiAffinityTopology": ("spec", "affinity", "podAntiAffinity"),
    "LimitRanger": ("spec", "containers"),
    "NamespaceLifecycle": ("metadata", "namespace"),
    "PodNodeSelector": ("spec", "nodeSelector"),
    "PodTolerationRestriction": ("spec", "tolerations"),
    "Priority": ("spec", "priorityClassName"),
    "ResourceQuota": ("spec", "containers"),
    "RuntimeClass": ("spec", "runtimeClassName"),
    "ServiceAccount": ("spec", "serviceAccountName"),
}
"""What a plugin looks at first, where it does not say which field it means."""


def refusal(report: Report, message: str) -> list[Located]:
    """The parts of a refusal: those that the plugin has told apart, or the whole of it."""
    plugin = report.refused_by
    return [each for each in report.located if each.plugin == plugin] or [_whole(plugin, message)]


def warnings(report: Report, texts: Iterable[str]) -> Iterator[Located | str]:
    """The parts of each warning that is a plugin's; other warnings as they are."""
    plugins = {text: step.plugin for step in report.steps for text in step.warnings}
    for text in texts:
        plugin = plugins.get(text)
        if plugin is None:
            yield text
        else:
            parts = [each for each in report.located if each.plugin == plugin != report.refused_by]
            yield from parts or [_whole(plugin, text)]


def _whole(plugin: str, text: str) -> Located:
    return Located(plugin, text, (_FIELDS.get(plugin, ()),))
