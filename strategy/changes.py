"""The changes that a pipeline made to the object as sent, each with its reason."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from podstrat.records import NamedTuple
from podstrat.strategy.context import Pod
from podstrat.strategy.field import Place
from podstrat.strategy.formats import go

Dropped = Sequence[tuple[str, str]]


class Change(NamedTuple):
    """One field that came out otherwise than it was sent."""

    kind: str
    """defaulted, dropped, reset, unknown, or generation."""
    path: str
    before: Any
    after: Any
    reason: str

    def __str__(self) -> str:
        if self.kind == "generation":
            return f"generation {self.before} -> {self.after} because {self.reason}"
        if self.kind in ("dropped", "unknown"):
            return f"dropped {self.path} ({self.reason})"
        return f"{self.kind} {self.path} to {go.to_json(self.after)}"


def between(sent: Pod, result: Pod, dropped: Dropped, unknown: Sequence[str], old: Pod | None) -> Iterator[Change]:
    """What differs between the pod as it was read and the pod that would be stored."""
    for complaint in unknown:
        yield Change("unknown", complaint, None, None, "the server does not keep it")
    for gate, path in dropped:
        yield Change("dropped", path, None, None, f"gate {gate} is off")
    for place, before, after in _differences(sent, result, ()):
        text = _text(place)
        if text == "metadata.generation" or any(_one_in_the_other(text, path) for _, path in dropped):
            continue
        if before is None:
            yield Change("defaulted", text, before, after, "not set")
        else:
            yield Change("reset", text, before, after, "not the client's to set" if after is None else "the server's own value")
    yield from _generation(result, old)


def _one_in_the_other(a: str, b: str) -> bool:
    """Whether one path is the other, or leads to it: what was dropped may take what held it along."""
    short, long = sorted((a, b), key=len)
    return long.startswith(short) and long[len(short) : len(short) + 1] in ("", ".", "[")


def _generation(result: Pod, old: Pod | None) -> Iterator[Change]:
    """What becomes of the generation, for kinds that have one."""
    number = result["metadata"].get("generation", 0)
    stored = 0 if old is None else old["metadata"].get("generation", 0)
    if old is None and number:
        yield Change("generation", "metadata.generation", 0, number, f"the {_word(result)} is new")
    elif old is not None and number != stored:
        moved = _moved(_content(old), _content(result)) or _moved(_annotations(old), _annotations(result))
        reason = f"{', '.join(moved)} changed" if moved else "it is being deleted"
        yield Change("generation", "metadata.generation", stored, number, reason)


def _moved(old: Pod, result: Pod) -> list[str]:
    return [_text(place) for place, _, _ in _differences(old, result, ())]


def _content(obj: Pod) -> Pod:
    """What the generation of most kinds follows: all but metadata and status."""
    return {key: value for key, value in obj.items() if key not in ("metadata", "status")}


def _annotations(obj: Pod) -> Pod:
    """What that of Deployments follows besides."""
    return {"metadata": {"annotations": obj["metadata"].get("annotations") or {}}}


def _word(result: Pod) -> str:
    kind: str = result["kind"]
    return "pod" if kind == "Pod" else kind


def _differences(a: Any, b: Any, at: Place) -> Iterator[tuple[Place, Any, Any]]:
    """Where two values differ, as deep as they have the same shape."""
    if a == b:
        return
    if isinstance(a, dict) and isinstance(b, dict):
        for key in {**a, **b}:
            yield from _differences(a.get(key), b.get(key), (*at, key))
    elif isinstance(a, list) and isinstance(b, list) and len(a) == len(b):
        for i, (x, y) in enumerate(zip(a, b, strict=True)):
            yield from _differences(x, y, (*at, i))
    else:
        yield at, a, b


def _text(place: Place) -> str:
    text = ""
    for step in place:
        if isinstance(step, int):
            text += f"[{step}]"
        elif step.isidentifier():
            text += f".{step}"
        else:
            text += f"[{step}]"
    return text.lstrip(".")
