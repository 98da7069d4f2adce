"""Activation: which concerns are on, and why, given the settings and the release of the API server."""

from __future__ import annotations

from typing import NamedTuple

from podstrat.strategy.gates import history
from podstrat.webhook.settings import AUTO, PLAIN, Settings, release, rules_version

GENERATION_SINCE = (1, 33)
"""The first release that maintains metadata.generation of pods and preserves observedGeneration."""


class Decision(NamedTuple):
    """Whether a concern is on, and why."""

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


def is_engine_release(server_version: str) -> bool:
    """Whether the engine has the rules of a server's release, or of the newest one before it."""
    return server_version in (AUTO, PLAIN) or release(server_version) >= release(history.RELEASES[0])


def _automatic(settings: Settings) -> dict[str, Decision]:
    version = settings.server_version
    generation, backport, observed = _generation(version)
    return {
        "generation": generation,
        "backport": backport,
        "observed_generation": observed,
        "gated_fields": _gated(settings),
        "health": _by_rules(version, "the server has only the basic rules"),
        "node_restriction": Decision(True, "the server restricts kubelets only"),
        "preflight": _preflight(settings),
    }


def _generation(version: str) -> tuple[Decision, Decision, Decision]:
    """Generation, backport and observedGeneration."""
    if version == PLAIN:
        unchanged = Decision(True, "the server stores pods unchanged")
        return unchanged, Decision(False, "the server keeps the generation that is set"), unchanged
    if version == AUTO or release(version) >= GENERATION_SINCE:
        server = "API servers since 1.33 do" if version == AUTO else f"the {version} API server does"
        return (Decision(False, f"{server} it"),) * 3
    return (
        Decision(True, f"the {version} API server does not do it"),
        Decision(True, f"the {version} API server resets the generation to the stored one"),
        Decision(False, f"pods of {version} do not have the field"),
    )


def _gated(settings: Settings) -> Decision:
    if not is_engine_release(settings.server_version):
        return _by_rules(settings.server_version, "")
    if settings.feature_gates or {settings.gated_action, *settings.gated_actions.values()} != {"warn"}:
        return Decision(True, f"a policy is set; feature gates of {rules_version(settings.server_version)}")
    return Decision(False, "no policy is set: neither feature_gates nor an action other than warn")


def _by_rules(version: str, reason: str) -> Decision:
    if is_engine_release(version):
        return Decision(True, reason)
    return Decision(False, f"the engine's rules begin with {history.RELEASES[0]}, the API server is {version}")


def _preflight(settings: Settings) -> Decision:
    version, target = settings.server_version, settings.preflight_version
    if version not in (AUTO, PLAIN) and release(target) == release(version) and not settings.preflight_gates:
        return Decision(False, f"the server is {target} already")
    return Decision(True, f"the server is not {target} yet")


def _word(on: bool) -> str:
    return "on" if on else "off"


def show(settings: Settings) -> str:
    """The decisions, as comments for a settings file."""
    lines = [f"# {name}: {_word(decision.on)} ({decision.reason})" for name, decision in decide(settings).items()]
    return "\n".join(["# Concerns with these settings:", *lines, ""])
