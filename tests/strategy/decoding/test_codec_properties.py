"""Decoding: what holds for any value at all."""

from __future__ import annotations

import contextlib
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from podstrat.strategy import errors
from podstrat.strategy.api import types
from podstrat.strategy.decoding import codec

NEW = codec.Decoder(types.load("1.37"))

field_names = st.sampled_from(
    [
        *("metadata", "name", "labels", "managedFields", "fieldsV1", "time", "kind", "apiVersion", "foo"),
        *("spec", "containers", "resources", "limits", "cpu", "ports", "containerPort", "env", "command", "hostUsers"),
        *("volumes", "emptyDir", "sizeLimit", "livenessProbe", "httpGet", "port", "status", "conditions", "lastProbeTime"),
    ]
)
scalars = (
    st.none() | st.booleans() | st.integers() | st.floats() | st.sampled_from(["", "a", "1", "v1", "Pod", "2024-01-01T00:00:00Z"])
)
odd_ones = st.sampled_from([b"x", frozenset(), 1j, object, "\ud800"])
values = st.recursive(
    scalars | odd_ones,
    lambda inner: (
        st.lists(inner, max_size=3) | st.tuples(inner) | st.dictionaries(field_names | st.integers(), inner, max_size=4)
    ),
    max_leaves=15,
)
members = st.deferred(
    lambda: st.dictionaries(field_names, scalars | members | st.lists(scalars | members, max_size=2), max_size=5)
)


json_members = members.filter(lambda value: "NaN" not in (text := json.dumps(value)) and "Infinity" not in text)


def holders(value: Any) -> dict[int, Any]:
    """The dicts and lists in a value, by identity."""
    found = {}
    if isinstance(value, (dict, list)):
        found[id(value)] = value
        for inner in value.values() if isinstance(value, dict) else value:
            found |= holders(inner)
    return found


@given(values | members)
def test_any_value_is_decoded_or_refused(value):
    before = repr(value)
    with contextlib.suppress(errors.BadRequest):
        pod, warnings, _ = NEW.read(value)
        assert pod["kind"] == "Pod"
        assert not holders(pod).keys() & holders(value).keys()
        assert all(line.startswith("unknown field ") for line in warnings)
    assert repr(value) == before


@given(members)
def test_what_is_decoded_decodes_to_itself(value):
    with contextlib.suppress(codec.DecodeError):
        pod = NEW.decode(value, "Pod").value
        assert NEW.decode(pod, "Pod") == (pod, [], set(), "")
        pruned = codec.prune(pod, "Pod", NEW.types)
        assert codec.prune(pruned, "Pod", NEW.types) is pruned


@given(members)
def test_both_ways_agree(value):
    """The straight way gives what the careful one does, or nothing."""
    decoder = codec.Decoder(types.load("1.37"), {("PodSpec", "hostUsers"): "UserNamespacesSupport"})
    got = decoder._at_once(value, "Pod", codec._COPY)
    assert got is None or got == decoder._with_care(value, "Pod")


@st.composite
def texts(draw: st.DrawFn) -> bytes:
    """The text of a pod, mostly a healthy one: keys may be repeated, blanks, escapes and odd numbers be anywhere."""
    colon = draw(st.sampled_from([":", ": ", " :"]))

    def members(*pairs: tuple[str, str]) -> str:
        return "{" + ",".join(f'"{key}"{colon}{value}' for key, value in pairs) + "}"

    def some(*pairs: tuple[str, str]) -> list[tuple[str, str]]:
        return draw(st.lists(st.sampled_from(pairs), max_size=3))

    limits = members(*some(("cpu", '"1"'), ("memory", '"1Gi"'), ("cpu", "2"), ("cpu", "-0"), ("memory", "1.5")))
    port = members(*some(("containerPort", "80"), ("name", '"a"'), ("name", '":80"'), ("hostIP", "null"), ("protocol", '""')))
    labels = members(*some(("a", '"b"'), ("c", '"x : y"'), ("d", '"\\":"'), ("e\\\\", '"f"'), ("g", '"\\u0031"')))
    container = members(
        ("name", '"c"'),
        *some(("image", '"i:1"'), ("tty", "true"), ("ports", f"[{port}]"), ("resources", members(("limits", limits)))),
    )
    spec = members(("containers", f"[{container}]"))
    return members(("apiVersion", '"v1"'), ("kind", '"Pod"'), ("metadata", members(("labels", labels))), ("spec", spec)).encode()


@given(texts())
def test_the_ordinary_way_agrees(body):
    """What is read in one go is what a closer look would give."""
    got = NEW._ordinary(body, "Pod", "v1", fill=False)
    if got is not None:
        assert got == NEW.resolve(bytearray(body))


@pytest.mark.parametrize(
    "amount, is_ordinary",
    [
        pytest.param('"1Gi"', True, id="text"),
        pytest.param("2", True, id="number"),
        pytest.param("-0", False, id="minus-zero"),
        pytest.param("0", False, id="zero"),
        pytest.param("1.5", False, id="fraction"),
        pytest.param('"1", "memory": "2"', False, id="repeated-key"),
    ],
)
def test_which_texts_are_ordinary(amount, is_ordinary):
    limits = f'"resources": {{"limits": {{"memory": {amount}}}}}'
    body = f'{{"apiVersion": "v1", "kind": "Pod", "spec": {{"containers": [{{"name": "c", "image": "i:1", {limits}}}]}}}}'
    got = NEW._ordinary(body.encode(), "Pod", "v1", fill=False)
    assert (got is not None) is is_ordinary


@given(json_members)
def test_bytes_and_values_agree(value):
    assert outcome(value) == outcome(json.dumps(value).encode())


def outcome(body: Any) -> Any:
    try:
        return NEW.read(body)
    except errors.BadRequest as error:
        return error.message, error.warnings
