"""Policies in tests written in Python: policies from files or as objects, and their verdict on a write.

policies = Policies("policies/no-latest-tag.yaml")
verdict = policies.create(pod)
assert verdict.name == "deny" and verdict.says("images without a fixed tag: nginx:latest")
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

from podstrat.check import inputs
from podstrat.policy import testfile, verdict
from podstrat.policy.verdict import PolicyRequest, Verdict
from podstrat.strategy import kinds
from podstrat.strategy.engine import Engine
from podstrat.strategy.kinds.kind import Kind
from podstrat.strategy.request import ADMIN, User

Object = dict[str, Any]


class Policies:
    """Policies, bindings, parameters and other objects that exist: paths of files and directories, or objects.

    ValueError for a policy that the server would refuse.
    """

    def __init__(self, *sources: str | os.PathLike[str] | Object, version: str = "1.37") -> None:
        self._base = Engine(version)
        self._objects = [obj for each in sources for obj in self._loaded(each)]
        self._engines: dict[str, Engine] = {}

    def create(self, obj: Object, *, user: User = ADMIN) -> Verdict:
        """The verdict on a new object."""
        return self._verdict(PolicyRequest("create", _kind(obj), obj, user=user))

    def update(self, obj: Object, old: Object, *, subresource: str = "", user: User = ADMIN) -> Verdict:
        """The verdict on an object that replaces another."""
        return self._verdict(PolicyRequest("update", _kind(old), obj, old, subresource, user))

    def delete(self, old: Object, *, user: User = ADMIN) -> Verdict:
        """The verdict on the deletion of an object."""
        return self._verdict(PolicyRequest("delete", _kind(old), old=old, user=user))

    def _verdict(self, write: PolicyRequest) -> Verdict:
        namespace = write.namespace
        if namespace not in self._engines:
            self._engines[namespace] = verdict.engine(self._base, self._objects, [namespace])
        return verdict.of(write, self._engines[namespace])

    def _loaded(self, source: str | os.PathLike[str] | Object) -> Iterator[Object]:
        objects = [("", source)] if isinstance(source, dict) else list(_read(os.fspath(source)))
        for where, obj in objects:
            if (outcome := verdict.refusal(obj, self._base)) is not None:
                raise ValueError(f"{where}{outcome.status()['message']}")
            yield obj


def _read(path: str) -> Iterator[tuple[str, Object]]:
    """The objects of files, each with where it stands; tests of policies are left out."""
    for opened in inputs.objects(inputs.InputArguments([path])):
        if opened.object.said("kind") not in ("", testfile.KIND):
            yield f"{opened.title}: ", opened.object.value


def _kind(obj: Object) -> Kind:
    kind = kinds.BY_NAME.get((str(obj.get("apiVersion")), str(obj.get("kind"))))
    if kind is None:
        raise ValueError(f"unknown kind {obj.get('kind')} of {obj.get('apiVersion')}")
    return kind
