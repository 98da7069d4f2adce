"""The recorded cases: requests, and the answers that real kube-apiservers gave to them.

README.md beside this file says where they come from and what a case looks like.
"""

from __future__ import annotations

import copy
import gzip
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

PATCHES = {
    "strategic": "application/strategic-merge-patch+json",
    "merge": "application/merge-patch+json",
    "json": "application/json-patch+json",
    "apply": "application/apply-patch+yaml",
}
TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io"
CASES = Path(__file__).parent / "cases"
BASES: dict[str, Any] = json.loads((CASES / "bases.json").read_text())


@dataclass(frozen=True)
class Recording:
    """One file of cases, and the server that answered them."""

    name: str
    version: str
    gates: dict[str, bool]
    objects: list[dict[str, Any]]
    """What was stored before: written while the gates were on."""
    namespace: str = "default"
    """Where the requests were sent; the record says ``default`` for it, in bodies and in answers."""
    kinds: bool = False
    """Whether it is about other kinds than pods."""

    def cases(self) -> Iterator[dict[str, Any]]:
        with gzip.open(CASES / f"{self.name}.jsonl.gz", "rt", encoding="utf-8") as lines:
            for line in lines:
                yield json.loads(line)


def recordings() -> list[Recording]:
    """Every file about pods that is here, in the order of the index."""
    return _files("pods")


def kind_recordings() -> list[Recording]:
    """Every file about other kinds."""
    return _files("kinds")


def crd_recordings() -> list[Recording]:
    """Every file about CustomResourceDefinitions and custom objects."""
    return _files("crds")


def _files(topic: str) -> list[Recording]:
    found = []
    for name, about in json.loads((CASES / "index.json").read_text()).items():
        said = next((each for each in ("kinds", "crds") if about.get(each)), "pods")
        if not (CASES / f"{name}.jsonl.gz").exists() or said != topic:
            continue
        objects = json.loads(gzip.decompress((CASES / about["load"]).read_bytes()))["items"] if "load" in about else []
        namespace = about.get("namespace", "default")
        found.append(Recording(name, about["kubernetesVersion"], about["featureGates"], objects, namespace, topic == "kinds"))
    return found


def localised(body: Any, namespace: str) -> Any:
    """A body as it was sent. In a text only the compact spelling was replaced."""
    if isinstance(body, bytes):
        return body.replace(b'"namespace":"default"', f'"namespace":"{namespace}"'.encode())
    metadata = body.get("metadata") if isinstance(body, dict) else None
    if isinstance(metadata, dict) and metadata.get("namespace") == "default":
        return {**body, "metadata": {**metadata, "namespace": namespace}}
    return body


def recalled(answer: Any, namespace: str) -> Any:
    """An answer as it was recorded."""
    return answer if namespace == "default" else json.loads(json.dumps(answer).replace(namespace, "default"))


def area(case: dict[str, Any]) -> str:
    """``update/spec`` of ``update/spec/immutable/…``."""
    return "/".join(case["id"].split("/")[:2])


def edited(document: Any, operations: list[dict[str, Any]]) -> Any:
    """RFC 6902, except that "add" makes missing parents as objects."""
    document = copy.deepcopy(document)
    for operation in operations:
        *parents, last = _steps(operation["path"]) or [None]
        if last is None:
            document = copy.deepcopy(operation["value"])
            continue
        holder = document
        for step in parents:
            if isinstance(holder, list):
                holder = holder[int(step)]
            else:
                if holder.get(step) is None:
                    holder[step] = {}
                holder = holder[step]
        _apply(holder, last, operation)
    return document


def _steps(pointer: str) -> list[Any]:
    return [step.replace("~1", "/").replace("~0", "~") for step in pointer.split("/")[1:]]


def _apply(holder: Any, last: str, operation: dict[str, Any]) -> None:
    value = copy.deepcopy(operation.get("value"))
    if isinstance(holder, dict):
        if operation["op"] == "remove":
            holder.pop(last, None)
        else:
            holder[last] = value
    elif operation["op"] == "add":
        holder.insert(len(holder) if last == "-" else int(last), value)
    elif operation["op"] == "replace":
        holder[int(last)] = value
    else:
        del holder[int(last)]
