"""The custom resources that a server has: definitions of the store, compiled, and the kinds that they serve.

The state is replaced as a whole with every change of a definition: readers never see half of it.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from podstrat.apiserver import custom_kinds
from podstrat.apiserver.custom_kinds import CustomKind
from podstrat.apiserver.kinds import BY_PATH, Kind, of_release
from podstrat.apiserver.storage.store import Store
from podstrat.strategy import errors
from podstrat.strategy.crds.versions import by_priority
from podstrat.strategy.engine import Engine
from podstrat.strategy.request import Answer, Request

if TYPE_CHECKING:
    from podstrat.strategy.crds.conversion import Convert
    from podstrat.strategy.crds.resource import CustomResource

Object = dict[str, Any]

DEFINITION = BY_PATH[custom_kinds.GROUP, "v1", custom_kinds.PLURAL]


class _State(NamedTuple):
    number: int
    """Rises with every change."""
    resources: dict[tuple[str, str], CustomResource]
    """By group and plural."""
    kinds: dict[tuple[str, str, str], CustomKind]
    """The kinds that are served, by group, version and plural."""


class CustomResources:
    """The custom resources of one server."""

    def __init__(self, store: Store, engine: Engine, convert: Convert | None = None) -> None:
        self._store = store
        self._convert = convert
        self._engine = engine
        self._lock = threading.Lock()
        self._state = _State(0, {}, {})
        self.refresh()

    @property
    def number(self) -> int:
        """Which state of the definitions this is: what was made from another one is out of date."""
        return self._state.number

    def refresh(self) -> None:
        """Reads the definitions again; those that have not changed stay compiled."""
        with self._lock:
            entries, _ = self._store.list(DEFINITION)
            before = self._state.resources
            resources: dict[tuple[str, str], CustomResource] = {}
            kinds: dict[tuple[str, str, str], CustomKind] = {}
            for entry in entries:
                key = entry.obj["spec"]["group"], entry.obj["spec"]["names"]["plural"]
                resource = before.get(key)
                if resource is None or resource.definition is not entry.obj:
                    resource = self._compiled(entry.obj)
                resources[key] = resource
                rows = custom_kinds.of(entry.obj)
                self._store.serve(rows[0])
                if resource.is_established:
                    kinds |= {(each.group, each.version, each.plural): each for each in rows if resource.served(each.version)}
            self._state = _State(self._state.number + 1, resources, kinds)

    def _compiled(self, definition: Object) -> CustomResource:
        return self._engine.custom_resource(definition, self._convert)

    # ---- looking up ----------------------------------------------------------------------------------

    def find(self, group: str, version: str, plural: str) -> CustomKind | None:
        """The kind that is served at a path."""
        return self._state.kinds.get((group, version, plural))

    def by_name(self, api_version: str, kind: str) -> CustomKind | None:
        """The kind that an object calls itself."""
        return next((each for each in self._state.kinds.values() if (each.api_version, each.kind) == (api_version, kind)), None)

    def kinds(self) -> list[CustomKind]:
        """Every kind that is served."""
        return list(self._state.kinds.values())

    def served(self) -> list[Kind]:
        """Every kind of the server: those of the release, then custom resources, by group and in the order of versions."""
        kinds = self.kinds()
        ranks = {version: rank for rank, version in enumerate(by_priority([each.version for each in kinds]))}
        return [
            *of_release(self._engine.context.version),
            *sorted(kinds, key=lambda each: (each.group, ranks[each.version], each.plural)),
        ]

    def _groups(self) -> set[str]:
        return {each.group for each in self.kinds()}

    def serves(self, group: str) -> bool:
        """Whether a group has custom resources."""
        return group in self._groups()

    def resource(self, kind: Kind) -> CustomResource | None:
        """The custom resource of a kind, as its definition is now."""
        return self._state.resources.get((kind.group, kind.plural)) if isinstance(kind, CustomKind) else None

    # ---- objects -------------------------------------------------------------------------------------

    def answer(self, request: Request, stored: Object | None, kind: CustomKind) -> Answer:
        """What the server answers, and the effects on storage."""
        resource = self.resource(kind)
        if resource is None or kind.version not in resource.versions:
            # The definition is gone: only the controller that removes the last objects comes here.
            return Answer(404, {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure", "code": 404})
        return resource.answer(request, stored, kind.version)

    def view(self, obj: Object, kind: Kind) -> Object:
        """A stored object as it is shown in a version; of kinds that are no custom resources, itself."""
        resource = self.resource(kind)
        if resource is None or kind.version not in resource.versions:
            return obj
        return resource.read(obj, kind.version)

    def warnings(self, kind: Kind) -> tuple[str, ...]:
        """What every request to a version is warned with."""
        resource = self.resource(kind)
        text = resource.versions[kind.version].deprecation if resource and kind.version in resource.versions else ""
        return (text,) if text else ()

    def listed(self, error: errors.ApiError) -> errors.ApiError:
        """The error of a list that one of its objects causes."""
        from podstrat.strategy.crds.conversion import CorruptObject

        return error.in_list() if isinstance(error, CorruptObject) else error

    def definitions(self) -> Sequence[Object]:
        return [each.definition for each in self._state.resources.values()]


def kinds_of(definitions: Iterable[Object]) -> list[CustomKind]:
    """A kind for each definition, as the store tells resources apart."""
    return [custom_kinds.of(each)[0] for each in definitions if each["spec"].get("versions")]
