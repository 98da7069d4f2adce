"""Every format: as it was kept, and as those who read it want it."""

from __future__ import annotations

import gzip
import json
import xml.etree.ElementTree as ElementTree
from pathlib import Path
from typing import Any

import pytest
import yaml

from podstrat import goyaml
from podstrat.check import outputs, yaml_writer
from podstrat.check.command import FORMATS
from podstrat.check.report import Finding, Result, Summary, Unread
from tests.check import goldens

HERE = Path(__file__).parent
ROOT = HERE.parent.parent
NASTY = "a<b>&\"'\x00\x1b[31m\u2028\ud800,:%\n::error::x"


def written(name: str, *results: Result, unread: tuple[Unread, ...] = (), **look: Any) -> str:
    """A report about these results."""
    writer, summary = outputs.writer(name, outputs.Look(**look)), Summary()
    texts = list(writer.begin())
    for result in results:
        summary.add(result)
        texts += writer.result(result)
    summary.files = len({result.file for result in results})
    summary.unread += unread
    return "".join([*texts, *writer.end(summary)])


def result(**rest: Any) -> Result:
    return Result(**{"file": "dir/pod.yaml", "document": 0, "kind": "Pod", "name": "web", "line": 1, "code": 201} | rest)


def finding(**rest: Any) -> Finding:
    given = {"type": "FieldValueRequired", "field": "spec.x", "value": None, "detail": "", "message": "spec.x: Required value"}
    return Finding(**given | {"line": 3, "column": 5} | rest)


BAD = result(code=422, message="Pod is invalid", errors=(finding(),), warnings=(finding(type="Warning", message="careful"),))
SKIPPED = result(kind="Service", name="s", code=0, skipped="no template")
REPORTS = {
    "nothing": (),
    "valid": (result(),),
    "bad": (BAD, result(document=1)),
    "skipped": (SKIPPED,),
    "nasty": (result(name=NASTY, file=f"x{NASTY}", errors=(finding(message=NASTY, hint=NASTY, source=NASTY),), message=NASTY),),
}
every_report = pytest.mark.parametrize("results", REPORTS.values(), ids=REPORTS)


@pytest.mark.parametrize("name", FORMATS)
def test_reports_are_as_they_were_kept(name: str) -> None:
    """`python -m tests.check.goldens` rewrites them."""
    out, err = goldens.made(name)
    assert out == goldens.kept(name).read_text(encoding="utf-8")
    assert err == ("" if name == "text" else "podstrat: " + goldens.kept("text").read_text().splitlines()[-1] + "\n")


def test_the_list_of_formats_is_one() -> None:
    assert FORMATS == outputs.FORMATS


# ---- json and yaml -------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def schema() -> Any:
    jsonschema = pytest.importorskip("jsonschema", reason="needs jsonschema: pip install jsonschema")
    made = json.loads((ROOT / "src/podstrat/check/check-report.schema.json").read_text())
    jsonschema.Draft202012Validator.check_schema(made)
    return jsonschema.Draft202012Validator(made)


@every_report
def test_json_fits_the_schema(schema: Any, results: tuple[Result, ...]) -> None:
    report = json.loads(written("json", *results, unread=(Unread("x", "gone"),)))
    schema.validate(report)
    assert len(report["results"]) + len(report["skipped"]) == len(results)


def test_kept_json_fits_the_schema(schema: Any) -> None:
    schema.validate(json.loads(goldens.kept("json").read_text()))


@every_report
def test_yaml_is_the_json(results: tuple[Result, ...]) -> None:
    want = json.loads(written("json", *results).replace("\ud800", "\ufffd"))  # YAML cannot say half a pair
    text = written("yaml", *results)
    assert goyaml.load(text).value == want
    assert yaml.safe_load(text) == want


# ---- sarif ---------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def sarif() -> Any:
    jsonschema = pytest.importorskip("jsonschema", reason="needs jsonschema: pip install jsonschema")
    made = json.loads(gzip.decompress((HERE / "schemas/sarif-2.1.0.json.gz").read_bytes()))
    return jsonschema.Draft202012Validator(made, format_checker=jsonschema.FormatChecker())


@every_report
def test_sarif_fits_its_schema(sarif: Any, results: tuple[Result, ...]) -> None:
    report = json.loads(written("sarif", *results, unread=(Unread("x", "gone"),)))
    sarif.validate(report)
    (run,) = report["runs"]
    assert isinstance(run["results"], list)
    assert not _empty(report) - {"/runs/0/results", "/runs/0/tool/driver/rules"}


def test_kept_sarif_fits_its_schema(sarif: Any) -> None:
    report = json.loads(goldens.kept("sarif").read_text())
    sarif.validate(report)
    (run,) = report["runs"]
    rules = [rule["id"] for rule in run["tool"]["driver"]["rules"]]
    for each in run["results"]:
        assert rules[each["ruleIndex"]] == each["ruleId"]
        region = each["locations"][0]["physicalLocation"]["region"]
        assert region["startLine"] >= 1
        assert region["startColumn"] >= 1


def _empty(value: Any, at: str = "") -> set[str]:
    """Where empty objects, lists and texts stand: readers of SARIF stumble over them."""
    if value in ({}, [], ""):
        return {at}
    children = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return {each for key, child in children for each in _empty(child, f"{at}/{key}")}


def test_a_fingerprint_does_not_move_with_the_lines() -> None:
    def marks(line: int) -> Any:
        moved = BAD._replace(errors=(finding(line=line),), warnings=())
        return [each["partialFingerprints"] for each in json.loads(written("sarif", moved))["runs"][0]["results"]]

    assert marks(3) == marks(30)
    assert marks(3) != json.loads(written("sarif", BAD._replace(name="other")))["runs"][0]["results"][0]["partialFingerprints"]


# ---- junit ---------------------------------------------------------------------------------------------


@every_report
def test_junit_reads_back(results: tuple[Result, ...]) -> None:
    text = written("junit", *results, unread=(Unread("gone.yaml", "gone"),))
    root = ElementTree.fromstring(text.encode())
    assert root.tag == "testsuites"
    for element in [root, *root]:
        cases = element.findall(".//testcase")
        assert int(element.attrib["tests"]) == len(cases)
        for name, tag in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
            assert int(element.attrib[name]) == len([case for case in cases if case.find(tag) is not None])
    for suite in root:
        assert suite.tag == "testsuite"
        assert set(suite.attrib) == {"name", "tests", "failures", "errors", "skipped"}
        for case in suite:
            assert set(case.attrib) == {"classname", "name"}
            assert {child.tag for child in case} <= {"failure", "error", "skipped", "system-out"}
    assert len(root.findall(".//testcase")) == len(results) + 1


# ---- the others ----------------------------------------------------------------------------------------


@every_report
def test_github_is_one_command_a_line(results: tuple[Result, ...]) -> None:
    lines = written("github", *results).split("\n")[:-1]
    assert len(lines) == sum(len(each.errors) + len(each.warnings) for each in results)
    for line in lines:
        level, _, rest = line.removeprefix("::").partition(" ")
        assert level in ("error", "warning")
        properties, _, message = rest.partition("::")
        assert [each.split("=")[0] for each in properties.split(",")] == ["file", "line", "col", "title"]
        assert "\n" not in message


def test_github_points_at_the_template_of_a_chart() -> None:
    made = written("github", BAD._replace(template="chart/templates/pod.yaml", warnings=()))
    assert made == "::error file=chart/templates/pod.yaml,title=Pod/web::spec.x: Required value\n"


@every_report
def test_gitlab_is_a_list(results: tuple[Result, ...]) -> None:
    entries = json.loads(written("gitlab", *results, *results))
    assert len(entries) == 2 * sum(len(each.errors) + len(each.warnings) for each in results)
    assert len({each["fingerprint"] for each in entries}) == len(entries)
    for each in entries:
        assert set(each) == {"description", "check_name", "fingerprint", "severity", "location"}
        assert each["severity"] in ("info", "minor", "major", "critical", "blocker")
        assert each["location"]["lines"]["begin"] >= 1
        assert not each["location"]["path"].startswith("./")


@every_report
def test_tap_counts(results: tuple[Result, ...]) -> None:
    lines = written("tap", *results).splitlines()
    assert lines[0] == "TAP version 13"
    assert lines[-1] == f"1..{len(results)}"
    tests = [line for line in lines if line.startswith(("ok ", "not ok "))]
    assert [int(line.removeprefix("not ").split()[1]) for line in tests] == list(range(1, len(results) + 1))
    assert [line.startswith("ok") for line in tests] == [each.valid for each in results]


def test_text_keeps_control_characters_from_the_terminal() -> None:
    text = written("text", *REPORTS["nasty"], verbose=True)
    assert "\x1b" not in text
    assert "\x00" not in text


def test_text_with_colours() -> None:
    text = written("text", BAD, colour=True)
    assert "\x1b[1;31merror\x1b[0m: spec.x: Required value" in text
    assert "\x1b[1;33mwarning\x1b[0m: careful" in text


def test_long_lines_are_cut_around_the_place() -> None:
    long = "x" * 500 + "HERE" + "y" * 500
    text = written("text", BAD._replace(errors=(finding(source=long, column=501),), warnings=()))
    _, excerpt, caret, _ = text.splitlines()
    assert excerpt[caret.index("^") :].startswith("HERE")
    assert len(excerpt) < 140


def test_verbose_tells_what_is_valid_and_skipped() -> None:
    assert written("text", result(), SKIPPED, verbose=True).splitlines()[:2] == [
        "dir/pod.yaml:1: Pod/web: valid",
        "dir/pod.yaml:1: Service/s: skipped: no template",
    ]


def test_quiet_tells_errors_only() -> None:
    assert written("text", BAD, quiet=True) == "dir/pod.yaml:3:5: error: spec.x: Required value\n"


def test_the_summary_is_a_table() -> None:
    assert written("text", SKIPPED, result(), summary=True).splitlines() == [
        "KIND     VALID  INVALID  SKIPPED",
        "Pod          1        0        0",
        "Service      0        0        1",
        "all          1        0        1",
        "",
        "1 object checked in 1 file: 1 valid, 0 invalid (0 errors, 0 warnings), 1 skipped",
    ]


def test_the_summary_tells_what_is_wrong_most_often() -> None:
    bad = result(errors=(finding(field="spec.containers[0].image"), finding(field="spec.containers[7].image"), finding()))
    assert written("text", bad, summary=True, quiet=True).splitlines()[-5:-2] == [
        "TIMES  ERROR",
        "    2  FieldValueRequired spec.containers[].image",
        "    1  FieldValueRequired spec.x",
    ]


# ---- the YAML writer -----------------------------------------------------------------------------------

WORDS = [
    "",
    "y",
    "No",
    "on",
    "~",
    "null",
    "1",
    "0777",
    "1e3",
    "1:20",
    "2024-01-02",
    "0x1F",
    "1_000",
    ".5",
    "a: b",
    "a #b",
    "- x",
    "é",
]
WORDS += [
    "a\nb",
    "a\nb\n",
    "\na",
    "a\n\n",
    " a\nb",
    "a\n b",
    "a\tb",
    "x:",
    "{a}",
    "%x",
    "@x",
    "`x",
    "!x",
    "&a",
    "*a",
    "<<",
    "=",
    "\u2028",
    "'",
]
WORDS += [
    "1Gi",
    "250m",
    "10.0.0.1",
    "a" * 300,
    "true",
    ".inf",
    "+1",
    "-",
    "---",
    "\x85",
    "\x7f",
    "trailing ",
    "\ufeff",
    '"',
    "\\",
    "12e03",
]


@pytest.mark.parametrize("word", WORDS)
def test_texts_are_read_back_by_everybody(word: str) -> None:
    for value in (word, {"k": word}, [word], {word: [{word: word}]}):
        text = yaml_writer.text(value)
        assert goyaml.load(text).value == value
        assert yaml.safe_load(text) == value


@pytest.mark.parametrize("value", [None, True, 0, -1, 1.5, 10**20, {}, [], [[1], []], {"a": {"b": []}}, [{"a": [1]}, [2]]])
def test_other_values_are_read_back(value: Any) -> None:
    assert goyaml.load(yaml_writer.text(value)).value == value


def test_comments_stand_beside_fields() -> None:
    notes, gone = {("a", 0, "b"): "first"}, {("a", 0): ["x: 1"], (): ["all"]}
    assert list(yaml_writer.lines({"a": [{"b": 1, "c": "d"}]}, notes, gone)) == [
        "a:",
        "- b: 1  # first",
        "  c: d",
        "  # x: 1",
        "# all",
    ]
