"""An object under admission review, with the stored one: decoded only as far as it is asked about, and once."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from podstrat.strategy.context import Context, Pod
from podstrat.strategy.decoding import codec
from podstrat.strategy.engine import Engine
from podstrat.strategy.errors import BadRequest
from podstrat.strategy.outcome import Outcome
from podstrat.strategy.review.policy import PolicyEngine
from podstrat.strategy.rules import pod_annotations

HEALTH_LISTS: Final = ("containerStatuses", "initContainerStatuses", "ephemeralContainerStatuses")
CONTAINER_LISTS: Final = ("containers", "initContainers")


class Reviewed:
    """A pod under review and the stored one, as they came. Each is read when it is first needed, once."""

    __slots__ = ("_old", "_pod", "_status", "engine", "old", "pod", "subresource")

    def __init__(self, engine: Engine, pod: Pod, old: Pod | None = None, subresource: str = "") -> None:
        self.engine = engine
        self.pod = pod
        self.old = old
        """None for a pod that is new."""
        self.subresource = subresource
        self._pod: Pod | None = None
        self._old: Pod | None = None
        self._status: Pod | None = None

    def read(self) -> Pod:
        """The pod in canonical form; BadRequest if it is none."""
        if self._pod is None:
            self._pod = decoded(self.engine, self.pod).value
        return self._pod

    def read_old(self) -> Pod | None:
        """The stored pod in canonical form."""
        if self._old is None and self.old is not None:
            self._old = decoded(self.engine, self.old).value
        return self._old

    def read_status(self) -> Pod:
        """The pod in canonical form as far as the rules of its status look at it: the rest costs more than they do."""
        if self._status is None:
            self._status = decoded(self.engine, _around_status(self.pod)).value
        return self._status

    def seen(self) -> set[str]:
        """The gates that are off and whose fields are in the part that the request writes."""
        if isinstance(self.engine, PolicyEngine):
            return self.engine.seen(self.pod, self.part)
        return decoded(self.engine, self.pod).seen

    @property
    def part(self) -> str:
        """The part that the request writes."""
        return "status" if self.subresource == "status" else "spec"

    @property
    def ctx(self) -> Context:
        return self.engine.context


def decoded(engine: Engine, value: Pod) -> codec.Decoded:
    try:
        return engine.decoder.decode(value, "Pod")
    except codec.DecodeError as error:
        raise BadRequest(error.message) from None


def _around_status(pod: Pod) -> Pod:
    """What the status reports and who has observed what, and of the rest which containers there are and what they request."""
    metadata, spec, status = (inner(pod, key) for key in ("metadata", "spec", "status"))
    return {
        "metadata": _only(metadata, ("generation", "annotations")),
        "spec": _only(spec, ("resources", "resourceClaims"))
        | {key: _each(spec[key], ("name", "resources")) for key in CONTAINER_LISTS if key in spec},
        "status": _only(status, ("observedGeneration", "allocatedResourcesStatus", "extendedResourceClaimStatus"))
        | {key: _each(status[key], ("name", "allocatedResourcesStatus")) for key in HEALTH_LISTS if key in status}
        | {key: _each(status[key], ("observedGeneration",)) for key in ("conditions",) if key in status},
    }


def _only(holder: Pod, keys: Iterable[str]) -> Pod:
    return {key: holder[key] for key in keys if key in holder}


def _each(items: Any, keys: Iterable[str]) -> Any:
    """Items of a list with some of their keys; other values are kept, so that decoding refuses them."""
    return [_only(each, keys) if type(each) is dict else each for each in items] if type(items) is list else items


def inner(holder: Pod, key: str) -> Pod:
    """An object in an object, as it came; empty if there is none."""
    value = holder.get(key)
    return value if type(value) is dict else {}


def is_mirror(reviewed: Reviewed) -> bool:
    """Whether the pod is a kubelet's picture of a static pod: such pods are as they are."""
    return pod_annotations.MIRROR in inner(inner(reviewed.pod, "metadata"), "annotations")


_UPDATED: Final = frozenset(("", "status", "resize", "ephemeralcontainers"))


def judged(reviewed: Reviewed) -> Outcome | None:
    """What the engine's release would say to the whole request; None for a request that brings no pod."""
    if reviewed.old is None:
        return reviewed.engine.create(reviewed.pod) if not reviewed.subresource else None
    if reviewed.subresource not in _UPDATED:
        return None
    metadata = reviewed.pod.get("metadata")
    if isinstance(metadata, dict) and "resourceVersion" in metadata:
        # Whether another writer was faster is the server's business, not this judgement's.
        metadata = {key: value for key, value in metadata.items() if key != "resourceVersion"}
    return reviewed.engine.update({**reviewed.pod, "metadata": metadata}, reviewed.old, subresource=reviewed.subresource)
