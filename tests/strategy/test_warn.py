"""Warnings, and how they reach the client."""

from __future__ import annotations

import pytest

from podstrat.strategy import warn
from podstrat.strategy.engine import Engine
from tests.strategy import make


def test_each_text_is_told_once() -> None:
    assert warn.headers(["a", "b", "a"]) == ("a", "b")


def test_texts_with_control_characters_are_lost() -> None:
    assert warn.headers(["fine", "", "not\nfine", "\x80"]) == ("fine",)


def test_too_many_are_cut_short() -> None:
    texts = [f"{number:04}" + "x" * 300 for number in range(40)]
    sent = warn.headers(texts)
    assert {len(text) for text in sent} == {256}
    assert len(sent) == 16


@pytest.mark.parametrize(
    "spec, texts",
    [
        pytest.param(
            {"volumes": [{"name": "g", "gitRepo": {"repository": "r"}}]},
            ["spec.volumes[0].gitRepo: deprecated in v1.11"],
            id="git",
        ),
        pytest.param({"containers": [{"name": "c", "image": "i"}]}, [], id="nothing"),
    ],
)
def test_a_driver_that_is_switched_on_is_only_deprecated(spec: dict[str, object], texts: list[str]) -> None:
    engine = Engine("1.35", gates={"GitRepoVolumeDriver": True})
    assert list(engine.create(make.pod(**spec)).warnings) == texts


TOKEN = {"serviceAccountToken": {"path": "t"}}
KEYS = {"secret": {"name": "s", "items": [{"key": "k", "path": "a/"}]}}


@pytest.mark.parametrize(
    "sources, pairs",
    [
        pytest.param([TOKEN, KEYS], [], id="apart"),
        pytest.param(
            [KEYS, {"configMap": {"name": "m", "items": [{"key": "k", "path": "a/b"}]}}],
            ['"a/b" (ConfigMap "m") with "a" (Secret "s")'],
            id="below",
        ),
        pytest.param([{"configMap": {"name": "m"}}, TOKEN], [], id="all-keys-first"),
        pytest.param([TOKEN, {"configMap": {"name": "m"}}], [], id="all-keys-last"),
        pytest.param([KEYS, {"downwardAPI": {}}], [], id="empty-last"),
        pytest.param([TOKEN, {"configMap": {"name": "m", "items": []}}], [], id="no-keys"),
    ],
)
def test_paths_of_projected_sources(sources: list[object], pairs: list[str]) -> None:
    volumes = [{"name": "v", "projected": {"sources": sources}}]
    found = Engine().create(make.pod(volumes=volumes, serviceAccountName="default")).warnings
    assert list(found) == [f'volume "v" (Projected): overlapping paths: {pair}' for pair in pairs]


def test_an_apparmor_annotation_that_makes_no_profile_is_told_of_whatever_the_pod_has() -> None:
    pod = make.pod(securityContext={"appArmorProfile": {"type": "Localhost", "localhostProfile": ""}})
    key = f"container.apparmor.security.beta.kubernetes.io/{pod['spec']['containers'][0]['name']}"
    pod["metadata"]["annotations"] = {key: "localhost/"}
    (text,) = Engine().create(pod).warnings
    assert text == f'metadata.annotations[{key}]: deprecated since v1.30; use the "appArmorProfile" field instead'
