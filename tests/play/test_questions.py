"""What the page asks, and what it is answered: check, explain, matrix and diff as JSON."""

from __future__ import annotations

from typing import Any

import pytest

from podstrat import exits
from podstrat.play import questions, rows, settings
from tests.play.bad_pods import POD

PORT = POD + "    ports:\n    - containerPort: 70000  # größer 😀\n"
STOP = POD + "    lifecycle:\n      stopSignal: SIGUSR1\n  os: {name: linux}\n"
QUOTA = "\n---\napiVersion: v1\nkind: ResourceQuota\nmetadata: {name: q}\nspec: {hard: {pods: '0'}}\n"


def row_notes(found: dict[str, Any]) -> dict[str, str]:
    return {row[1].strip(): row[2] for row in found["rows"] if len(row) > 2}


# ---- the verdict -------------------------------------------------------------------------------------


def test_the_mark_is_counted_as_browsers_count() -> None:
    text = PORT.replace("- containerPort: 70000", '- {name: "😀", containerPort: 70000}')
    (first, *_) = [
        each for each in questions.check({"text": text})["objects"][0]["errors"] if each["field"].endswith("containerPort")
    ]
    line = text.split("\n")[first["line"] - 1].encode("utf-16-le")
    assert line[first["mark"][0] * 2 : first["mark"][1] * 2].decode("utf-16-le").startswith("70000")


def test_the_release_and_its_gates_decide() -> None:
    def accepted(**chosen: Any) -> bool:
        valid: bool = questions.check({"text": STOP.replace("SIGUSR1", "SIGNO"), "settings": chosen})["objects"][0]["valid"]
        return valid

    assert accepted(release="1.34")
    assert not accepted(release="1.34", gates={"ContainerStopSignals": True})


def test_pod_security_and_plugins() -> None:
    found = questions.check({"text": POD, "settings": {"podSecurity": "restricted"}})["objects"][0]
    assert (found["code"], {each["plugin"] for each in found["errors"]}) == (403, {"PodSecurity"})
    both = questions.check({"text": POD + QUOTA, "settings": {"plugins": ["ResourceQuota"]}})["objects"][0]
    assert "exceeded quota: q, requested: pods=1, used: pods=0, limited: pods=0" in both["message"]


def test_what_is_skipped_says_why() -> None:
    (found,) = questions.check({"text": "apiVersion: example.com/v1\nkind: Thing\n"})["objects"]
    assert (found["title"], found["reason"]) == ("Thing", "not a kind with a known pod template")


@pytest.mark.parametrize(
    "asked, words",
    [
        pytest.param([], "text must be a string", id="no object"),
        pytest.param({"text": 1}, "text must be a string", id="no text"),
        pytest.param(
            {"text": "a" * (questions.LARGEST_TEXT + 1)}, "the text is larger than 512 KiB: use podstrat check", id="size"
        ),
        pytest.param({"text": "", "settings": []}, None, id="empty settings"),
        pytest.param({"text": "", "settings": [1]}, "settings must be an object", id="settings"),
        pytest.param({"text": "", "settings": {"release": "1.20"}}, "1.20", id="a release that is not known"),
        pytest.param({"text": "", "settings": {"release": 1}}, "release must be a string", id="no release"),
        pytest.param({"text": "", "settings": {"gates": {"Nope": True}}}, "Nope", id="a gate that is not known"),
        pytest.param({"text": "", "settings": {"gates": {"A": "x"}}}, "gates must be at most 64", id="a gate that is neither"),
        pytest.param({"text": "", "settings": {"plugins": ["Nope"]}}, "no admission plugin Nope in 1.37", id="a plugin"),
        pytest.param({"text": "", "settings": {"plugins": {}}}, "plugins must be", id="plugins"),
        pytest.param({"text": "", "settings": {"podSecurity": "tight"}}, "baseline, restricted", id="a level"),
    ],
)
def test_wrong_questions(asked: Any, words: str | None) -> None:
    if words is None:
        assert questions.check(asked)["objects"] == []
        return
    with pytest.raises(exits.BadArguments, match=words.replace("(", r"\(")):
        questions.check(asked)


def test_no_path_of_the_question_is_read(tmp_path: Any) -> None:
    file = tmp_path / "secret.yaml"
    file.write_text(PORT)
    found = questions.check({"text": POD, "name": str(file), "settings": {"world": [str(file)], "policies": [str(file)]}})
    assert [each["file"] for each in found["objects"]] == ["secret.yaml"]
    assert found["counts"]["invalid"] == 0


def test_what_is_offered_is_taken() -> None:
    offered = settings.offered()
    for release, there in offered["releases"].items():
        for gate in there["gates"]:
            try:
                settings.chosen({"release": release, "gates": {gate["name"]: gate["default"]}})
            except exits.BadArguments as error:  # it needs another one
                pytest.fail(str(error))
        names = [plugin["name"] for plugin in there["plugins"]]
        assert settings.chosen({"release": release, "plugins": names}).plugins == ",".join(names)


# ---- stored, releases, updates -----------------------------------------------------------------------


def test_stored_says_who_did_what() -> None:
    (found,) = questions.stored({"text": STOP + "  nonsense: 1\n", "settings": {"plugins": "default"}})["objects"]
    notes = row_notes(found)
    assert found["accepted"]
    assert notes["priority: 0"] == "added by Priority"
    assert notes["- effect: NoExecute"] == "added by DefaultTolerationSeconds"
    assert notes["restartPolicy: Always"] == "defaulted"
    assert notes["stopSignal: SIGUSR1"] == "dropped: gate ContainerStopSignals is off"
    assert notes["nonsense: 1"] == "dropped: unknown field"
    assert {step["plugin"] for step in found["plugins"]} == {"ServiceAccount", "Priority", "DefaultTolerationSeconds"}


def test_stored_of_what_is_refused_or_not_sent() -> None:
    refused, other = questions.stored({"text": PORT + "---\napiVersion: example.com/v1\nkind: Thing\n"})["objects"]
    assert (refused["accepted"], refused["code"], "rows" in refused) == (False, 422, False)
    assert other == {"title": "Thing", "reason": "not a kind with a known pod template"}
    assert questions.stored({"text": "a: ["}) == {"objects": []}


def test_releases_with_and_without_gates() -> None:
    (quick,) = questions.releases({"text": STOP})["objects"]
    assert list(quick["releases"]) == ["1.34", "1.35", "1.36", "1.37"]
    assert {str(answer["gates"]) for answer in quick["releases"].values()} == {"{}"}
    (found,) = questions.releases({"text": STOP, "gates": True})["objects"]
    assert found["releases"]["1.34"]["gates"]["ContainerStopSignals=true"] == ["keeps spec.containers[0].lifecycle.stopSignal"]


def test_an_update_with_its_generation() -> None:
    (found,) = questions.update({"old": POD, "text": POD.replace("nginx", "nginx:2")})["objects"]
    assert found["update"]["generation"] == {"before": 1, "after": 2}
    changed = [(row[0], row[1].strip()) for row in found["rows"] if row[0] != rows.STAYS]
    assert changed == [("-", "generation: 1"), ("+", "generation: 2"), ("-", "image: nginx"), ("+", "image: nginx:2")]


def test_an_update_that_is_refused_and_one_of_nothing() -> None:
    (refused,) = questions.update({"old": POD, "text": POD + "  hostNetwork: true\n"})["objects"]
    assert (refused["update"]["allowed"], refused["errors"][0]["line"], "rows" in refused) == (False, 9, False)
    (new,) = questions.update({"old": POD, "text": POD.replace("name: web\nspec", "name: other\nspec")})["objects"]
    assert new["update"]["allowed"] is None
    with pytest.raises(exits.BadArguments, match="the old Pod/web is itself invalid"):
        questions.update({"old": PORT, "text": POD})


# ---- rows --------------------------------------------------------------------------------------------


def test_rows_are_yaml_on_both_sides() -> None:
    before = {"a": [{"x": 1, "y": {"z": "q"}}, "s"], "b": "l1\nl2\n", "c": {"d": [1, 2]}, "e": [], "t": True}
    after = {"a": [{"x": 2, "y": {"z": "q", "k": 1}}, {"w": [1, [2, 3]]}, 5], "c": {"d": [1]}, "e": [], "t": 1}
    found = list(rows.Compared(before, after, {("b",): "gone"}, {("a", 1): "new"}).rows())
    from podstrat import goyaml

    for sign, value in ((rows.GOES, before), (rows.COMES, after)):
        text = "\n".join(row.text for row in found if row.sign in (rows.STAYS, sign))
        assert goyaml.load(text).value == value
    assert {row.note for row in found} == {"", "gone", "new"}


def test_rows_are_bounded() -> None:
    found = rows.shown(rows.Compared({}, {"a": list(range(rows.MOST * 2))}).rows())
    assert (len(found), found[-1]) == (rows.MOST + 1, [rows.STAYS, "…"])
