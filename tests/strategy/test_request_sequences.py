"""Sequences of requests about one pod: what holds whatever they are, without a recording to compare with."""

from __future__ import annotations

import copy
import functools
import gc
import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from podstrat.apiserver import negotiation
from podstrat.strategy.api import key_order
from podstrat.strategy.engine import Engine
from podstrat.strategy.patch import schema
from podstrat.strategy.request import Answer, Request
from tests.conformance.replay import Stored

START = datetime(2026, 1, 1, tzinfo=UTC)
RELEASES = ("1.34", "1.35", "1.36", "1.37")

Object = dict[str, Any]


class Step(NamedTuple):
    """One request; its body may be made from what is stored."""

    verb: str
    subresource: str = ""
    patch_type: str = ""
    body: Any = None
    manager: str = "m"
    force: bool = False
    dry_run: bool = False


# ---- requests ------------------------------------------------------------------------------------------
# No value is empty or zero: what is empty is owned but not printed.

texts = st.sampled_from(["a", "b", "c", "d", "e", "f", "Bad Value"])
ports = st.sampled_from([1, 80, 8080, 9090, 1, 80, 1.0, True, -5])
amounts = st.sampled_from(["1", "100m", "2", "1500m", "200m", "1Gi", "-1", "abc", True])
containers = st.fixed_dictionaries(
    {"name": st.sampled_from(["c"] * 7 + ["d"])},
    optional={
        "image": st.sampled_from(["busybox:1", "nginx", "nginx:2", " bad"]),
        "ports": st.lists(
            st.fixed_dictionaries({"containerPort": ports}, optional={"protocol": st.just("UDP")}), min_size=1, max_size=2
        ),
        "env": st.lists(st.fixed_dictionaries({"name": texts, "value": texts}), min_size=1, max_size=2),
        "resources": st.fixed_dictionaries({"requests": st.fixed_dictionaries({"cpu": amounts})}),
    },
)
metadata = st.fixed_dictionaries(
    {},
    optional={
        "labels": st.dictionaries(texts, texts, min_size=1, max_size=2),
        "annotations": st.dictionaries(texts, texts, min_size=1, max_size=2),
        "finalizers": st.just(["a.b/c"]),
    },
)
specs = st.fixed_dictionaries(
    {},
    optional={
        "containers": st.lists(containers, min_size=1, max_size=2),
        "activeDeadlineSeconds": st.integers(1, 9),
        "nodeSelector": st.just({"a": "b"}),
        "tolerations": st.lists(st.fixed_dictionaries({"key": texts, "operator": st.just("Exists")}), min_size=1, max_size=1),
        "hostname": st.sampled_from(["h", "H H"]),
    },
)
statuses = st.fixed_dictionaries(
    {},
    optional={
        "phase": st.sampled_from(["Running", "Failed"]),
        "conditions": st.lists(st.fixed_dictionaries({"type": texts, "status": st.just("True")}), min_size=1, max_size=2),
        "podIP": st.sampled_from(["10.0.0.1", "not-an-ip"]),
        "observedGeneration": st.integers(-1, 3),
    },
)
versions = st.one_of(st.none(), st.none(), st.none(), st.sampled_from(["1", "x"]))
parts = st.builds(
    lambda part, version: (
        part if version is None else {**part, "metadata": {**part.get("metadata", {}), "resourceVersion": version}}
    ),
    st.fixed_dictionaries({}, optional={"metadata": metadata, "spec": specs}),
    versions,
)
managers = st.sampled_from(["m", "n"])
steps = st.one_of(
    st.builds(lambda part, dry: Step("create", body=part, dry_run=dry), parts, st.booleans()),
    st.builds(lambda part, manager: Step("update", body=part, manager=manager), parts, managers),
    st.builds(
        lambda part, kind, manager: Step("patch", "", kind, part, manager),
        parts,
        st.sampled_from(["merge", "strategic"]),
        managers,
    ),
    st.builds(
        lambda part, manager, force, dry: Step("patch", "", "apply", part, manager, force, dry),
        parts,
        managers,
        st.booleans(),
        st.booleans(),
    ),
    st.builds(
        lambda status, kind: Step("patch", "status", kind, {"status": status}), statuses, st.sampled_from(["merge", "strategic"])
    ),
    st.builds(
        lambda amount: Step("patch", "resize", "strategic", {"spec": {"containers": [{"name": "c", "resources": amount}]}}),
        st.fixed_dictionaries({"requests": st.fixed_dictionaries({"cpu": amounts})}),
    ),
    st.builds(
        lambda grace: Step("delete", body=grace),
        st.sampled_from([None, {"gracePeriodSeconds": 0}, {"dryRun": ["All"]}, {"dryRun": ["x"]}]),
    ),
)
sequences = st.tuples(
    st.sampled_from(RELEASES), st.builds(lambda rest: [Step("create", body={}), *rest], st.lists(steps, min_size=1, max_size=8))
)

CREATED = {"containers": [{"name": "c", "image": "busybox:1", "resources": {"requests": {"cpu": "1", "memory": "1Gi"}}}]}
"""Burstable, so that it can be resized."""


def _request(step: Step, stored: Object | None, number: int) -> Request:
    body = copy.deepcopy(step.body)
    if step.verb == "create":
        body = {"apiVersion": "v1", "kind": "Pod", **body, "metadata": {**body.get("metadata", {}), "name": "p"}}
        body["spec"] = {**CREATED, **body.get("spec", {})}
    elif step.verb == "update":
        body = _laid_over(stored or {"metadata": {"name": "p"}}, body)
    elif step.patch_type == "apply":
        head = {"apiVersion": "v1", "kind": "Pod", "metadata": {**body.get("metadata", {}), "name": "p"}}
        body = negotiation.YamlBody(json.dumps({**body, **head}).encode())
    options = {"fieldManager": step.manager}
    if step.force and step.patch_type == "apply":
        options["force"] = "true"
    if step.dry_run:
        options["dryRun"] = "All"
    if step.verb == "delete":
        options = {}
    now, uid = START + timedelta(seconds=number), f"uid-{number}"
    common: Any = {"options": options, "name": "p", "now": now, "uid": uid, "track": True}
    return Request(step.verb, step.subresource, body, step.patch_type, **common)


def _laid_over(obj: Any, part: Any) -> Any:
    if isinstance(obj, dict) and isinstance(part, dict):
        return {**obj, **{key: _laid_over(obj.get(key), value) for key, value in part.items()}}
    return copy.deepcopy(part)


class Run:
    """A server of its own, and what it has answered."""

    def __init__(self, release: str) -> None:
        self.store = Stored(Engine(release))
        self.answers: list[tuple[Step, int, Answer]] = []

    @property
    def stored(self) -> Object | None:
        return self.store.pods.get("p")

    def send(self, step: Step, number: int) -> Answer:
        answer = self.store.send(_request(step, self.stored, number))
        self.answers.append((step, number, copy.deepcopy(answer)))
        return answer


def run(release: str, numbered: list[tuple[int, Step]]) -> Run:
    made = Run(release)
    for number, step in numbered:
        made.send(step, number)
    return made


KEPT: list[Any] = []
"""What there was of caches, and of objects with caches of their own, when the tests of this file began."""


@pytest.fixture(scope="module", autouse=True)
def _apart() -> Iterator[None]:
    """Looking for caches then looks at no object of other tests: in a long session that took a second each time."""
    gc.collect()
    KEPT[:] = _remembering()
    gc.freeze()
    yield
    gc.unfreeze()
    KEPT.clear()


def _remembering() -> list[Any]:
    """All that remembers something in the engine."""
    return [
        each
        for each in gc.get_objects()
        if isinstance(each, schema.Node | key_order.Order)
        or (isinstance(each, functools._lru_cache_wrapper) and (each.__module__ or "").startswith("podstrat.strategy"))
    ]


def _forget() -> None:
    """Empties every cache of the engine."""
    for each in (*KEPT, *_remembering()):
        if isinstance(each, functools._lru_cache_wrapper):
            each.cache_clear()
        else:
            each.layouts.clear()


# ---- what holds ----------------------------------------------------------------------------------------


@settings(max_examples=120)
@given(sequences)
def test_what_is_stored_follows_from_what_is_accepted(sequence: tuple[str, list[Step]]) -> None:
    release, given_steps = sequence
    now = Run(release)
    for number, step in enumerate(given_steps):
        before, version = copy.deepcopy(now.stored), now.store.version
        answer = now.send(step, number)
        if answer.code >= 300:
            assert (now.stored, now.store.version) == (before, version), "a refused request changes nothing stored"
            assert answer.effects == ()
        elif not step.dry_run and step.body != {"dryRun": ["All"]}:
            _read_back(now, answer)
        if before is not None and now.stored is not None and before["metadata"]["uid"] == now.stored["metadata"]["uid"]:
            assert now.stored["metadata"]["generation"] >= before["metadata"]["generation"], "generation never falls"
        if now.stored is not None:
            _managed_paths_exist(now.stored)
            _managers_are_told_once(now.stored)


def _read_back(now: Run, answer: Answer) -> None:
    read = now.store.send(Request("get", name="p"))
    if now.stored is None:
        assert read.code == 404
    else:
        assert read.body == answer.body == now.stored, "what is read back is what was answered"
        assert list(read.body) == list(answer.body)


def _managed_paths_exist(obj: Object) -> None:
    for entry in obj["metadata"].get("managedFields") or ():
        missing = list(_missing(entry["fieldsV1"], obj, ""))
        assert missing == [], entry


def _missing(tree: Object, value: Any, at: str) -> Any:
    """The paths of a set that an object does not have."""
    for element, below in tree.items():
        if element == ".":
            continue
        kind, content = element[0], element[2:]
        if kind == "f":
            found = [value[content]] if isinstance(value, dict) and content in value else []
        elif kind == "v":
            found = [item for item in value if item == json.loads(content)]
        else:
            keys = json.loads(content)
            found = [item for item in value if all(item.get(name) == text for name, text in keys.items())]
        if not found:
            yield f"{at}/{element}"
        else:
            yield from _missing(below, found[0], f"{at}/{element}")


def _managers_are_told_once(obj: Object) -> None:
    entries = obj["metadata"].get("managedFields") or ()
    told = [(each.get("manager"), each["operation"], each["apiVersion"], each.get("subresource")) for each in entries]
    assert len(told) == len(set(told))


@settings(max_examples=60)
@given(sequences)
def test_a_fresh_server_answers_the_same_without_the_refused_requests(sequence: tuple[str, list[Step]]) -> None:
    release, given_steps = sequence
    first = run(release, list(enumerate(given_steps)))
    _forget()
    again = run(release, list(enumerate(given_steps)))
    assert again.answers == first.answers, "the same sequence on a fresh server gives the same answers"
    _forget()
    accepted = [(number, step) for step, number, answer in first.answers if answer.code < 300]
    alone = run(release, accepted)
    assert alone.answers == [each for each in first.answers if each[2].code < 300], "a refused request changes nothing cached"
    assert alone.stored == first.stored


@settings(max_examples=80)
@given(sequences)
def test_the_same_apply_again_changes_nothing(sequence: tuple[str, list[Step]]) -> None:
    release, given_steps = sequence
    now = Run(release)
    for number, step in enumerate(given_steps):
        answer = now.send(step, number)
        if step.patch_type != "apply" or answer.code >= 300 or step.dry_run or now.stored is None:
            continue
        if "resourceVersion" in (step.body.get("metadata") or {}):
            continue
        before = copy.deepcopy(now.stored)
        again = now.send(step, number + 100)
        assert again.code == 200
        assert _timeless(again.body) == _timeless(before)


def _timeless(obj: Object) -> Object:
    entries = [{**each, "time": ""} for each in obj["metadata"].get("managedFields") or ()]
    metadata = {key: value for key, value in obj["metadata"].items() if key != "resourceVersion"}
    return {**obj, "metadata": {**metadata, "managedFields": entries}}


@pytest.mark.parametrize("first, second", [(True, 1), (1.0, True), (1, True)])
def test_a_refused_apply_is_forgotten(first: Any, second: Any) -> None:
    """One with containerPort: true once changed what a later one with 1 stored."""

    def apply(port: Any) -> Step:
        container = {"name": "c", "image": "busybox:1", "ports": [{"containerPort": port}]}
        return Step("patch", "", "apply", {"spec": {"containers": [container]}})

    _forget()
    alone = run("1.37", [(1, apply(second))])
    _forget()
    both = run("1.37", [(0, apply(first)), (1, apply(second))])
    if both.answers[0][2].code >= 300:
        assert both.answers[1:] == alone.answers
