"""Mutating webhooks, and side effects of any webhook."""

from __future__ import annotations

from podstrat.lint.rule import ERROR, INFO, WARNING, Finds, Problem, Rule, rule
from podstrat.lint.subjects import Hook

HARMLESS = ("None", "NoneOnDryRun")


@rule(
    "side-effects",
    ERROR,
    (24, 25),
    "side effects that a dry run cannot do without",
    "The server refuses every dry run of what the webhook matches, kubectl apply --dry-run=server and kubectl diff among them.",
    "sideEffects: None; or NoneOnDryRun, and a webhook that looks at request.dryRun.",
)
def side_effects(hook: Hook) -> Finds:
    value = hook.value.get("sideEffects")
    if value not in HARMLESS:
        place = hook.at("sideEffects") if value is not None else hook.at()
        yield Problem(
            place, f"{hook.name} says {value}" if value is not None else f"{hook.name} does not say whether it has side effects"
        )


@rule(
    "mutating-fails-closed",
    WARNING,
    (28,),
    "a webhook that changes objects and fails closed",
    "Nothing that it changes can be made while it is gone. What must hold is better enforced at the end, on what will be stored.",
    "failurePolicy: Ignore, and a validating webhook or policy for what must not be missing.",
)
def mutating_fails_closed(hook: Hook) -> Finds:
    if hook.mutating and hook.fails_closed and hook.is_about_built_in and not hook.is_asked_for:
        place = hook.at("failurePolicy") if "failurePolicy" in hook.value else hook.at()
        by_default = "" if "failurePolicy" in hook.value else " (by default)"
        yield Problem(place, f"{hook.name} fails closed{by_default}")


@rule(
    "never-asked-again",
    INFO,
    (32, 34),
    "no reinvocation",
    "Webhooks that come later may undo what this one has done, or add what it would have changed.",
    "reinvocationPolicy: IfNeeded, and a webhook that says the same when it is asked twice.",
)
def never_asked_again(hook: Hook) -> Finds:
    if hook.mutating and hook.matches("", "pods", "", "CREATE") and hook.value.get("reinvocationPolicy") != "IfNeeded":
        yield Problem(hook.at(), f"{hook.name} is asked once")


@rule(
    "nothing-confirms",
    INFO,
    (28, 35),
    "the mutation is not validated",
    "A mutating webhook that fails open does not guarantee its mutation; only validation of the final object does.",
    "A validating webhook of the same server, or a ValidatingAdmissionPolicy, for the same resources.",
)
def nothing_confirms(hook: Hook) -> Finds:
    if not hook.mutating or hook.service is None or not hook.is_about_built_in:
        return
    if not any(other.service == hook.service for other in hook.scene.hooks if not other.mutating):
        yield Problem(hook.at(), f"{hook.name} has no validating counterpart")


@rule(
    "mirror-pods",
    INFO,
    (31,),
    "mirror pods may be mutated",
    "A kubelet makes them from files, and refuses or replaces what comes back different.",
    "A match condition that leaves out pods with the annotation kubernetes.io/config.mirror.",
)
def mirror_pods(hook: Hook) -> Finds:
    if not hook.mutating or not hook.matches("", "pods", "", "CREATE") or not hook.reaches("kube-system"):
        return
    if not any("config.mirror" in each for each in hook.conditions):
        yield Problem(hook.place_of("", "pods"), f"{hook.name} is called for mirror pods too")


HOOKS: tuple[Rule, ...] = (side_effects, mutating_fails_closed, never_asked_again, nothing_confirms, mirror_pods)
