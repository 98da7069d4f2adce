"""JSON, merge and strategic merge patches: the stored object and a patch in, the patched object out, before decoding.

``apply`` is the one entry for the three kinds. A verb that also wants the complaints about the patch itself, or the
answer for a result that does not decode, takes ``result``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from podstrat.records import NamedTuple
from podstrat.strategy import errors
from podstrat.strategy.context import Version
from podstrat.strategy.patch import body as bodies
from podstrat.strategy.patch import jsonpatch, merge, strategic
from podstrat.strategy.patch.refusals import undecodable
from podstrat.strategy.patch.unstructured import Unconvertible, convert

if TYPE_CHECKING:
    from podstrat.strategy.api.types import Types


class Patched(NamedTuple):
    """What a patch made of the stored object."""

    kind: str
    value: Any
    """The patched object, as JSON; parts that the patch leaves alone are the stored object's own."""
    complaints: list[str]
    """Repeated and unknown members of the patch itself; they come before those of the result."""
    patch: Any
    """What is left of the patch: a strategic one loses the directives that were obeyed."""
    type_name: str = "Pod"

    def readable(self, stored: dict[str, Any], types: Types) -> tuple[Any, list[str]]:
        """The patched object for the ordinary decoder, and the complaints up to here; raises ``undecodable``.

        The result of a strategic patch is converted first, by rules of its own, and is of the stored object's type whatever
        the patch calls it.
        """
        if self.kind != "strategic":
            return self.value, self.complaints
        try:
            value, unknown = convert(self.value, stored, types, self.type_name)
        except Unconvertible as error:
            raise self.undecodable(error.message) from None
        type_meta = {name: stored[name] for name in ("kind", "apiVersion") if name in stored}
        return {**value, **type_meta}, self.complaints + unknown

    def undecodable(self, message: str) -> errors.Invalid:
        """The answer when the patched object does not decode."""
        return undecodable(self.kind, self.patch, self.value, message)


def result(
    kind: str,
    stored: dict[str, Any],
    body: Any,
    types: Types,
    version: Version,
    validation: str = "Warn",
    type_name: str = "Pod",
) -> Patched:
    """The stored object with a patch applied, and what there is to say about the patch.

    ``kind`` is json, merge or strategic; ``body`` is the bytes of the request or the parsed patch; ``validation`` is the
    request's fieldValidation; ``type_name`` is the object's type in the table. Raises the ApiError that the server answers
    if the patch cannot be read or does not apply.
    """
    try:
        patch, complaints = bodies.read(kind, body, version, validation)
        if kind == "json":
            value = jsonpatch.apply(stored, patch, version, bytes(body) if isinstance(body, bodies.BYTES) else b"")
        elif kind == "merge":
            value = merge.apply(stored, patch)
        else:
            value = strategic.apply(stored, patch, types, type_name)
    except RecursionError:
        raise errors.BadRequest(bodies.TOO_DEEP) from None
    return Patched(kind, value, complaints, patch, type_name)


def apply(kind: str, stored: dict[str, Any], body: Any, types: Types, version: Version, validation: str = "Warn") -> Any:
    """The stored object with a patch applied: fresh where it changed, the stored object's own parts elsewhere."""
    return result(kind, stored, body, types, version, validation).value
