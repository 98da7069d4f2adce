"""Which concerns are at work, and why: the settings against what the API server's release does itself."""

from __future__ import annotations

from typing import NamedTuple

from webhook.settings import PLAIN, Settings, release, rules_version

GENERATION_SINCE = (1, 33)
"""The first release whose server counts generations of pods, and keeps what was observed."""


class Decision(NamedTuple):
    """Whether a concern is at work, and why."""

    on: bool
    reason: str


def decide(settings: Settings) -> dict[str, Decision]:
    """Each concern by its name in the settings."""
    automatic = _automatic(settings)
    decisions = {}
    for name, decision in automatic.items():
        state = getattr(settings, name)
        if state == "auto":
            decisions[name] = Decision(decision.on, f"auto: {decision.reason}")
        else:
            decisions[name] = Decision(state == "on", f"set to {state}; auto would be {_word(decision.on)}: {decision.reason}")
    return decisions


def _automatic(settings: Settings) -> dict[str, Decision]:
    counts = settings.server_version != PLAIN and release(settings.server_version) >= GENERATION_SINCE
    if settings.server_version == PLAIN:
        server, counted = "the server stores pods as they are", "the server keeps the generation that we set"
    elif counts:
        server = counted = f"the server of {settings.server_version} does it itself"
    else:
        server = f"the server of {settings.server_version} does not do it"
        counted = f"the server of {settings.server_version} puts the stored generation back"
    rules = rules_version(settings.server_version)
    return {
        "generation": Decision(not counts, server),
        "backport": Decision(not counts and settings.server_version != PLAIN, counted),
        "observed_generation": Decision(not counts, server),
        "gated_fields": Decision(True, f"no server says a word about the fields that it drops; gates of {rules}"),
        "health": Decision(True, "the server has the basic rules, the stricter ones are ours"),
        "node_restriction": Decision(True, "the server has it for kubelets only"),
        "preflight": _preflight(settings),
    }


def _preflight(settings: Settings) -> Decision:
    wanted = settings.preflight_version
    if settings.server_version != PLAIN and release(wanted) == release(settings.server_version) and not settings.preflight_gates:
        return Decision(False, f"the server is of {wanted} already")
    return Decision(True, f"the server is not of {wanted} yet")


def _word(on: bool) -> str:
    return "on" if on else "off"


def show(settings: Settings) -> str:
    """The decisions, as comments of a settings file."""
    lines = [f"# {name}: {_word(decision.on)} ({decision.reason})" for name, decision in decide(settings).items()]
    return "\n".join(["# What is at work with these settings:", *lines, ""])
