"""World files: objects of a cluster that admission plugins look up, read from manifests and dumps.

Each object is decoded and defaulted as the API server does when it is written. A List may declare by annotations which kinds it
is complete for: then an object that is not in it does not exist, and is not merely unknown.
"""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING, Any

from podstrat import exits, goyaml
from podstrat.check import bad_request, inputs, manifest, places
from podstrat.records import NamedTuple
from podstrat.strategy import errors, kinds
from podstrat.strategy.admission.world import CLUSTER_SCOPED, World
from podstrat.strategy.decoding import codec, scheme

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from podstrat.check.inputs import Opened, Source
    from podstrat.check.manifest import Object
    from podstrat.goyaml import Document
    from podstrat.strategy.engine import Engine

COMPLETE = "podstrat.dev/complete"
"""Annotation of a List: the kinds, with commas, that it has all objects of; ``*`` for every kind."""
NAMESPACES = "podstrat.dev/namespaces"
"""Annotation of a List: the namespaces, with commas, that this holds for; absent for all."""

LOOKED_UP = (
    "Namespace", "ServiceAccount", "LimitRange", "ResourceQuota", "PriorityClass", "RuntimeClass", "StorageClass", "Node",
    "ValidatingAdmissionPolicy", "ValidatingAdmissionPolicyBinding", "MutatingAdmissionPolicy", "MutatingAdmissionPolicyBinding",
)  # fmt: skip
"""Kinds that count when they are among the files that are checked."""
_LOOKED_UP = re.compile(rb"""kind["']?\s*:\s*["']?(?:%s)(?:List)?\b""" % "|".join(LOOKED_UP).encode())
_DOCUMENTS = re.compile(rb"^---(?=[ \t\r\n]|$)", re.MULTILINE)
_LINE = re.compile(rb"\r\n|\r|\n")

NOT_OBJECTS = frozenset({"kustomization.yaml", "kustomization.yml", "Kustomization", "Chart.yaml", "Chart.lock"})
"""Files that lie beside manifests in a directory."""

Key = tuple[str, str, str, str]


class Entry(NamedTuple):
    """An object of a world, and where it stands."""

    value: dict[str, Any]
    source: inputs.Opened | str
    """The object in its document, or the name of another source."""

    @property
    def where(self) -> str:
        """File and line. Looked for only if they are asked for: in a long list that takes longer than reading it."""
        return self.source if isinstance(self.source, str) else self.source.title.partition(" ")[0]


class Builder:
    """Collects the objects of a world."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._entries: dict[Key, Entry] = {}
        self._kinds: set[str] = set()
        self._namespaces: set[str] | None = set()

    def copy(self) -> Builder:
        """The same objects, to add others to."""
        builder = Builder(self._engine)
        builder._entries = dict(self._entries)
        builder._kinds, builder._namespaces = self._kinds, self._namespaces
        return builder

    def declare(self, kinds_: Iterable[str], namespaces: Iterable[str] | None) -> None:
        """Notes what has been given completely."""
        self._kinds.update(kinds_)
        if namespaces is None or self._namespaces is None:
            self._namespaces = None
        else:
            self._namespaces.update(namespaces)

    def read(self, paths: list[str]) -> None:
        """The objects of files and directories. BadArguments, with file and line, for what cannot be one."""
        try:
            for source in inputs.sources(inputs.InputArguments(paths)):
                if os.path.basename(source.name) in NOT_OBJECTS:
                    continue
                for document in _documents(source):
                    self._declared(document)
                    for each in manifest.of(document.value):
                        self._add(inputs.Opened(each, document))
        except goyaml.YamlError as error:
            raise exits.BadArguments(str(error)) from None

    def checked(self, sources: Iterable[Source], namespace: str = "") -> None:
        """The objects among the files that are checked, moved to a namespace if one is given.

        They come after the world: theirs is the last word. What is wrong with them is told when they are checked.
        """
        for source in sources:
            for document in _relevant(source):
                for each in manifest.of(document.value):
                    if each.said("kind") in LOOKED_UP and each.meta("name"):
                        self._take(each, namespace)

    def put(self, value: dict[str, Any], where: str) -> None:
        """An object that is known to be good."""
        self._entries[_key(value)] = Entry(value, where)

    def world(self) -> World:
        for entry in list(self._entries.values()):
            self._complete(entry)
        everything = "*" in self._kinds
        return World(
            (entry.value for entry in self._entries.values()),
            complete="*" if everything else self._kinds,
            namespaces=self._namespaces or None,
        )

    # ---- one object ------------------------------------------------------------------------------------

    def _declared(self, document: Document) -> None:
        if not manifest.is_list(document.value):
            return
        metadata = document.value.get("metadata")
        annotations = metadata.get("annotations") if isinstance(metadata, dict) else None
        text = annotations.get(COMPLETE) if isinstance(annotations, dict) else None
        if isinstance(text, str) and isinstance(annotations, dict):
            namespaces = annotations.get(NAMESPACES)
            self.declare(_split(text), _split(namespaces) if isinstance(namespaces, str) else None)

    def _add(self, opened: Opened) -> None:
        each, document = opened
        value = each.value
        if value is None:
            return
        if not isinstance(value, dict):
            raise _bad(document, each, (), "not an object")
        for field in ("apiVersion", "kind"):
            if not isinstance(value.get(field), str) or not value[field]:
                raise _bad(document, each, (field,), f"{field} not set")
        if not each.meta("name"):
            raise _bad(document, each, ("metadata", "name"), f"{value['kind']} without metadata.name")
        obj = self._decoded(each, document)
        key = _key(obj)
        before = self._entries.get(key)
        if before is not None and before.value != obj:
            kind, name = value["kind"], each.name
            raise _bad(document, each, (), f"{kind} {name} is also at {before.where}, with other content")
        self._entries[key] = Entry(obj, opened)

    def _decoded(self, each: Object, document: Document) -> dict[str, Any]:
        """An object as the server would read it."""
        try:
            return self._made(each.value)
        except errors.ApiError as error:
            for reason in bad_request.reasons(error.message, each.value, self._says):
                raise _bad(document, each, reason.place, reason.detail) from None
            raise

    def _says(self, value: Any) -> str | None:
        try:
            self._made(value)
        except errors.ApiError as error:
            return error.message
        return None

    def _made(self, value: dict[str, Any]) -> dict[str, Any]:
        """An object decoded and defaulted; of a kind that has no types here only the metadata."""
        decoder = self._engine.decoder
        api_version, kind = value["apiVersion"], value["kind"]
        if scheme.type_name(api_version.rpartition("/")[0], kind) not in decoder.types:
            try:
                return {**value, "metadata": decoder.decode(value["metadata"], "ObjectMeta").value}
            except codec.DecodeError as error:
                raise errors.BadRequest(error.message) from None
        obj, _, _ = decoder.read(value, kind, api_version, "Ignore")
        row = kinds.BY_NAME.get((api_version, kind))
        if row is not None:
            row.strategy.default(obj, self._engine.context, False)
        return obj

    def _take(self, each: Object, namespace: str) -> None:
        try:
            obj = self._made(each.value)
        except errors.ApiError:
            return
        if namespace and obj["kind"] not in CLUSTER_SCOPED:
            obj["metadata"] = {**obj["metadata"], "namespace": namespace}
        self._entries[_key(obj)] = Entry(obj, "")

    def _complete(self, entry: Entry) -> None:
        """Adds what controllers make of an object that comes from a file: the account of a namespace, the status of a quota."""
        value = entry.value
        metadata = value["metadata"]
        if value["kind"] == "Namespace":
            account = {"name": "default", "namespace": metadata["name"]}
            obj = {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": account}
            self._entries.setdefault(_key(obj), Entry(obj, entry.source))
        elif value["kind"] == "ResourceQuota" and not (value.get("status") or {}).get("hard"):
            hard = (value.get("spec") or {}).get("hard") or {}
            status = {"hard": hard, "used": dict.fromkeys(hard, "0")}
            self._entries[_key(value)] = entry._replace(value={**value, "status": status})


def _split(text: str) -> list[str]:
    return [part.strip() for part in text.split(",") if part.strip()]


def _key(value: dict[str, Any]) -> Key:
    metadata = value["metadata"]
    namespace = "" if value["kind"] in CLUSTER_SCOPED else metadata.get("namespace") or "default"
    return value["apiVersion"], value["kind"], namespace, metadata["name"]


def _bad(document: Document, each: Object, place: places.Place, text: str) -> exits.BadArguments:
    line, column = places.mark(document, each.at, place)
    field = f"{places.text(place)}: " if place and len(place) > 1 else ""
    return exits.BadArguments(f"--world: {document.name}:{line}:{column}: {field}{text}")


# ---- reading -------------------------------------------------------------------------------------------


def files(paths: list[str]) -> set[str]:
    """The files of a world: they are not checked themselves."""
    return {os.path.realpath(source.path) for source in inputs.sources(inputs.InputArguments(paths)) if source.path}


def _documents(source: Source) -> Iterator[Document]:
    for piece in inputs.pieces(source):
        if piece.skip:
            raise exits.BadArguments(f"--world: {piece.name}: {piece.skip}")
        if not piece.chart:
            yield from goyaml.documents(_text(piece), piece.name, piece.line)


def _relevant(source: Source) -> Iterator[Document]:
    """The documents of a file that may hold what plugins look up. Others are not read: they are when they are checked."""
    try:
        for piece in inputs.pieces(source):
            text = b"" if piece.chart or piece.skip else _text(piece)
            if _LOOKED_UP.search(text):
                for part in _DOCUMENTS.split(text):
                    if _LOOKED_UP.search(part):
                        yield from goyaml.documents(part, piece.name)
    except (OSError, goyaml.YamlError):
        return  # told when it is checked


def _text(piece: inputs.Piece) -> bytes:
    return inputs.content(piece.path) if piece.path else piece.text


def buffered(source: Source) -> Source:
    """A source that can be read twice: standard input is kept."""
    if source.path or source.text is not None or source.chart or source.skip:
        return source
    return source._replace(text=b"".join(piece.text for piece in inputs.pieces(source)))
