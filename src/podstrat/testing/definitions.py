"""CustomResourceDefinitions for tests: from files, folders or dicts, created in a server and established.

with Client(server.kubeconfig) as calls:
    establish(calls, read("config/crd", {"apiVersion": "apiextensions.k8s.io/v1", ...}))
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Final

from podstrat.kubeclient.sync import Client

Object = dict[str, Any]
Source = str | os.PathLike[str] | Object

DEFINITIONS: Final = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
KIND: Final = "CustomResourceDefinition"
ENDINGS: Final = (".yaml", ".yml", ".json")
PATIENCE: Final = 30.0
"""Seconds until a definition that is not established is given up. Here it is at once; a server elsewhere takes a moment."""
CREATED, EXISTS = 201, 409


class NotDefined(Exception):
    """A definition was refused, or is not established; the text says why."""


def read(*sources: Source) -> list[Object]:
    """The definitions among the objects of files and folders, and those that are given as they are."""
    return [obj for source in sources for obj in _objects(source) if obj.get("kind") == KIND]


def _objects(source: Source) -> Iterator[Object]:
    if isinstance(source, dict):
        if source.get("kind") != KIND:
            raise NotDefined(f"an object of kind {source.get('kind')!r} is not a {KIND}")
        yield source
        return
    from podstrat.apiserver.bootstrap import read_objects

    path = Path(source)
    if not path.exists():
        raise NotDefined(f"{path}: no such file or folder")
    files = sorted(each for each in path.rglob("*") if each.suffix in ENDINGS) if path.is_dir() else [path]
    for file in files:
        yield from read_objects(file)


def establish(calls: Client, definitions: Iterable[Object]) -> list[Object]:
    """Creates definitions, or brings those that are there up to date; as they are once they are established."""
    return [_establish(calls, each) for each in definitions]


def _establish(calls: Client, definition: Object) -> Object:
    name = (definition.get("metadata") or {}).get("name", "")
    code, answer = calls.send("POST", DEFINITIONS, definition)
    if code == EXISTS:
        there = calls.call("GET", f"{DEFINITIONS}/{name}")
        version = there["metadata"]["resourceVersion"]
        changed = {**definition, "metadata": {**definition["metadata"], "resourceVersion": version}}
        code, answer = calls.send("PUT", f"{DEFINITIONS}/{name}", changed)
    if code >= 300:
        raise NotDefined(answer["message"])
    deadline = time.monotonic() + PATIENCE
    while True:
        current: Object = calls.call("GET", f"{DEFINITIONS}/{name}")
        conditions = {each["type"]: each for each in (current.get("status") or {}).get("conditions") or ()}
        if conditions.get("Established", {}).get("status") == "True":
            return current
        refused = conditions.get("NamesAccepted", {})
        if refused.get("status") == "False" or time.monotonic() > deadline:
            raise NotDefined(f"{name} is not established: {refused.get('message', 'no condition says why')}")
        time.sleep(0.05)


def exists(calls: Client, definition: Object) -> bool:
    name = (definition.get("metadata") or {}).get("name", "")
    return bool(name) and calls.send("GET", f"{DEFINITIONS}/{name}")[0] == 200


def remove(calls: Client, definitions: Iterable[Object]) -> None:
    """Deletes definitions, and their objects with them. Objects that finalizers hold stay, and their definition with them."""
    for each in definitions:
        if name := (each.get("metadata") or {}).get("name", ""):
            calls.send("DELETE", f"{DEFINITIONS}/{name}")
