"""The one exception of this package."""

from __future__ import annotations


class YamlError(Exception):
    """The text is not YAML, or not YAML that Kubernetes can turn into JSON.

    Lines and columns count from 1; columns count characters.
    """

    def __init__(self, message: str, line: int = 1, column: int = 1, name: str = "", words: str = "") -> None:
        super().__init__(message, line, column, name)
        self.message = message
        self.line = line
        self.column = column
        self.name = name
        """The file, as the caller called it; may be empty."""
        self.words = words or f"yaml: {message}"
        """What the API server says: go-yaml names a line only for errors of syntax, and counts some from 0."""

    def __str__(self) -> str:
        return f"{self.name or 'yaml'}:{self.line}:{self.column}: {self.message}"
