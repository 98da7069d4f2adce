"""Patch strategy and merge key of each field, from the type tables."""

from __future__ import annotations

from typing import TYPE_CHECKING

from podstrat.records import NamedTuple
from podstrat.strategy import errors
from podstrat.strategy.api.types import SCALARS

if TYPE_CHECKING:
    from podstrat.strategy.api.types import Field, Types


class Schema(NamedTuple):
    """A type as a strategic merge patch sees it."""

    types: Types
    name: str
    """The type's name in the table."""
    kind: str = "struct"
    """What Go's reflection calls it: a pointer keeps its own word."""
    own: frozenset[int] = frozenset()
    """The objects of the patch by identity: what is merged into one of them changes it, and so the patch as it is shown."""

    def field(self, name: str) -> Field:
        """The field of a struct, in any spelling of capitals, as Go's JSON library finds it.

        Upstream: LookupPatchMetadataForStruct
        """
        if self.kind not in ("struct", "ptr"):
            raise errors.ServerError(f"merging an object in json but data type is not struct, instead is: {self.kind}")
        fields = self.types.fields(self.name)
        if name in fields:
            return fields[name]
        folded = name.casefold()
        for spelling, field in fields.items():
            if spelling.casefold() == folded:
                return field
        struct = self.name.rpartition(".")[2]
        raise errors.ServerError(f'unable to find api field in struct {struct} for the json field "{name}"')

    def items(self, name: str) -> tuple[Field, Schema]:
        """The field of a struct that is a list, and the type of its items.

        Upstream: LookupPatchMetadataForSlice
        """
        field = self.field(name)
        if field.shape == "list":
            return field, self._replace(name=field.type, kind=field.type if field.type in SCALARS else "struct")
        if field.pointer:
            return field, self.inside(field)._replace(kind="struct")
        raise errors.ServerError(f"expected slice or array type, but got: {self.kind}")

    def inside(self, field: Field) -> Schema:
        """The type of a field that is an object."""
        if field.shape != "value":
            return self._replace(name=field.type, kind="map" if field.shape == "map" else "slice")
        if field.type in SCALARS:
            return self._replace(name=field.type, kind=field.type)
        return self._replace(name=field.type, kind="ptr" if field.pointer else "struct")

    @staticmethod
    def strategy(field: Field) -> str:
        """How the field merges, apart from ``retainKeys``, which only allows a directive.

        Upstream: extractRetainKeysPatchStrategy
        """
        return ",".join(word for word in field.patch_strategy.split(",") if word != "retainKeys")
