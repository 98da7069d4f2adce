"""Which form a body has: what comes in by its content type, what goes out by what the client accepts."""

from __future__ import annotations

from typing import Any, NamedTuple

from strategy import errors, gotext
from strategy.engine import Engine

JSON, YAML, PROTOBUF = "application/json", "application/yaml", "application/vnd.kubernetes.protobuf"
PATCHES = {
    "application/json-patch+json": "json",
    "application/merge-patch+json": "merge",
    "application/strategic-merge-patch+json": "strategic",
    "application/apply-patch+yaml": "apply",
}
BODY_LIMIT = 3 * 1024 * 1024
"""The server's own: a request may be this long and no longer."""

Object = dict[str, Any]


def _media_type(text: str) -> str:
    return text.partition(";")[0].strip().lower()


def read(content_type: str, body: bytes, engine: Engine) -> Any:
    """The body of a write, ready to be decoded: JSON as the very bytes, other forms as values."""
    media = _media_type(content_type)
    if media in ("", JSON):
        return body
    if media in (YAML, "application/x-yaml", "text/yaml"):
        return yaml_value(body)
    if media == PROTOBUF:
        from apiserver import protobuf

        try:
            return protobuf.decode(body, engine.context.types)
        except protobuf.ProtobufError as error:
            raise errors.BadRequest(str(error)) from None
    accepted = ", ".join((JSON, YAML, PROTOBUF))
    raise errors.UnsupportedMediaType(
        f"the body of the request was in an unknown format - accepted media types include: {accepted}"
    )


def yaml_value(body: bytes) -> Any:
    """The value of a YAML body: of its first document, as the server reads it."""
    import goyaml

    try:
        return goyaml.load(body).value
    except goyaml.YamlError as error:
        raise errors.BadRequest(f"error converting YAML to JSON: {error}") from None


def patch(content_type: str, body: bytes) -> tuple[str, Any, list[str]]:
    """The kind of a patch, and its body: what is applied is YAML, and a strict reader may have something against it."""
    kind = PATCHES.get(_media_type(content_type))
    if kind is None:
        accepted = ", ".join(PATCHES)
        raise errors.UnsupportedMediaType(
            f"the body of the request was in an unknown format - accepted media types include: {accepted}"
        )
    return (kind, *_applied(body)) if kind == "apply" else (kind, body, [])


def _applied(body: bytes) -> tuple[Any, list[str]]:
    """What is applied, and its repeated keys. The server names a line by where the value stands, and the first line not at all.

    Upstream: applyPatcher.applyPatchToCurrentObject
    """
    import goyaml

    try:
        document = goyaml.load(body)
    except goyaml.YamlError as error:
        line = f"line {error.line}: " if error.line > 1 else ""
        raise errors.BadRequest(f"error decoding YAML: error converting YAML to JSON: yaml: {line}{error.message}") from None
    return document.value, [
        f"line {document.mark(each.path)[0]}: key {gotext.quote(str(each.path[-1]))} already set in map"
        for each in document.duplicates
    ]


def _accepted(accept: str) -> list[tuple[str, dict[str, str]]]:
    """What a client takes, best first: media types with their parameters."""
    found = []
    for part in accept.split(","):
        media, *parameters = (each.strip() for each in part.split(";"))
        named = dict(each.partition("=")[::2] for each in parameters if "=" in each)
        if media:
            found.append((media.lower(), named))
    return found


class Form(NamedTuple):
    """How a client wants objects: as they are, as a Table, or their metadata alone."""

    name: str = ""
    include: str = ""
    """What of the objects goes with the rows of a Table."""

    def __str__(self) -> str:
        return f"{self.name} {self.include}".strip()


AS_IT_IS = Form()
ANYTHING = (JSON, "*/*", "application/*")


def form(accept: str, include: str) -> Form:
    """The form that a client likes best of those that there are."""
    offered = _accepted(accept)
    for media, parameters in offered:
        if media not in ANYTHING:
            continue
        wanted = parameters.get("as")
        if wanted is None:
            return AS_IT_IS
        if wanted == "Table":
            return Form("Table", include)
        if wanted.startswith("PartialObjectMetadata"):
            return Form("PartialObjectMetadata")
    if offered and not any(media in ANYTHING for media, _ in offered):
        raise errors.NotAcceptable(f"only the following media types are accepted: {JSON}, {JSON};stream=watch")
    return AS_IT_IS
