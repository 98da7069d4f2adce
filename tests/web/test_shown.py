"""The page escapes the characters that the terminal replaces: one rule, in two languages."""

from __future__ import annotations

import re
from importlib import resources

from podstrat import printable


def test_the_characters_are_the_same() -> None:
    script = resources.files("podstrat.web").joinpath("static", "shown.js").read_text(encoding="utf-8")
    found = re.search(r"const UNSAFE = /(\[.*?\])\|", script)
    assert found
    ours, theirs = re.compile(f"[{printable.UNSAFE}]"), re.compile(found[1])
    characters = [chr(number) for number in range(0x10000) if not 0xD800 <= number <= 0xDFFF]
    assert [each for each in characters if bool(ours.match(each)) != bool(theirs.match(each))] == []


def test_no_script_makes_markup_of_a_text() -> None:
    """Whatever puts HTML into a page, or evaluates text, has one of these names."""
    sinks = re.compile(
        r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|DOMParser|\beval\b|new Function|srcdoc|javascript:"
    )
    for package in ("podstrat.web", "podstrat.play", "podstrat.live"):
        for file in resources.files(package).joinpath("static").iterdir():
            assert not sinks.search(file.read_text(encoding="utf-8")), file.name
            if file.name.endswith(".html"):
                page = file.read_text(encoding="utf-8")
                assert not re.search(r"\son\w+=|\sstyle=|<style|<script(?![^>]*\ssrc=)|https?:", page), file.name
