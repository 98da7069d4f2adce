"""The configuration file: the same settings as the flags, shared by a repository. Flags take precedence.

# .podstrat.yaml
kubernetesVersion: "1.36"
featureGates:
  PodLevelResources: false
skip: [CronJob]
templatePaths: [Rollout.argoproj.io=spec.template]
"""

from __future__ import annotations

import os
from typing import Any

from podstrat import exits
from podstrat.check.inputs import outside

NAMES = (".podstrat.yaml", ".podstrat.yml")
VARIABLE = "PODSTRAT_CONFIG"

# Each key with the argument that it stands for, and what its value is.
KEYS: dict[str, tuple[str, type]] = {
    "kubernetesVersion": ("kubernetes_version", str),
    "featureGates": ("feature_gates", dict),
    "fieldValidation": ("field_validation", str),
    "duplicateKeys": ("duplicate_keys", str),
    "as": ("send", str),
    "namespace": ("namespace", str),
    "skip": ("skip", list),
    "templatePaths": ("template_path", list),
    "customResources": ("custom_resources", str),
    "serviceClusterIPRange": ("service_cluster_ip_range", str),
    "podSecurity": ("pod_security", str),
    "policies": ("policies", list),
    "world": ("world", list),
    "admission": ("admission", str),
    "ignoreFilenamePatterns": ("ignore_filename_pattern", list),
    "baseline": ("baseline", str),
    "output": ("output", str),
    "jobs": ("jobs", int),
    "references": ("references", bool),
    "summary": ("summary", bool),
    "allowEmpty": ("allow_empty", bool),
    "exitZero": ("exit_zero", bool),
    "failFast": ("fail_fast", bool),
}
_WORDS = {str: "a string", dict: "a mapping", list: "a list of strings", int: "a number", bool: "true or false"}


def find(file: str | None) -> str:
    """The file to read: the one that was named, or the nearest one from here upwards; empty if there is none."""
    if file is not None:
        return file
    if VARIABLE in os.environ:
        return os.environ[VARIABLE]  # if empty: no file
    here = os.getcwd()
    while True:
        for name in NAMES:
            path = os.path.join(here, name)
            if os.path.isfile(path) and not outside(path, here):
                return path
        above = os.path.dirname(here)
        if above == here:
            return ""
        here = above


def read(path: str) -> dict[str, Any]:
    """The settings of a file by the names of the arguments."""
    from podstrat import goyaml

    try:
        with open(path, "rb") as file:
            document = goyaml.load(file.read(), path)
    except goyaml.YamlError as error:
        raise exits.BadArguments(str(error)) from None
    if document.value is None:
        return {}
    if not isinstance(document.value, dict):
        raise exits.BadArguments(f"{path}: expected a mapping")
    values: dict[str, Any] = {}
    for key, value in document.value.items():
        line, column = document.key_mark((key,))
        if key not in KEYS:
            raise exits.BadArguments(f"{path}:{line}:{column}: unknown setting {key!r} (one of: {', '.join(KEYS)})")
        name, type_of_value = KEYS[key]
        if not _fits(value, type_of_value):
            quoted = ', such as "1.37"' if key == "kubernetesVersion" else ""
            raise exits.BadArguments(f"{path}:{line}:{column}: {key} must be {_WORDS[type_of_value]}{quoted}")
        values[name] = value
    return values


def _fits(value: Any, expected: type) -> bool:
    if expected is list:
        return isinstance(value, list) and all(isinstance(each, str) for each in value)
    if expected is dict:
        return isinstance(value, dict) and all(isinstance(each, bool) for each in value.values())
    return type(value) is expected
