"""Webhooks whose patch does not apply, or makes something that is not a pod: in the server's words."""

from __future__ import annotations

from typing import Any

import pytest

from tests.apiserver.admission import hooks
from tests.apiserver.admission.conftest import Start
from tests.apiserver.admission.failures import FAILED, INTERNAL, encoded
from tests.apiserver.admission.scene import Scene, said


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
