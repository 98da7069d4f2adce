"""A row of the table of served kinds: one kind in one group and version."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from podstrat.strategy.decoding import scheme

Version = tuple[int, int]
"""A release: 1.37 is (1, 37)."""

VERBS = ("create", "delete", "deletecollection", "get", "list", "patch", "update", "watch")
REVIEW = ("create",)


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind in one group and version."""

    group: str
    version: str
    plural: str
    kind: str
    namespaced: bool = True
    short_names: tuple[str, ...] = ()
    has_status: bool = False
    """Whether the status is written through a subresource of its own."""
    counts_generation: bool = False
    """Whether the server counts changes of the spec in metadata.generation."""
    keeps_generation: bool = False
    """Whether metadata.generation is stored as it comes. Pods only come here without their strategy: then it is a webhook's."""
    verbs: tuple[str, ...] = VERBS
    categories: tuple[str, ...] = ()
    subresources: tuple[tuple[str, str, tuple[str, ...]], ...] = field(default=())
    """Others than status: name, kind (with group and version, if they are not the resource's own), verbs."""
    counts_labels: bool = False
    """Whether labels are part of what metadata.generation counts."""
    any_name: bool = False
    """Whether a name may be whatever can stand in a URL; otherwise it is a DNS subdomain."""
    since: Version = (1, 34)
    """The first release that serves it."""
    status_since: Version = (1, 34)
    """The first release that has a subresource for its status."""
    stored_as: str = ""
    """The apiVersion in which its objects are stored, where that is another kind's: they are objects of both."""
    numbered: bool = True
    """Whether the field numbers of its protobuf messages are known."""

    @property
    def api_version(self) -> str:
        return f"{self.group}/{self.version}" if self.group else self.version

    @property
    def singular(self) -> str:
        return self.kind.lower()

    @property
    def list_kind(self) -> str:
        return f"{self.kind}List"

    @property
    def type_name(self) -> str:
        """The name in the engine's table of types."""
        return scheme.type_name(self.group, self.kind, self.version)

    @property
    def stored(self) -> bool:
        """Whether objects of it are kept: a review is only answered."""
        return self.verbs != REVIEW

    @property
    def storage(self) -> tuple[str, str]:
        """Group and plural of the kind in whose place its objects are stored: its own, but for one that is stored as another."""
        return self.stored_as.rpartition("/")[0] if self.stored_as else self.group, self.plural

    def in_release(self, version: Version) -> Kind | None:
        """The kind as a release serves it; None if the release does not."""
        if version < self.since:
            return None
        return replace(self, has_status=False) if self.has_status and version < self.status_since else self

    @property
    def qualified(self) -> str:
        """The resource as error messages name it: ``leases.coordination.k8s.io``."""
        return f"{self.plural}.{self.group}" if self.group else self.plural
