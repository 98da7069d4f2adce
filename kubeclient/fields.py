"""Fields of a kubeconfig: read with their type, or refused with the file and the field."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from podstrat.kubeclient.errors import ConfigError

KINDS = {bool: "a boolean", int: "a number", float: "a number", str: "a string", list: "a list", dict: "an object"}


class Fields:
    """One object of a kubeconfig. A field that is absent or null reads as empty."""

    def __init__(self, value: Any, file: Path, at: str = "") -> None:
        self.file = file
        self.at = at
        """Where it stands in the file: ``user alice: ``, ``user alice: exec.``."""
        if value is None:
            value = {}
        if not isinstance(value, dict):
            place = self.place.rstrip(".: ")
            raise ConfigError(f"{place}: must be an object, not {KINDS.get(type(value), 'a value')}")
        self.value: dict[str, Any] = value

    @property
    def place(self) -> str:
        return f"{self.file}: {self.at}"

    def error(self, key: str, message: str) -> ConfigError:
        return ConfigError(f"{self.place}{key}: {message}")

    def _read(self, key: str, kind: type, empty: Any) -> Any:
        value = self.value.get(key)
        if value is None:
            return empty
        if type(value) is not kind:
            raise self.error(key, f"must be {KINDS[kind]}, not {KINDS.get(type(value), 'a value')}")
        return value

    def text(self, key: str) -> str:
        text: str = self._read(key, str, "")
        return text

    def required(self, key: str) -> str:
        if not self.text(key):
            raise self.error(key, "required")
        return self.text(key)

    def header(self, key: str) -> str:
        """A text that becomes part of a header."""
        return self._printable(key, self.text(key))

    def headers(self, key: str) -> list[str]:
        return [self._printable(key, each) for each in self.texts(key)]

    def _printable(self, key: str, text: str) -> str:
        if not text.isprintable():
            raise self.error(key, "contains control characters")
        return text

    def flag(self, key: str) -> bool:
        flag: bool = self._read(key, bool, False)
        return flag

    def texts(self, key: str) -> list[str]:
        texts: list[str] = self._read(key, list, [])
        if not all(isinstance(each, str) for each in texts):
            raise self.error(key, "must be a list of strings")
        return texts

    def path(self, key: str) -> Path:
        """A path, relative to the file's folder."""
        return self.file.parent / self.text(key)

    def child(self, key: str, at: str = "") -> Fields:
        return Fields(self.value.get(key), self.file, at or f"{self.at}{key}.")

    def entries(self, key: str) -> list[Fields]:
        entries: list[Any] = self._read(key, list, [])
        return [Fields(each, self.file, f"{self.at}{key}[{number}].") for number, each in enumerate(entries)]
