"""The representation of a response: the object itself, a Table, or PartialObjectMetadata, as the client accepts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING, Any

from podstrat.apiserver import accept
from podstrat.apiserver.calls import Call, Reply
from podstrat.apiserver.custom_kinds import CustomKind
from podstrat.apiserver.custom_resources import CustomResources
from podstrat.apiserver.kinds import Kind
from podstrat.apiserver.protobuf import encode
from podstrat.strategy.context import Context

if TYPE_CHECKING:
    from podstrat.apiserver.printing import cells

Object = dict[str, Any]
Convert = Callable[[Object, bool], Object]


class Representation:
    """Converts the responses of one server."""

    def __init__(self, context: Context, clock: Callable[[], datetime], custom: CustomResources) -> None:
        self._context = context
        self._custom = custom
        self._clock = clock

    def form(self, call: Call) -> accept.Form:
        """The negotiated form; NotAcceptable if there is none."""
        included = call.query.get("includeObject") or [""]
        streams = not call.target.name and call.method == "GET"
        kind = call.target.kind
        encodable = encode.can_encode(kind.api_version, kind.kind, self._context.types)
        offered = accept.PRODUCED if encodable else accept.WITHOUT_PROTOBUF
        return accept.form(call.accept, included[0], streams or call.target.watch, offered)

    def convert(self, reply: Reply, call: Call) -> Reply:
        """The reply in the negotiated form."""
        if reply.body is None or reply.code >= 300:
            return reply
        form = self.form(call)
        if not form.name:
            return reply if form.media == reply.content_type else replace(reply, content_type=form.media)
        body = self.converter(form, call.target.kind)(reply.body, True)
        return replace(reply, body=body, content_type=form.media, json=None)

    def converter(self, form: accept.Form, kind: Kind) -> Convert:
        """A function of an object, and of whether it is the first one of a stream: a Table has its headers there only."""
        from podstrat.apiserver.printing import tables

        if form.name == "PartialObjectMetadata":
            return lambda obj, first: tables.partial(obj, form.version, kind)
        if form.name == "PartialObjectMetadataList":
            return lambda obj, first: tables.partial_list(obj, form.version, kind)
        include = tables.include_object(form.include)
        return lambda obj, first: tables.table(
            obj,
            now=self._clock(),
            version=self._context.version,
            include=include,
            headers=first,
            meta=form.version,
            expected=kind,
            columns_of=self._custom_columns,
        )

    def _custom_columns(self, kind: CustomKind) -> tuple[Sequence[cells.Column], cells.Cells]:
        """The columns that the definition of a custom resource names."""
        from podstrat.apiserver.printing import custom_rows

        resource = self._custom.resource(kind)
        row = {} if resource is None or kind.version not in resource.versions else resource.versions[kind.version].row
        return custom_rows.of(row)
