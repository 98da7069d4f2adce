"""Lists, tables and events in the form of the recorded scripts: ids and times taken out, resourceVersions by their names."""

from __future__ import annotations

import json
import re
from typing import Any

from tests.conformance import compare

INITIAL_EVENTS_END = "k8s.io/initial-events-end"
AGE_CELL = 4
"""Where a pod's row has its age, for events without column definitions."""
_STATUS_VERSIONS = (
    (re.compile(r"(current: )(\d+|<rv\w*>)"), r"\1<rv>"),
    (re.compile(r"(resource version: )\d{2,}"), r"\1<rv>"),
    (re.compile(r"(too old resource version: \S+ \()(\d+|<rv\w*>)\)"), r"\1<rv>)"),
)


class Names:
    """The values that a script has saved; a resourceVersion that was saved as rvX is shown as <rvX>, any other as <rv>."""

    def __init__(self, **saved: str) -> None:
        self.saved = dict(saved)

    def filled(self, value: Any) -> Any:
        """A step with ``{NAME}`` replaced by the saved values."""
        if isinstance(value, str):
            for name, saved in self.saved.items():
                value = value.replace(f"{{{name}}}", saved)
        elif isinstance(value, list):
            value = [self.filled(each) for each in value]
        elif isinstance(value, dict):
            value = {key: self.filled(each) for key, each in value.items()}
        return value

    def save(self, body: Any, wanted: dict[str, str]) -> None:
        for name, path in wanted.items():
            value = body
            for step in path.strip("/").split("/"):
                value = value[int(step)] if isinstance(value, list) else (value or {}).get(step, "")
            self.saved[name] = str(value or "")

    def version(self, text: str) -> str:
        named = (name for name, saved in self.saved.items() if name.startswith("rv") and saved == text)
        return f"<{next(named, 'rv')}>"

    def anonymous(self, record: Any) -> Any:
        """An answer with the namespaces of the script by their names."""
        text = json.dumps(record).replace(self.saved["ns2"], "{ns2}").replace(self.saved["ns"], "{ns}")
        return json.loads(text)

    def shown(self, body: Any) -> Any:
        """A body in the form of the record."""
        if not isinstance(body, dict):
            return body
        kind = str(body.get("kind", ""))
        if kind == "Table":
            return self._table(body)
        if kind == "Status":
            return self._status(body)
        if kind.endswith("List") and isinstance(body.get("items", []), list):
            items = [self.shown(each) for each in body["items"]]
            return {**body, "metadata": self._list_metadata(body.get("metadata") or {}), "items": items}
        return self._object(body)

    def _object(self, body: dict[str, Any]) -> Any:
        metadata = body.get("metadata") or {}
        cleaned = compare.clean(body)
        if "resourceVersion" in metadata and _is_list(body):
            cleaned["metadata"] = self._list_metadata(metadata)
        elif "resourceVersion" in metadata:
            cleaned["metadata"]["resourceVersion"] = self.version(metadata["resourceVersion"])
        if metadata.get("creationTimestamp", "") is None:
            cleaned["metadata"]["creationTimestamp"] = None
        return cleaned

    def _list_metadata(self, metadata: dict[str, Any]) -> dict[str, Any]:
        shown = dict(metadata)
        if shown.get("resourceVersion"):
            shown["resourceVersion"] = self.version(shown["resourceVersion"])
        if shown.get("continue"):
            shown["continue"] = "<continue>"
        return shown

    def _table(self, body: dict[str, Any]) -> Any:
        columns = body.get("columnDefinitions")
        ages = [AGE_CELL] if columns is None else [i for i, column in enumerate(columns) if column["name"] == "Age"]
        rows = [self._row(row, ages) for row in body["rows"] or ()]
        shown = {**body, "rows": None if body["rows"] is None else rows}
        if columns is not None:
            shown["columnDefinitions"] = [{k: v for k, v in column.items() if k != "description"} for column in columns]
        if body.get("metadata") is not None:
            shown["metadata"] = self._list_metadata(body["metadata"])
        return shown

    def _row(self, row: dict[str, Any], ages: list[int]) -> dict[str, Any]:
        cells = ["<age>" if i in ages else cell for i, cell in enumerate(row["cells"])]
        return {**row, "cells": cells, "object": self.shown(row.get("object"))}

    def _status(self, body: dict[str, Any]) -> Any:
        cleaned = compare.clean(body)
        if (body.get("metadata") or {}).get("continue"):
            cleaned["metadata"] = {"continue": "<continue>"}
        return self._named(cleaned)

    def _named(self, value: Any) -> Any:
        """A value with the resourceVersions in its texts by their names. Numbers stay: one may be the code of the answer."""
        if isinstance(value, dict):
            return {key: self._named(each) for key, each in value.items()}
        if isinstance(value, list):
            return [self._named(each) for each in value]
        if not isinstance(value, str):
            return value
        for name, saved in self.saved.items():
            if name.startswith("rv") and saved:
                value = re.sub(rf"(?<![0-9]){re.escape(saved)}(?![0-9])", f"<{name}>", value)
        for pattern, replacement in _STATUS_VERSIONS:
            value = pattern.sub(replacement, value)
        return value


def _is_list(body: dict[str, Any]) -> bool:
    """Also one whose items are null."""
    return str(body.get("kind", "")).endswith("List")


def is_periodic_bookmark(event: dict[str, Any]) -> bool:
    """A bookmark that depends on the clock: it is not recorded."""
    return event["type"] == "BOOKMARK" and INITIAL_EVENTS_END not in json.dumps(event["object"])
