"""Compares offline checks with a real API server: the refused objects that each catches, and the accepted ones that each refuses.

    python -m tools.compare_validators

There is a table for pods, one for workloads, and one for the kinds that pods point at. The objects are those of the recorded
create requests of one release: requests of one step, answered with 201, 400 or 422. Left out are those whose answer depends on
more than the object: on query parameters, on the content type, or on the namespace in the URL; and of kinds other than the pod
what is sent as text, or as another kind. `make compare` installs kubernetes-validate first; without it only podstrat is measured.
It takes some 30 ms for an object, so that a run takes minutes.
"""

from __future__ import annotations

import importlib
import importlib.util
import sys
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from podstrat.strategy.engine import Engine
from podstrat.strategy.verbs.incoming import NAMESPACE_DIFFERS
from podstrat.strategy.workloads import EVERY
from tests.conformance.recorded import BASES, edited, kind_recordings, recordings

RELEASE = "1.37"
PACKAGE = "kubernetes-validate"

Refuses = Callable[[Any], bool]
"""A check: whether it refuses a pod, given as a dict or as the bytes of a request."""


class Sample(NamedTuple):
    """A pod, and what the server did with it."""

    pod: Any
    accepted: bool


class Score(NamedTuple):
    """What a check made of the pods."""

    caught: int
    refused: int
    false_alarms: int
    accepted: int

    def row(self, name: str) -> str:
        caught = f"{self.caught} of {self.refused} ({100 * self.caught / self.refused:.1f} %)"
        return f"| {name} | {caught} | {self.false_alarms} of {self.accepted} ({100 * self.false_alarms / self.accepted:.1f} %) |"


def main() -> int:
    right = [
        _table("pods", list(samples())),
        _table("workloads", list(of_kinds(f"workloads-full-{RELEASE}"))),
        _table("objects of other kinds", list(of_kinds(f"kinds-{RELEASE}"))),
    ]
    if importlib.util.find_spec("kubernetes_validate") is None:
        print(f"\n{PACKAGE} is not installed: make compare")
    return 0 if all(right) else 1


def _table(what: str, every: list[Sample]) -> bool:
    """Prints how each check does; whether ours is always right."""
    print(f"\n| check | refused {what} caught | accepted {what} refused |\n|---|---|---|")
    ours = score(podstrat(), every)
    print(ours.row("podstrat"), flush=True)
    if importlib.util.find_spec("kubernetes_validate") is not None:
        for strict in (False, True):
            name, check = kubernetes_validate(strict)
            print(score(check, every).row(name), flush=True)
    return ours.caught == ours.refused and not ours.false_alarms


def samples() -> Iterator[Sample]:
    recording = next(each for each in recordings() if each.name == RELEASE)
    for case in recording.cases():
        step, want = case["steps"][0], case["want"][0]
        is_create = len(case["steps"]) == 1 and step["do"] == "create" and "query" not in step
        if is_create and want["code"] in (201, 400, 422) and want["body"].get("message") != NAMESPACE_DIFFERS:
            yield Sample(_pod(step), want["code"] == 201)


def of_kinds(name: str) -> Iterator[Sample]:
    """The samples of a recording of other kinds."""
    recording = next(each for each in kind_recordings() if each.name == name)
    for case in recording.cases():
        step, want = case["steps"][0], case["want"][0]
        is_create = len(case["steps"]) == 1 and step["do"] == "create" and not {"query", "raw", "ctype"} & step.keys()
        if not is_create or not isinstance(step["body"], dict) or step["body"].get("kind") != case["kind"]:
            continue
        if want["code"] in (201, 400, 422) and want["body"].get("message") != NAMESPACE_DIFFERS:
            yield Sample(step["body"], want["code"] == 201)


def _pod(step: dict[str, Any]) -> Any:
    if "raw" in step:
        return step["raw"].encode()
    return edited(BASES[step["base"]], step.get("edit", [])) if "base" in step else step["body"]


def score(refuses: Refuses, every: list[Sample]) -> Score:
    refused = [sample.pod for sample in every if not sample.accepted]
    accepted = [sample.pod for sample in every if sample.accepted]
    return Score(sum(map(refuses, refused)), len(refused), sum(map(refuses, accepted)), len(accepted))


# ---- the checks ----------------------------------------------------------------------------------------


def podstrat() -> Refuses:
    engine = Engine(RELEASE)

    def refuses(obj: Any) -> bool:
        is_other = isinstance(obj, dict) and obj.get("kind") in EVERY
        return not (engine.create_object(obj) if is_other else engine.create(obj)).ok

    return refuses


def kubernetes_validate(strict: bool) -> tuple[str, Refuses]:
    """The package with its schema of the release, or its newest if it has none of that; as its own command judges.

    A kind that it has no schema for it lets pass, with a warning. Whatever else it stumbles over counts as refused.
    """
    package, yaml = importlib.import_module("kubernetes_validate"), importlib.import_module("yaml")
    newest = package.latest_version()
    schema = RELEASE if _number(newest) >= _number(RELEASE) else newest

    def refuses(pod: Any) -> bool:
        try:
            for document in yaml.safe_load_all(pod) if isinstance(pod, bytes) else [pod]:
                if document:
                    package.validate(document, schema, strict=strict)
        except (package.SchemaNotFoundError, package.InvalidSchemaError):
            return False
        except Exception:
            return True
        return False

    return f"{PACKAGE} {package.__version__}{' --strict' if strict else ''}, schema {schema}", refuses


def _number(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split(".")[:2])


if __name__ == "__main__":
    sys.exit(main())
