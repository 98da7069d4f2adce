"""When certificates are renewed, and in which steps."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from podstrat.certs import inspect, rotation, secret
from podstrat.certs.issuing import Authority
from podstrat.certs.rotation import Policy, State, Step

NOW = datetime(2026, 1, 1, tzinfo=UTC)
DAY, MINUTE = timedelta(days=1), timedelta(minutes=1)
POLICY = Policy(leaf=30 * DAY, authority=300 * DAY, settle=5 * MINUTE, overlap=DAY)
NAMES = ("hook.ns.svc",)


def begun() -> State:
    return rotation.begin(NAMES, NOW, POLICY)


def step(state: State, now: datetime, published: bool = True, names: tuple[str, ...] = NAMES) -> Step:
    return rotation.due(state, names, now, POLICY, published).step


def test_the_beginning() -> None:
    state = begun()
    assert state.trusted == (state.authority.certificate,)
    assert inspect.vouches(state.bundle, state.leaf.certificate, NOW)
    assert inspect.has_names(state.leaf.certificate, NAMES)
    assert inspect.belong_together(state.leaf)
    assert step(state, NOW) == "nothing"


@pytest.mark.parametrize(
    "days, expected",
    [
        pytest.param(0, "nothing", id="new"),
        pytest.param(19, "nothing", id="a-third-and-a-bit-is-left"),
        pytest.param(20.5, "leaf", id="a-third-is-left"),
        pytest.param(29, "leaf", id="almost-over"),
        pytest.param(31, "leaf", id="over"),
        pytest.param(201, "introduce", id="a-third-of-the-authority-is-left"),
        pytest.param(301, "introduce", id="even-the-authority-is-over"),
    ],
)
def test_when_what_is_due(days: float, expected: Step) -> None:
    assert step(begun(), NOW + days * DAY) == expected


def test_a_leaf_that_lacks_a_name_is_made_anew() -> None:
    state = begun()
    wanted = (*NAMES, "10.0.0.1")
    assert step(state, NOW, names=wanted) == "leaf"
    state = rotation.carried_out("leaf", state, wanted, NOW, POLICY)
    assert step(state, NOW, names=wanted) == "nothing"


@pytest.mark.parametrize("broken", ["certificate", "key", "other"])
def test_a_leaf_that_is_no_good_is_made_anew(broken: str) -> None:
    state = begun()
    if broken == "other":
        state = replace(state, leaf=Authority.new("other", NOW).server(NAMES, NOW))
    else:
        state = replace(state, leaf=state.leaf._replace(**{broken: b"nonsense"}))
    assert step(state, NOW) == "leaf"


def test_an_authority_gives_way_in_steps() -> None:
    old = begun()
    now = NOW + 210 * DAY
    introduced = rotation.carried_out("introduce", old, NAMES, now, POLICY)
    assert introduced.successor is not None
    assert introduced.trusted == (old.authority.certificate, introduced.successor.certificate)
    assert introduced.leaf == old.leaf, "the successor signs nothing yet"

    assert step(introduced, now, published=False) == "leaf", "while it is not published, the old authority works on"
    renewed = rotation.carried_out("leaf", introduced, NAMES, now, POLICY)
    assert step(renewed, now, published=False) == "nothing"
    assert step(renewed, now) == "note"
    noted = rotation.carried_out("note", renewed, NAMES, now, POLICY)
    assert step(noted, now + 4 * MINUTE) == "nothing"
    assert step(noted, now + 6 * MINUTE, published=False) == "nothing", "somebody has taken it out again"

    later = now + 6 * MINUTE
    assert step(noted, later) == "switch"
    switched = rotation.carried_out("switch", noted, NAMES, later, POLICY)
    assert switched.authority == introduced.successor
    assert switched.trusted == introduced.trusted
    for leaf in (old.leaf, switched.leaf):
        if inspect.facts(leaf.certificate).is_valid(later):
            assert inspect.vouches(switched.bundle, leaf.certificate, later)

    assert step(switched, later + 23 * timedelta(hours=1)) == "nothing"
    assert step(switched, later + 25 * timedelta(hours=1)) == "retire"
    retired = rotation.carried_out("retire", switched, NAMES, later, POLICY)
    assert retired.trusted == (switched.authority.certificate,)
    assert inspect.vouches(retired.bundle, retired.leaf.certificate, later)
    assert step(retired, later + DAY) == "nothing"


def test_an_authority_that_has_ended_is_not_waited_for() -> None:
    now = NOW + 400 * DAY
    state = rotation.carried_out("introduce", begun(), NAMES, now, POLICY)
    assert step(state, now, published=False) == "nothing"
    assert step(state, now) == "switch"


def test_a_leaf_does_not_outlive_its_authority() -> None:
    state = begun()
    leaf = rotation.carried_out("leaf", state, NAMES, NOW + 290 * DAY, POLICY).leaf
    assert inspect.facts(leaf.certificate).ends == inspect.facts(state.authority.certificate).ends


def test_nothing_changes_nothing() -> None:
    state = begun()
    assert rotation.carried_out("nothing", state, NAMES, NOW, POLICY) == state


# ---- the shared state is lost ------------------------------------------------------------------------


def test_what_is_served_stays_in_service_while_a_new_authority_is_introduced() -> None:
    old = begun()
    state = rotation.recovered(old.leaf, old.trusted, NAMES, NOW, POLICY)
    assert state.leaf == old.leaf
    assert state.trusted[0] == old.authority.certificate
    assert len(state.trusted) == 2
    assert secret.of_files(secret.files(state)) == state, "it can be stored"
    # Nothing is signed before the successor is published and settled; then the old authority goes.
    assert step(state, NOW, published=False) == "nothing"
    now = NOW
    for expected, later in (("note", 6 * MINUTE), ("switch", 2 * DAY), ("retire", DAY)):
        assert step(state, now) == expected
        state = rotation.carried_out(expected, state, NAMES, now, POLICY)  # type: ignore[arg-type]
        assert inspect.vouches(state.bundle, state.leaf.certificate, now)
        assert step(state, now) == "nothing"
        now += later
    assert state.trusted == (state.authority.certificate,)


def test_a_leaf_that_is_due_is_not_signed_by_a_lost_key() -> None:
    old = begun()
    state = rotation.recovered(old.leaf, old.trusted, NAMES, NOW, POLICY)
    noted = rotation.carried_out("note", state, NAMES, NOW, POLICY)
    assert step(noted, NOW, names=("another",)) == "switch"


@pytest.mark.parametrize("leaf", ["none", "another"])
def test_without_a_leaf_the_new_authority_signs_at_once(leaf: str) -> None:
    old = begun()
    state = rotation.recovered(None if leaf == "none" else begun().leaf, old.trusted, NAMES, NOW, POLICY)
    assert inspect.vouches(state.authority.certificate, state.leaf.certificate, NOW)
    assert state.trusted == (*old.trusted, state.authority.certificate)
    assert step(state, NOW + 2 * DAY) == "retire"


def test_where_nothing_was_there_before_it_is_a_beginning() -> None:
    state = rotation.recovered(None, (), NAMES, NOW, POLICY)
    assert state.switched is None
    assert state.trusted == (state.authority.certificate,)
