"""Warnings and audit annotations of webhooks, and which webhooks are called in a dry run."""

from __future__ import annotations

import pytest

from tests.apiserver.admission import hooks
from tests.apiserver.admission.conftest import Start
from tests.apiserver.admission.failures import FAILED, NAME
from tests.apiserver.admission.scene import Scene, said


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
