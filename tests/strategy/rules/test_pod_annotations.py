"""The old annotations about seccomp and AppArmor beside the fields that took their place."""

from __future__ import annotations

from typing import Any

import pytest

from podstrat.strategy.engine import Engine
from tests.strategy import make

SECCOMP_POD = "seccomp.security.alpha.kubernetes.io/pod"
SECCOMP = "container.seccomp.security.alpha.kubernetes.io/c"
APPARMOR = "container.apparmor.security.beta.kubernetes.io/c"
TYPE = "type: Forbidden: {} type in annotation and field must match"
FILE = "localhostProfile: Forbidden: {} profile in annotation and field must match"
UNKNOWN = 'type: Unsupported value: "X": supported values: "Localhost", "RuntimeDefault", "Unconfined"'

LOCALHOST = {"type": "Localhost", "localhostProfile": "a"}


def errors(annotations: dict[str, str], field: str, profile: Any, of_pod: bool = False) -> list[str]:
    """The errors about the field, by what is behind its path."""
    pod = make.pod(securityContext={field: profile}) if of_pod else make.pod()
    if not of_pod:
        pod["spec"]["containers"][0]["securityContext"] = {field: profile}
    pod["metadata"]["annotations"] = annotations
    found = [str(error) for error in Engine().create(pod).errors]
    return [text.partition(f".{field}.")[2] for text in found if not text.startswith("metadata.")]


@pytest.mark.parametrize(
    "annotation, profile, wrong",
    [
        pytest.param("unconfined", {"type": "Unconfined"}, [], id="same"),
        pytest.param("runtime/default", {"type": "RuntimeDefault"}, [], id="default"),
        pytest.param("localhost/a", LOCALHOST, [], id="same-file"),
        pytest.param("localhost/b", LOCALHOST, [FILE], id="other-file"),
        pytest.param("localhost/a", {"type": "RuntimeDefault"}, [TYPE], id="file-and-default"),
        pytest.param("unconfined", LOCALHOST, [TYPE], id="a-word-and-a-file"),
        pytest.param("", {"type": "RuntimeDefault"}, [TYPE], id="nothing-and-default"),
        pytest.param("bogus", {"type": "Unconfined"}, [TYPE], id="nonsense-and-a-type"),
        pytest.param("bogus", LOCALHOST, [TYPE], id="nonsense-and-a-file"),
        pytest.param("unconfined", {"type": "X"}, [UNKNOWN], id="an-unknown-type-agrees"),
    ],
)
def test_annotations_and_fields(annotation: str, profile: dict[str, str], wrong: list[str]) -> None:
    wanted = [text.format("apparmor") for text in wrong]
    assert errors({APPARMOR: annotation}, "appArmorProfile", profile) == wanted
    wanted = [text.format("seccomp") for text in wrong]
    assert errors({SECCOMP: annotation}, "seccompProfile", profile) == wanted
    assert errors({SECCOMP_POD: annotation}, "seccompProfile", profile, of_pod=True) == wanted


def test_docker_has_a_default_for_seccomp_alone() -> None:
    assert errors({SECCOMP: "docker/default"}, "seccompProfile", {"type": "RuntimeDefault"}) == []
    assert errors({APPARMOR: "docker/default"}, "appArmorProfile", {"type": "RuntimeDefault"}) == [TYPE.format("apparmor")]


def test_an_unusable_profile_that_the_pod_has_too_still_warns() -> None:
    profile = {"type": "Localhost", "localhostProfile": " a"}
    pod = make.pod(securityContext={"appArmorProfile": profile})
    pod["metadata"]["annotations"] = {APPARMOR: "localhost/ a"}
    warning = f'metadata.annotations[{APPARMOR}]: deprecated since v1.30; use the "appArmorProfile" field instead'
    assert Engine().create(pod).warnings == (warning,)


def test_what_goes_is_told_before_what_comes() -> None:
    engine = Engine()
    pod = make.pod(nodeName="n")
    pod["metadata"]["annotations"] = {APPARMOR: "unconfined", "a": "b"}
    old = engine.create(pod).pod or {}
    new = {**old, "metadata": {**old["metadata"], "annotations": {"kubernetes.io/config.mirror": "m"}}}
    assert [str(error) for error in engine.update(new, old).errors] == [
        f"metadata.annotations[{APPARMOR}]: Forbidden: may not remove or update AppArmor annotations",
        "metadata.annotations[kubernetes.io/config.mirror]: Forbidden: may not add mirror pod annotation",
    ]
