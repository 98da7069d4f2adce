"""Findings that are suppressed by a comment, an annotation or the baseline, and the ids that they name."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from podstrat.check.report import Finding
from tests.check.conftest import GOOD
from tools import make_findings

GOLDENS = Path(__file__).parent / "goldens" / "suppressions"
ID = "FieldValueInvalid:spec.containers.ports.containerPort"
BAD = GOOD + "    ports:\n    - containerPort: 70000\n"


def finding(type: str, field: str) -> Finding:
    return Finding(type, field, None, "", "", 1, 1)


@pytest.mark.parametrize(
    "type, field, name",
    [
        pytest.param("FieldValueInvalid", "spec.containers[0].ports[12].containerPort", ID, id="indices"),
        pytest.param("FieldValueRequired", "metadata.name", "FieldValueRequired:metadata.name", id="plain"),
        pytest.param("YamlError", "", "YamlError", id="without-a-field"),
        pytest.param("DuplicateKey", "data[a, b]", "DuplicateKey:data[a__b]", id="spaces-and-commas"),
        pytest.param(
            "FieldValueInvalid",
            "spec.containers[0].resources.limits[cpu]",
            "FieldValueInvalid:spec.containers.resources.limits[cpu]",
            id="keys-stay",
        ),
    ],
)
def test_ids(type: str, field: str, name: str) -> None:
    assert finding(type, field).id == name


def test_the_list_of_ids_is_up_to_date() -> None:
    """`make findings` makes it again."""
    text = make_findings.FILE.read_text()
    assert text == make_findings.page()
    assert f"- `{ID}`\n" in text


# ---- comments and the annotation -----------------------------------------------------------------------


def test_suppressions_are_as_they_were_kept(podstrat: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(GOLDENS)
    done = podstrat("check", "input.yaml", "--verbose")
    assert done.out == (GOLDENS / "report.text").read_text()
    assert done.code == 1


def test_an_object_whose_errors_are_suppressed_is_valid(podstrat: Any) -> None:
    done = podstrat("check", "-", "-o", "json", stdin=BAD.rstrip() + f" # podstrat: ignore={ID}\n")
    report = json.loads(done.out)
    assert done.code == 0
    assert [(each["valid"], each["errors"], "message" in each) for each in report["results"]] == [(True, [], False)]
    assert report["summary"]["suppressed"] == 1


def test_the_message_is_that_of_the_first_error_left(podstrat: Any) -> None:
    text = BAD.rstrip() + f" # podstrat: ignore={ID}\n    imagePullPolicy: always\n"
    (result,) = json.loads(podstrat("check", "-", "-o", "json", stdin=text).out)["results"]
    assert result["message"] == result["errors"][0]["message"]
    assert result["errors"][0]["field"] == "spec.containers[0].imagePullPolicy"


def test_a_suppression_elsewhere_does_not_count(podstrat: Any) -> None:
    done = podstrat("check", "-", stdin=f"# podstrat: ignore={ID}\n" + BAD)
    assert done.code == 1
    assert f"warning: unused suppression: there is no finding {ID}\n" in done.out


def test_lines_of_a_later_piece(podstrat: Any, write: Any) -> None:
    """A file that is read in pieces counts its lines through."""
    filler = "".join(f"---\n{GOOD.replace('name: web', f'name: web-{i}', 1)}" for i in range(12_000))
    write("large.yaml", filler + "---\n" + BAD.rstrip() + f" # podstrat: ignore={ID}\n")
    done = podstrat("check", "large.yaml", "-j", 1)
    assert done.code == 0
    assert done.out.endswith("1 finding suppressed\n")


# ---- the baseline --------------------------------------------------------------------------------------


def test_the_baseline_is_as_it_was_kept(podstrat: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(GOLDENS)
    done = podstrat("check", "input.yaml", "--write-baseline", tmp_path / "b.json")
    assert (tmp_path / "b.json").read_text() == (GOLDENS / "baseline.json").read_text()
    assert (done.code, done.err) == (0, f"podstrat: {tmp_path / 'b.json'}: findings written: 4\n")
    done = podstrat("check", "input.yaml", "--baseline", "baseline.json")
    assert (done.code, done.err) == (0, "")


def test_only_new_findings_are_reported(podstrat: Any, write: Any) -> None:
    write("a.yaml", BAD)
    assert podstrat("check", "a.yaml", "--write-baseline", "b.json").code == 0
    write("a.yaml", "# moved\n" + BAD)
    assert podstrat("check", "a.yaml", "--baseline", "b.json").code == 0
    write("a.yaml", BAD + "    - containerPort: 80000\n    imagePullPolicy: always\n")
    done = podstrat("check", "a.yaml", "--baseline", "b.json", "-o", "json")
    (result,) = json.loads(done.out)["results"]
    assert done.code == 1
    assert sorted(error["field"] for error in result["errors"]) == [
        "spec.containers[0].imagePullPolicy",
        "spec.containers[0].ports[1].containerPort",
    ]


def test_what_no_longer_occurs_is_told(podstrat: Any, write: Any) -> None:
    write("a.yaml", BAD)
    podstrat("check", "a.yaml", "--write-baseline", "b.json")
    write("a.yaml", GOOD)
    done = podstrat("check", "a.yaml", "--baseline", "b.json")
    expected = "podstrat: b.json: findings that no longer occur: 1; update it with --write-baseline b.json\n"
    assert (done.code, done.err) == (0, expected)


def test_the_baseline_of_the_configuration(podstrat: Any, write: Any) -> None:
    write("a.yaml", BAD)
    podstrat("check", "a.yaml", "--write-baseline", "b.json")
    write("c.yaml", "baseline: b.json\n")
    assert podstrat("check", "a.yaml", "--config", "c.yaml").code == 0


@pytest.mark.parametrize("text", ["", "[]", '{"kind": "Pod"}', '{"kind": "CheckBaseline", "findings": [{}]}'])
def test_not_a_baseline(podstrat: Any, write: Any, text: str) -> None:
    write("b.json", text)
    done = podstrat("check", "-", "--baseline", "b.json", stdin=GOOD)
    assert done.code == 2
    assert done.err.startswith("podstrat: b.json is not a valid baseline: ")
