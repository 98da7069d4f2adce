"""A cluster's policy about feature gates: any gate can be off, also one that a server of the release has locked on."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from strategy import defaults, gated, gates, scan, shape
from strategy.answers import Server
from strategy.context import Pod
from strategy.engine import Engine

GATES: Final = tuple(dict.fromkeys([*(row.gate for row in gated.GATED), *gated.MISFITS]))
"""The gates that take fields away, in the server's order."""


class PolicyError(ValueError):
    """A gate that says nothing about the fields of pods."""


class PolicyEngine(Engine):
    """An engine that a policy has the last word on: ``policy`` comes on top of the gates that a server could be started with."""

    def __init__(
        self,
        version: str,
        policy: Mapping[str, bool] | None = None,
        gates: Mapping[str, bool] | None = None,
        switches: Iterable[str] = (),
    ) -> None:
        super().__init__(version, gates, switches=switches)
        policy = policy or {}
        for gate in policy:
            if gate not in guarding(version):
                raise PolicyError(
                    f"the gate {gate} guards no field of pods in {version}; those that do: {', '.join(guarding(version))}"
                )
        ctx = self._server.ctx
        on = frozenset({gate for gate in ctx.gates if policy.get(gate, True)} | {gate for gate, value in policy.items() if value})
        ctx = ctx._replace(gates=on)
        watch = gated.watch(on, ctx.version)
        self._server = Server(ctx, shape.Decoder(ctx.types, watch, defaults.plain(ctx)))
        spec, status = scan.scans(ctx.types, watch, "PodSpec", "PodStatus")
        self._scans = {"spec": spec, "status": status}

    def seen(self, pod: Pod, part: str) -> set[str]:
        """The gates that are off and whose fields a part of the pod has."""
        found = set[str]()
        value = pod.get(part)
        if type(value) is dict:
            self._scans[part](value, found)
        return found


def guarding(version: str) -> list[str]:
    """The gates of a release that take fields away."""
    return [gate for gate in GATES if gate in gates.known(version)]
