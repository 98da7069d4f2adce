"""The internal form of a definition: what all versions have in common stands at the top, and errors tell it there."""

from __future__ import annotations

from typing import Any, Final

from podstrat.strategy.field import FieldError, place_of

Object = dict[str, Any]

_TOPS: Final = {
    "schema": "spec.validation",
    "subresources": "spec.subresources",
    "additionalPrinterColumns": "spec.additionalPrinterColumns",
    "selectableFields": "spec.selectableFields",
}


class Form:
    """A definition's spec, with the parts that moved to the top."""

    def __init__(self, spec: Object) -> None:
        self.spec = spec
        self.versions: list[Object] = spec.get("versions") or []
        self.moved = frozenset(
            key for key in _TOPS if self.versions and all(each.get(key) == self.versions[0].get(key) for each in self.versions)
        )
        """The parts that are the same in all versions."""

    def top(self, key: str) -> Any:
        """A part that moved to the top; None if it did not, or there is none."""
        return self.versions[0].get(key) if key in self.moved else None

    def own(self, version: Object, key: str) -> Any:
        """A part of a version that did not move."""
        return None if key in self.moved else version.get(key)

    def schema_of(self, version: Object) -> Object | None:
        """The schema of a version, wherever it stands."""
        return (version.get("schema") or {}).get("openAPIV3Schema")

    @property
    def has_status(self) -> bool:
        """Whether a version has the status subresource."""
        return any("status" in (version.get("subresources") or {}) for version in self.versions)


def placed(error: FieldError) -> FieldError:
    """The error with its place in the definition as it was sent."""
    for key, top in _TOPS.items():
        if error.field.startswith(top) and error.place is None:
            rest = error.field[len(top) :]
            return error._replace(place=place_of(f"spec.versions[0].{key}{rest}"))
    return error
