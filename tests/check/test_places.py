"""From a place in an object, or from what a message says, to a line and column."""

from __future__ import annotations

import pytest

from podstrat import goyaml
from podstrat.check import bad_request, places
from podstrat.strategy.engine import Engine
from podstrat.strategy.errors import ApiError

VALUE = {"a": {"b.c/d": 1, "b": {"c/d": 2}, "e": [{"f": 1}, None]}, "1": "one"}


@pytest.mark.parametrize(
    "text, want",
    [
        pytest.param("", (), id="nothing"),
        pytest.param("a.e[0].f", ("a", "e", 0, "f"), id="plain"),
        pytest.param("a.b.c/d", ("a", "b.c/d"), id="key-with-a-dot"),
        pytest.param("a[b.c/d]", ("a", "b.c/d"), id="key-in-brackets"),
        pytest.param("a.b", ("a", "b"), id="shorter-key"),
        pytest.param("a.x[3].y", ("a", "x", 3, "y"), id="what-is-not-there"),
        pytest.param("a.e[7]", ("a", "e", 7), id="item-that-is-not-there"),
        pytest.param("1", ("1",), id="number-as-key"),
    ],
)
def test_parse(text, want):
    assert places.parse(text, VALUE) == want


@pytest.mark.parametrize(
    "place, want",
    [
        pytest.param(("a", "e", 0, "f"), ("a", "e", 0, "f"), id="all"),
        pytest.param(("a", "e", 2), ("a", "e"), id="item-too-many"),
        pytest.param(("a", "e", "f"), ("a", "e"), id="key-into-a-list"),
        pytest.param((1,), ("1",), id="number-as-key"),
        pytest.param(("x", "y"), (), id="nothing"),
    ],
)
def test_found(place, want):
    assert places.found(place, VALUE) == want


TEXT = """\
a:
  b: 1
  c:
  - d: x
    e: {}
  - ~
"""


@pytest.mark.parametrize(
    "place, key, want",
    [
        pytest.param(("a", "b"), False, (2, 6), id="value"),
        pytest.param(("a", "b"), True, (2, 3), id="key"),
        pytest.param(("a", "x"), False, (1, 1), id="absent-at-its-parent's-key"),
        pytest.param(("a", "c", 0, "x"), False, (4, 5), id="absent-in-an-item"),
        pytest.param(("a", "c", 0, "e", "x"), False, (5, 5), id="absent-in-an-empty-mapping"),
        pytest.param(("a", "c", 5), False, (3, 3), id="absent-item"),
        pytest.param(("x",), False, (1, 1), id="absent-at-the-top"),
    ],
)
def test_mark(place, key, want):
    (document,) = goyaml.documents(TEXT)
    assert places.mark(document, (), place, key) == want


@pytest.mark.parametrize(
    "place, text",
    [
        pytest.param(("spec", "containers", 0, "name"), "spec.containers[0].name", id="plain"),
        pytest.param(("metadata", "labels", "a.b/c"), "metadata.labels[a.b/c]", id="key-with-a-dot"),
        pytest.param((), "", id="nothing"),
    ],
)
def test_text(place, text):
    assert places.text(place) == text


# ---- which part of an object is to blame ---------------------------------------------------------------


def says(value):
    try:
        Engine().decoder.read(value, "Pod", "v1", "Ignore")
    except ApiError as error:
        return error.message
    return None


def pod(**container):
    containers = [{"name": "a", "image": "x"}, {"name": "b", "image": "x"} | container, {"name": "c", "image": "x"} | container]
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}, "spec": {"containers": containers}}


@pytest.mark.parametrize(
    "value, place",
    [
        pytest.param(pod(image=5), ("spec", "containers", 1, "image"), id="the-first-of-two"),
        pytest.param(pod(ports="x"), ("spec", "containers", 1, "ports"), id="a-list"),
        pytest.param(pod(command=["a", 1, 2]), ("spec", "containers", 1, "command", 1), id="an-item"),
        pytest.param(
            pod(resources={"limits": {"a": "1", "b": "x"}}),
            ("spec", "containers", 1, "resources", "limits", "b"),
            id="a-quantity",
        ),
        pytest.param(
            pod(image=5, resources={"limits": {"b": "x"}}),
            ("spec", "containers", 1, "resources", "limits", "b"),
            id="what-aborts-wins",
        ),
        pytest.param({**pod(), "apiVersion": "v9"}, ("apiVersion",), id="version"),
        pytest.param({**pod(), "kind": "Podd"}, ("kind",), id="kind"),
        pytest.param({**pod(), "metadata": []}, ("metadata",), id="empty-list"),
        pytest.param({**pod(), "spec": "x"}, ("spec",), id="text"),
    ],
)
def test_culprit(value, place):
    message = says(value)
    assert message is not None
    assert bad_request.culprit(message, value, says) == place


def test_nobody_to_blame():
    assert bad_request.culprit("something else", pod(), says) == ()


def test_unknown_fields_with_quotes():
    value = {"spec": {'a"b': 1}}
    (reason,) = bad_request.unknown('strict decoding error: unknown field "spec.a\\"b"', value)
    assert (reason.place, reason.field) == (("spec", 'a"b'), 'spec.a"b')
