"""Comparing answers: what differs from run to run is taken out, and everything else counts."""

from __future__ import annotations

import json
import re
from typing import Any

# Until this day nothing was recorded, so that a time after it was the server's own.
RECORDED_SINCE = "2026-01-01"
_SYSTEM = ("managedFields", "resourceVersion", "uid", "creationTimestamp", "selfLink")
_AGO = re.compile(r"\(\S+ ago\)")
_WASHED = (
    (re.compile(r"\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b"), "<uid>"),
    (re.compile(r"\b20\d\d-\d\d-\d\d[T ]\d\d:\d\d:\d\d(\.\d+)?( ?[+-]\d{4} UTC|Z)?( m=[+\-0-9.]+)?"), "<time>"),
    (re.compile(r'Invalid value: "\{.*\}"', re.DOTALL), 'Invalid value: "<object>"'),
    (re.compile(r"(?i)(resourceversion in (?:record|object meta|the? ?precondition)[:( ]+)\d+"), r"\1<rv>"),
)


def clean(body: Any, managed: bool = False) -> Any:
    """A body without ids, times and versions."""
    body = json.loads(json.dumps(body))
    if not isinstance(body, dict):
        return body
    if body.get("kind") == "Table":
        return _clean_table(body)
    return _clean_status(body) if body.get("kind") == "Status" else _clean_object(body, managed)


def _clean_status(body: dict[str, Any]) -> Any:
    body.pop("metadata", None)
    if isinstance(body.get("details"), dict):
        body["details"].pop("uid", None)
    return _washed(body)


def _washed(value: Any) -> Any:
    if isinstance(value, str):
        for pattern, replacement in _WASHED:
            value = pattern.sub(replacement, value)
    elif isinstance(value, list):
        value = [_washed(each) for each in value]
    elif isinstance(value, dict):
        value = {key: _washed(each) for key, each in value.items()}
    return value


def _clean_table(body: dict[str, Any]) -> Any:
    """A Table without descriptions and ages."""
    body.pop("metadata", None)
    columns = body.get("columnDefinitions") or []
    for column in columns:
        column.pop("description", None)
    for row in body.get("rows") or ():
        for i, column in enumerate(columns):
            cell = row["cells"][i]
            if column.get("name") == "Age":
                row["cells"][i] = "<age>"
            elif isinstance(cell, str):
                row["cells"][i] = _AGO.sub("(<age> ago)", cell)
        row["object"] = clean(row.get("object"))
    return body


def _clean_object(body: dict[str, Any], managed: bool) -> Any:
    meta = body.get("metadata")
    if isinstance(meta, dict):
        entries = meta.get("managedFields")
        for key in _SYSTEM:
            meta.pop(key, None)
        if managed and entries:
            meta["managedFields"] = [{**each, "time": "<time>"} if "time" in each else each for each in entries]
        if "deletionTimestamp" in meta:
            meta["deletionTimestamp"] = "<time>"
        if meta.get("generateName") and meta.get("name", "").startswith(meta["generateName"]):
            meta["name"] = meta["generateName"] + "<suffix>"
    for condition in (body.get("status") or {}).get("conditions") or ():
        for key in ("lastTransitionTime", "lastProbeTime"):
            if (condition.get(key) or "") > RECORDED_SINCE:
                condition[key] = "<time>"
    return body


def in_recorded_order(body: Any, want: Any) -> Any:
    """An answer with its causes about one resource list in the order of the record.

    The server walks maps in random order, so that several faults of one list come in any order; the record holds one of them.
    Everything else keeps its place.
    """
    causes, wanted = _causes(body), _causes(want)
    if causes == wanted or len(causes) != len(wanted):
        return body
    ordered = list(causes)
    for group in {_list_of(cause) for cause in causes} - {None}:
        places = [i for i, cause in enumerate(causes) if _list_of(cause) == group]
        here = [cause for cause in wanted if _list_of(cause) == group]
        if sorted(map(str, here)) == sorted(str(causes[i]) for i in places):
            for i, cause in zip(places, here, strict=True):
                ordered[i] = cause
    texts = dict.fromkeys(f"{cause['field']}: {cause['message']}" for cause in ordered)
    head = body["message"].partition(" is invalid: ")[0]
    message = f"{head} is invalid: [{', '.join(texts)}]"
    return {**body, "message": message, "details": {**body["details"], "causes": ordered}}


def _causes(body: Any) -> list[dict[str, str]]:
    return (body.get("details") or {}).get("causes") or [] if isinstance(body, dict) else []


def _list_of(cause: dict[str, str]) -> str | None:
    """The resources that a cause is about: ``spec.containers[0].resources`` of ``….resources.limits[cpu]``."""
    match = re.match(r"(.*\bresources)\.(requests|limits)\b", cause.get("field", ""))
    return match[1] if match else None


def first_difference(want: Any, got: Any, at: str = "") -> str | None:
    """Where two values first differ, and how; None if they do not."""
    if type(want) is not type(got):
        return f"{at or '.'}: want {_short(want)} got {_short(got)}"
    if isinstance(want, dict):
        for key in sorted({*want, *got}):
            if key not in got:
                return f"{at}.{key}: missing, want {_short(want[key])}"
            if key not in want:
                return f"{at}.{key}: unexpected {_short(got[key])}"
            if found := first_difference(want[key], got[key], f"{at}.{key}"):
                return found
    elif isinstance(want, list):
        for i, (wanted, given) in enumerate(zip(want, got, strict=False)):
            if found := first_difference(wanted, given, f"{at}[{i}]"):
                return found
        if len(want) != len(got):
            return f"{at}: want {len(want)} items got {len(got)}"
    elif want != got:
        return f"{at or '.'}: want {_short(want)} got {_short(got)}"
    return None


def first_other_order(want: Any, got: Any, at: str = "") -> str | None:
    """Where the keys of two equal values first stand in another order; None if they do not.

    The record has managedFields at the end.
    """
    if isinstance(want, dict):
        wanted, given = ([key for key in each if key != "managedFields"] for each in (want, got))
        if wanted != given:
            return f"{at or '.'}: want keys {_short(wanted)} got {_short(given)}"
        return next((found for key in wanted if (found := first_other_order(want[key], got[key], f"{at}.{key}"))), None)
    if isinstance(want, list):
        pairs = enumerate(zip(want, got, strict=True))
        return next((found for i, (one, other) in pairs if (found := first_other_order(one, other, f"{at}[{i}]"))), None)
    return None


def _short(value: Any) -> str:
    return json.dumps(value)[:240]
