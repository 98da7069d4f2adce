"""Latency and load: timeouts, and how many requests are sent."""

from __future__ import annotations

import json
from collections.abc import Iterable

from podstrat.lint import expressions, values
from podstrat.lint.rule import ERROR, WARNING, Finds, Problem, Rule, rule
from podstrat.lint.subjects import Configuration, Hook

LONG_SECONDS = 5  # half of the server's default: what a user still waits for
LONGEST_SECONDS = 30  # the largest timeoutSeconds that the API takes
REQUEST_SECONDS = 34
"""What the API server gives a whole request."""
OFTEN_WRITTEN = (("", "pods", "status"), ("", "nodes", "status"), ("", "events", ""), ("events.k8s.io", "events", ""))


@rule(
    "timeout-long",
    WARNING,
    (6,),
    "a timeout of more than 5 s, or none",
    "Every write that matches waits that long whenever the webhook does not answer, whatever its failurePolicy.",
    "timeoutSeconds: 3, and a webhook that answers in milliseconds.",
)
def timeout_long(hook: Hook) -> Finds:
    seconds = hook.value.get("timeoutSeconds")
    if seconds is None:
        yield Problem(hook.at(), f"{hook.name} does not say how long the server shall wait, which means 10 s")
    elif not 1 <= hook.seconds <= LONGEST_SECONDS:
        yield Problem(hook.at("timeoutSeconds"), f"{hook.seconds} s is not between 1 and 30, and is refused", ERROR)
    elif hook.seconds > LONG_SECONDS:
        yield Problem(hook.at("timeoutSeconds"), f"The server waits {hook.seconds} s for {hook.name}")


@rule(
    "status-writes",
    WARNING,
    (5, 10, 16),
    "writes that come all day are sent without a condition",
    "Kubelets write the status of every pod and node again and again: a webhook in their way slows down the whole cluster, "
    "most of all when nodes fail and everything is written at once.",
    "matchConditions that let only those writes out that concern the webhook, or no rule for the subresource.",
)
def status_writes(hook: Hook) -> Finds:
    if hook.conditions or hook.is_asked_for:
        return
    for group, resource, part in OFTEN_WRITTEN:
        if hook.matches(group, resource, part, "UPDATE" if part else "CREATE"):
            severity = ERROR if hook.fails_closed and part else None
            what = f"{resource}/{part}" if part else resource
            yield Problem(hook.place_of(group, resource, part), f"All writes of {what} are sent to {hook.name}", severity)
            return


@rule(
    "nested-loops",
    WARNING,
    (16,),
    "a match condition whose cost is quadratic in the object",
    "The API server limits the cost of an expression. An object with some hundred items exceeds the limit: with failurePolicy "
    "Fail every later write of it is rejected with 403, with Ignore the webhook is skipped.",
    "Collect what the inner loop looks for once, outside of the loop: [list.map(x, x.name)].exists(names, other.exists(y, y.name "
    "in names)).",
)
def nested_loops(hook: Hook) -> Finds:
    severity = ERROR if hook.fails_closed else None
    for i, expression in enumerate(hook.conditions):
        if (inner := expressions.nested(expression)) is not None:
            place = hook.at("matchConditions", i, "expression")
            yield Problem(place, f"{inner} is gone through again for each item of another list of the request", severity)


@rule(
    "timeouts-together",
    ERROR,
    (44,),
    "timeouts that add up to more than a request may take",
    "The API server gives a request 34 s. Mutating webhooks are asked one after the other: when their server is gone, the write "
    "fails even if each of them fails open.",
    "Shorter timeouts: the sum over all mutating webhooks, and the longest of the validating ones, well below 34 s.",
)
def timeouts_together(configuration: Configuration) -> Finds:
    """Told once, where the longest of the mutating webhooks is."""
    hooks = [hook for hook in configuration.scene.hooks if hook.matches("", "pods", "", "CREATE")]
    mutating = _one_of_each(hook for hook in hooks if hook.mutating)
    validating = [hook.seconds for hook in hooks if not hook.mutating]
    together = sum(hook.seconds for hook in mutating) + max(validating, default=0)
    if together <= REQUEST_SECONDS or not mutating:
        return
    worst = max(mutating, key=lambda hook: hook.seconds)
    if worst.configuration is configuration:
        counted = f"{len(mutating)} mutating webhooks" if len(mutating) > 1 else "One mutating webhook"
        rest = " and the validating ones" if validating else ""
        yield Problem(worst.at("timeoutSeconds"), f"{counted}{rest} may take {together} s to create a pod")


def _one_of_each(hooks: Iterable[Hook]) -> list[Hook]:
    """Webhooks that are called for the same with other selectors stand for each other: the slowest of them counts."""
    by_key: dict[str, Hook] = {}
    for hook in hooks:
        key = json.dumps([hook.configuration.name, hook.client, hook.rules], sort_keys=True, default=str)
        if key not in by_key or by_key[key].seconds < hook.seconds:
            by_key[key] = hook
    return list(by_key.values())


@rule(
    "several-webhooks",
    WARNING,
    (3,),
    "two webhooks of a configuration for the same writes",
    "Each of them is a call of its own for every write.",
    "One webhook with the rules of both: the server behind it can tell what it was asked about.",
)
def several_webhooks(configuration: Configuration) -> Finds:
    hooks = configuration.hooks
    for i, hook in enumerate(hooks):
        for other in hooks[:i]:
            if _same_scope(hook, other) and (shared := _shared(hook, other)):
                yield Problem(hook.at("rules"), f"{hook.name} and {other.name} are both called for {shared}")
                break


def _same_scope(a: Hook, b: Hook) -> bool:
    keys = ("namespaceSelector", "objectSelector", "matchConditions")
    return a.service is not None and a.service == b.service and all(a.value.get(key) == b.value.get(key) for key in keys)


def _shared(a: Hook, b: Hook) -> str:
    """A resource that both are called for, by name; empty if there is none."""
    for each in a.rules:
        for group in values.texts(each.get("apiGroups")):
            for resource in values.texts(each.get("resources")):
                name, _, part = resource.partition("/")
                for operation in values.texts(each.get("operations")):
                    if b.matches(group, name, part, operation):
                        return f"{operation} of {resource}"
    return ""


HOOKS: tuple[Rule, ...] = (timeout_long, status_writes, nested_loops)
CONFIGURATIONS: tuple[Rule, ...] = (timeouts_together, several_webhooks)
