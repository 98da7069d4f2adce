"""The rules of each verb, entered through it. Up to 1.36 an error that several rules find is told as often."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from podstrat.strategy.engine import Engine
from podstrat.strategy.outcome import Outcome
from podstrat.strategy.rules import pod as rules
from tests.strategy import make
from tests.strategy.make import lines

RESPONDERS = {"EvictionRequestAPI": True}
UNNAMED = [{"name": "", "priority": 1000}]
NO_NAME = "spec.evictionResponders[0].name: Required value"
APPARMOR = "container.apparmor.security.beta.kubernetes.io/c"
BAD_PROFILE = f'metadata.annotations[{APPARMOR}]: Invalid value: "bad": invalid AppArmor profile name: "bad"'
NO_NEW_PROFILE = f"metadata.annotations[{APPARMOR}]: Forbidden: may not add AppArmor annotations"
PREFIX = 'metadata.generateName: Invalid value: "a/b": '
GRACE = "metadata.deletionGracePeriodSeconds: Invalid value: 5: field is immutable"

Verb = Callable[[Engine, dict[str, Any], dict[str, Any]], Outcome]


def stored(engine: Engine, **spec: Any) -> dict[str, Any]:
    return engine.create(make.pod(**spec)).pod or {}


def with_metadata(pod: dict[str, Any], **fields: Any) -> dict[str, Any]:
    return {**pod, "metadata": {**pod["metadata"], **fields}}


def with_spec(pod: dict[str, Any], **fields: Any) -> dict[str, Any]:
    return {**pod, "spec": {**pod["spec"], **fields}}


EVERY_WRITE = [
    pytest.param(Engine.update, id="update"),
    pytest.param(Engine.update_status, id="status"),
    pytest.param(Engine.resize, id="resize"),
    pytest.param(Engine.ephemeral_containers, id="ephemeral-containers"),
]


@pytest.mark.parametrize("verb", EVERY_WRITE)
def test_metadata_that_may_not_change_is_looked_at_for_every_kind_and_for_pods(verb: Verb) -> None:
    engine = Engine("1.36")
    old = stored(engine)
    assert lines(verb(engine, with_metadata(old, deletionGracePeriodSeconds=5), old)) == [GRACE, GRACE]


@pytest.mark.parametrize("verb", EVERY_WRITE)
def test_a_generated_name_can_stand_in_a_url(verb: Verb) -> None:
    engine = Engine("1.36")
    old = stored(engine)
    assert lines(verb(engine, with_metadata(old, generateName="a/b"), old))[0] == f"{PREFIX}may not contain '/'"


@pytest.mark.parametrize(
    "verb, times",
    [
        pytest.param(Engine.update, 2, id="update"),
        pytest.param(Engine.update_status, 1, id="status"),
        pytest.param(Engine.resize, 1, id="resize"),
        pytest.param(Engine.ephemeral_containers, 2, id="ephemeral-containers"),
    ],
)
def test_annotations_that_are_stored_are_looked_at_again(verb: Verb, times: int) -> None:
    engine = Engine("1.36")
    old = with_metadata(stored(engine), annotations={APPARMOR: "bad"})
    assert lines(verb(engine, old, old)) == [BAD_PROFILE] * times


def test_declared_rules_come_last_on_create() -> None:
    engine = Engine(gates=RESPONDERS)
    outcome = engine.create(make.pod(evictionResponders=UNNAMED, ephemeralContainers=[{"name": "e", "image": "i"}]))
    assert lines(outcome)[-2:] == ["spec.ephemeralContainers: Forbidden: cannot be set on create", NO_NAME]


def test_declared_rules_hold_on_update() -> None:
    engine = Engine(gates=RESPONDERS)
    old = stored(engine)
    assert lines(engine.update(with_spec(old, evictionResponders=UNNAMED), old))[-1] == NO_NAME


def test_declared_rules_hold_on_a_resize_that_is_not_one() -> None:
    """Everything is left as sent where containers come or go."""
    engine = Engine(gates=RESPONDERS)
    old = stored(engine)
    more = [*old["spec"]["containers"], {"name": "d", "image": "i"}]
    outcome = engine.resize(with_spec(old, containers=more, evictionResponders=UNNAMED), old)
    assert lines(outcome) == ["spec.containers: Forbidden: containers may not be added or removed on resize", NO_NAME]


def test_all_that_ephemeral_containers_are_judged_by() -> None:
    """No request brings these about: of what it sends, nothing but the containers is taken."""
    engine = Engine(gates=RESPONDERS)
    old = stored(engine)
    new = with_metadata(with_spec(old, evictionResponders=UNNAMED), annotations={APPARMOR: "unconfined"})
    found = rules.ephemeral_containers(new, old, engine.context.updating(old))
    assert [str(error) for error in found] == [NO_NEW_PROFILE, NO_NAME]


def test_a_patch_that_names_an_owner_twice() -> None:
    engine = Engine()
    owner = {"apiVersion": "v1", "kind": "Node", "name": "n", "uid": "u1"}
    patch = {"metadata": {"ownerReferences": [owner, owner]}}
    outcome = engine.patch(patch, stored(engine), type="merge")
    assert outcome.ok
    assert (outcome.pod or {})["metadata"]["ownerReferences"] == [owner]
    assert outcome.warnings == (
        ".metadata.ownerReferences contains duplicate entries after mutating admission happens; API server dedups owner "
        "references in 1.20+, and may reject such requests as early as 1.24; please fix your requests; "
        "duplicate UID(s) observed: u1",
    )
