"""The objects of the inputs one by one, for the commands that look at a few of them closely."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import goyaml
from podstrat.check import inputs, objects

if TYPE_CHECKING:
    from collections.abc import Iterator

    from goyaml import Document
    from podstrat.check.inputs import Wanted
    from podstrat.check.objects import Object


class Opened(NamedTuple):
    """An object in its document."""

    object: Object
    document: Document

    @property
    def title(self) -> str:
        """``pod.yaml:1 Pod/web``."""
        line = self.document.mark(self.object.at)[0] if self.object.at else self.document.line
        kind, name = self.object.said("kind"), self.object.name
        return f"{self.document.name}:{line} {kind}/{name}" if name else f"{self.document.name}:{line} {kind}"


def everything(wanted: Wanted) -> Iterator[Opened]:
    """Every object; OSError for what cannot be read, YamlError for what is no YAML."""
    for source in inputs.sources(wanted):
        for piece in inputs.pieces(source):
            text = piece.text
            if piece.path:
                with open(piece.path, "rb") as file:
                    text = file.read()
            for document in goyaml.documents(text, piece.name, piece.line):
                for each in objects.of(document.value):
                    yield Opened(each, document)
