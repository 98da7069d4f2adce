"""A cluster's gate policy: any gate can be off, even one that the release has locked on."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from podstrat.strategy import defaults
from podstrat.strategy.context import Pod
from podstrat.strategy.decoding import codec, gated_scan
from podstrat.strategy.engine import Engine
from podstrat.strategy.gates import fields, history
from podstrat.strategy.pipeline import Server

GATES: Final = tuple(dict.fromkeys([*(row.gate for row in fields.GATED), *fields.MISFITS]))
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
                    f"feature gate {gate} does not guard a pod field in {version}; choose one of {', '.join(guarding(version))}"
                )
        ctx = self._server.ctx
        on = frozenset({gate for gate in ctx.gates if policy.get(gate, True)} | {gate for gate, value in policy.items() if value})
        ctx = ctx._replace(gates=on)
        watch = fields.watch(on, ctx.version)
        self._server = Server(ctx, codec.Decoder(ctx.types, watch, defaults.plain(ctx)))
        spec, status = gated_scan.scans(ctx.types, watch, "PodSpec", "PodStatus")
        self._scans = {"spec": spec, "status": status}

    def seen(self, pod: Pod, part: str) -> set[str]:
        """The gates that are off and whose fields a part of the pod has."""
        gates = set[str]()
        value = pod.get(part)
        if type(value) is dict:
            self._scans[part](value, gates)
        return gates


def guarding(version: str) -> list[str]:
    """The gates of a release that take fields away."""
    return [gate for gate in GATES if gate in history.known(version)]
