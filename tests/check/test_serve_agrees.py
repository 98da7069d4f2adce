"""`podstrat serve` and `podstrat check` give one verdict on one object, in the same words."""

from __future__ import annotations

import itertools
import urllib.parse
from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest

from podstrat.check.evaluate import Evaluator, Settings
from podstrat.strategy import kinds
from podstrat.testing.server import Server
from tests.apiserver.test_recorded import TOKEN, Client
from tests.check import recorded
from tests.check.recorded import Case
from tests.check.test_recorded import checked, record
from tests.conformance import compare

JSON = "application/json"
STEPS = {"pods": 40, "workloads-full-1.37": 15, "kinds-1.37": 4}
"""Of each recording every so manieth case."""


def _cases(is_sample: bool) -> Iterator[Case]:
    """Recorded bodies, but for those whose name ends in random characters; of kinds without any, an object with a name."""
    found = {"pods": recorded.cases(), **{name: recorded.kind_cases(name) for name in STEPS if name != "pods"}}
    seen = set[str]()
    for name, step in STEPS.items():
        for case in itertools.islice(found[name], 0, None, step if is_sample else 1):
            metadata = case.body.get("metadata")
            if not (isinstance(metadata, dict) and metadata.get("generateName")):
                seen.add(_kind(case).kind)
                yield case
    for kind in kinds.KINDS:
        if kind.kind not in seen:
            body = {"apiVersion": kind.api_version, "kind": kind.kind, "metadata": {"name": "w"}}
            yield Case(kind.kind, body, "Warn", {}, [])


def _kind(case: Case) -> kinds.Kind:
    """The kind of the recorded request; some pods say that they are something else."""
    return kinds.BY_NAME.get((case.body.get("apiVersion"), case.body.get("kind")), kinds.POD)


def _collection(kind: kinds.Kind) -> str:
    root = f"/apis/{kind.api_version}" if kind.group else f"/api/{kind.version}"
    return f"{root}/namespaces/default/{kind.plural}" if kind.namespaced else f"{root}/{kind.plural}"


def _posted(case: Case, client: Client) -> dict[str, Any]:
    """What the server answers; what it has stored is deleted again."""
    path = _collection(_kind(case))
    query = urllib.parse.urlencode({"fieldValidation": case.validation})
    answer = client.send("POST", f"{path}?{query}", case.body, JSON, JSON)
    if answer["code"] == 201:
        metadata = answer["body"]["metadata"]
        one = f"{path}/{urllib.parse.quote(metadata['name'])}"
        if (answer["body"].get("spec") or {}).get("finalizers"):
            client.send("PUT", f"{one}/finalize", {**answer["body"], "spec": {}}, JSON, JSON)
        if metadata.get("finalizers"):
            client.send("PATCH", one, {"metadata": {"finalizers": None}}, "application/merge-patch+json", JSON)
        client.send("DELETE", one, {"propagationPolicy": "Background", "gracePeriodSeconds": 0}, JSON, JSON)
    return answer


@pytest.mark.parametrize("is_sample", [pytest.param(True, id="sampled"), pytest.param(False, id="all", marks=pytest.mark.long)])
def test_serve_and_check_give_one_verdict(is_sample: bool) -> None:
    settings = Settings(status=True, namespace="default")
    evaluators = {each: Evaluator(settings._replace(validation=each)) for each in ("Warn", "Strict", "Ignore")}
    differing, seen = [], Counter[str]()
    with Server("--token", TOKEN) as server:
        client = Client(server.url, "default")
        for case in _cases(is_sample):
            served = _posted(case, client)
            seen[_kind(case).kind] += 1
            served["body"] = compare.clean(served["body"])
            if served["code"] < 300:
                del served["body"]
            told = record(checked(recorded.text(case), evaluators[case.validation]), served)
            if why := compare.first_difference(served, told):
                differing.append(f"{case.id}: {why}")
        client.close()
    assert differing == [], "\n".join(differing)
    assert set(seen) == {kind.kind for kind in kinds.KINDS}
    assert seen.total() > 300
