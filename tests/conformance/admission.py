"""Prints how far the admission plugins agree with the recorded answers of default servers, and where they do not.

python -m tests.conformance.admission                          every release
python -m tests.conformance.admission --file admission-1.37 --case PodSecurity/ --show 50
python -m tests.conformance.admission --write-floor            raise tests/conformance/floor.json to what agrees now

The requests go through the routes of the server in this process, each case in its world as new. README.md beside this file says
what a case looks like.
"""

from __future__ import annotations

import copy
import gzip
import json
import re
import sys
import urllib.parse
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from podstrat.apiserver import paths
from podstrat.apiserver.admission.gate import Admission
from podstrat.apiserver.api import Api
from podstrat.apiserver.auth import User
from podstrat.apiserver.calls import Call
from podstrat.apiserver.storage.store import Entry, Store, Write
from podstrat.strategy.engine import Engine
from tests.conformance import compare, worlds
from tests.conformance.recorded import CASES, PATCHES, TABLE, edited
from tests.conformance.replay import POSTED, Verdict
from tests.conformance.run import arguments, print_differences, print_table, raise_floor
from tests.conformance.worlds import World

Object = dict[str, Any]

SUFFIX = "[bcdfghjklmnpqrstvwxz2456789]{5}"
METHODS = {"replace": "PUT", "patch": "PATCH", "apply": "PATCH", "delete": "DELETE", "get": "GET", "table": "GET"}
KEPT = frozenset(
    (
        "Pod", "Status", "Namespace", "ResourceQuota", "Node", "ServiceAccount", "PriorityClass", "LimitRange", "Table",
        "Binding", "PersistentVolumeClaim", "RuntimeClass",
    )
)  # fmt: skip
"""Kinds of which the record has the accepted answer; of others only the code and the warnings."""
ADMIN = User("admin", ("system:masters", "system:authenticated"))


class Sent(NamedTuple):
    """One request."""

    method: str
    path: str
    body: Any = None
    content_type: str = "application/json"
    accept: str = "application/json"
    user: Object | None = None
    """Whom the administrator acts as: ``user`` and ``groups``."""


Send = Callable[[Sent], tuple[int, Object, list[str]]]
"""Sends a request: code, body, warnings."""


def files() -> list[Path]:
    """The files of recorded cases: plugins by release, and policies."""
    return sorted(CASES.glob("admission-*.jsonl.gz"))


def cases(file: Path) -> Iterator[Object]:
    with gzip.open(file, "rt", encoding="utf-8") as lines:
        for line in lines:
            yield json.loads(line)


def release(file: Path) -> str:
    """``1.37`` of ``admission-1.37.jsonl.gz``."""
    found = re.search(r"\d+\.\d+", file.name)
    assert found is not None, file
    return found[0]


# ---- a case ----------------------------------------------------------------------------------------------------------


def answers(case: Object, send: Send) -> Iterator[Object]:
    """What is answered to each step, in the form of the record."""
    play = _Play(case, send)
    for step in case["steps"]:
        yield play.answer(step)


class _Play:
    """A case that is being played: the last pod, and what was made up on the way."""

    def __init__(self, case: Object, send: Send) -> None:
        self._send = send
        self._managed = case.get("managed", False)
        self._namespace = case.get("namespace", "default")
        self._pods = f"/api/v1/namespaces/{self._namespace}/pods"
        self._text = json.dumps(case["steps"])
        self._prefixes = {"kube-api-access-", *re.findall(r'"generateName": "([^"]+)"', self._text)}
        self._name = case.get("name", "p")
        self._last: Any = send(Sent("GET", f"{self._pods}/{self._name}"))[1] if "name" in case else None
        self._uids: dict[str, str] = {}

    def answer(self, step: Object) -> Object:
        do = step["do"]
        code, body, warnings = self._send(self._sent(step))
        if do == "create" and code == 201:
            self._name = body["metadata"]["name"]
        if code < 300 and body.get("kind") == "Pod" and do != "send":
            self._last = copy.deepcopy(body)
        elif code < 300 and do in POSTED:
            found, pod, _ = self._send(Sent("GET", f"{self._pods}/{self._name}"))
            self._last = pod if found == 200 else self._last
        return self._washed(code, body, warnings)

    def _sent(self, step: Object) -> Sent:
        do, user = step["do"], step.get("as")
        query = dict(step.get("query") or {})
        if do == "apply":
            query = {"fieldManager": step.get("manager", "m"), **({"force": "true"} if step.get("force") else {}), **query}
        tail = f"?{urllib.parse.urlencode(query)}" if query else ""
        body = self._filled(self._body(step))
        if do == "send":
            accept = TABLE if step.get("table") else "application/json"
            return Sent(step["method"], step["path"] + tail, body, step.get("ctype", "application/json"), accept, user)
        if do == "create":
            return Sent("POST", self._pods + tail, body, user=user)
        pod = f"{self._pods}/{self._name}"
        if do in POSTED:
            subresource, head = POSTED[do]
            body = {**head, "metadata": {"name": self._name, "namespace": self._namespace}, **(body or {})}
            return Sent("POST", f"{pod}/{subresource}{tail}", body, user=user)
        sub = f"/{step['sub']}" if step.get("sub") else ""
        kind = PATCHES[step.get("type", "apply")] if METHODS[do] == "PATCH" else "application/json"
        return Sent(METHODS[do], pod + sub + tail, body, kind, TABLE if do == "table" else "application/json", user)

    def _body(self, step: Object) -> Any:
        if "raw" in step:
            return step["raw"].encode()
        return edited(self._last or {}, step["edit"]) if "edit" in step else copy.deepcopy(step.get("body"))

    def _filled(self, body: Any) -> Any:
        """``$uid(PATH)`` is the uid of that object."""
        if body is None or isinstance(body, bytes):
            return body
        text = json.dumps(body)
        for path in sorted(set(re.findall(r"\$uid\(([^)]*)\)", text))):
            uid = (self._send(Sent("GET", path))[1].get("metadata") or {}).get("uid", "")
            text = text.replace(f"$uid({path})", uid)
            if uid:
                self._uids[uid] = f"$uid({path})"
        return json.loads(text)

    def _washed(self, code: int, body: Object, warnings: list[str]) -> Object:
        for uid, mark in self._uids.items():
            body = json.loads(json.dumps(body).replace(uid, mark))
        answer: Object = {"code": code}
        if code >= 300 or body.get("kind") in KEPT:
            answer["body"] = compare.clean(body, self._managed)
        if warnings:
            answer["warnings"] = warnings
        text = json.dumps(answer)
        for prefix in self._prefixes:
            for name in set(re.findall(re.escape(prefix) + SUFFIX + r"(?![a-z0-9])", text)):
                if name not in self._text:
                    text = text.replace(name, prefix + "<suffix>")
        text = re.sub(r"(UID mismatch: expected )\S+( got )[0-9a-f-]{36}", r"\1<uid>\2<uid>", text)
        return json.loads(text)


# ---- a world in this process -----------------------------------------------------------------------------------------


class Scene:
    """A server in this process with the objects of a world. Used in a with statement it is as new afterwards."""

    def __init__(self, world: World, server: Object, version: str) -> None:
        engine = Engine(version)
        self._store = Store.open(None)
        admission = Admission(self._store, engine.context.version, plugins=worlds.settings(server))
        self._api = Api(self._store, engine, admission=admission)
        self._api.bootstrap()
        make(world, self.send)
        self._before = self._contents()

    def __enter__(self) -> Send:
        return self.send

    def __exit__(self, *_: object) -> None:
        now = self._contents()
        writes = [Write(*place, None, None) for place in now.keys() - self._before.keys()]
        changed = [place for place, entry in self._before.items() if now.get(place) != entry]
        self._store.commit([*writes, *(Write(*place, self._before[place].obj, None) for place in changed)])
        self._before = self._contents() if writes or changed else self._before

    def _contents(self) -> dict[Any, Entry]:
        return {
            (kind, entry.obj["metadata"].get("namespace", ""), entry.obj["metadata"]["name"]): entry
            for kind in self._store.kinds
            for entry in self._store.list(kind)[0]
        }

    def send(self, sent: Sent) -> tuple[int, Object, list[str]]:
        """What the server answers: code, body, warnings."""
        address = urllib.parse.urlsplit(sent.path)
        parts = address.path.strip("/").split("/")
        group, version, rest = ("", parts[1], parts[2:]) if parts[0] == "api" else (parts[1], parts[2], parts[3:])
        target = paths.target(group, version, "/".join(rest))
        if target is None:
            return 404, {"kind": "Status", "message": "not served"}, []
        data = sent.body if isinstance(sent.body, bytes) else b"" if sent.body is None else json.dumps(sent.body).encode()
        user = ADMIN if sent.user is None else User(sent.user["user"], tuple(sent.user.get("groups", ())))
        query = urllib.parse.parse_qs(address.query, keep_blank_values=True)
        reply = self._api.handle(Call(sent.method, target, query, data, sent.content_type, sent.accept, "admission", user))
        body = reply.body if reply.json is None else json.loads(reply.json())
        assert body is not None
        # The record has headers as they are sent: in bytes, and with backslashes doubled.
        headers = [text.replace("\\", "\\\\").encode().decode("latin-1") for text in reply.warnings]
        return reply.code, body, headers


def make(world: World, send: Send) -> None:
    """Makes the objects of a world, with their status."""
    for obj in world.objects:
        if "$delete" in obj:
            code, body, _ = send(Sent("DELETE", obj["$delete"]))
            assert code < 300, body
            continue
        path = worlds.path(obj)
        code, body, _ = send(Sent("POST", path, obj))
        assert code == 201 or body.get("reason") == "AlreadyExists", (obj, body)
        if code == 201 and "status" in obj and obj["kind"] in worlds.WITH_STATUS:
            body = {**body, "status": {**(body.get("status") or {}), **obj["status"]}}
            code, body, _ = send(Sent("PUT", f"{path}/{obj['metadata']['name']}/status", body))
            assert code == 200, body


# ---- all cases -------------------------------------------------------------------------------------------------------


def verdicts(file: Path, prefix: str = "") -> Iterator[Verdict]:
    """Every case of a file whose id begins so."""
    every, servers = worlds.load()
    scenes: dict[str, Scene] = {}
    for case in cases(file):
        if not case["id"].startswith(prefix):
            continue
        name = case["world"]
        if name not in scenes:
            scenes[name] = Scene(every[name], servers[every[name].server], release(file))
        with scenes[name] as send:
            yield verdict(case, send)


def verdict(case: Object, send: Send) -> Verdict:
    """How a case comes out."""
    area = case["id"].partition("/")[0]
    try:
        got = list(answers(case, send))
    except Exception as error:  # a case that cannot be run is a difference, not the end of the run
        return Verdict(case["id"], area, False, False, f"{type(error).__name__}: {error}")
    codes = [each["code"] for each in case["want"]] == [each["code"] for each in got]
    for i, (want, one) in enumerate(zip(case["want"], got, strict=True)):
        if "body" in one:
            one["body"] = compare.in_recorded_order(one["body"], want.get("body"))
        why = compare.first_difference(want, one) or compare.first_other_order(want.get("body"), one.get("body"))
        if why:
            return Verdict(case["id"], area, codes, False, f"step {i}: {why}")
    return Verdict(case["id"], area, codes, True, None)


def main() -> int:
    args = arguments(__doc__).parse_args()
    chosen = {file.name.partition(".jsonl")[0]: file for file in files()}
    found = {name: list(verdicts(file, args.case)) for name, file in chosen.items() if not args.file or name in args.file}
    print_differences(found, args.show)
    print_table(found)
    if args.write_floor:
        raise_floor(found)
    return 0 if all(each.whole for one in found.values() for each in one) else 1


if __name__ == "__main__":
    sys.exit(main())
