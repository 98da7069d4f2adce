"""Webhooks that refuse, cannot be asked, or answer what cannot be used: in the server's words, and as failurePolicy decides."""

from __future__ import annotations

import base64
import json
import socket
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from apiserver.admission import review
from certs import files
from certs.issuing import Authority
from podstrat.admitting import Tls
from tests.apiserver.admission import hooks
from tests.apiserver.admission.conftest import Start
from tests.apiserver.admission.hooks import Webhook
from tests.apiserver.admission.scene import Scene, said

NAME = "hook.example.com"
INTERNAL = "Internal error occurred: "
FAILED = f'{INTERNAL}failed calling webhook "{NAME}": '


def post(webhook: Webhook, seconds: int = 10) -> str:
    return f'failed to call webhook: Post "{webhook.url}?timeout={seconds}s": '


# ---- no ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["Mutating", "Validating"])
@pytest.mark.parametrize(
    "status, code, reason, words",
    [
        pytest.param({"message": "no latest"}, 400, None, ": no latest", id="message"),
        pytest.param({"reason": "BadImage"}, 400, "BadImage", ": BadImage", id="reason"),
        pytest.param({}, 400, None, " without explanation", id="nothing"),
        pytest.param({"message": "no", "code": 403, "reason": "Forbidden"}, 403, "Forbidden", ": no", id="code"),
        pytest.param({"message": "no", "code": 200, "status": "Success"}, 400, None, ": no", id="success-is-no-refusal"),
    ],
)
def test_denied(status: dict[str, Any], code: int, reason: str | None, words: str, kind: str, scene: Scene, start: Start) -> None:
    scene.register(hooks.configuration(kind, "c", start(hooks.deny(**status)).entry(failurePolicy="Ignore")))
    refused = scene.create(hooks.pod())
    assert refused.body is not None
    assert (refused.code, refused.body.get("reason"), refused.body["status"]) == (code, reason, "Failure")
    assert said(refused) == f'admission webhook "{NAME}" denied the request{words}'
    assert scene.send("GET", name="web").code == 404


def test_details_of_a_refusal_reach_the_client(scene: Scene, start: Start) -> None:
    details = {"name": "web", "kind": "Pod", "causes": [{"reason": "Bad", "message": "image", "field": "spec"}]}
    scene.register(hooks.validating("v", start(hooks.deny("no", details=details)).entry()))
    refused = scene.create(hooks.pod()).body
    assert refused is not None
    assert refused["details"] == details


def test_the_first_of_several_refusals_is_told(scene: Scene, start: Start) -> None:
    slow, quick = start(hooks.deny("slow")), start(hooks.deny("quick"))
    slow.delay = 0.2
    scene.register(hooks.validating("v", slow.entry("slow.example.com"), quick.entry("quick.example.com")))
    assert said(scene.create(hooks.pod())) == 'admission webhook "slow.example.com" denied the request: slow'


# ---- not asked -------------------------------------------------------------------------------------

Setting = Callable[[Webhook], dict[str, Any]]


def closed_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


@pytest.mark.parametrize("kind", ["Mutating", "Validating"])
@pytest.mark.parametrize("policy", ["Fail", "Ignore"])
def test_a_webhook_that_is_not_there(kind: str, policy: str, scene: Scene, start: Start) -> None:
    port = closed_port()
    entry = start().entry(failurePolicy=policy)
    entry["clientConfig"]["url"] = f"https://127.0.0.1:{port}/review"
    scene.register(hooks.configuration(kind, "c", entry))
    reply = scene.create(hooks.pod())
    if policy == "Ignore":
        assert reply.code == 201
        word = "mutation" if kind == "Mutating" else "validating"
        assert reply.annotations[f"failed-open.{word}.webhook.admission.k8s.io/round_0_index_0"] == NAME
        return
    cause = f'failed to call webhook: Post "https://127.0.0.1:{port}/review?timeout=10s": '
    assert said(reply) == f"{FAILED}{cause}dial tcp 127.0.0.1:{port}: connect: connection refused"
    assert reply.body is not None
    assert (reply.code, reply.body["reason"]) == (500, "InternalError")
    assert reply.body["details"] == {"causes": [{"message": said(reply).removeprefix(INTERNAL)}]}


@pytest.mark.parametrize("kind", ["Mutating", "Validating"])
def test_a_webhook_that_takes_too_long(kind: str, scene: Scene, start: Start) -> None:
    slow = start()
    slow.delay = 3
    scene.register(hooks.configuration(kind, "c", slow.entry(timeoutSeconds=1)))
    refused = scene.create(hooks.pod())
    assert said(refused) == f"{FAILED}{post(slow, 1)}context deadline exceeded"
    assert slow.paths == ["/review?timeout=1s"]


def test_a_slow_webhook_that_may_be_left_out(scene: Scene, start: Start) -> None:
    slow, next_one = start(hooks.note("slow")), start(hooks.note("next"))
    slow.delay = 3
    entries = slow.entry(timeoutSeconds=1, failurePolicy="Ignore"), next_one.entry("next.example.com")
    scene.register(hooks.mutating("c", *entries))
    made = scene.create(hooks.pod()).body
    assert made is not None
    assert made["metadata"]["annotations"] == {"path": "next"}


def test_a_webhook_that_answers_drop_by_drop_has_no_more_time(scene: Scene, podstrat_tls: Tls) -> None:
    """Each byte comes in time, the whole does not."""
    import ssl
    import threading

    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(podstrat_tls.certificate, podstrat_tls.key)
    listener = socket.create_server(("127.0.0.1", 0))

    def drip() -> None:
        with listener.accept()[0] as plain, context.wrap_socket(plain, server_side=True) as connection:
            connection.recv(65536)
            try:
                for byte in b"HTTP/1.1 200 OK\r\n" + b"X: y\r\n" * 100:
                    connection.send(bytes([byte]))
                    time.sleep(0.1)
            except OSError:
                return

    thread = threading.Thread(target=drip, daemon=True)
    thread.start()
    url = f"https://127.0.0.1:{listener.getsockname()[1]}/review"
    bundle = base64.b64encode(podstrat_tls.ca.read_bytes()).decode()
    entry = {"name": NAME, "clientConfig": {"url": url, "caBundle": bundle}, "rules": [hooks.PODS], "timeoutSeconds": 1}
    scene.register(hooks.mutating("c", {**entry, "sideEffects": "None", "admissionReviewVersions": ["v1"]}))
    assert said(scene.create(hooks.pod())).endswith("context deadline exceeded")
    thread.join(5)
    assert not thread.is_alive()
    listener.close()


def test_an_authority_that_did_not_sign(scene: Scene, start: Start) -> None:
    hook = start()
    other = Authority.new("somebody else", datetime.now(UTC)).certificate
    entry = hook.entry()
    entry["clientConfig"]["caBundle"] = base64.b64encode(other).decode()
    scene.register(hooks.mutating("c", entry))
    unknown = "tls: failed to verify certificate: x509: certificate signed by unknown authority"
    assert said(scene.create(hooks.pod())) == f"{FAILED}{post(hook)}{unknown}"
    assert hook.requests == []


def test_without_a_bundle_this_machine_says_whom_to_believe(scene: Scene, start: Start) -> None:
    hook = start()
    entry = hook.entry()
    del entry["clientConfig"]["caBundle"]
    scene.register(hooks.mutating("c", entry))
    assert said(scene.create(hooks.pod())).endswith("x509: certificate signed by unknown authority")


def test_a_bundle_that_is_none(scene: Scene, start: Start) -> None:
    entry = start().entry()
    entry["clientConfig"]["caBundle"] = base64.b64encode(b"not PEM").decode()
    scene.register(hooks.mutating("c", entry))
    cause = "could not get REST client: unable to load root certificates: unable to parse bytes as PEM block"
    assert said(scene.create(hooks.pod())) == f"{FAILED}{cause}"


def issued(folder: Path, names: list[str], life: timedelta = timedelta(days=1), ago: timedelta = timedelta()) -> Tls:
    now = datetime.now(UTC)
    authority = Authority.new("test", now)
    leaf = authority.server(names, now - ago, life)
    made = Tls(folder / "crt", folder / "key", folder / "ca")
    for path, text in zip(made, (leaf.certificate, leaf.key, authority.certificate), strict=True):
        files.write(path, text)
    return made


@pytest.mark.parametrize(
    "names, words",
    [
        pytest.param(["10.0.0.1"], "x509: certificate is valid for 10.0.0.1, not 127.0.0.1", id="another-address"),
        pytest.param(
            ["web.default.svc"],
            "x509: cannot validate certificate for 127.0.0.1 because it doesn't contain any IP SANs",
            id="no-address",
        ),
    ],
)
def test_a_certificate_for_somebody_else(names: list[str], words: str, scene: Scene, tmp_path: Path) -> None:
    with hooks.running(issued(tmp_path, names)) as hook:
        scene.register(hooks.mutating("c", hook.entry()))
        refused = scene.create(hooks.pod())
        assert said(refused) == f"{FAILED}{post(hook)}tls: failed to verify certificate: {words}"


def test_a_certificate_for_another_name(tmp_path: Path) -> None:
    with hooks.running(issued(tmp_path, ["a.svc", "b.svc"])) as hook:
        entry = hook.entry()
        entry["clientConfig"]["url"] = f"https://web.default.svc:{hook.port}/review"
        with Scene(resolve={"web.default.svc": ("127.0.0.1", hook.port)}) as scene:
            scene.register(hooks.mutating("c", entry))
            words = "x509: certificate is valid for a.svc, b.svc, not web.default.svc"
            assert said(scene.create(hooks.pod())).endswith(f"tls: failed to verify certificate: {words}")


def test_a_certificate_that_has_expired(scene: Scene, tmp_path: Path) -> None:
    old = issued(tmp_path, ["127.0.0.1"], timedelta(hours=1), timedelta(hours=2))
    with hooks.running(old) as hook:
        scene.register(hooks.mutating("c", hook.entry()))
        words = "tls: failed to verify certificate: x509: certificate has expired or is not yet valid: current time "
        told = said(scene.create(hooks.pod()))
        assert told.startswith(f"{FAILED}{post(hook)}{words}")
        assert " is after " in told


def test_a_server_that_speaks_no_tls(scene: Scene) -> None:
    import threading

    listener = socket.create_server(("127.0.0.1", 0))

    def answer() -> None:
        with listener.accept()[0] as plain:
            plain.recv(65536)
            plain.send(b"HTTP/1.1 400 Bad Request\r\n\r\n")

    thread = threading.Thread(target=answer, daemon=True)
    thread.start()
    port = listener.getsockname()[1]
    client = {"url": f"https://127.0.0.1:{port}/"}
    entry = {"name": NAME, "clientConfig": client, "rules": [hooks.PODS], "sideEffects": "None"}
    scene.register(hooks.mutating("c", {**entry, "admissionReviewVersions": ["v1"]}))
    assert said(scene.create(hooks.pod())).endswith("http: server gave HTTP response to HTTPS client")
    thread.join(5)
    listener.close()


@pytest.mark.parametrize(
    "client, words",
    [
        pytest.param(
            {"service": {"name": "web", "namespace": "default", "path": "/mutate"}},
            'failed to call webhook: Post "https://web.default.svc:443/mutate?timeout=10s": service "web" not found',
            id="service",
        ),
        pytest.param(
            {"service": {"name": "web", "namespace": "default", "port": 8443}},
            'failed to call webhook: Post "https://web.default.svc:8443/?timeout=10s": service "web" not found',
            id="port",
        ),
        pytest.param(
            {"url": "https://nowhere.invalid/x"},
            'failed to call webhook: Post "https://nowhere.invalid/x?timeout=10s": '
            "dial tcp: lookup nowhere.invalid: no such host",
            id="name",
        ),
        pytest.param({}, "could not get REST client: webhook configuration must have either service or URL", id="neither"),
    ],
)
def test_an_address_that_is_none(client: dict[str, Any], words: str, scene: Scene) -> None:
    entry = {"name": NAME, "clientConfig": client, "rules": [hooks.PODS], "sideEffects": "None"}
    scene.register(hooks.mutating("c", {**entry, "admissionReviewVersions": ["v1"]}))
    assert said(scene.create(hooks.pod())) == f"{FAILED}{words}"


# ---- answers that cannot be used -------------------------------------------------------------------

NAMELESS = "couldn't get version/kind; json parse error: "
NAMES = 'Go value of type struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }'
UNKNOWN = 'in scheme "k8s.io/apiserver/pkg/util/webhook/client.go:71"'


@pytest.mark.parametrize(
    "raw, words",
    [
        pytest.param((404, "text/plain", b"no"), "the server could not find the requested resource", id="404"),
        pytest.param((400, "text/plain", b"no"), "the server rejected our request for an unknown reason", id="400"),
        pytest.param(
            (500, "text/plain", b" oh dear\n"),
            'an error on the server ("oh dear") has prevented the request from succeeding',
            id="500",
        ),
        pytest.param(
            (500, "application/json", b"{}"),
            'an error on the server ("unknown") has prevented the request from succeeding',
            id="500-json",
        ),
        pytest.param((503, "text/plain", b""), "the server is currently unable to handle the request", id="503"),
        pytest.param((403, "text/plain", b"go away"), "go away", id="403"),
        pytest.param(
            (418, "text/plain", b""),
            "the server responded with the status code 418 but did not return more information",
            id="odd",
        ),
        pytest.param(
            (500, "application/json", b'{"kind":"Status","apiVersion":"v1","status":"Failure","message":"mine"}'),
            "mine",
            id="status",
        ),
        pytest.param((200, "text/plain", b""), "0-length response with status code: 200 and content type: text/plain", id="none"),
        pytest.param((200, "text/html", b"<html>"), f"{NAMELESS}json: cannot unmarshal string into {NAMES}", id="html"),
        pytest.param(
            (200, "application/json", b'{"response":{"allowed":"yes"}}'),
            "json: cannot unmarshal string into Go struct field AdmissionResponse.response.allowed of type bool",
            id="type",
        ),
    ],
)
@pytest.mark.parametrize("policy", ["Fail", "Ignore"])
def test_an_answer_that_is_no_review(raw: tuple[int, str, bytes], words: str, policy: str, scene: Scene, start: Start) -> None:
    hook = start()
    hook.raw = raw
    scene.register(hooks.mutating("c", hook.entry(failurePolicy=policy)))
    reply = scene.create(hooks.pod())
    if policy == "Ignore":
        assert reply.code == 201
    else:
        assert said(reply) == f"{FAILED}failed to call webhook: {words}"


def encoded(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


@pytest.mark.parametrize(
    "kind, response, words",
    [
        pytest.param("Mutating", {"allowed": True, "uid": "x"}, 'expected response.uid="<uid>", got "x"', id="uid"),
        pytest.param(
            "Mutating",
            {"allowed": True, "patch": encoded("[]")},
            "webhook returned response.patch but not response.patchType",
            id="no-patch-type",
        ),
        pytest.param(
            "Mutating",
            {"allowed": True, "patchType": "JSONPatch"},
            "webhook returned response.patchType but not response.patch",
            id="no-patch",
        ),
        pytest.param(
            "Validating",
            {"allowed": True, "patch": encoded("[]")},
            "validating webhook may not return response.patch",
            id="validating-patch",
        ),
        pytest.param(
            "Validating",
            {"allowed": True, "patchType": "JSONPatch"},
            "validating webhook may not return response.patchType",
            id="validating-patch-type",
        ),
    ],
)
@pytest.mark.parametrize("policy", ["Fail", "Ignore"])
def test_a_review_that_does_not_fit(
    kind: str, response: dict[str, Any], words: str, policy: str, scene: Scene, start: Start
) -> None:
    hook = start(lambda request: response)
    scene.register(hooks.configuration(kind, "c", hook.entry(failurePolicy=policy)))
    reply = scene.create(hooks.pod())
    if policy == "Ignore":
        assert reply.code == 201
        return
    told = words.replace("<uid>", hook.requests[0]["uid"])
    assert said(reply) == f"{FAILED}received invalid webhook response: {told}"


@pytest.mark.parametrize(
    "answer, words",
    [
        pytest.param({}, "webhook response was absent", id="nothing"),
        pytest.param(
            {"response": {"allowed": True, "uid": "<uid>"}},
            "expected webhook response of admission.k8s.io/v1, Kind=AdmissionReview, got /, Kind=",
            id="no-kind",
        ),
        pytest.param(
            {"apiVersion": "admission.k8s.io/v1", "response": {"allowed": True, "uid": "<uid>"}},
            "expected webhook response of admission.k8s.io/v1, Kind=AdmissionReview, got admission.k8s.io/v1, Kind=",
            id="version-only",
        ),
    ],
)
def test_a_review_without_a_name(answer: dict[str, Any], words: str, scene: Scene, start: Start) -> None:
    hook = start()

    def reply(review: dict[str, Any]) -> dict[str, Any]:
        filled: dict[str, Any] = json.loads(json.dumps(answer).replace("<uid>", review["request"]["uid"]))
        return filled

    hook.answer = reply  # type: ignore[method-assign]
    scene.register(hooks.mutating("c", hook.entry()))
    assert said(scene.create(hooks.pod())) == f"{FAILED}received invalid webhook response: {words}"


@pytest.mark.parametrize(
    "answer, words",
    [
        pytest.param(
            b'{"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v2"}',
            f'no kind "AdmissionReview" is registered for version "admission.k8s.io/v2" {UNKNOWN}',
            id="version",
        ),
        pytest.param(
            b'{"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1beta1"}',
            "converting (v1beta1.AdmissionReview) to (v1.AdmissionReview): unknown conversion",
            id="older-version",
        ),
        pytest.param(
            b'{"kind":"Status","apiVersion":"v1"}',
            "converting (v1.Status) to (v1.AdmissionReview): unknown conversion",
            id="status",
        ),
        pytest.param(b'{"kind":"Pod","apiVersion":"v1"}', f'no kind "Pod" is registered for version "v1" {UNKNOWN}', id="pod"),
        pytest.param(b"[]", f"{NAMELESS}json: cannot unmarshal array into {NAMES}", id="list"),
        pytest.param(b"a: b: c", "yaml: mapping values are not allowed in this context", id="no-yaml"),
        pytest.param(b'{"a": ', f"{NAMELESS}unexpected end of JSON input", id="no-json"),
    ],
)
def test_no_review(answer: bytes, words: str) -> None:
    """As the code of 1.36 words it."""
    with pytest.raises(review.Unusable) as refused:
        review.decoded(answer, "v1")
    assert str(refused.value) == words


def test_a_review_in_yaml() -> None:
    text = b"apiVersion: admission.k8s.io/v1\nkind: AdmissionReview\nresponse:\n  uid: u\n  allowed: true\n"
    assert review.verdict(review.decoded(text, "v1"), "u", "v1", mutating=True).allowed


@pytest.mark.parametrize(
    "versions, words",
    [
        pytest.param(
            ["v9"],
            "could not create admission objects: webhook does not accept known AdmissionReview versions (v1, v1beta1)",
            id="unknown",
        ),
        pytest.param(["v9", "v1beta1"], "", id="older"),
        pytest.param(["v1", "v1beta1"], "", id="first-wins"),
    ],
)
def test_versions_of_the_review(versions: list[str], words: str, scene: Scene, start: Start) -> None:
    scene.register(hooks.mutating("c", start(hooks.note("x")).entry(admissionReviewVersions=versions)))
    reply = scene.create(hooks.pod())
    assert reply.code == (500 if words else 201)
    if words:
        assert said(reply) == FAILED + words


# ---- patches ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("policy", ["Fail", "Ignore"])
@pytest.mark.parametrize(
    "operation, words",
    [
        pytest.param(
            {"op": "add", "path": "/spec/nothing/x", "value": 1},
            'add operation does not apply: doc is missing path: "/spec/nothing/x": missing value',
            id="add",
        ),
        pytest.param(
            {"op": "add", "path": "/spec/containers/7", "value": {}},
            "error in add for path: '/spec/containers/7': Unable to access invalid index: 7: invalid index referenced",
            id="add-index",
        ),
        pytest.param(
            {"op": "add", "path": "/spec/containers/x", "value": {}},
            "error in add for path: '/spec/containers/x': value was not a proper array index: 'x': "
            'strconv.Atoi: parsing "x": invalid syntax',
            id="add-no-index",
        ),
        pytest.param(
            {"op": "remove", "path": "/metadata/labels"},
            "error in remove for path: '/metadata/labels': Unable to remove nonexistent key: labels: missing value",
            id="remove",
        ),
        pytest.param(
            {"op": "replace", "path": "/spec/nothing/x", "value": 1},
            "replace operation does not apply: doc is missing path: /spec/nothing/x: missing value",
            id="replace",
        ),
        pytest.param(
            {"op": "replace", "path": "/spec/containers/3", "value": {}},
            "replace operation does not apply: doc is missing key: /spec/containers/3: missing value",
            id="replace-index",
        ),
        pytest.param({"op": "test", "path": "/kind", "value": "Node"}, "testing value /kind failed: test failed", id="test"),
        pytest.param(
            {"op": "move", "from": "/spec/nothing/x", "path": "/spec/y"},
            "move operation does not apply: doc is missing from path: /spec/nothing/x: missing value",
            id="move",
        ),
        pytest.param(
            {"op": "copy", "from": "/kind", "path": "/spec/nothing/x"},
            "copy operation does not apply: doc is missing destination path: /spec/nothing/x: missing value",
            id="copy",
        ),
        pytest.param({"op": "frob", "path": "/x"}, "Unexpected kind: frob", id="kind"),
        pytest.param({"op": "add"}, "add operation failed to decode path: missing value", id="no-path"),
    ],
)
def test_a_patch_that_does_not_apply(operation: dict[str, Any], words: str, policy: str, scene: Scene, start: Start) -> None:
    """It is the webhook's fault, whatever its failurePolicy says."""
    scene.register(hooks.mutating("c", start(hooks.patch(operation)).entry(failurePolicy=policy)))
    refused = scene.create(hooks.pod())
    assert (refused.code, said(refused)) == (500, INTERNAL + words)


def test_a_patch_that_makes_no_pod(scene: Scene, start: Start) -> None:
    wrong = {"op": "replace", "path": "/spec/containers/0/image", "value": 7}
    scene.register(hooks.mutating("c", start(hooks.patch(wrong)).entry()))
    words = "json: cannot unmarshal number into Go struct field Container.spec.containers.image of type string"
    assert said(scene.create(hooks.pod())) == INTERNAL + words


@pytest.mark.parametrize(
    "text, words",
    [
        pytest.param("{}", "json: cannot unmarshal object into Go value of type jsonpatch.Patch", id="object"),
        pytest.param("[1]", "json: cannot unmarshal number into Go value of type jsonpatch.Operation", id="number"),
        pytest.param("[{]", "invalid character ']' looking for beginning of object key string", id="text"),
    ],
)
@pytest.mark.parametrize("policy", ["Fail", "Ignore"])
def test_a_patch_that_is_none(text: str, words: str, policy: str, scene: Scene, start: Start) -> None:
    response = {"allowed": True, "patchType": "JSONPatch", "patch": encoded(text)}
    scene.register(hooks.mutating("c", start(lambda request: response).entry(failurePolicy=policy)))
    reply = scene.create(hooks.pod())
    if policy == "Ignore":
        assert reply.code == 201
    else:
        assert said(reply) == f"{FAILED}received undecodable patch in webhook response: {words}"


def test_another_type_of_patch(scene: Scene, start: Start) -> None:
    response = {"allowed": True, "patchType": "MergePatch", "patch": encoded('[{"op":"add","path":"/x","value":1}]')}
    scene.register(hooks.mutating("c", start(lambda request: response).entry()))
    assert said(scene.create(hooks.pod())) == f'{FAILED}unsupported patch type "MergePatch"'


def test_an_empty_patch_is_no_change(scene: Scene, start: Start) -> None:
    scene.register(hooks.mutating("c", start(hooks.patch()).entry()))
    assert scene.create(hooks.pod()).code == 201


# ---- warnings, dry run -----------------------------------------------------------------------------


def test_warnings_of_all_and_of_the_server(scene: Scene, start: Start) -> None:
    mutator = start(hooks.patch({"op": "add", "path": "/metadata/labels", "value": {}}, warnings=["from the first", "twice"]))
    judge = start(lambda request: {"allowed": True, "warnings": ["twice", "from the last"]})
    scene.register(hooks.mutating("m", mutator.entry()), hooks.validating("v", judge.entry()))
    pod = hooks.pod("not.a.label")
    made = scene.create({**pod, "spec": {**pod["spec"], "novelty": 1}})
    assert [text.split(":")[0] for text in made.warnings] == [
        'unknown field "spec.novelty"',
        "from the first",
        "twice",
        "metadata.name",
        "from the last",
    ]


def test_warnings_come_with_a_refusal_too(scene: Scene, start: Start) -> None:
    mutator = start(lambda request: {"allowed": True, "warnings": ["before"]})
    judge = start(lambda request: {"allowed": False, "warnings": ["no good"], "status": {"message": "no"}})
    scene.register(hooks.mutating("m", mutator.entry()), hooks.validating("v", judge.entry()))
    refused = scene.create(hooks.pod())
    assert (refused.code, refused.warnings) == (400, ("before", "no good"))


def test_audit_annotations_are_prefixed(scene: Scene, start: Start) -> None:
    noted = start(lambda request: {"allowed": True, "auditAnnotations": {"why": "because"}})
    scene.register(hooks.validating("v", noted.entry()))
    assert scene.create(hooks.pod()).annotations == {f"{NAME}/why": "because"}


@pytest.mark.parametrize("kind", ["Mutating", "Validating"])
@pytest.mark.parametrize(
    "effects, policy, code, words",
    [
        pytest.param("None", "Fail", 201, "", id="none"),
        pytest.param("NoneOnDryRun", "Fail", 201, "", id="none-on-dry-run"),
        pytest.param("Some", "Fail", 400, f'admission webhook "{NAME}" does not support dry run', id="some"),
        pytest.param("Some", "Ignore", 400, f'admission webhook "{NAME}" does not support dry run', id="some-ignored"),
        pytest.param("Unknown", "Fail", 400, f'admission webhook "{NAME}" does not support dry run', id="unknown"),
        pytest.param(None, "Fail", 500, f"{FAILED}Webhook SideEffects is nil", id="not-said"),
        pytest.param(None, "Ignore", 201, "", id="not-said-ignored"),
    ],
)
def test_dry_run(effects: str | None, policy: str, code: int, words: str, kind: str, scene: Scene, start: Start) -> None:
    hook = start()
    entry = {**hook.entry(failurePolicy=policy), "sideEffects": effects}
    scene.register(hooks.configuration(kind, "c", entry))
    reply = scene.create(hooks.pod(), query={"dryRun": "All"})
    assert reply.code == code
    if words:
        assert said(reply) == words
    called = code == 201 and effects is not None
    assert [request["dryRun"] for request in hook.requests] == [True] * called
    assert scene.send("GET", name="web").code == 404
    if effects is not None:
        assert scene.create(hooks.pod()).code == 201
        assert hook.requests[-1]["dryRun"] is False
