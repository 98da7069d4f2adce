"""The lines of a file, as findings show them."""

from __future__ import annotations

from podstrat import goyaml


class Lines:
    """The lines of a text by their number; split when one is first asked for."""

    def __init__(self, text: bytes, first: int = 1) -> None:
        self.text = text
        self._first = first
        self._lines: list[str] | None = None

    @property
    def count(self) -> int:
        self(self._first)
        return len(self._lines or ())

    def __call__(self, number: int) -> str:
        if self._lines is None:
            try:
                decoded = goyaml.document.decoded(self.text)
            except goyaml.YamlError:
                decoded = self.text.decode(errors="replace")
            self._lines = decoded.replace("\r\n", "\n").replace("\r", "\n").split("\n")
        at = number - self._first
        return self._lines[at] if 0 <= at < len(self._lines) else ""
