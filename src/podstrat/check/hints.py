"""Hints for common mistakes, printed after the server's own message."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from podstrat.check import places, selection
from podstrat.records import NamedTuple

if TYPE_CHECKING:
    from podstrat.check.places import Place
    from podstrat.check.report import Finding
    from podstrat.strategy.api.types import Types


class Mistake(NamedTuple):
    """A finding with what is around it."""

    finding: Finding
    place: Place
    object: Any
    types: Types

    @property
    def value(self) -> Any:
        """What stands at the place; None if nothing does."""
        there = places.found(self.place, self.object)
        return places.at(there, self.object) if there == self.place else None


def of(finding: Finding, place: Place, value: Any, types: Types) -> str:
    """The hint for a finding, or an empty text."""
    mistake = Mistake(finding, place, value, types)
    for pattern, hint in _HINTS:
        if match := re.search(pattern, finding.message):
            if text := hint(mistake, match):
                return text
    return ""


TEMPLATE = "this is a template: check its output, as in helm template DIR | podstrat check -"


def of_yaml(problem: str, line: str) -> str:
    """The hint for a line that is not valid YAML, or an empty text."""
    if "\t" in line[: len(line) - len(line.lstrip())]:
        return "YAML is indented with spaces, not tabs"
    if problem == "mapping values are not allowed in this context" and line.count(": ") > 1:
        return 'a value that contains ": " needs quotes'
    return ""


def close(word: str, choices: list[str]) -> str:
    """The choice that a word is nearest to; empty if none is near."""
    folded = {choice.lower(): choice for choice in choices}
    if word.lower() in folded:
        return folded[word.lower()]
    from difflib import get_close_matches

    near = get_close_matches(word.lower(), folded, n=1, cutoff=0.7)
    return folded[near[0]] if near else ""


# ---- fields that are not known -----------------------------------------------------------------------


def _unknown_field(mistake: Mistake, match: re.Match[str]) -> str:
    if not mistake.place:
        return ""
    name = str(mistake.place[-1])
    holder = _type_at(mistake, mistake.place[:-1])
    siblings = {} if holder is None else mistake.types.fields(holder)
    if name.lower() not in map(str.lower, siblings):
        for home, words in _HOMES:
            if home != holder and name in mistake.types.fields(home):
                return f"{name} is a field of {words}: look at the indentation"
    suggestion = close(name, list(siblings))
    return f"did you mean {suggestion}?" if suggestion else ""


# Where a field may belong that stands elsewhere, the likeliest first.
_HOMES = (
    ("Container", "a container"),
    ("PodSpec", "the pod's spec"),
    ("ObjectMeta", "metadata"),
    ("Probe", "a probe"),
    ("Volume", "a volume"),
    ("ContainerPort", "a port"),
    ("SecurityContext", "a container's securityContext"),
    ("PodSecurityContext", "the pod's securityContext"),
)


def _type_at(mistake: Mistake, place: Place) -> str | None:
    """The type of what stands at a place, by the types table."""
    kind = mistake.object.get("kind") if isinstance(mistake.object, dict) else None
    if kind not in selection.KINDS:
        return None
    from podstrat.strategy.api.types import SCALARS, SPECIAL
    from podstrat.strategy.decoding import scheme

    name = scheme.type_name(selection.KINDS[kind].rpartition("/")[0], kind)
    for step in place:
        if isinstance(step, int):
            continue
        field = mistake.types.fields(name).get(step)
        if field is None or field.shape == "map" or field.type in SCALARS or field.type in SPECIAL:
            return None
        name = field.type
    return name


# ---- wrong types -------------------------------------------------------------------------------------

_YAML_WORDS = re.compile(r"(?:yes|y|no|n|on|off)\b", re.IGNORECASE)


def _quote_it(mistake: Mistake, match: re.Match[str]) -> str:
    word = _YAML_WORDS.match(mistake.finding.source, mistake.finding.column - 1)
    if match[1] == "bool" and word:
        return f'YAML reads {word[0]} as {str(mistake.value).lower()}; write "{word[0]}" with quotes'
    value = mistake.value
    if isinstance(value, bool):
        return f'expected a string: write "{str(value).lower()}" with quotes'
    return f'expected a string: write "{value}" with quotes' if isinstance(value, (int, float)) else ""


def _no_quotes(mistake: Mistake, match: re.Match[str]) -> str:
    value = mistake.value
    noun = "true or false" if match[1] == "bool" else "a number"
    plain = isinstance(value, str) and (re.fullmatch(r"-?\d+", value) or value in ("true", "false"))
    return f"expected {noun}: write {value} without quotes" if plain else f"expected {noun}"


def _list_wanted(mistake: Mistake, match: re.Match[str]) -> str:
    if match[1] == "object":
        return "expected a list: begin each item with a dash"
    value = mistake.value
    if match[2] == "[]string" and isinstance(value, str):
        name = str(mistake.place[-1])
        words = f'["sh", "-c", "{value}"]' if name in ("command", "args") and " " in value else f'["{value}"]'
        return f"expected a list: {name}: {words}"
    return "expected a list"


def _mapping_wanted(mistake: Mistake, match: re.Match[str]) -> str:
    return "expected a mapping: no dash before its keys" if match[1] == "array" else "expected a mapping"


# ---- values ------------------------------------------------------------------------------------------

_UNITS = {"kb": "k", "mb": "M", "gb": "G", "tb": "T", "kib": "Ki", "mib": "Mi", "gib": "Gi", "tib": "Ti", "b": ""}
_UNITS |= {unit.lower(): unit for unit in ("k", "G", "T", "P", "Ki", "Mi", "Gi", "Ti", "Pi")}


def _quantity(mistake: Mistake, match: re.Match[str]) -> str:
    value = mistake.value
    parts = re.fullmatch(r"\s*([+-]?[0-9.]+)\s*([A-Za-z]+)\s*", value) if isinstance(value, str) else None
    unit = _UNITS.get(parts[2].lower()) if parts else None
    if parts and unit is not None:
        binary = f" (or {parts[1]}{unit.upper()}i)" if unit in ("k", "M", "G", "T") and parts[2].lower().endswith("b") else ""
        return f"write {parts[1]}{unit}{binary}"
    return "quantities are numbers with a unit of m, k, M, G, Ki, Mi or Gi, such as 500m, 1.5 or 256Mi"


def _dns_name(mistake: Mistake, match: re.Match[str]) -> str:
    value = mistake.finding.value
    if not isinstance(value, str):
        return ""
    allowed = r"[^a-z0-9-]+" if "label" in match[0] else r"[^a-z0-9.-]+"
    suggestion = re.sub(allowed, "-", value.lower()).strip("-.")
    return f'for example "{suggestion}"' if suggestion and suggestion != value and len(suggestion) <= 63 else ""


def _choice(mistake: Mistake, match: re.Match[str]) -> str:
    value = mistake.finding.value
    suggestion = close(value, re.findall(r'"([^"]*)"', match[1])) if isinstance(value, str) else ""
    return f"did you mean {suggestion}?" if suggestion else ""


def _volume(mistake: Mistake, match: re.Match[str]) -> str:
    spec: Any = mistake.object
    for step in _up_to_spec(mistake.place):
        spec = spec[step]
    volume_names = [each.get("name") for each in spec.get("volumes") or () if isinstance(each, dict)]
    names = [name for name in volume_names if isinstance(name, str)]
    suggestion = close(str(mistake.finding.value), names)
    if suggestion:
        return f"did you mean {suggestion}?"
    return f"the volumes of the pod are: {', '.join(names)}" if names else "the pod declares no volumes: add it to spec.volumes"


def _up_to_spec(place: Place) -> Iterator[str | int]:
    """The place of the pod's spec that a place is in."""
    ends = [i for i, step in enumerate(place) if step in ("containers", "initContainers", "ephemeralContainers")]
    yield from place[: ends[0]] if ends else ()


def _request_above_limit(mistake: Mistake, match: re.Match[str]) -> str:
    return "a request must not exceed its limit: lower the request or raise the limit"


def _label_value(mistake: Mistake, match: re.Match[str]) -> str:
    return "label values are restricted; use an annotation for arbitrary text" if "labels" in mistake.place else ""


def _job_restarts(mistake: Mistake, match: re.Match[str]) -> str:
    if mistake.object.get("kind") in ("Job", "CronJob") and mistake.place[-1:] == ("restartPolicy",):
        return "pods of a Job run to completion: set restartPolicy to Never or OnFailure (the default is Always)"
    return ""


def _always_restarts(mistake: Mistake, match: re.Match[str]) -> str:
    if mistake.place[-1:] == ("restartPolicy",) and mistake.place[:1] == ("spec",) and len(mistake.place) > 2:
        return f"pods of a {mistake.object.get('kind')} always restart; use a Job for work that runs to completion"
    return ""


# ---- requests ----------------------------------------------------------------------------------------


def _kind(mistake: Mistake, match: re.Match[str]) -> str:
    return _no_matches(match[1], match[2])


def _version(mistake: Mistake, match: re.Match[str]) -> str:
    return _no_matches(str(mistake.object.get("kind")), match[1])


def _no_matches(kind: str, version: str) -> str:
    if removed := _removed_version(kind, version):
        return removed
    match = {each.lower(): each for each in selection.KINDS}.get(kind.lower())
    suggestion = f"; write apiVersion: {selection.KINDS[match]}, kind: {match}" if match else ""
    return f'kubectl would say: no matches for kind "{kind}" in version "{version}"{suggestion}'


def _removed(mistake: Mistake, match: re.Match[str]) -> str:
    return _removed_version(match[1], match[2])


def _removed_version(kind: str, version: str) -> str:
    from podstrat.check.removed_apis import REMOVED

    removed = REMOVED.get((version, kind))
    return removed.advice(version, kind) if removed else ""


def _namespace(mistake: Mistake, match: re.Match[str]) -> str:
    return f"kubectl would say: You must pass '--namespace={mistake.value}' to perform this operation."


def _say(text: str) -> Callable[[Mistake, re.Match[str]], str]:
    return lambda mistake, match: text


# What the server says, and what to say to it; the first that has something to say wins.
_HINTS: tuple[tuple[str, Callable[[Mistake, re.Match[str]], str]], ...] = (
    (r'unknown field "', _unknown_field),
    (r"cannot unmarshal (number|bool)\b.{0,512} of type (?:string|v1\.\w+|types\.UID)$", _quote_it),
    (r"cannot unmarshal string into .* of type (bool|int32|int64)$", _no_quotes),
    (r"cannot unmarshal (string|object|number|bool)\b.{0,512} of type (\[\]\S+)$", _list_wanted),
    (r"cannot unmarshal (string|array|number|bool)\b.{0,512} of type (v1\.\w+|map\[\S+)$", _mapping_wanted),
    (r"quantities must match|unable to parse quantity's suffix", _quantity),
    (r"a (?:lowercase )?RFC 1123 (label|subdomain)", _dns_name),
    (r"(?s)\A.*: supported values: (.*)", _job_restarts),
    (r"(?s)\A.*: supported values: (.*)", _always_restarts),
    (r"(?s)\A.*: supported values: (.*)", _choice),
    (r"restartPolicy: Required value", _job_restarts),
    (r"volumeMounts\[\d+\]\.name: Not found", _volume),
    (r"must be less than or equal to .* limit", _request_above_limit),
    (r"must be no more than 15 (characters|bytes)", _say("port names have at most 15 letters, digits and dashes")),
    (r"(?s)\A(?>.*?labels?\b).*(must be no more than 63|a valid label must be)", _label_value),
    (
        r"`selector` does not match template `labels`",
        _say("each of spec.selector.matchLabels must also be a label of the template"),
    ),
    (r'no kind "([^"]*)" is registered for (?:the internal )?version "?([^" ]*)', _kind),
    (r"^the API version in the data \(([^)]*)\) does not match", _version),
    (r'no matches for kind "([^"]*)" in version "([^"]*)"$', _removed),
    (r"^the namespace of the provided object does not match", _namespace),
    (
        r"^resourceVersion should not be set|uid mismatch: the provided object|^metadata.managedFields must be nil",
        _say("this object was read from a server: remove metadata.resourceVersion, uid, managedFields and status"),
    ),
    (r"cannot use generate name with apply", _say("kubectl create accepts generateName; check such files with --as create")),
    (r"ephemeralContainers: Forbidden", _say("ephemeral containers are added to a running pod with kubectl debug")),
    (
        r"pod updates may not change fields other than",
        _say("a pod's spec is immutable: change the workload that owns it, or delete and recreate the pod"),
    ),
)
