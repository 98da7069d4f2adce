"""Webhooks that refuse: in the words, with the code and the details that they give."""

from __future__ import annotations

from typing import Any

import pytest

from tests.apiserver.admission import hooks
from tests.apiserver.admission.conftest import Start
from tests.apiserver.admission.failures import NAME
from tests.apiserver.admission.scene import Scene, said


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
