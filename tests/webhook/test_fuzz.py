"""Whatever is sent, there is a well-formed AdmissionReview or the documented HTTP error, and nothing is left behind."""

from __future__ import annotations

import base64
import gc
import json
import os
import resource
from typing import Any

import jsonpatch
import pytest

from tests.webhook import fuzzing
from tests.webhook.reviews import Webhook

CHOSEN: dict[str, Any] = {
    "gated_action": "drop",
    "backport": "on",
    "preflight": "on",
    "preflight_version": "1.36",
    "confirm": "deny",
}
SEVERAL = 5_000
MANY = int(os.environ.get("PODSTRAT_FUZZ", "200000"))


def check(code: int, body: bytes, sent: bytes) -> str:
    """What kind of answer it is, if it is one."""
    answer = json.loads(body)
    if answer["kind"] == "Status":
        assert code in (400, 413)
        assert (answer["status"], answer["code"]) == ("Failure", code)
        return "status"
    assert (answer["apiVersion"], answer["kind"]) == ("admission.k8s.io/v1", "AdmissionReview")
    response = answer["response"]
    request = json.loads(sent)["request"]
    assert response["uid"] == request["uid"]
    assert set(response) <= {"uid", "allowed", "status", "patch", "patchType", "warnings", "auditAnnotations"}
    if code == 400:
        assert response["allowed"] is False
        return "refused"
    assert code == 200, body
    if not response["allowed"]:
        assert response["status"]["code"] >= 400
        assert "patch" not in response
        return "denied"
    if "patch" in response:
        # Applies as it is, whatever the object is.
        jsonpatch.apply_patch(request["object"], json.loads(base64.b64decode(response["patch"])))
        return "patched"
    return "allowed"


def fuzz(numbers: range, caplog: pytest.LogCaptureFixture) -> None:
    webhook = Webhook(**CHOSEN)
    kinds: dict[str, int] = {}
    half = 0
    for number in numbers:
        sent = fuzzing.body(number)
        code, _, body = webhook.call(("/mutate", "/validate")[number % 2], sent)
        try:
            kind = check(code, body, sent)
        except Exception as error:
            raise AssertionError(f"body {number} was answered with {code} {body[:500]!r}") from error
        kinds[kind] = kinds.get(kind, 0) + 1
        if number == numbers[len(numbers) // 2]:
            gc.collect()
            half = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    assert "Traceback" not in caplog.text
    assert set(kinds) == {"status", "refused", "denied", "patched", "allowed"}
    gc.collect()
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - half
    assert grown < 8_192, f"the second half has taken {grown} KiB more than the first"


def test_any_body_gets_an_answer(caplog: pytest.LogCaptureFixture) -> None:
    fuzz(range(SEVERAL), caplog)


@pytest.mark.long
def test_very_many_bodies_get_an_answer(caplog: pytest.LogCaptureFixture) -> None:
    fuzz(range(SEVERAL, SEVERAL + MANY), caplog)
