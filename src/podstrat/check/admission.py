"""Admission plugins for check: which run, over which world of objects."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from podstrat import exits
from podstrat.check import world
from podstrat.strategy.admission import plugins
from podstrat.strategy.admission.pod_security import levels
from podstrat.strategy.admission.pod_security.policy import PREFIX
from podstrat.strategy.admission.settings import Admission
from podstrat.strategy.admission.settings import Settings as Flags
from podstrat.strategy.admission.world import NAMESPACE, KindName, Lookup
from podstrat.strategy.engine import Engine
from podstrat.strategy.gates import history

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

    from podstrat.check.cluster import Collected
    from podstrat.check.evaluate import Settings
    from podstrat.check.inputs import Source
    from podstrat.strategy.admission.pod_security.levels import LevelVersion

NONE, DEFAULT = "none", "default"
POLICIES = frozenset({"ValidatingAdmissionPolicy", "MutatingAdmissionPolicy"})


class Plan:
    """The admission that the command line asks for."""

    def __init__(
        self, args: argparse.Namespace, settings: Settings, sources: list[Source], collected: Collected | None = None
    ) -> None:
        """``collected`` is what a cluster has shown; without it --context says which cluster to ask."""
        self._settings = settings
        self._paths = [*(args.world or ()), *(args.policies or ())]
        self._level = pod_security(args.pod_security)
        self._flags = _flags(args, settings.version, self._level)
        self.sources = self._checked(sources)
        """What to check: without the files of the world, and each can be read twice."""
        self._builder = world.Builder(Engine(settings.version, dict(settings.gates)))
        if collected is not None or args.context:
            from podstrat.check import cluster

            cluster.into(self._builder, collected or cluster.collect(args.context), settings.version)
        if self._paths:  # without a path it would be standard input
            self._builder.read(self._paths)
        if args.policies:
            self._builder.declare((f"{policy}{end}" for policy in POLICIES for end in ("", "Binding")), None)

    def _checked(self, sources: list[Source]) -> list[Source]:
        files = world.files(self._paths) if self._paths else set()
        others = [source for source in sources if not source.path or os.path.realpath(source.path) not in files]
        return [world.buffered(source) for source in others]

    def settings(self, namespace: str = "") -> Settings:
        """The settings with admission; ``namespace`` is where everything that is checked is sent to, if not where it says."""
        if self._flags is None:
            return self._settings
        builder = self._builder.copy()
        builder.checked(self.sources, namespace)
        lookup: Lookup = builder.world()
        if self._level is not None:
            lookup = EnforcingWorld(lookup, self._level)
        plugin_admission = Admission(lookup, self._flags)
        return self._settings._replace(admission=plugin_admission, pod_security=str(self._level or ""))


def pod_security(text: str | None) -> LevelVersion | None:
    """The level of --pod-security."""
    if not text:
        return None
    try:
        return levels.parse(text)
    except ValueError as error:
        raise exits.BadArguments(f"--pod-security: {error}") from None


def _flags(args: argparse.Namespace, version: str, level: LevelVersion | None) -> Flags | None:
    """Which plugins run; None for none at all.

    By default those of the release if there is a world, PodSecurity if there is a level, and policies if there are some.
    """
    names = [name for name in (args.admission or "").split(",") if name]
    release = history.parse_version(version)
    known_names = [row.name for row in plugins.known(release)]
    if unknown := [name for name in names if name not in (*known_names, NONE, DEFAULT)]:
        raise exits.BadArguments(f"--admission: no admission plugin {unknown[0]} in {version} (one of: {', '.join(known_names)})")
    if NONE in names and len(names) > 1:
        raise exits.BadArguments(f"--admission: {NONE} cannot be combined with plugins")
    chosen_names = {name for name in names if name not in (NONE, DEFAULT)}
    if DEFAULT in names or (not names and (args.world or args.context)):
        chosen_names.update(row.name for row in plugins.enabled(release))
    if level is not None:
        chosen_names.add("PodSecurity")
    if args.policies and NONE not in names:
        chosen_names.update(POLICIES.intersection(known_names))
    return Flags(frozenset(chosen_names), frozenset(known_names) - chosen_names, {}) if chosen_names else None


class EnforcingWorld:
    """A world whose namespaces all enforce one Pod Security level; one that is not known is taken to exist."""

    def __init__(self, world: Lookup, level: LevelVersion) -> None:
        self._world = world
        self._labels = {f"{PREFIX}enforce": level.level, f"{PREFIX}enforce-version": levels.version_text(level.minor)}

    def get(self, kind: KindName, name: str, namespace: str = "") -> dict[str, Any] | None:
        obj = self._world.get(kind, name, namespace)
        if kind != NAMESPACE or (obj is None and self._world.is_complete(NAMESPACE)):
            return obj
        namespace_obj = obj or {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}
        metadata = namespace_obj["metadata"]
        labels = {key: value for key, value in (metadata.get("labels") or {}).items() if not key.startswith(PREFIX)}
        return {**namespace_obj, "metadata": {**metadata, "labels": {**labels, **self._labels}}}

    def list(self, kind: KindName, namespace: str = "") -> Sequence[dict[str, Any]]:
        return self._world.list(kind, namespace)

    def is_complete(self, kind: KindName, namespace: str = "") -> bool:
        return self._world.is_complete(kind, namespace)
