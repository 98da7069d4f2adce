"""Request bodies by their Content-Type."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any

from podstrat.apiserver import media_type
from podstrat.strategy import errors
from podstrat.strategy.decoding import codec
from podstrat.strategy.engine import Engine
from podstrat.strategy.formats import go
from podstrat.strategy.patch import media_types

if TYPE_CHECKING:
    from podstrat import goyaml
    from podstrat.strategy.api.types import Types

JSON, YAML, PROTOBUF = "application/json", "application/yaml", "application/vnd.kubernetes.protobuf"
BODY_LIMIT = 3 * 1024 * 1024
"""The limit of kube-apiserver, --max-resource-write-bytes."""

Object = dict[str, Any]


def read(content_type: str, body: bytes, engine: Engine, numbered: bool = True) -> Any:
    """The body of a write: JSON as the very bytes, another encoding to be parsed when the body is decoded.

    Of kinds that are not ``numbered`` nothing is read in protobuf: their field numbers are not known.
    Upstream: NegotiateInputSerializer
    """
    media = media_type.parse(content_type) if content_type else JSON
    if media == JSON:
        return body
    if media == YAML:
        return YamlBody(body)
    if media == PROTOBUF and numbered:
        return ProtobufBody(body, engine.context.types)
    raise media_types.unsupported((JSON, YAML, PROTOBUF) if numbered else (JSON, YAML), engine.gates)


def read_late(content_type: str, body: bytes, engine: Engine, numbered: bool = True) -> Any:
    """The same of an update, whose options are judged before its content type."""
    try:
        return read(content_type, body, engine, numbered)
    except errors.UnsupportedMediaType as error:
        return UnsupportedBody(body, error)


class YamlBody(codec.Encoded):
    """A body in YAML, of which the first document counts.

    The server turns it into JSON first, whose keys are sorted; the first wrong type in that order is the one it tells.
    Upstream: sigs.k8s.io/yaml YAMLToJSON, YAMLToJSONStrict
    """

    @cached_property
    def _document(self) -> goyaml.Document:
        from podstrat import goyaml

        try:
            document = goyaml.load(self.data)
        except goyaml.YamlError as error:
            raise codec.DecodeError(error.words) from None
        _sort_keys(document.value)
        return document

    def value(self) -> Any:
        return self._document.value

    def repeated(self) -> list[str]:
        """Upstream: decoder.setMapIndex"""
        duplicates = self._document.duplicates
        return [f"line {each.line}: key {go.quote(str(each.path[-1]))} already set in map" for each in duplicates]


def _sort_keys(value: Any) -> None:
    """Every mapping in the order of its keys; without recursion, however deep it is."""
    pending = [value]
    while pending:
        here = pending.pop()
        if isinstance(here, dict):
            items = [(key, here[key]) for key in sorted(here)]
            here.clear()
            here.update(items)
            pending += here.values()
        elif isinstance(here, list):
            pending += here


class ProtobufBody(codec.Encoded):
    """A body in protobuf."""

    def __init__(self, data: bytes, types: Types) -> None:
        super().__init__(data)
        self._types = types

    def value(self) -> Any:
        from podstrat.apiserver.protobuf import decode

        try:
            return decode.decode(self.data, self._types)
        except decode.ProtobufError as error:
            raise codec.DecodeError(str(error)) from None


class UnsupportedBody(codec.Encoded):
    """A body of which nothing is known but that it cannot be read."""

    def __init__(self, data: bytes, refusal: errors.UnsupportedMediaType) -> None:
        super().__init__(data)
        self._refusal = refusal

    def value(self) -> Any:
        raise self._refusal


def patch(
    content_type: str, body: bytes, gates: frozenset[str] = frozenset(), accepted: Mapping[str, str] = media_types.PATCHES
) -> tuple[str, Any]:
    """The kind of a patch, and its body: what is applied is YAML."""
    kind = accepted.get(media_type.of_patch(content_type))
    if kind is None:
        raise media_types.unsupported_patch(gates, accepted)
    return kind, YamlBody(body) if kind == "apply" else body
