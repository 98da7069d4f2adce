"""What the page chooses: release, gates, admission plugins and Pod Security level. No file, no cluster, no configuration."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from functools import lru_cache
from typing import Any, NamedTuple

from podstrat import exits
from podstrat.check import options
from podstrat.check.evaluate import Evaluator, Settings
from podstrat.check.inputs import Source

NONE, DEFAULT = "none", "default"
LEVELS = ("", "baseline", "restricted")
MOST_GATES = 64
"""Gates that a page may turn at once: more than any release has for pods."""
KEPT = 16
"""Evaluators that are kept: one for each choice that was made lately."""


class ServerSettings(NamedTuple):
    """The choice, checked: a server would start so."""

    release: str = options.RELEASES[-1]
    gates: tuple[tuple[str, bool], ...] = ()
    plugins: str = NONE
    """none, default, or names with commas."""
    pod_security: str = ""

    def settings(self, send: str = options.SENDING[0], validation: str = "Strict") -> Settings:
        """As `podstrat check` judges, without the admission plugins."""
        return Settings(self.release, self.gates, validation, send=send)

    def evaluator(self, sources: list[Source], send: str = options.SENDING[0], validation: str = "Strict") -> Evaluator:
        """A server like this. Its world, if it has plugins, is what the text itself holds: namespaces, quotas, policies…"""
        if self.plugins == NONE and not self.pod_security:
            return _kept(self, send, validation)
        return Evaluator(self.admitted(self.settings(send, validation), sources))

    def admitted(self, settings: Settings, sources: list[Source]) -> Settings:
        from podstrat.check import admission

        args = argparse.Namespace(world=None, policies=None, context=None, admission=self.plugins, pod_security=self.pod_security)
        return admission.Plan(args, settings, sources).settings()


@lru_cache(KEPT)
def _kept(choice: ServerSettings, send: str, validation: str) -> Evaluator:
    return Evaluator(choice.settings(send, validation))


def chosen(question: Any) -> ServerSettings:
    """BadArguments, in the words of the command line, for what no server would start with."""
    from podstrat.strategy.gates import history

    if not isinstance(question, Mapping):
        raise exits.BadArguments("settings must be an object")
    release = _text(question, "release", options.RELEASES[-1])
    gates = question.get("gates") or {}
    if not isinstance(gates, Mapping) or len(gates) > MOST_GATES or not all(isinstance(each, bool) for each in gates.values()):
        raise exits.BadArguments(f"gates must be at most {MOST_GATES} names with true or false")
    try:
        major, minor = history.parse_version(release)
        history.enabled((major, minor), dict(gates))
    except history.GateError as error:
        raise exits.BadArguments(str(error)) from None
    level = _text(question, "podSecurity", "")
    if level not in LEVELS:
        raise exits.BadArguments(f"podSecurity must be one of {', '.join(LEVELS[1:])}")
    return ServerSettings(
        f"{major}.{minor}", tuple(sorted(gates.items())), _plugins(question.get("plugins"), (major, minor)), level
    )


def _plugins(value: Any, release: tuple[int, int]) -> str:
    from podstrat.strategy.admission import plugins

    if value in (None, NONE, DEFAULT):
        return value or NONE
    names = [row.name for row in plugins.known(release)]
    if not isinstance(value, list) or not all(isinstance(name, str) for name in value):
        raise exits.BadArguments(f"plugins must be {NONE}, {DEFAULT} or a list of names")
    if unknown := [name for name in value if name not in names]:
        raise exits.BadArguments(f"no admission plugin {unknown[0]} in {release[0]}.{release[1]} (one of: {', '.join(names)})")
    return ",".join(dict.fromkeys(value)) or NONE


def _text(question: Mapping[str, Any], name: str, default: str) -> str:
    value = question.get(name, default)
    if not isinstance(value, str):
        raise exits.BadArguments(f"{name} must be a string")
    return value


def offered() -> dict[str, Any]:
    """What there is to choose from, by release."""
    from podstrat.strategy.admission import plugins
    from podstrat.strategy.gates import history

    releases = {}
    for release in options.RELEASES:
        version = history.parse_version(release)
        default = {row.name for row in plugins.enabled(version)}
        releases[release] = {
            "gates": [
                {"name": name, "default": stage.default, "stage": stage.stage}
                for name, stage in sorted(history.known(release).items())
                if not stage.locked
            ],
            "plugins": [{"name": row.name, "default": row.name in default} for row in plugins.known(version)],
        }
    return {"releases": releases, "latest": options.RELEASES[-1], "podSecurity": list(LEVELS[1:])}
