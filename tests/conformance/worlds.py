"""The worlds of the recorded admission cases: what is there before, and the flags of the servers that they are about."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any, NamedTuple

from podstrat.strategy.admission import Settings
from tests.conformance.recorded import CASES

Object = dict[str, Any]

KINDS = {
    "Namespace": ("namespaces", False),
    "Node": ("nodes", False),
    "PriorityClass": ("priorityclasses", False),
    "RuntimeClass": ("runtimeclasses", False),
    "ClusterRole": ("clusterroles", False),
    "ClusterRoleBinding": ("clusterrolebindings", False),
    "ServiceAccount": ("serviceaccounts", True),
    "Pod": ("pods", True),
    "LimitRange": ("limitranges", True),
    "ResourceQuota": ("resourcequotas", True),
    "ConfigMap": ("configmaps", True),
    "ValidatingAdmissionPolicy": ("validatingadmissionpolicies", False),
    "ValidatingAdmissionPolicyBinding": ("validatingadmissionpolicybindings", False),
    "MutatingAdmissionPolicy": ("mutatingadmissionpolicies", False),
    "MutatingAdmissionPolicyBinding": ("mutatingadmissionpolicybindings", False),
}
"""Plural, and whether objects of the kind are in a namespace."""
WITH_STATUS = ("ResourceQuota", "Node", "Pod")
_FLAGS = {
    "--enable-admission-plugins": "enable",
    "--disable-admission-plugins": "disable",
    "--default-not-ready-toleration-seconds": "not_ready_seconds",
    "--default-unreachable-toleration-seconds": "unreachable_seconds",
}


class World(NamedTuple):
    """One world: its objects, in the order in which they are made, and its server."""

    name: str
    server: str
    objects: list[Object]
    fresh: bool = False
    """Whether cases change what others see, so that each needs the world as new."""


def load() -> tuple[dict[str, World], dict[str, Object]]:
    """The worlds by name, and the servers by theirs."""
    document = json.loads(gzip.decompress((CASES / "admission-worlds.json.gz").read_bytes()))
    worlds = {
        name: World(name, each.get("server", "default"), each["objects"], each.get("fresh", False))
        for name, each in document["worlds"].items()
    }
    return worlds, document["servers"]


def settings(server: Object) -> Settings:
    """The admission settings that the flags of a server stand for."""
    found: dict[str, Any] = {}
    for flag in server["flags"]:
        name, _, value = flag.partition("=")
        if name == "--authorization-mode":
            found["authorization_mode"] = value
        elif name in _FLAGS:
            found[_FLAGS[name]] = int(value) if name.endswith("-seconds") else frozenset(value.split(","))
    plugins = server.get("config", {}).get("plugins", [])
    return Settings(**found, configurations={each["name"]: each.get("configuration") or each.get("path") for each in plugins})


def arguments(server: Object, folder: Path) -> list[str]:
    """The flags of a server for the command line; configuration files are written into the folder."""
    if "config" not in server:
        return list(server["flags"])
    plugins = []
    for number, plugin in enumerate(server["config"]["plugins"]):
        if plugin.get("path"):
            (folder / f"plugin-{number}.yaml").write_text(json.dumps(plugin["path"]))
            plugin = {**plugin, "path": f"plugin-{number}.yaml"}
        plugins.append(plugin)
    file = folder / "admission.yaml"
    file.write_text(json.dumps({**server["config"], "plugins": plugins}))
    return [flag.replace("=FILE", f"={file}") for flag in server["flags"]]


def path(obj: Object) -> str:
    """The collection that an object is posted to."""
    group, _, version = obj["apiVersion"].rpartition("/")
    plural, namespaced = KINDS[obj["kind"]]
    root = f"/apis/{group}/{version}" if group else f"/api/{version}"
    return f"{root}/namespaces/{obj['metadata'].get('namespace', 'default')}/{plural}" if namespaced else f"{root}/{plural}"
