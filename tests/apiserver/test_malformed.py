"""Thousands of requests that are wrong in some way, the same ones in every run: each gets its answer, and the server goes on."""

from __future__ import annotations

import base64
import copy
import json
import random
import re
import socket
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple
from urllib.parse import quote, urlsplit

import pytest

from podstrat.apiserver.resources import Failed
from podstrat.kubeclient.sync import Client
from podstrat.testing.server import Server

COUNT, LONG_COUNT = 4_000, 40_000
PROTOBUF = "application/vnd.kubernetes.protobuf"
PROTOBUF_STATUS = re.compile(rb"k8s\x00\n\x0c\n\x02v1\x12\x06Status\x12.*\x12\x07Failure", re.DOTALL)
"""An envelope that names v1 and Status, and a status that is Failure."""
NAMESPACE = "malformed"
TYPES = {
    "json": "application/json",
    "yaml": "application/yaml",
    "protobuf": "application/vnd.kubernetes.protobuf",
    "strategic": "application/strategic-merge-patch+json",
    "merge": "application/merge-patch+json",
    "json patch": "application/json-patch+json",
    "apply": "application/apply-patch+yaml",
}
PATCHES = ("strategic", "merge", "json patch", "apply")
OUR_FAULT = Failed().message


class Sent(NamedTuple):
    """One request, as bytes go over the wire."""

    method: str
    path: str | bytes
    headers: dict[str, str]
    body: bytes = b""

    def wire(self) -> bytes:
        path = self.path if isinstance(self.path, bytes) else self.path.encode()
        headers = {"Host": "localhost", "Content-Length": str(len(self.body)), **self.headers}
        lines = [f"{name}: {value}" for name, value in headers.items()]
        return self.method.encode() + b" " + path + b" HTTP/1.1\r\n" + "\r\n".join([*lines, "", ""]).encode() + self.body


class Got(NamedTuple):
    code: int
    content_type: str
    body: bytes


# ---- what is sent ----------------------------------------------------------------------------------


def _container(name: str) -> dict[str, Any]:
    return {
        "name": name,
        "image": "registry.example.com/web:1",
        "command": ["sh"],
        "env": [{"name": "A", "value": "1"}, {"name": "B", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}}],
        "ports": [{"containerPort": 80, "protocol": "TCP", "name": "web"}],
        "resources": {"limits": {"cpu": "1", "memory": "1Gi"}, "requests": {"cpu": "500m"}},
        "volumeMounts": [{"name": "data", "mountPath": "/data"}],
        "livenessProbe": {"httpGet": {"path": "/", "port": "web"}, "periodSeconds": 5},
        "securityContext": {"runAsUser": 1000, "capabilities": {"drop": ["ALL"]}},
    }


def _object(api_version: str, kind: str, name: str, **content: Any) -> dict[str, Any]:
    metadata = {"name": name, "labels": {"app": "web"}, "annotations": {"a": "b"}, "finalizers": [], "ownerReferences": []}
    return {"apiVersion": api_version, "kind": kind, "metadata": metadata, **content}


POD = _object(
    "v1",
    "Pod",
    "here",
    spec={
        "containers": [_container("main"), _container("side")],
        "initContainers": [_container("first") | {"restartPolicy": "Always"}],
        "volumes": [{"name": "data", "emptyDir": {"sizeLimit": "1Gi"}}],
        "tolerations": [{"key": "a", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 5}],
        "affinity": {
            "nodeAffinity": {
                "requiredDuringSchedulingIgnoredDuringExecution": {
                    "nodeSelectorTerms": [{"matchExpressions": [{"key": "zone", "operator": "In", "values": ["a"]}]}]
                }
            }
        },
        "terminationGracePeriodSeconds": 5,
        "securityContext": {"sysctls": [{"name": "a.b", "value": "1"}], "fsGroup": 5},
        "resourceClaims": [{"name": "gpu", "resourceClaimName": "claim"}],
    },
    status={
        "phase": "Running",
        "conditions": [{"type": "Ready", "status": "True", "lastTransitionTime": "2026-01-01T00:00:00Z"}],
        "containerStatuses": [
            {"name": "main", "image": "x", "imageID": "y", "ready": True, "restartCount": 1, "state": {"running": {}}}
        ],
        "podIPs": [{"ip": "10.0.0.1"}],
    },
)
SELECTOR = {"matchLabels": {"app": "web"}, "matchExpressions": [{"key": "a", "operator": "In", "values": ["b"]}]}
OBJECTS = {
    "/api/v1/namespaces": _object("v1", "Namespace", "other", spec={"finalizers": ["kubernetes"]}),
    "/api/v1/nodes": _object(
        "v1", "Node", "node", spec={"taints": [{"key": "a", "effect": "NoSchedule"}]}, status={"capacity": {"cpu": "4"}}
    ),
    "/api/v1/namespaces/{ns}/pods": POD,
    "/api/v1/namespaces/{ns}/events": _object("v1", "Event", "event", involvedObject={"kind": "Pod"}, count=1, eventTime=None),
    "/api/v1/namespaces/{ns}/configmaps": _object("v1", "ConfigMap", "map", data={"a": "b"}, binaryData={"c": "ZA=="}),
    "/api/v1/namespaces/{ns}/secrets": _object(
        "v1", "Secret", "secret", data={"a": "Yg=="}, stringData={"c": "d"}, type="Opaque"
    ),
    "/api/v1/namespaces/{ns}/serviceaccounts": _object("v1", "ServiceAccount", "sa", secrets=[{"name": "s"}]),
    "/apis/coordination.k8s.io/v1/namespaces/{ns}/leases": _object(
        "coordination.k8s.io/v1", "Lease", "lease", spec={"holderIdentity": "me", "renewTime": "2026-01-01T00:00:00.000000Z"}
    ),
    "/apis/resource.k8s.io/v1/namespaces/{ns}/resourceclaims": _object(
        "resource.k8s.io/v1",
        "ResourceClaim",
        "claim",
        spec={"devices": {"requests": [{"name": "r", "exactly": {"deviceClassName": "c", "count": 1}}]}},
        status={"reservedFor": [{"resource": "pods", "name": "p", "uid": "u"}]},
    ),
    "/apis/resource.k8s.io/v1/resourceslices": _object(
        "resource.k8s.io/v1",
        "ResourceSlice",
        "slice",
        spec={"driver": "d", "pool": {"name": "p", "generation": 1, "resourceSliceCount": 1}, "devices": [{"name": "d"}]},
    ),
    "/apis/resource.k8s.io/v1/deviceclasses": _object("resource.k8s.io/v1", "DeviceClass", "class", spec={"selectors": []}),
    "/apis/policy/v1/namespaces/{ns}/poddisruptionbudgets": _object(
        "policy/v1",
        "PodDisruptionBudget",
        "budget",
        spec={"minAvailable": "50%", "selector": SELECTOR},
        status={"disruptionsAllowed": 1, "disruptedPods": {"p": "2026-01-01T00:00:00Z"}},
    ),
    "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations": _object(
        "admissionregistration.k8s.io/v1", "ValidatingWebhookConfiguration", "hook", webhooks=[]
    ),
    "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews": _object(
        "authorization.k8s.io/v1", "SelfSubjectAccessReview", "", spec={"resourceAttributes": {"verb": "get"}}
    ),
    "/apis/authentication.k8s.io/v1/selfsubjectreviews": _object("authentication.k8s.io/v1", "SelfSubjectReview", ""),
    "/api/v1/namespaces/{ns}/pods/here/binding": _object("v1", "Binding", "here", target={"kind": "Node", "name": "node"}),
    "/api/v1/namespaces/{ns}/pods/here/eviction": _object(
        "policy/v1", "Eviction", "here", deleteOptions={"gracePeriodSeconds": 1, "preconditions": {"uid": "u"}}
    ),
}
DELETE_OPTIONS = {
    "kind": "DeleteOptions",
    "apiVersion": "v1",
    "gracePeriodSeconds": 5,
    "preconditions": {"uid": "u", "resourceVersion": "1"},
    "propagationPolicy": "Background",
    "dryRun": ["All"],
}
JSON_PATCH = [
    {"op": "add", "path": "/metadata/labels/x", "value": "y"},
    {"op": "test", "path": "/kind", "value": "Pod"},
    {"op": "copy", "from": "/metadata/labels", "path": "/metadata/annotations"},
    {"op": "remove", "path": "/spec/containers/0"},
]
ODD: tuple[Any, ...] = (
    None, True, False, 0, -1, 1.5, 2**31, 2**63, 2**64, 10**300, -(10**30), 1e308, "", "a", "-", "a" * 300, "\x00", "\ud800",
    "é\u2028",
    "1Gi", "1e999999999", "2026-13-45T99:99:99Z", "$patch", "../..", [], [None], [[]], [1, "a", None], {}, {"": ""}, {"a": None},
    {"$patch": "delete"}, {"$patch": "replace"}, {"$retainKeys": ["a"]}, {"$setElementOrder/containers": [1]},
    {"$deleteFromPrimitiveList/finalizers": "x"}, {"name": {}}, [{}], [{"name": []}], {"a": {"b": {"c": {"d": 1}}}},
)  # fmt: skip


def _places(value: Any, at: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    yield at
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, each in items:
        yield from _places(each, (*at, key))


def _changed(value: Any, rng: random.Random) -> Any:
    """The value with something odd in one place or two: another value, another key, or nothing."""
    value = copy.deepcopy(value)
    for _ in range(rng.choice((1, 1, 2))):
        at = rng.choice(list(_places(value)))
        if not at:
            return copy.deepcopy(rng.choice(ODD))
        holder = value
        for step in at[:-1]:
            holder = holder[step]
        do = rng.random()
        if do < 0.7:
            holder[at[-1]] = copy.deepcopy(rng.choice(ODD))
        elif do < 0.85 and isinstance(holder, dict):
            holder[rng.choice(("", "$patch", "\x00", "x" * 5000, "kind", str(at[-1]).upper()))] = holder.pop(at[-1])
        elif isinstance(holder, dict):
            del holder[at[-1]]
        else:
            holder.insert(0, copy.deepcopy(rng.choice(ODD)))
    return value


def _broken(text: bytes, rng: random.Random) -> bytes:
    """The text with some bytes wrong."""
    at = rng.randrange(len(text) + 1)
    junk = rng.choice(
        (b"\x00", b"\xff\xfe", b"\xed\xa0\x80", b"{", b"}", b"[", b'"', b"\\u12", b",", b"NaN", b"-", b"&a", b"*a", b"!!x ")
    )
    return rng.choice(
        (
            lambda: text[:at],
            lambda: text[at:],
            lambda: text[:at] + junk + text[at:],
            lambda: text[:at] + junk + text[at + 3 :],
            lambda: text + junk,
            lambda: junk + text,
            lambda: text + text,
            lambda: text.decode("utf-8", "replace").encode("utf-16"),
            lambda: b"",
            lambda: rng.randbytes(rng.randrange(200)),
        )
    )()


def _nested(rng: random.Random) -> bytes:
    depth = rng.choice((50, 500, 5_000, 50_000, 500_000))
    return rng.choice(
        (
            lambda: b"[" * depth,
            lambda: b"[" * depth + b"]" * depth,
            lambda: b'{"a":' * depth + b"1" + b"}" * depth,
            lambda: b'{"metadata":{"labels":' + b"[" * depth + b"]" * depth + b"}}",
            lambda: b'{"spec":{"containers":[' + b'{"x":[' * depth,
            lambda: b"- " * min(depth, 5_000) + b"a",
            lambda: b"\n".join(b" " * each + b"a:" for each in range(min(depth, 1_000))),
            lambda: b'[{"op":"add","path":"' + b"/a" * depth + b'","value":1}]',
            lambda: _message(min(depth, 5_000)),
        )
    )()


def _message(depth: int) -> bytes:
    """A protobuf message in a message in a message."""
    inner = b""
    for _ in range(depth):
        size, length = len(inner), b""
        while size >= 0x80:
            length, size = length + bytes([size & 0x7F | 0x80]), size >> 7
        inner = b"\x12" + length + bytes([size]) + inner
    return b"k8s\x00" + inner


def _text(value: Any) -> bytes:
    return json.dumps(value).encode()


Maker = Callable[[random.Random], Sent]


def _collection(rng: random.Random) -> tuple[str, dict[str, Any]]:
    path, obj = rng.choice(list(OBJECTS.items()))
    return path.format(ns=NAMESPACE), obj


def _write(rng: random.Random, change: Callable[[Any], bytes]) -> Sent:
    """A write of some kind, with a body that has been tampered with."""
    path, obj = _collection(rng)
    stored = obj["metadata"]["name"] and not path.endswith(("binding", "eviction"))
    method = rng.choice(("POST", "PUT", "PATCH", "DELETE")) if stored else "POST"
    kind = rng.choice(("json", "json", "yaml", "protobuf"))
    value: Any = obj
    if method == "POST":
        value = {**obj, "metadata": {**obj["metadata"], "name": rng.choice(("new", obj["metadata"]["name"]))}}
    else:
        path += f"/{obj['metadata']['name']}"
        parts = ("status", "resize", "ephemeralcontainers") if obj is POD else ("status",)
        path += rng.choice(("", "", *(f"/{part}" for part in parts)))
    if method == "PATCH":
        kind = rng.choice(PATCHES)
        value = JSON_PATCH if kind == "json patch" else {key: obj[key] for key in obj if key not in ("kind", "apiVersion")}
        value = obj if kind == "apply" else value
        path += "?fieldManager=m&force=true" if kind == "apply" else ""
    elif method == "DELETE":
        value = DELETE_OPTIONS
    return Sent(method, path, {"Content-Type": TYPES[kind]}, change(value))


def odd_values(rng: random.Random) -> Sent:
    sent = _write(rng, lambda value: _text(_changed(value, rng)))
    return sent._replace(headers={"Content-Type": TYPES["json"]}) if "protobuf" in sent.headers["Content-Type"] else sent


def broken_bodies(rng: random.Random) -> Sent:
    return _write(rng, lambda value: _broken(_text(value), rng))


def deep_bodies(rng: random.Random) -> Sent:
    return _write(rng, lambda value: _nested(rng))


def huge_bodies(rng: random.Random) -> Sent:
    size = rng.choice((3 * 1024 * 1024 - 100, 3 * 1024 * 1024 + 1, 4 * 1024 * 1024))
    return _write(rng, lambda value: _text({**POD, "metadata": {"name": "x" * size}}))


def wrong_types(rng: random.Random) -> Sent:
    odd = (
        "",
        "text/plain",
        "application/xml",
        "multipart/form-data",
        "application/json;charset=utf-16",
        "a" * 3_000,
        ";;;",
        "*/*",
        "x/y/z",
    )
    sent = _write(rng, _text)
    return sent._replace(
        headers={"Content-Type": rng.choice((*odd, *TYPES.values())), "Content-Encoding": rng.choice(("", "gzip"))}
    )


def path_tricks(rng: random.Random) -> Sent:
    path, _ = _collection(rng)
    trick = rng.choice(
        (
            "/..", "/../../../etc/passwd", "/%2e%2e/%2e%2e", "/%00", "/%ff%fe", "//", "/;a=b", "/%2f%2f", "/%zz", "/%",
            "/a%2Fb", "/a/b/c/d",
            "/status", "/here/nothing", "/here/status/more", "/" + "a" * 3_000, "/é", "/%C3%A9", "/A_B", "/.", "/ ", "/\t",
            "#here", "/here?", "/here??a",
            "/here%20", "/%E2%80%8B", "/-", "/proxy/x", "/here/log", "/here/exec?command=sh", "/here/attach", "/here/portforward",
        )
    )  # fmt: skip
    path = (
        rng.choice(
            (path, "", "/api", "/apis", "/apis/apps", "/openapi/v3", "/openapi/v2", "/api/v2/pods", "/metrics", "/healthz")
        )
        + trick
    )
    return Sent(rng.choice(("GET", "POST", "PUT", "PATCH", "DELETE")), path or "/", {"Content-Type": TYPES["json"]}, _text(POD))


QUERIES = (
    "limit", "continue", "resourceVersion", "resourceVersionMatch", "labelSelector", "fieldSelector", "timeoutSeconds",
    "dryRun", "fieldValidation",
    "gracePeriodSeconds", "propagationPolicy", "orphanDependents", "fieldManager", "force", "pretty", "includeObject",
    "sendInitialEvents",
    "allowWatchBookmarks", "ignoreStoreReadErrorWithClusterBreakingPotential", "nonsense",
)  # fmt: skip
TOKENS = tuple(
    base64.urlsafe_b64encode(text).decode().rstrip("=")
    for text in (
        b'{"v":"meta.k8s.io/v1","rv":1,"start":"a/b"}',
        b'{"v":"x"}',
        b"[]",
        b"1",
        b'{"v":"meta.k8s.io/v1","rv":-5,"start":"\\u0000"}',
    )
)
VALUES = (
    "", "0", "-1", "1", "abc", "true", "99999999999999999999", "1e3", " ", "%00", "%ff", "%zz", "a=b", "a in (b", "a in ()",
    "!a", "a,,b", "=,=", "()", "a>1",
    "All", "None", "Exact", "NotOlderThan", "Strict", "metadata.name=x", "spec.nodeName!=", "a.b.c=d",
    "status.phase=Running,x=y", "x" * 2_000, "é", *TOKENS,
)  # fmt: skip


def bad_queries(rng: random.Random) -> Sent:
    path, obj = _collection(rng)
    name = obj["metadata"]["name"]
    method = rng.choice(("GET", "GET", "POST", "DELETE", "PATCH", "PUT"))
    if method in ("PATCH", "PUT") or (method != "POST" and rng.random() < 0.5):
        path += f"/{name or 'x'}"
    query = "&".join(f"{rng.choice(QUERIES)}={_encoded(rng.choice(VALUES))}" for _ in range(rng.randrange(1, 4)))
    kind = TYPES[rng.choice(PATCHES)] if method == "PATCH" else TYPES["json"]
    body = b"" if method in ("GET", "DELETE") else b"{}" if method == "PATCH" else _text(obj)
    return Sent(method, f"{path}?{query}", {"Content-Type": kind}, body)


def _encoded(text: str) -> str:
    return text if text.startswith("%") else quote(text)


def bad_watches(rng: random.Random) -> Sent:
    path, _ = _collection(rng)
    query = "&".join(f"{rng.choice(QUERIES)}={_encoded(rng.choice(VALUES))}" for _ in range(2))
    return Sent(
        "GET",
        f"{path}?watch=1&{query}",
        {"Accept": rng.choice(("application/json", "application/json;as=Table;v=v1;g=meta.k8s.io"))},
    )


def odd_methods(rng: random.Random) -> Sent:
    path, _ = _collection(rng)
    method = rng.choice(("OPTIONS", "TRACE", "CONNECT", "PROPFIND", "LIST", "WATCH", "get", "G@T", "GET,POST", "X" * 100, "HEAD"))
    return Sent(method, rng.choice((path, "/", "*", "/version", "/metrics", "/podstrat/reset/x")), {}, b"")


def odd_headers(rng: random.Random) -> Sent:
    path, _ = _collection(rng)
    name, value = rng.choice(
        (
            ("Accept", "text/html"), ("Accept", "application/json;as=Table"),
            ("Accept", "application/json;as=Nothing;v=v9;g=x"), ("Accept", ",;=,"),
            ("Accept", "application/vnd.kubernetes.protobuf"), ("Accept", "a/b;q=x"), ("Accept", "x" * 4_000),
            ("Authorization", "Bearer nonsense"),
            ("Authorization", "Bearer"), ("Authorization", "Basic !!!"), ("Impersonate-User", "x"),
            ("Impersonate-Group", "x"), ("Content-Length", "-1"),
            ("Content-Length", "abc"), ("Transfer-Encoding", "nonsense"), ("Expect", "200-ok"), ("Connection", "upgrade"),
            ("Upgrade", "SPDY/3.1"),
            ("X-Long", "x" * 20_000), ("Bad Name", "x"), ("User-Agent", "\u00e9" * 50), ("Cookie", ";" * 500), ("Host", ""),
        )
    )  # fmt: skip
    return Sent(rng.choice(("GET", "POST")), path, {"Content-Type": TYPES["json"], name: value}, b"")


MAKERS: tuple[tuple[int, Maker], ...] = (
    (40, odd_values),
    (20, broken_bodies),
    (4, deep_bodies),
    (1, huge_bodies),
    (5, wrong_types),
    (10, path_tricks),
    (14, bad_queries),
    (1, bad_watches),
    (2, odd_methods),
    (3, odd_headers),
)


def requests(seed: int, count: int) -> Iterator[tuple[str, Sent]]:
    rng = random.Random(seed)
    weights, makers = zip(*MAKERS, strict=True)
    for make in rng.choices(makers, weights, k=count):
        yield make.__name__, make(rng)


# ---- what comes back -------------------------------------------------------------------------------


class Wire:
    """A connection that sends what it is told, right or wrong."""

    def __init__(self, url: str) -> None:
        address = urlsplit(url)
        self._address = (address.hostname, address.port)
        self._socket: socket.socket | None = None
        self._left = b""

    def ask(self, sent: Sent) -> Got:
        if self._socket is None:
            self._socket, self._left = socket.create_connection(self._address, timeout=60), b""
        self._socket.sendall(sent.wire())
        head = self._until(b"\r\n\r\n").decode("latin-1")
        headers = {name.lower(): value for name, value in re.findall(r"^([^:\r\n]+): *([^\r\n]*)", head, re.MULTILINE)}
        code = int(head.split()[1])
        if headers.get("transfer-encoding") == "chunked":
            self.close()
            return Got(code, headers["content-type"], b"")
        size = 0 if sent.method == "HEAD" else int(headers.get("content-length", 0))
        body = self._read(size)
        if headers.get("connection") == "close":
            self.close()
        return Got(code, headers.get("content-type", ""), body)

    def _until(self, mark: bytes) -> bytes:
        while mark not in self._left:
            self._more()
        text, _, self._left = self._left.partition(mark)
        return text

    def _read(self, size: int) -> bytes:
        while len(self._left) < size:
            self._more()
        text, self._left = self._left[:size], self._left[size:]
        return text

    def _more(self) -> None:
        assert self._socket is not None
        data = self._socket.recv(1 << 16)
        if not data:
            raise ConnectionError(f"closed after {self._left[:500]!r}")
        self._left += data

    def close(self) -> None:
        if self._socket is not None:
            self._socket.close()
            self._socket = None


def fault_of(sent: Sent, got: Got) -> str:
    """What is wrong with an answer; empty if it is as it should be."""
    if sent.method == "HEAD" or got.code < 400:
        return "" if 200 <= got.code < 500 and got.code // 100 != 3 else "neither an answer nor a refusal"
    if got.code == 404 and got.body == b"404 page not found\n":
        return ""  # outside of the served groups, as Go's router says it
    if got.content_type == sent.headers.get("Accept") == PROTOBUF:
        return "" if PROTOBUF_STATUS.match(got.body) and OUR_FAULT.encode() not in got.body else "a refusal that is not a Status"
    if got.content_type != "application/json":
        return f"a refusal of type {got.content_type}"
    try:
        status = json.loads(got.body)
    except ValueError:
        return "a refusal that is not valid JSON"
    head = {key: status.get(key) for key in ("kind", "apiVersion", "status", "code")}
    if head != {"kind": "Status", "apiVersion": "v1", "status": "Failure", "code": got.code} or "metadata" not in status:
        return f"a refusal that is not a Status: {head}"
    if not status.get("message") or not status.get("reason", "x"):
        return "a refusal without a word"
    return "our own fault" if OUR_FAULT in status["message"] else ""


@pytest.mark.parametrize(
    "seed, count", [pytest.param(4, COUNT, id="some"), pytest.param(5, LONG_COUNT, id="many", marks=pytest.mark.long)]
)
def test_every_request_is_answered_with_a_status(seed: int, count: int) -> None:
    with Server("--http") as server, Client(server.kubeconfig) as client:
        client.send("POST", "/api/v1/namespaces", {"metadata": {"name": NAMESPACE}})
        for path, obj in OBJECTS.items():
            client.send("POST", path.format(ns=NAMESPACE), obj)
        wire, codes, wrong = Wire(server.url), dict[int, int](), []
        for name, sent in requests(seed, count):
            try:
                got = wire.ask(sent)
            except (OSError, ValueError) as error:
                wire.close()
                wrong.append(f"{name}: {_shown(sent)}: {type(error).__name__}: {error}")
                continue
            codes[got.code] = codes.get(got.code, 0) + 1
            if fault := fault_of(sent, got):
                wrong.append(f"{name}: {_shown(sent)}: {fault}: {got.code} {got.body[:300]!r}")
        wire.close()
        log = server.log.read_text(errors="replace")
        assert not wrong, f"{len(wrong)} of {count}\n" + "\n".join(wrong[:30]) + f"\n{log[-5000:]}"
        assert "Traceback" not in log, log[-5000:]
        assert client.send("GET", f"/api/v1/namespaces/{NAMESPACE}/pods")[0] == 200
        assert client.send("POST", "/api/v1/namespaces/default/pods", {**POD, "metadata": {"name": "after"}})[0] == 201
        print(dict(sorted(codes.items())))
        assert {400, 404, 405, 409, 413, 415, 422} <= set(codes)


def _shown(sent: Sent) -> str:
    return f"{sent.method} {sent.path[:200]!r} {sent.headers.get('Content-Type', '')[:60]} {sent.body[:300]!r}"
