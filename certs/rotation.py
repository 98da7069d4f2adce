"""Rotation policy: when certificates are renewed, and the steps of a CA rollover without a gap in trust.

    introduce   a successor is made, and published beside the authority; it signs nothing yet
    note        everybody has been told: from now on the settling time counts
    switch      the successor becomes the authority, and signs a new leaf; the old one stays published
    retire      every replica has had time to serve the new leaf: the old authority goes
    leaf        a new leaf from the same authority; clients notice nothing

The decisions are pure: the time is an argument, and what is published is told. Only new keys come from elsewhere.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Literal, NamedTuple

from podstrat.certs import inspect
from podstrat.certs.issuing import Authority, Pair

RENEW_AT = 1 / 3
"""The share of its life that is left when a certificate is renewed: time enough for people, should it fail."""
AUTHORITY_NAME = "podstrat webhook"

Step = Literal["nothing", "leaf", "introduce", "note", "switch", "retire"]


class Policy(NamedTuple):
    """How long things last."""

    leaf: timedelta = timedelta(days=90)
    authority: timedelta = timedelta(days=730)
    settle: timedelta = timedelta(minutes=5)
    """How long a successor is published before it signs: until every client has read it."""
    overlap: timedelta = timedelta(days=1)
    """How long the predecessor stays published: until every replica serves a leaf of the successor."""


@dataclass(frozen=True)
class State:
    """Everything that the replicas share."""

    authority: Pair
    """Signs leaves now. Without a key after the Secret was lost: then its successor takes over."""
    leaf: Pair
    trusted: tuple[bytes, ...]
    """The certificates that clients are told to trust."""
    successor: Pair | None = None
    introduced: datetime | None = None
    """Since when the successor is known to be published."""
    switched: datetime | None = None
    """When the authority took over from another one that is still trusted."""

    @property
    def bundle(self) -> bytes:
        """What clients are told to trust, as one file."""
        return b"".join(self.trusted)


class Due(NamedTuple):
    """The next step, and why."""

    step: Step
    reason: str


def begin(names: Sequence[str], now: datetime, policy: Policy) -> State:
    """A first authority, with a first leaf."""
    authority = Authority.new(AUTHORITY_NAME, now, policy.authority)
    return State(authority.pair, _leaf(authority.pair, names, now, policy), (authority.certificate,))


def recovered(leaf: Pair | None, trusted: Sequence[bytes], names: Sequence[str], now: datetime, policy: Policy) -> State:
    """The state after the shared one was lost, from what a replica still serves and what clients trust.

    The leaf stays in service, and a new authority is introduced beside the old one, whose key is lost. Without a usable leaf the
    new authority signs at once; clients still trust the old one.
    """
    anchor = None if leaf is None else next((each for each in trusted if _vouches(each, leaf, now)), None)
    if leaf is None or anchor is None:
        state = begin(names, now, policy)
        return replace(state, trusted=(*trusted, *state.trusted), switched=now if trusted else None)
    successor = Authority.new(AUTHORITY_NAME, now, policy.authority)
    return State(Pair(anchor, b""), leaf, (*trusted, successor.certificate), successor.pair)


def _vouches(authority: bytes, leaf: Pair, now: datetime) -> bool:
    try:
        return inspect.belong_together(leaf) and inspect.vouches(authority, leaf.certificate, now)
    except inspect.Unreadable:
        return False


def due(state: State, names: Sequence[str], now: datetime, policy: Policy, published: bool) -> Due:
    """The step that is due. ``published``: clients trust exactly what the state says."""
    authority = inspect.facts(state.authority.certificate)
    ended = not authority.is_valid(now)
    if state.successor is not None:
        step = _succession(state, now, policy, published, ended)
        if step is not None:
            return step
    elif authority.left(now) <= RENEW_AT:
        return Due("introduce", f"the authority ends at {authority.ends:%Y-%m-%d %H:%M}")
    elif state.switched is not None and len(state.trusted) > 1 and now >= state.switched + policy.overlap:
        return Due("retire", "the new authority has been in use for long enough")
    leaf = _leaf_due(state, names, now)
    if leaf.step == "leaf" and not state.authority.key:
        return Due("switch", f"{leaf.reason}, and the key of its authority is lost")
    return leaf


def _succession(state: State, now: datetime, policy: Policy, published: bool, ended: bool) -> Due | None:
    if not published:
        return Due("nothing", "the successor is not published yet") if ended else None
    if ended:
        return Due("switch", "the authority has ended: nothing is left to be careful about")
    if state.introduced is None:
        return Due("note", "the successor is published")
    if now >= state.introduced + policy.settle:
        return Due("switch", "the successor has been published for long enough")
    return None


def _leaf_due(state: State, names: Sequence[str], now: datetime) -> Due:
    try:
        leaf = inspect.facts(state.leaf.certificate)
        sound = inspect.belong_together(state.leaf) and inspect.vouches(state.authority.certificate, state.leaf.certificate, now)
    except inspect.Unreadable as error:
        return Due("leaf", f"the leaf cannot be read: {error}")
    if not sound:
        return Due("leaf", "the leaf is not the authority's, or its key is another, or it has ended")
    if not inspect.has_names(state.leaf.certificate, names):
        return Due("leaf", "the leaf lacks a name")
    if leaf.left(now) <= RENEW_AT:
        return Due("leaf", f"the leaf ends at {leaf.ends:%Y-%m-%d %H:%M}")
    return Due("nothing", f"the leaf is good until {leaf.ends:%Y-%m-%d %H:%M}")


def carried_out(step: Step, state: State, names: Sequence[str], now: datetime, policy: Policy) -> State:
    """The state after a step."""
    if step == "leaf":
        return replace(state, leaf=_leaf(state.authority, names, now, policy))
    if step == "introduce":
        successor = Authority.new(AUTHORITY_NAME, now, policy.authority)
        return replace(state, successor=successor.pair, trusted=(*state.trusted, successor.certificate), introduced=None)
    if step == "note":
        return replace(state, introduced=now)
    if step == "switch" and state.successor is not None:
        leaf = _leaf(state.successor, names, now, policy)
        return replace(state, authority=state.successor, leaf=leaf, successor=None, introduced=None, switched=now)
    if step == "retire":
        return replace(state, trusted=(state.authority.certificate,), switched=None)
    return state


def _leaf(authority: Pair, names: Sequence[str], now: datetime, policy: Policy) -> Pair:
    """A leaf, which does not outlive its authority."""
    ends = inspect.facts(authority.certificate).ends
    return Authority(authority).server(names, now, min(policy.leaf, ends - now))
