"""Recorded create cases as YAML files, and where in such a file an error of the server belongs."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, NamedTuple

import yaml

from podstrat.check import yaml_writer
from podstrat.check.selection import KINDS
from tests.conformance.recorded import BASES, Recording, edited, kind_recordings, recordings

Place = tuple[str | int, ...]
Mark = tuple[int, int]

# What YAML cannot say: of a number only its value counts, so that 1.0 is 1.
NOT_IN_YAML = frozenset(
    {"create/podspec/decode/priority-float", "workload/Deployment/create/podspec/decode/activeDeadlineSeconds-float-1000"}
)
VALIDATIONS = {"": "Warn", "Warn": "Warn", "Strict": "Strict", "Ignore": "Ignore"}


class Case(NamedTuple):
    """A pod that a server was asked to create."""

    id: str
    body: dict[str, Any]
    validation: str
    want: dict[str, Any]
    edits: list[str]
    """Where the case differs from a plain pod."""


def recording(name: str = "1.37") -> Recording:
    return next(each for each in recordings() if each.name == name)


def cases(name: str = "1.37") -> Iterator[Case]:
    """The create cases whose request a file and the flags can make: no exact bytes, no options that kubectl does not send."""
    for case in recording(name).cases():
        step = case["steps"][0]
        query = dict(step.get("query") or {})
        validation = query.pop("fieldValidation", "")
        if step["do"] != "create" or "raw" in step or query or validation not in VALIDATIONS or case["id"] in NOT_IN_YAML:
            continue
        body = edited(BASES[step["base"]], step.get("edit", [])) if "base" in step else step["body"]
        edits = [operation["path"] for operation in step.get("edit", [])]
        yield Case(case["id"], body, VALIDATIONS[validation], case["want"][0], edits)


def kind_cases(name: str) -> Iterator[Case]:
    """The create cases about other kinds that a file can make: the object is of the case's kind, and says so."""
    found = next(each for each in kind_recordings() if each.name == name)
    for case in found.cases():
        step = case["steps"][0]
        query = dict(step.get("query") or {})
        validation = query.pop("fieldValidation", "")
        if step["do"] != "create" or "raw" in step or query or validation not in VALIDATIONS:
            continue
        body = step["body"]
        is_own = body.get("kind") == case["kind"] and body.get("apiVersion") == KINDS.get(case["kind"])
        if is_own and not any(isinstance(value, float) and value.is_integer() for value in _leaves(body)):
            yield Case(case["id"], body, VALIDATIONS[validation], case["want"][0], [])


def _leaves(value: Any) -> Iterator[Any]:
    if isinstance(value, (dict, list)):
        for each in value.values() if isinstance(value, dict) else value:
            yield from _leaves(each)
    else:
        yield value


def text(case: Case) -> str:
    return yaml_writer.text(case.body)


# ---- where an error belongs ----------------------------------------------------------------------------

# Paths that the server spells in its own way, and what they mean; * is any item.
SPELLINGS = (
    (r"\.downwarAPI\b", ".downwardAPI"),
    (r"\.cephFS\b", ".cephfs"),
    (r"\.persistentDisk\b", ".gcePersistentDisk"),
    (r"\.initiatorname\b", ".initiatorName"),
    (r"\.HostPID\b", ".hostPID"),
    (r"\.HostIPC\b", ".hostIPC"),
    (r"\.uID\b", ".uid"),
    (r"(spec\.overhead)\.limits\[", r"\1["),
    (r"(volumeClaimTemplate\.spec\.resources)\[", r"\1.requests["),
    (r"(Execution\[\d+\](?:\.podAffinityTerm)?)\[(\d+)\]$", r"\1.matchLabelKeys[\2]"),
    (r"(Execution\[\d+\](?:\.podAffinityTerm)?)\[(\d+)\]$", r"\1.mismatchLabelKeys[\2]"),
    (r"(Execution\[\d+\])\.namespace$", r"\1.namespaces[*]"),
    (r"(topologySpreadConstraints\[\d+\])\[(\d+)\]$", r"\1.matchLabelKeys[\2]"),
    (r"(topologySpreadConstraints\[)\d+\]\.\{.*\}$", r"\1*].topologyKey"),
    (r"(tolerations\[\d+\])\.operator$", r"\1.value"),
    (r"(volumes\[\d+\]\.downwardAPI)\.", r"\1.items[*]."),
    (r"(projected\.sources\[\d+\]\.downwardAPI)\.", r"\1.items[*]."),
    (r"(volumes\[\d+\]\.projected)\.path$", r"\1.sources[*].serviceAccountToken.path"),
    (r"(\.volumeMounts)\.(\w+)$", r"\1[*].\2"),
    (r"(\.resizePolicy|\.envFrom|\.ownerReferences|\.downwardAPI\.items)$", r"\1[*]"),
    (r"(\.downwardAPI)$", r"\1.items[*]"),
    (r"(\.fieldRef)$", r"\1.fieldPath"),
    (r"(volumeClaimTemplate\.spec)$", r"\1.dataSource"),
    (r"(volumeClaimTemplate\.spec\.dataSource(?:Ref)?)$", r"\1.apiGroup"),
    (r"(annotations\.scheduler\.alpha\.kubernetes\.io/tolerations)\[.*", r"\1"),
    (r"(spec)\.resources\.containers(\[\d+\])\[([^\]]*)\]\.limits", r"\1.containers\2.resources.limits[\3]"),
    (r"(resources\.)requests\[", r"\1limits["),  # requests that nobody wrote are the limits
    (r"(resources\.)limits$", r"\1requests[*]"),  # what a limit is missing for
    (r"(metadata\.annotations)\.(.*)", r"\1[\2]"),
    # Of workloads: the metadata of a template, and what the server makes of the one for the other.
    (r"(emplate)\.(labels|annotations)", r"\1.metadata.\2"),
    (r"^metadata\.labels$", "spec.template.metadata.labels"),
    (r"template\.spec\.volumes\[\d+\](?:\.persistentVolumeClaim)?\.\w+$", "volumeClaimTemplates[*].metadata.name"),
    (r"(trategy)$", r"\1.type"),
    # Of other kinds.
    (r"^\[\]$", "data"),
    (r"(spec\.resources)\[", r"\1.requests["),
    (r"^spec$", "spec.dataSource"),
    (r"(scopeSelector\.matchExpressions)\.", r"\1[*]."),
    (r"(spec\.clusterIP)s(?:\[0\])?$", r"\1"),
    (r"\.LoadBalancerSourceRanges\b", ".loadBalancerSourceRanges"),
    (r"(requests\[\d+\])\.adminAccess$", r"\1.exactly.adminAccess"),
    (r"^spec(\.devices\..*\.adminAccess)$", r"spec.spec\1"),
)


class Marks:
    """Where the parts of a YAML text stand, read by PyYAML: another reader than the one that is tried."""

    def __init__(self, text: str) -> None:
        self.values: dict[Place, Mark] = {}
        self.keys: dict[Place, Mark] = {}
        root = yaml.compose(text, yaml.SafeLoader)
        self._walk(root, ())

    def _walk(self, node: yaml.Node, at: Place) -> None:
        self.values[at] = node.start_mark.line + 1, node.start_mark.column + 1
        if isinstance(node, yaml.MappingNode):
            for key, value in node.value:
                self.keys[*at, key.value] = key.start_mark.line + 1, key.start_mark.column + 1
                self._walk(value, (*at, key.value))
        elif isinstance(node, yaml.SequenceNode):
            for i, item in enumerate(node.value):
                self._walk(item, (*at, i))

    def parent(self, place: Place) -> set[Mark]:
        """Where the nearest thing stands that would hold an absent field: its key, or the item that it is."""
        while place not in self.values:
            place = place[:-1]
        return {self.keys.get(place, self.values[place])}


def expected(field: str, value: Any, body: Any, marks: Marks) -> set[Mark]:
    """The places that count as exact: the field; in it the value or key that is shown; of an absent field its parent."""
    there: set[Mark] = set()
    absent: set[Mark] = set()
    if field.endswith("labels") and value and value == _metadata(body).get("name"):
        there.add(marks.values["metadata", "name"])  # the labels that the pods of a Job, and Namespaces, get from its name
    for place in _meanings(field, body):
        if place not in marks.values:
            absent |= marks.parent(place)
            continue
        there |= {marks.values[place]} | _shown(value, body, place, marks)
    return there or absent


def decoded(message: str, body: Any, marks: Marks) -> set[Mark]:
    """Where a body is at fault that cannot be read: its field is in the message, without indices; a field that is not known."""
    named = re.search(r"Go struct field \w+\.(\S+) of type|unknown field \"([^\"]+)\"", message)
    if named is None:
        return set()
    steps = _steps(named[1] or named[2])
    places = [at for at in (*marks.values, *marks.keys) if [step for step in at if isinstance(step, str)] == _names(steps)]
    return {mark for at in places for mark in (marks.values.get(at), marks.keys.get(at)) if mark is not None}


def _names(steps: list[str | int]) -> list[str]:
    return [step for step in steps if isinstance(step, str)]


def _metadata(body: Any) -> dict[str, Any]:
    metadata = body.get("metadata")
    return metadata if isinstance(metadata, dict) else {}


def _meanings(field: str, body: Any) -> Iterator[Place]:
    spelled = [field]
    for pattern, meaning in SPELLINGS:
        spelled += [re.sub(pattern, meaning, each) for each in spelled if re.search(pattern, each)]
    for each in dict.fromkeys(spelled):
        yield from _expanded(_steps(each), body, ())


def _steps(path: str) -> list[str | int]:
    steps: list[str | int] = []
    for bracketed, name in re.findall(r"\[([^\]]*)\]|([^.\[\]]+)", path):
        steps.append(name or (int(bracketed) if bracketed.isdecimal() else bracketed))
    return steps


def _expanded(steps: list[str | int], value: Any, at: Place) -> Iterator[Place]:
    """The places that a path with * in it may mean."""
    if not steps:
        yield at
        return
    first, rest = steps[0], steps[1:]
    if first == "*":
        children = value.items() if isinstance(value, dict) else enumerate(value or ())
        for step, child in children:
            yield from _expanded(rest, child, (*at, step))
        return
    if isinstance(value, dict):
        child = value.get(str(first))
    else:
        child = value[first] if isinstance(value, list) and isinstance(first, int) and first < len(value) else None
    yield from _expanded(rest, child, (*at, first))


def _shown(value: Any, body: Any, place: Place, marks: Marks) -> set[Mark]:
    """Where the value that the server shows stands in a field: as a value, or as a key."""
    found = set()
    for each, mark in marks.values.items():
        if each[: len(place)] != place:
            continue
        if _at(body, each) == value and not isinstance(value, (dict, list)) and value is not None:
            found.add(mark)
        if each and each[-1] == value and each in marks.keys:
            found.add(marks.keys[each])
    return found


def _at(body: Any, place: Place) -> Any:
    for step in place:
        body = body[step]
    return body
