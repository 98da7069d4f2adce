"""Content negotiation of responses: the media type and the transformation that the Accept header asks for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

from podstrat.apiserver.negotiation import JSON, PROTOBUF, YAML
from podstrat.strategy import errors

META = "meta.k8s.io"
PRODUCED = (JSON, YAML, PROTOBUF)
"""What the real server produces, in its order."""
STREAMED = (f"{JSON};stream=watch", f"{PROTOBUF};stream=watch")
WITHOUT_PROTOBUF = (JSON, YAML)
"""What is produced of kinds whose wire numbers are not known."""
TRANSFORMS = ("Table", "PartialObjectMetadata", "PartialObjectMetadataList")


class Form(NamedTuple):
    """How a client wants objects: the media type, and the transformation, if any."""

    media: str = JSON
    name: str = ""
    """One of TRANSFORMS; empty: the object itself."""
    version: str = "v1"
    """Of the group meta.k8s.io."""
    include: str = ""
    """What of the objects goes with the rows of a Table."""

    def __str__(self) -> str:
        transform = f"{self.name} {self.version} {self.include}" if self.name else ""
        return transform if self.media == JSON else f"{self.media} {transform}"


PLAIN = Form()
"""The objects themselves, in JSON."""


class NoRoute(errors.NotAcceptable):
    """No route of the path produces an accepted media type.

    Upstream: CurlyRouter.SelectRoute of go-restful
    """

    def __init__(self, available: Sequence[str]) -> None:
        super().__init__(f"406: Not Acceptable\n\nAvailable representations: {', '.join(available)}", {})


def not_acceptable(accepted: Sequence[str]) -> errors.NotAcceptable:
    """Upstream: NewNotAcceptableError"""
    return errors.NotAcceptable(f"only the following media types are accepted: {', '.join(accepted)}")


@lru_cache(maxsize=256)
def form(accept: str, include: str, streams: bool, offered: Sequence[str] = PRODUCED) -> Form:
    """The form that the client prefers among those ``offered``; ``streams`` where the path can be watched.

    Upstream: NegotiateOutputMediaType
    """
    if not accept.strip():
        return Form()
    clauses = _clauses(accept)
    if not any(media in ("*/*", *PRODUCED) for media, _ in clauses):
        raise NoRoute((*PRODUCED, *STREAMED) if streams else PRODUCED)
    for media, parameters in clauses:
        for matching in _matching(media, offered):
            match = _form(matching, parameters, include, streams)
            if match is not None:
                return match
    raise not_acceptable(PRODUCED)


def error_media(accept: str) -> str:
    """The media type of an error: the first accepted one without a transformation, else JSON.

    Upstream: WriteObjectNegotiated
    """
    for media, parameters in _clauses(accept):
        for offered in _matching(media, PRODUCED):
            if not {"as", "g", "v", "stream"} & parameters.keys():
                return offered
    return JSON


def _form(media: str, parameters: Mapping[str, str], include: str, streams: bool) -> Form | None:
    """Upstream: acceptMediaTypeOptions, RequestScope.AllowsMediaTypeTransform"""
    if parameters.get("stream") and (media == YAML or not streams or parameters["stream"] != "watch"):
        return None
    name, version = parameters.get("as", ""), parameters.get("v", "")
    if not {"as", "g", "v"} & parameters.keys():
        return Form(media)
    if parameters.get("g") != META or version not in ("v1", "v1beta1") or name not in TRANSFORMS:
        return None
    if name == "Table" and media == PROTOBUF:
        return None  # a Table has no message
    return Form(media, name, version, include if name == "Table" else "")


def _matching(media: str, offered: Sequence[str]) -> Iterator[str]:
    return (each for each in offered if media in (each, "application/*", "*/*"))


def _clauses(accept: str) -> list[tuple[str, dict[str, str]]]:
    """The clauses of an Accept header with their parameters, by quality, then as they stand."""
    clauses: list[tuple[float, str, dict[str, str]]] = []
    for part in accept.split(","):
        media, *parameters = (each.strip() for each in part.split(";"))
        options = {name.strip(): value.strip() for name, _, value in (each.partition("=") for each in parameters) if value}
        if media:
            clauses.append((_quality(options.pop("q", "")), media, options))
    clauses.sort(key=lambda clause: -clause[0])
    return [(media, options) for _, media, options in clauses]


def _quality(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return 1.0
