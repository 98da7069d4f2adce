"""A custom resource: one definition, compiled, and the request function for its objects."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Any

from podstrat.strategy import errors, pipeline
from podstrat.strategy.context import Context, Pod
from podstrat.strategy.crds import conversion, merge_types, objects, pruning, scale
from podstrat.strategy.crds.compiled import Node
from podstrat.strategy.crds.decoder import Decoder
from podstrat.strategy.crds.definition import is_true
from podstrat.strategy.crds.versions import by_priority, priority
from podstrat.strategy.decoding import codec, scheme
from podstrat.strategy.kinds.kind import Kind, Strategy
from podstrat.strategy.patch import media_types
from podstrat.strategy.patch import schema as patch_schema
from podstrat.strategy.request import Answer, Effect, Request, Store

Object = dict[str, Any]


class _Kind(Kind):
    """The kind of one version of a custom resource."""

    def __new__(cls, version: Version, spec: Object, name: str) -> _Kind:
        names = spec["names"]
        row = super().__new__(
            cls, spec["group"], name, names["plural"], names["kind"], module="", namespaced=spec["scope"] == "Namespaced"
        )
        row.version_of = version
        return row

    version_of: Version
    type_name = "PartialObjectMetadata"

    @property
    def tells_once(self) -> bool:
        return False

    @property
    def merge_types(self) -> Mapping[str, patch_schema.Node]:
        return self.version_of.resource.merge_types

    @cached_property
    def strategy(self) -> Strategy:
        return objects.strategy(self.version_of)


class Version:
    """One version of a custom resource: its schema compiled, its subresources, its strategy."""

    def __init__(self, resource: CustomResource, row: Object) -> None:
        self.resource = resource
        self.row = row
        self.name: str = row["name"]
        self.served: bool = row["served"]
        self.kind = _Kind(self, resource.spec, self.name)
        subresources = row.get("subresources") or {}
        self.has_status = "status" in subresources
        self.scale: Object | None = subresources.get("scale")

    @cached_property
    def node(self) -> Node:
        """The compiled schema."""
        schema = (self.row.get("schema") or {}).get("openAPIV3Schema") or {"x-kubernetes-preserve-unknown-fields": True}
        return Node(schema, self.resource.ctx.version, root=True)

    @cached_property
    def decoder(self) -> Decoder:
        return Decoder(self.resource.server.decoder, self)

    @cached_property
    def server(self) -> pipeline.Server:
        return self.resource.server._replace(decoder=self.decoder)

    @property
    def api_version(self) -> str:
        return self.kind.api_version

    def is_named(self, kind: str, api_version: str) -> bool:
        """Whether an object that says so is one of this resource, in whatever version."""
        group, _ = scheme.split(api_version) or ("", "")
        return kind == self.kind.kind and group == self.kind.group

    def sibling(self, api_version: str) -> Version | None:
        return self.resource.versions.get(api_version.rpartition("/")[2])

    @cached_property
    def deprecation(self) -> str:
        """What every request to a deprecated version is warned with; "" for others.

        Upstream: crdHandler.getOrCreateServingInfoFor
        """
        if not self.row.get("deprecated"):
            return ""
        if self.row.get("deprecationWarning") is not None:
            return str(self.row["deprecationWarning"])
        text = f"{self.api_version} {self.kind.kind} is deprecated"
        others = [each.name for each in self.resource.versions.values() if each.served and not each.row.get("deprecated")]
        better = [name for name in by_priority(others) if priority(name) > priority(self.name)]
        return f"{text}; use {self.kind.group}/{better[0]} {self.kind.kind}" if better else text


class CustomResource:
    """A definition, ready to judge its objects. ``server`` is the release's own; ``convert`` calls conversion webhooks."""

    def __init__(self, definition: Object, server: pipeline.Server, convert: conversion.Convert = conversion.refuse) -> None:
        self.definition = definition
        self._convert = convert
        self.spec: Object = definition["spec"]
        self.server = server
        self.ctx: Context = server.ctx
        self.versions = {row["name"]: Version(self, row) for row in self.spec["versions"]}
        self.storage = next(each for each in self.versions.values() if each.row["storage"])

    @property
    def name(self) -> str:
        """The resource as messages name it."""
        return self.storage.kind.resource

    @property
    def is_established(self) -> bool:
        """Whether the resource is served."""
        return is_true(self.definition, "Established")

    @cached_property
    def merge_types(self) -> dict[str, patch_schema.Node]:
        return {each.api_version: merge_types.of(each.node, self.ctx.types) for each in self.versions.values()}

    def served(self, version: str) -> Version | None:
        row = self.versions.get(version)
        return row if row is not None and row.served else None

    # ---- requests ------------------------------------------------------------------------------------

    def answer(self, request: Request, stored: Pod | None, version: str = "") -> Answer:
        """What the server answers to a request in one version, the storage version without one; and what happens to the store."""
        requested = self.versions[version] if version else self.storage
        try:
            old = None if stored is None else self.read(stored, requested)
            answer = self._judged(request, old, requested)
        except errors.ApiError as error:
            answer = pipeline.refused(error).answer
        warnings = answer.warnings
        if requested.deprecation:
            warnings = tuple(dict.fromkeys((requested.deprecation, *warnings)))
        try:
            return self._stored(answer._replace(warnings=warnings), requested)
        except errors.ApiError as error:
            return pipeline.refused(error, warnings).answer

    def _judged(self, request: Request, old: Pod | None, requested: Version) -> Answer:
        kind = requested.kind
        request = request._replace(resource=kind.resource, registry=f"{kind.group}/{kind.plural}")
        if request.verb == "patch" and request.patch_type == "strategic":
            raise media_types.unsupported_patch(self.ctx.gates, media_types.CUSTOM_PATCHES)
        if request.subresource:
            self._check_subresource(request, requested)
        elif request.verb in ("create", "patch") and old is None and "deletionTimestamp" in self.definition["metadata"]:
            if request.verb == "create" or request.patch_type == "apply":
                cause = "create not allowed while custom resource definition is terminating"
                raise errors.Forbidden(kind.resource, _name(request), cause)
        if request.subresource == "scale":
            return scale.answer(request, old, requested)
        return pipeline.run_as(kind, request, old, requested.server).answer

    def _check_subresource(self, request: Request, requested: Version) -> None:
        served = {"status": requested.has_status, "scale": requested.scale is not None}
        if not served.get(request.subresource):
            raise errors.NotFound(requested.kind.resource, request.name)
        if request.verb == "delete":
            text = f'delete is not supported on resources of kind "{requested.kind.resource}"'
            raise NotSupported(text, {"kind": requested.kind.plural, "group": requested.kind.group})

    # ---- storage -------------------------------------------------------------------------------------

    def read(self, stored: Pod, version: Version | str) -> Pod:
        """A stored object as it is read in a version: pruned and defaulted by the storage version, then by this one.

        Between them it is converted: by strategy None only the apiVersion changes.
        """
        requested = self.versions[version] if isinstance(version, str) else version
        obj = pruning.through(stored, self.storage.node)
        if requested is not self.storage:
            obj = pruning.through(self._converted(obj, self.storage, requested), requested.node)
        return obj

    def _converted(self, obj: Pod, source: Version, target: Version) -> Pod:
        """An object in another version: by strategy None only the apiVersion changes."""
        if (self.spec.get("conversion") or {}).get("strategy") != "Webhook":
            return {**obj, "apiVersion": target.api_version}
        try:
            return self._convert(self.definition, obj, target.api_version)
        except conversion.ConversionFailed as error:
            kind = f"{source.api_version}, Kind={source.kind.kind}"
            raise conversion.failed(self.name, kind, obj, error, self.ctx.version) from None

    def _stored(self, answer: Answer, requested: Version) -> Answer:
        """The answer with what is stored in the storage version."""
        effects: tuple[Effect, ...] = tuple(
            Store(self._in_storage(effect.pod, requested)) if isinstance(effect, Store) else effect for effect in answer.effects
        )
        return answer._replace(effects=effects)

    def _in_storage(self, obj: Pod, requested: Version) -> Pod:
        return obj if requested is self.storage else self._converted(obj, requested, self.storage)


class NotSupported(errors.ApiError):
    code = 405
    reason = "MethodNotAllowed"


def _name(request: Request) -> str:
    if request.name:
        return request.name
    try:
        value = codec.parse(request.body)
    except codec.DecodeError:
        return ""
    metadata = value.get("metadata") if isinstance(value, dict) else None
    name = metadata.get("name") if isinstance(metadata, dict) else None
    return name if isinstance(name, str) else ""
