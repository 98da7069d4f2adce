"""Eviction responders and their order (since 1.37)."""

from __future__ import annotations

from collections.abc import Sequence

from podstrat.strategy import field
from podstrat.strategy.context import Context, Pod
from podstrat.strategy.field import Errors
from podstrat.strategy.formats import go, validation

# As the API reference has them; priorities below FIRST_PRIORITY are for responders of Kubernetes itself.
MAX_RESPONDERS = 10
MAX_PRIORITY = 100_000
FIRST_PRIORITY = 1_000
RESERVED_DOMAINS = ("k8s.io", "kubernetes.io")

RESERVED_NAME = "domain names *.k8s.io, *.kubernetes.io are reserved"
RESERVED_PRIORITY = "priorities 0-999 are reserved for responders with *.k8s.io suffix"
NEEDS_PREFIX = "must include a prefix (e.g. 'example.com/key')"


def each(responders: Sequence[Pod], at: str, ctx: Context) -> Errors:
    """At most ten, each named once. What an update leaves as it was is not judged again.

    Upstream: the rules declared with PodSpec.evictionResponders
    """
    stored: Sequence[Pod] = () if ctx.old is None else ctx.old["spec"].get("evictionResponders") or ()
    if responders == stored:
        return
    if len(responders) > MAX_RESPONDERS:
        yield field.too_many(at, len(responders), MAX_RESPONDERS)
        return
    names: set[str] = set()
    for i, responder in enumerate(responders):
        if responder["name"] in names:
            # Declared rules look at the object as it is on the wire, so this one is printed with its names there.
            yield field.duplicate(f"{at}[{i}]", responder, show=go.to_json(_in_order(responder)))
        names.add(responder["name"])
    before = {responder["name"]: responder["priority"] for responder in stored}
    for i, responder in enumerate(responders):
        name, priority = responder["name"], responder["priority"]
        if name not in before:
            yield from _name(name, f"{at}[{i}].name", ctx)
        if name not in before or priority != before[name]:
            yield from _priority(priority, f"{at}[{i}].priority")


def _in_order(responder: Pod) -> Pod:
    return {"name": responder["name"], "priority": responder["priority"]}


def _name(name: str, path: str, ctx: Context) -> Errors:
    """A label key with a domain that is not one of Kubernetes."""
    if not name:
        yield field.required(path)
        return
    domain = name.partition("/")[0].lower().strip().rstrip(".")
    if any(domain == reserved or domain.endswith(f".{reserved}") for reserved in RESERVED_DOMAINS):
        yield field.invalid(path, name, RESERVED_NAME)
    if faults := validation.label_key(name, ctx.name_unit):
        yield from validation.each(path, name, faults)
    elif "/" not in name:
        yield field.invalid(path, name, NEEDS_PREFIX)


def _priority(priority: int | None, path: str) -> Errors:
    """From 1000 to 100000; what is below is for Kubernetes itself."""
    if priority is None:
        yield field.required(path)
    elif priority < 0:
        yield field.invalid(path, priority, validation.NOT_NEGATIVE)
    elif priority < FIRST_PRIORITY:
        yield field.invalid(path, priority, RESERVED_PRIORITY)
    elif priority > MAX_PRIORITY:
        yield field.invalid(path, priority, f"must be less than or equal to {MAX_PRIORITY}")
