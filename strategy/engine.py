"""The engine: the pod strategy of one release with its feature gates."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any

from podstrat.strategy import defaults, errors, kinds, pipeline
from podstrat.strategy import switches as our_switches
from podstrat.strategy.api import key_order, types
from podstrat.strategy.context import Context, Pod
from podstrat.strategy.decoding import codec
from podstrat.strategy.decoding.walk import Seen
from podstrat.strategy.gates import fields, history
from podstrat.strategy.kinds.kind import Kind
from podstrat.strategy.outcome import Outcome
from podstrat.strategy.pipeline import Server
from podstrat.strategy.request import EPOCH, NO_OPTIONS, Answer, Request

if TYPE_CHECKING:
    from podstrat.strategy.admission.chain import Plugins
    from podstrat.strategy.admission.settings import Admission
    from podstrat.strategy.admission.world import Lookup
    from podstrat.strategy.crds.conversion import Convert
    from podstrat.strategy.crds.resource import CustomResource
    from podstrat.strategy.ranges import Ranges

Options = Mapping[str, str | Sequence[str]]


class Engine:
    """What the kube-apiserver of one release does to a pod, and to the other kinds of strategy.kinds.

    ``gates`` are feature gates by name, as in --feature-gates. ``switches`` turn on what the design documents ask for beyond
    the server (strategy.switches). ``admission`` turns on the admission plugins of the release over a world of other objects
    (strategy.admission). ``service_ranges`` are the networks and node ports of the cluster whose Services are judged by
    create_object and apply (strategy.ranges). Nothing here reads a clock or makes a random number: both come in as arguments.
    """

    def __init__(
        self,
        version: str = "1.37",
        gates: Mapping[str, bool] | None = None,
        allow_privileged: bool = True,
        switches: Iterable[str] = (),
        admission: Lookup | Admission | None = None,
        service_ranges: Ranges | None = None,
    ) -> None:
        self._server = _server(version, gates, allow_privileged, switches)
        if service_ranges is not None:
            self._server = self._server._replace(ranges=service_ranges)
        if admission is not None:
            self._server = _with_plugins(self._server, admission)

    def admitting(self, admission: Lookup | Admission) -> Engine:
        """The same engine with admission plugins over a world."""
        engine = object.__new__(type(self))
        engine.__dict__.update(self.__dict__)
        engine._server = _with_plugins(self._server, admission)
        return engine

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
    def decoder(self) -> codec.Decoder:
        """Reads objects of every kind of the release."""
        return self._server.decoder

    @property
    def plugins(self) -> Plugins | None:
        """The admission plugins; None without admission."""
        return self._server.plugins

    def answer(self, request: Request, stored: Pod | None) -> Answer:
        """What the server answers, and what happens to the store. ``stored`` is what an earlier answer stored.

        Objects have their keys in the order in which the server prints them.
        """
        answer = pipeline.run(request, stored, self._server).answer
        if request.verb == "get":
            return answer
        kind = kinds.BY_RESOURCE.get(request.resource)
        return answer if kind is None else answer.in_order(kind.type_name, self._server.ctx.types)

    def judge(self, request: Request, stored: Pod | None) -> Outcome:
        """The same as an Outcome, which also has what the admission plugins did."""
        return pipeline.run(request, stored, self._server)

    # ---- a pod in, an Outcome out ----------------------------------------------------------------------

    def create(self, pod: Any, *, options: Options | None = None, now: datetime = EPOCH) -> Outcome:
        """A new pod: a dict, or the bytes of a request."""
        namespace = _meta(pod).get("namespace")
        if not isinstance(namespace, str) or not namespace:
            namespace = "default"
        request = Request("create", body=pod, options=options or NO_OPTIONS, now=now, namespace=namespace)
        return pipeline.run(request, None, self._server)

    def update(
        self, pod: Any, old: Pod, *, subresource: str = "", options: Options | None = None, resource: str = "pods"
    ) -> Outcome:
        """A stored pod is replaced by another; or an object of another resource: ``deployments.apps``."""
        return self._write("update", subresource, old, resource, body=pod, options=options or NO_OPTIONS)

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
        self,
        patch: Any,
        old: Pod,
        *,
        type: str = "strategic",
        subresource: str = "",
        options: Options | None = None,
        resource: str = "pods",
    ) -> Outcome:
        """A stored object is patched; ``type`` is strategic, merge or json; another one is answered with 415."""
        return self._write("patch", subresource, old, resource, body=patch, patch_type=type, options=options or NO_OPTIONS)

    def apply(
        self,
        obj: Any,
        old: Pod | None = None,
        *,
        manager: str = "kubectl",
        force: bool = False,
        options: Options | None = None,
        resource: str = "pods",
    ) -> Outcome:
        """Server-side apply to a stored object, or to nothing, which creates it; ``obj`` is the parsed YAML or JSON."""
        query = {**(options or {}), "fieldManager": manager, "force": "true" if force else "false"}
        if old is not None:
            return self._write("patch", "", old, resource, body=obj, patch_type="apply", options=query)
        name, namespace = (value if isinstance(value := _meta(obj).get(key), str) else "" for key in ("name", "namespace"))
        request = Request("patch", "", obj, "apply", query, name, namespace or "default", resource=resource)
        if resource != "pods":
            from podstrat.strategy import workloads

            request = workloads.offline(request, kinds.BY_RESOURCE[resource], self._server)
        return pipeline.run(request, None, self._server)

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

    def delete(self, old: Pod, *, delete_options: Pod | None = None, now: datetime = EPOCH, resource: str = "pods") -> Outcome:
        """A stored object is deleted."""
        return self._write("delete", "", old, resource, body=delete_options, now=now)

    # ---- pod templates: their modules are imported here, so that a check of pods starts without them ---------

    def workload(self, workload: Any, *, options: Options | None = None, now: datetime = EPOCH) -> Outcome:
        """A new Deployment, Job or other kind of strategy.workloads.KINDS."""
        from podstrat.strategy import workloads

        return workloads.workload(workload, self._server, options or {}, now)

    def create_object(self, obj: Any, *, options: Options | None = None, now: datetime = EPOCH) -> Outcome:
        """A new object of any kind of strategy.kinds: a dict, or the bytes of a request. ValueError if there is no such kind."""
        from podstrat.strategy import workloads

        return workloads.create(obj, self._server, options or {}, now)

    def custom_resource(self, definition: Pod, convert: Convert | None = None) -> CustomResource:
        """A stored CustomResourceDefinition, compiled: it answers requests about its objects.

        ``convert`` calls conversion webhooks: strategy.crds.conversion.
        """
        from podstrat.strategy.crds import conversion
        from podstrat.strategy.crds.resource import CustomResource

        return CustomResource(definition, self._server, convert or conversion.refuse)

    def template(self, template: Any, at: str = "spec.template", kind: str = "Deployment") -> Outcome:
        """A pod template at a path of an object; ``kind`` is the workload whose rules for templates hold."""
        from podstrat.strategy import workloads

        try:
            return workloads.template(template, at, kind, self._server)
        except UnicodeEncodeError:
            return workloads.template(pipeline.whole_characters(template), at, kind, self._server)

    def _write(self, verb: str, subresource: str, old: Pod, resource: str = "pods", **rest: Any) -> Outcome:
        kind = kinds.BY_RESOURCE[resource]
        if verb == "update" and type(old) is dict and self._server.plugins is None and _shares(kind, subresource):
            meta = _meta(old)
            name, namespace = meta.get("name", ""), meta.get("namespace") or "default"
            if type(name) is str and type(namespace) is str:
                namespace = namespace if kind.namespaced else ""
                rest["read_stored"] = self._read_beside
                request = Request(verb, subresource, name=name, namespace=namespace, resource=resource, **rest)
                return pipeline.run(request, old, self._server)
        try:
            stored = self._stored(old, kind)
        except errors.ApiError as error:
            return pipeline.refused(error)
        meta = stored["metadata"]
        name, namespace = meta.get("name", ""), meta.get("namespace", "default") if kind.namespaced else ""
        request = Request(verb, subresource, name=name, namespace=namespace, resource=resource, **rest)
        return pipeline.run(request, stored, self._server)

    def stored(self, obj: Pod, resource: str = "pods") -> Pod:
        """An object as it comes out of the server's storage: read and defaulted, its keys in order, nothing of it shared."""
        kind = kinds.BY_RESOURCE[resource]
        return key_order.ordered(self._stored(obj, kind), kind.type_name, self._server.ctx.types)

    def _stored(self, obj: Pod, kind: Kind) -> Pod:
        return _from_storage(obj, kind, self._server)

    def _read_beside(self, obj: Pod, kind: Kind, twin: Pod, seen: Seen) -> Pod:
        """The same for an object that the twin, which has been read, is to replace: it may share parts with that."""
        from podstrat.strategy.decoding import beside

        server = self._server

        def read(part: Pod) -> tuple[Pod, Seen]:
            value, _, told = server.decoder.read(part, kind.kind, kind.api_version, "Ignore", fill=True)
            return value, told

        try:
            got = beside.read(obj, twin, seen, read)
        except errors.ApiError:
            got = None  # read whole, so that the error has the path that the user knows
        return self._stored(obj, kind) if got is None else _defaulted(*got, kind, server)


def _server(version: str, overrides: Mapping[str, bool] | None, allow_privileged: bool, switches: Iterable[str]) -> Server:
    release = history.parse_version(version)
    on = history.enabled(release, overrides)
    switched_on = our_switches.checked(switches)
    table = types.load(release)
    if "PodLevelResourceHealth" in switched_on:
        table = table.with_field("PodStatus", "allocatedResourcesStatus", like="ContainerStatus")
    ctx = Context(release, on, table, switched_on, allow_privileged, in_use=fields.in_use)
    return Server(ctx, codec.Decoder(table, fields.watch(on, release), defaults.plain(ctx)))


def _from_storage(obj: Pod, kind: Kind, server: Server) -> Pod:
    value, _, seen = server.decoder.read(obj, kind.kind, kind.api_version, "Ignore", fill=True)
    return _defaulted(value, seen, kind, server)


def _defaulted(value: Pod, seen: Seen, kind: Kind, server: Server) -> Pod:
    """An object that was read, as the storage has it."""
    kind.strategy.default(value, server.ctx, seen.filled)
    stored = codec.printable(value, seen, server.ctx.types, kind.type_name)
    read_back = kind.strategy.read_back
    return stored if read_back is None else read_back(stored, server.ctx)


def _shares(kind: Kind, subresource: str) -> bool:
    """Whether a stored object of a kind may be read beside the one that an update brings."""
    endpoint = kind.strategy.updates.get(subresource)
    return endpoint is not None and endpoint.shares


def _with_plugins(server: Server, admission: Lookup | Admission) -> Server:
    from podstrat.strategy.admission.chain import Plugins

    def read(obj: Pod, kind: Kind) -> Pod:
        return _from_storage(obj, kind, server)

    return server._replace(plugins=Plugins(admission, server.ctx, read))


def _meta(pod: Any) -> Mapping[str, Any]:
    meta = pod.get("metadata") if isinstance(pod, (dict, Mapping)) else None
    return meta if isinstance(meta, (dict, Mapping)) else {}
