"""Whatever is in a file: there is a report about it, and never a crash."""

from __future__ import annotations

import contextlib
import json
import sys
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from podstrat import exits
from podstrat.check import inputs, outputs, parallel, pipeline, reference_index, selection, updates, yaml_writer
from podstrat.check.evaluate import Evaluator, Settings
from podstrat.check.report import Summary
from tests.check.conftest import GOOD

JUDGES = {
    validation: Evaluator(Settings(validation=validation, status=True, templates=(selection.parse_path("spec.template"),)))
    for validation in ("Strict", "Warn")
}
WORDS = st.sampled_from(
    ["", "web", "Web", "1Gi", "spec", "containers", "name", "y", "{", "- a", "\x1b", "é", "a\nb", "v1", "apps/v1", "Pod"]
)
SCALARS = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | WORDS
KEYS = st.sampled_from(
    [
        "apiVersion",
        "kind",
        "metadata",
        "spec",
        "template",
        "containers",
        "name",
        "namespace",
        "labels",
        "resources",
        "limits",
        "cpu",
        "items",
    ]
)
VALUES = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS | WORDS, inner, max_size=4), max_leaves=12
)
OBJECTS = st.fixed_dictionaries(
    {},
    optional={
        "apiVersion": st.sampled_from(["v1", "apps/v1", "batch/v1", "x/v1", "v2"]) | SCALARS,
        "kind": st.sampled_from([*selection.KINDS, "List", "PodList", "pod", "Widget"]) | SCALARS,
        "metadata": VALUES,
        "spec": st.fixed_dictionaries({}, optional={"containers": VALUES, "template": VALUES, "volumes": VALUES}) | VALUES,
        "items": VALUES,
        "template": VALUES,
    },
)
anything = settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])


def reported(text: bytes, validation: str) -> dict[str, Any]:
    """The report about a text, in JSON; every other format is written as well."""
    checked = pipeline.check(inputs.Piece("x.yaml", text=text), JUDGES[validation])
    summary = Summary()
    for result in checked.results:
        summary.add(result)
    made = {}
    for name in outputs.FORMATS:
        writer = outputs.writer(name, outputs.Look(verbose=True))
        texts = [*writer.begin(), *(part for each in checked.results for part in writer.result(each)), *writer.end(summary)]
        made[name] = "".join(texts)
    report: dict[str, Any] = json.loads(made["json"])
    return report


@anything
@given(OBJECTS | VALUES, st.sampled_from(list(JUDGES)))
def test_any_object(value: Any, validation: str) -> None:
    text = yaml_writer.text(value)
    lines = text.split("\n")
    for result in reported(text.encode(), validation)["results"]:
        assert result["valid"] == (not result["errors"])
        for finding in [*result["errors"], *result["warnings"]]:
            assert 1 <= finding["line"] <= len(lines)
            assert 1 <= finding["column"] <= len(lines[finding["line"] - 1]) + 1


@anything
@given(st.binary(max_size=200) | st.text(max_size=200).map(lambda text: text.encode(errors="surrogatepass")))
def test_any_bytes(text: bytes) -> None:
    reported(text, "Strict")


@anything
@given(st.integers(0, len(GOOD) - 1), st.sampled_from(["", "\t", ":", "- ", "{", '"', "&a ", "*a", "\n", "#", "---\n", "!x "]))
def test_a_pod_with_a_slip_of_the_pen(at: int, slip: str) -> None:
    reported((GOOD[:at] + slip + GOOD[at + 1 :]).encode(), "Strict")


@anything
@given(st.lists(OBJECTS | VALUES, max_size=3))
def test_any_references(values: list[Any]) -> None:
    text = "---\n".join(map(yaml_writer.text, values)).encode()
    _, index = reference_index.build([inputs.Source("x.yaml", text=text)], Settings())
    for result in pipeline.check(inputs.Piece("x.yaml", text=text), Evaluator(Settings(references=index))).results:
        for hint in result.warnings:
            assert hint.line >= 1


@anything
@given(st.sampled_from(list(selection.KINDS)), OBJECTS, OBJECTS, st.booleans(), st.sampled_from(["auto", "replace", "apply"]))
def test_any_update(kind: str, old: dict[str, Any], new: dict[str, Any], live: bool, how: str) -> None:
    named = {"apiVersion": selection.KINDS[kind], "kind": kind, "metadata": {"name": "web", **({"uid": "1"} if live else {})}}
    evaluator = updates.UpdateEvaluator(Settings(), {(kind, "default", "web"): {**old, **named}}, "old.yaml", "", how)
    text = yaml_writer.text({**new, **named}).encode()
    with contextlib.suppress(exits.BadArguments):  # an old object that is invalid itself
        (result,) = pipeline.check(inputs.Piece("x.yaml", text=text), evaluator).results
        assert result.update is not None


@pytest.mark.skipif(sys.platform != "linux", reason="only a forked process has what the test has put in its place")
def test_a_crash_in_another_process_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    def check(piece: inputs.Piece, evaluator: Evaluator) -> pipeline.Checked:
        raise KeyError("image")

    monkeypatch.setattr(pipeline, "check", check)
    with pytest.raises(RuntimeError, match="KeyError: 'image'"):
        list(parallel.run([inputs.Piece("x", text=b"a: 1\n")], Settings(), 2))
