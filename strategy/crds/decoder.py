"""Decodes custom objects: any JSON, pruned and defaulted by the schema of its version, with metadata as every object has it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, cast

from podstrat.strategy.crds import embedded, pruning
from podstrat.strategy.crds.schema_reader import plain
from podstrat.strategy.decoding import codec, duplicates, jsontext
from podstrat.strategy.decoding.codec import Decoded, DecodeError, Seen
from podstrat.strategy.decoding.walk import MOST_STRICT
from podstrat.strategy.formats import go

if TYPE_CHECKING:
    from podstrat.strategy.crds.resource import Version

Object = dict[str, Any]


class Decoder(codec.Decoder):
    """Decodes the objects of one version of a custom resource; ``base`` decodes what the release itself has."""

    def __init__(self, base: codec.Decoder, version: Version) -> None:
        self.types = base.types
        self._base = base
        self._version = version

    def decode(self, value: Any, kind: str) -> Decoded:
        return self._base.decode(value, kind)

    def options(self, body: Any) -> Object:
        return self._base.options(body)

    def resolve(self, body: Any, kind: str = "", api_version: str = "", fill: bool = False) -> Decoded:
        """Upstream: schemaCoercingDecoder.Decode, UnstructuredJSONScheme"""
        value = codec.parse(body)
        try:
            return self._resolved(value, body, api_version)
        except RecursionError:
            raise DecodeError("exceeded max depth") from None

    def _resolved(self, value: Any, body: Any, api_version: str) -> Decoded:
        said_kind, said_version = _named(value, body)
        try:
            strict = list(dict.fromkeys(duplicates.named(value)))
            obj = plain(value)
            metadata, unknown = self._metadata(obj.get("metadata"), "metadata")
            obj = {**obj, "metadata": metadata}
            pruned: list[str] = []
            if self._version.is_named(said_kind, said_version):
                obj = self._by_schema(obj, self._version.sibling(said_version), pruned)
        except DecodeError as error:
            error.about = said_kind, said_version.rpartition("/")[2]
            raise
        strict += unknown + [f"unknown field {go.quote(path)}" for path in sorted(pruned)]
        seen = Seen()
        seen.empty = True
        if not self._version.kind.namespaced:
            obj["metadata"].pop("namespace", None)
        return Decoded(obj, strict[:MOST_STRICT], seen, said_version)

    def merged(self, value: Object, kind: str, api_version: str) -> Decoded:
        """An applied object is defaulted, but not pruned until it is read from storage: nulls in it are judged.

        Upstream: structuredMergeManager.Apply
        """
        metadata, _ = self._metadata(value.get("metadata"), "metadata")
        obj = pruning.copied({**value, "metadata": metadata})
        pruning.fill(obj, self._version.node)
        seen = Seen()
        seen.empty = True
        return Decoded(obj, [], seen, api_version)

    def _by_schema(self, obj: Object, version: Version | None, unknown: list[str]) -> Object:
        """The object pruned and defaulted; of a version that the definition does not have, nothing is left."""
        if version is None:
            return cast(Object, pruning.pruned(obj, _NOTHING, unknown))
        obj = pruning.pruned(obj, version.node, unknown)
        unknown += self._coerce(obj, version)
        pruning.drop_nulls(obj, version.node)
        pruning.fill(obj, version.node)
        return obj

    def _metadata(self, value: Any, at: str) -> tuple[Object, list[str]]:
        """Metadata read as ObjectMeta, and the complaints about it."""
        result = self._base.decode({} if value is None else value, "ObjectMeta")
        metadata = {key: result.value[key] for key in sorted(result.value)}
        return metadata, [text.replace('field "', f'field "{at}.', 1) for text in result.strict]

    def _coerce(self, obj: Object, version: Version) -> Iterator[str]:
        """Reads the metadata of embedded resources; gives the paths of their unknown fields.

        Upstream: objectmeta.Coerce
        """
        for resource, at in embedded.walk(obj, version.node, ""):
            if not at:
                continue
            for key in ("apiVersion", "kind"):
                if key in resource and not isinstance(resource[key], str):
                    raise DecodeError(f"{at}.{key}: Invalid value: {go.to_json(resource[key])}: must be a string")
            if "metadata" not in resource:
                continue
            try:
                metadata, unknown = self._metadata(resource["metadata"], f"{at}.metadata")
            except DecodeError as error:
                json_text = go.to_json(resource["metadata"], sort_keys=True)
                raise DecodeError(f"{at}.metadata: Invalid value: {json_text}: {error.message}") from None
            resource["metadata"] = metadata
            for text in unknown:
                yield text.removeprefix('unknown field "').removesuffix('"')


class _Nothing:
    """The node of a version that the definition does not have: it knows no field but those of every object."""

    preserves = has_additional = False
    embedded = True
    additional = items = None
    properties: Mapping[str, Any] = MappingProxyType({})


_NOTHING: Any = _Nothing()


def _named(value: Any, body: Any) -> tuple[str, str]:
    """Kind and apiVersion that a body says."""
    type_meta = codec.named_as(value, "", "")
    if not type_meta.kind:
        raise DecodeError(f"Object 'Kind' is missing in '{jsontext.text(codec.sent(body))}'")
    version = value.get("apiVersion")
    return type_meta.kind, version if isinstance(version, str) else ""
