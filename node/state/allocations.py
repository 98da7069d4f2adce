"""Allocations of device-plugin devices to containers, where no kubelet makes them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Any

DevicesByContainer = dict[str, dict[str, tuple[str, ...]]]
"""By container and resource: the IDs."""


class Shortage(Exception):
    """Fewer devices are free than requested. The text is for an event."""


class Allocations:
    def __init__(self) -> None:
        self._pods: dict[str, DevicesByContainer] = {}
        self._owners: dict[tuple[str, str], str] = {}
        """Resource and ID, and the UID of the pod."""
        self.changes = 0

    def of(self, uid: str) -> DevicesByContainer:
        return self._pods.get(uid, {})

    def uids(self) -> set[str]:
        """The pods that have something."""
        return set(self._pods)

    def free(self, resource: str, usable: Iterable[str]) -> list[str]:
        """The usable devices that are not allocated, in order."""
        return sorted(each for each in set(usable) if (resource, each) not in self._owners)

    def give(
        self,
        uid: str,
        container: str,
        resource: str,
        count: int,
        usable: Collection[str],
        preferred: Collection[str] = (),
        reusable: Collection[str] = (),
    ) -> tuple[str, ...]:
        """Gives a container so many devices: the same as before, if it has been given some.

        First come those that an init container of the pod had (`reusable`), then the ones the plugin prefers, then any.
        """
        if had := self.of(uid).get(container, {}).get(resource):
            return had
        free = self.free(resource, usable)
        own = sorted(each for each in reusable if self._owners.get((resource, each)) == uid)
        order = dict.fromkeys([*own, *(each for each in preferred if each in free), *free])
        if len(order) < count:
            raise Shortage(f"{resource}: {count} requested, {len(order)} available")
        ids = tuple(sorted(list(order)[:count]))
        self._enter(uid, container, resource, ids)
        return ids

    def release(self, uid: str) -> None:
        """The pod has ended: what it had can be given to others."""
        if self._pods.pop(uid, None) is not None:
            self._owners = {device: owner for device, owner in self._owners.items() if owner != uid}
            self.changes += 1

    def rows(self) -> list[Any]:
        """What to remember over a restart."""
        return [
            [uid, container, resource, list(ids)]
            for uid, containers in self._pods.items()
            for container, by_resource in containers.items()
            for resource, ids in by_resource.items()
        ]

    def restore(self, rows: Iterable[Any]) -> None:
        for uid, container, resource, ids in rows:
            self._enter(uid, container, resource, tuple(ids))

    def _enter(self, uid: str, container: str, resource: str, ids: tuple[str, ...]) -> None:
        self._pods.setdefault(uid, {}).setdefault(container, {})[resource] = ids
        self._owners.update(dict.fromkeys(((resource, each) for each in ids), uid))
        self.changes += 1


def merged(containers: Mapping[str, Mapping[str, Iterable[str]]]) -> DevicesByContainer:
    """A private copy, with each ID once."""
    return {
        container: {resource: tuple(dict.fromkeys(ids)) for resource, ids in by_resource.items()}
        for container, by_resource in containers.items()
    }
