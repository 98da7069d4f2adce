"""Helm's files among manifests: chart folders, values, repository indexes and plugins; and rendering a chart with helm."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING, Any

from podstrat import exits

if TYPE_CHECKING:
    from collections.abc import Sequence

CHART = "Chart.yaml"
NOT_AN_OBJECT = "a file of Helm, not a Kubernetes object"
_VALUES = r"(?:^|[-_.])values(?=[-_.])"
_READ_BY_HELM = (".yaml", ".yml", ".json")
_INDEX_KEYS = ("entries", "repositories")
# A line that begins with an action of a template, or has one as a whole value: YAML gives braces another meaning.
_ACTION = rb"(?m)^[ \t]*(?:- +)?(?:[\w./-]+:[ \t]+)?\{\{"


class Charts:
    """Which files belong to charts: templates and values, which only helm can read."""

    def __init__(self) -> None:
        self._charts: dict[str, bool] = {}

    def of(self, path: str) -> str:
        """The folder of the chart that a file is a template or values file of, as the path spells it; else empty."""
        folder, below = os.path.split(path)
        while True:
            if self._is_chart(folder) and _is_part(below):
                return folder or "."
            above, name = os.path.split(folder)
            if not name:
                above, name = os.path.split(os.path.abspath(folder))
                if not name:
                    return ""
            folder, below = above, os.path.join(name, below)

    def _is_chart(self, folder: str) -> bool:
        if folder not in self._charts:
            self._charts[folder] = os.path.isfile(os.path.join(folder, CHART))
        return self._charts[folder]


def _is_part(below: str) -> bool:
    first = below.split(os.sep, 1)
    if len(first) == 1:
        return below == CHART or _is_values(below)
    return first[0] in ("templates", "ci")


def chart_skipped(folder: str) -> str:
    """Why a chart is not checked, and how it can be."""
    return f"Helm chart: templates and values are not manifests; check what it renders with --helm {folder}"


def is_own(name: str, value: Any) -> bool:
    """Whether a document without kind or apiVersion is a repository index, a plugin or a values file."""
    if not isinstance(value, dict) or "metadata" in value or "spec" in value:
        return False
    if "kind" in value:
        return not value.get("apiVersion") and _is_values(os.path.basename(name))
    base = os.path.basename(name)
    return any(key in value for key in _INDEX_KEYS) or base in ("plugin.yaml", "index.yaml", "repositories.yaml")


def is_template(text: bytes) -> bool:
    """Whether a text has actions of a template where YAML has keys and values."""
    return b"{{" in text and re.search(_ACTION, text) is not None


def _is_values(name: str) -> bool:
    """Whether a file has the name of a values file: values.yaml, values-prod.yml, my.values.json."""
    return name.endswith(_READ_BY_HELM) and re.search(_VALUES, name) is not None


def render(chart: str, values: Sequence[str], version: str, namespace: str) -> bytes:
    """What `helm template` prints for a chart."""
    import subprocess

    command = ["helm", "template", chart, "--kube-version", version]
    command += [word for name in values for word in ("--values", name)]
    command += ["--namespace", namespace] if namespace else []
    try:
        process = subprocess.run(command, capture_output=True, check=False)
    except FileNotFoundError:
        raise exits.BadArguments(f"--helm {chart}: helm is required to render a chart and was not found on PATH") from None
    if process.returncode:
        raise exits.BadArguments(f"--helm {chart}: {process.stderr.decode(errors='replace').strip()}")
    return process.stdout
