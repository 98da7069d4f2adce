"""The engine: one release's server with its gates."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

from strategy import answers, defaults, errors, gated, gates, shape, templates, types
from strategy import switches as our_switches
from strategy.answers import Server
from strategy.context import Context, Pod
from strategy.outcome import Outcome
from strategy.request import EPOCH, NO_OPTIONS, Answer, Request

Options = Mapping[str, str | Sequence[str]]


class Engine:
    """What the kube-apiserver of one release does to a pod.

    ``gates`` are feature gates by name, as in --feature-gates. ``switches`` turn on what the design documents ask for beyond
    the server (strategy.switches). Nothing here reads a clock or makes a random number: both come in as arguments.
    """

    def __init__(
        self,
        version: str = "1.37",
        gates: Mapping[str, bool] | None = None,
        allow_privileged: bool = True,
        switches: Iterable[str] = (),
    ) -> None:
        self._server = _server(version, gates, allow_privileged, switches)

    @property
    def version(self) -> str:
        major, minor = self._server.ctx.version
        return f"{major}.{minor}"

    @property
    def gates(self) -> frozenset[str]:
        """The gates that are on."""
        return self._server.ctx.gates

    @property
    def context(self) -> Context:
        """What every rule may know: the release, its gates, its types."""
        return self._server.ctx

    @property
    def decoder(self) -> shape.Decoder:
        """Reads objects of every kind of the release."""
        return self._server.decoder

    def answer(self, request: Request, stored: Pod | None) -> Answer:
        """What the server answers, and what happens to the store. ``stored`` is what an earlier answer stored."""
        return answers.run(request, stored, self._server).answer

    # ---- a pod in, an Outcome out ----------------------------------------------------------------------

    def create(self, pod: Any, *, options: Options | None = None, now: datetime = EPOCH) -> Outcome:
        """A new pod: a dict, or the bytes of a request."""
        namespace = _meta(pod).get("namespace")
        if not isinstance(namespace, str) or not namespace:
            namespace = "default"
        request = Request("create", body=pod, options=options or NO_OPTIONS, now=now, namespace=namespace)
        return answers.run(request, None, self._server)

    def update(self, pod: Any, old: Pod, *, options: Options | None = None) -> Outcome:
        """A stored pod is replaced by another."""
        return self._write("update", "", old, body=pod, options=options or NO_OPTIONS)

    def update_status(self, pod: Any, old: Pod, *, options: Options | None = None) -> Outcome:
        """The status of a stored pod is written."""
        return self._write("update", "status", old, body=pod, options=options or NO_OPTIONS)

    def resize(self, pod: Any, old: Pod, *, options: Options | None = None) -> Outcome:
        """The resources of a stored pod are changed in place."""
        return self._write("update", "resize", old, body=pod, options=options or NO_OPTIONS)

    def ephemeral_containers(self, pod: Any, old: Pod, *, options: Options | None = None) -> Outcome:
        """A stored pod gets ephemeral containers."""
        return self._write("update", "ephemeralcontainers", old, body=pod, options=options or NO_OPTIONS)

    def patch(
        self, patch: Any, old: Pod, *, type: str = "strategic", subresource: str = "", options: Options | None = None
    ) -> Outcome:
        """A stored pod is patched; ``type`` is strategic, merge or json."""
        return self._write("patch", subresource, old, body=patch, patch_type=type, options=options or NO_OPTIONS)

    def bind(self, old: Pod, node: str, *, now: datetime = EPOCH) -> Outcome:
        """A stored pod is assigned to a node."""
        body = {"metadata": {"name": _meta(old).get("name")}, "target": {"kind": "Node", "name": node}}
        return self._write("create", "binding", old, body=body, now=now)

    def evict(
        self, old: Pod, *, delete_options: Pod | None = None, budgets: Sequence[Pod] = (), now: datetime = EPOCH
    ) -> Outcome:
        """A stored pod is evicted; ``budgets`` are the PodDisruptionBudgets that cover it."""
        body = {"metadata": {"name": _meta(old).get("name")}, "deleteOptions": delete_options}
        return self._write("create", "eviction", old, body=body, budgets=budgets, now=now)

    def delete(self, old: Pod, *, delete_options: Pod | None = None, now: datetime = EPOCH) -> Outcome:
        """A stored pod is deleted."""
        return self._write("delete", "", old, body=delete_options, now=now)

    # ---- pod templates -----------------------------------------------------------------------------------

    def workload(self, workload: Any, *, options: Options | None = None, now: datetime = EPOCH) -> Outcome:
        """A new Deployment, Job or other kind of strategy.templates.KINDS: its template, its selector and its metadata."""
        return templates.workload(workload, self._server, options or {}, now)

    def template(self, template: Any, at: str = "spec.template", kind: str = "Deployment") -> Outcome:
        """A pod template at a path of an object; ``kind`` is the workload whose rules for templates hold."""
        return templates.template(template, at, kind, self._server)

    def _write(self, verb: str, subresource: str, old: Pod, **rest: Any) -> Outcome:
        try:
            stored = self.stored(old)
        except errors.ApiError as error:
            return answers.refused(error)
        meta = stored["metadata"]
        name, namespace = meta.get("name", ""), meta.get("namespace", "default")
        request = Request(verb, subresource, name=name, namespace=namespace, **rest)
        return answers.run(request, stored, self._server)

    def stored(self, pod: Pod) -> Pod:
        """A pod as it comes out of the server's storage: read and defaulted, nothing of it shared with the argument."""
        ctx = self._server.ctx
        value, _, seen = self._server.decoder.read(pod, "Pod", "v1", "Ignore", fill=True)
        defaults.pod(value, ctx, seen.filled)
        return shape.printable(value, seen, ctx.types)


def _server(version: str, overrides: Mapping[str, bool] | None, allow_privileged: bool, switches: Iterable[str]) -> Server:
    release = gates.parse_version(version)
    on = gates.enabled(release, overrides)
    chosen = our_switches.checked(switches)
    table = types.load(release)
    if "PodLevelResourceHealth" in chosen:
        table = table.with_field("PodStatus", "allocatedResourcesStatus", like="ContainerStatus")
    ctx = Context(release, on, table, chosen, allow_privileged, in_use=gated.in_use)
    return Server(ctx, shape.Decoder(table, gated.watch(on, release), defaults.plain(ctx)))


def _meta(pod: Any) -> Mapping[str, Any]:
    meta = pod.get("metadata") if isinstance(pod, (dict, Mapping)) else None
    return meta if isinstance(meta, (dict, Mapping)) else {}
