"""The subresources of a kind, status included: their kinds and verbs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, NamedTuple

from podstrat.apiserver.custom_kinds import CustomKind
from podstrat.apiserver.kinds import Kind

_STATUS_VERBS: Final = ("get", "patch", "update")


class Subresource(NamedTuple):
    """One subresource: its name, the kind that is sent and answered there, what can be done with it."""

    name: str
    group: str
    version: str
    kind: str
    verbs: tuple[str, ...]

    @property
    def is_typed(self) -> bool:
        """Whether objects are sent and answered there, not the bytes of a log or of a connection to a node."""
        return self.name != "log" and not self.kind.endswith("Options")

    @property
    def type_name(self) -> str:
        """The name in the table of types."""
        return Kind(self.group, self.version, "", self.kind).type_name


def of(kind: Kind) -> list[Subresource]:
    """The subresources of a kind, by name; of a custom resource the status is the first."""
    all_of_kind = list(_all(kind))
    return all_of_kind if isinstance(kind, CustomKind) else sorted(all_of_kind)


def _all(kind: Kind) -> Iterator[Subresource]:
    if kind.has_status:
        yield Subresource("status", kind.group, kind.version, kind.kind, _STATUS_VERBS)
    for name, type_name, verbs in kind.subresources:
        api_version, _, short = type_name.rpartition(" ")
        group, _, version = api_version.rpartition("/") if api_version else (kind.group, "", kind.version)
        yield Subresource(name, group, version, short, verbs)
