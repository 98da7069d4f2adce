"""Texts of stored objects take a bounded number of bytes."""

from __future__ import annotations

import weakref

import pytest

from podstrat.apiserver.storage import store, texts
from podstrat.apiserver.storage.store import Entry


def entry(name: str) -> Entry:
    return Entry({"metadata": {"name": name}}, 1)


SIZE = len(entry("a").json())


@pytest.fixture
def room(monkeypatch):
    """For three texts."""
    monkeypatch.setattr(store, "_texts", texts.Texts(3 * SIZE))


def kept(entries):
    return "".join(each.obj["metadata"]["name"] for each in entries if each._json)


@pytest.mark.usefixtures("room")
def test_the_oldest_gives_way():
    entries = [entry(name) for name in "abcde"]
    for each in entries:
        each.json()
    assert kept(entries) == "cde"
    assert entries[0].json() == b'{"metadata":{"name":"a"}}'
    assert kept(entries) == "ade"


@pytest.mark.usefixtures("room")
def test_a_kept_text_is_made_once():
    one = entry("a")
    assert one.json() is one.json()


@pytest.mark.usefixtures("room")
def test_a_text_that_there_is_no_room_for():
    small, large = entry("a"), entry("b" * 3 * SIZE)
    small.json()
    assert large.json() == b'{"metadata":{"name":"%s"}}' % (b"b" * 3 * SIZE)
    assert kept([small, large]) == ""
    small.json()
    assert kept([small]) == "a"


@pytest.mark.usefixtures("room")
def test_an_object_that_left_the_store_is_not_kept():
    gone = entry("a")
    gone.json()
    reference = weakref.ref(gone)
    del gone
    assert reference() is None
    entries = [entry(name) for name in "bcde"]
    for each in entries:
        each.json()
    assert kept(entries) == "cde"
