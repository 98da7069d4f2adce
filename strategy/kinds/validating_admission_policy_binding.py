"""The strategy and the rules of ValidatingAdmissionPolicyBindings."""

from __future__ import annotations

from podstrat.strategy import field
from podstrat.strategy.context import Context, Pod
from podstrat.strategy.field import Errors
from podstrat.strategy.formats import go
from podstrat.strategy.kinds import admission_policy, plain
from podstrat.strategy.kinds.kind import Create, Strategy, Update
from podstrat.strategy.rules import meta, policies
from podstrat.strategy.verbs import deletion

ACTIONS = ("Audit", "Deny", "Warn")
DENY_AND_WARN = (
    "must not contain both Deny and Warn "
    "(repeating the same validation failure information in the API response and headers serves no purpose)"
)


def rules(obj: Pod, ctx: Context) -> Errors:
    """Upstream: ValidateValidatingAdmissionPolicyBinding"""
    yield from meta.on_create(obj["metadata"], ctx)
    yield from spec_rules(obj["spec"], ctx)


def spec_rules(spec: Pod, ctx: Context) -> Errors:
    yield from policies.binding(spec, ctx)
    actions = spec.get("validationActions") or []
    for i, action in enumerate(actions):
        if action not in ACTIONS:
            yield field.not_supported(f"spec.validationActions[{i}]", action, ACTIONS)
        if action in actions[:i]:
            yield field.duplicate(f"spec.validationActions[{i}]", action)
    if "Deny" in actions and "Warn" in actions:
        yield field.invalid("spec.validationActions", actions, DENY_AND_WARN, show=go.to_json(actions))
    if not actions:
        yield field.required("spec.validationActions")


def update_rules(obj: Pod, old: Pod, ctx: Context) -> Errors:
    """Upstream: ValidateValidatingAdmissionPolicyBindingUpdate"""
    yield from plain.generic(obj, old, ctx)
    yield from spec_rules(obj["spec"], ctx)


STRATEGY = Strategy(
    default=admission_policy.default_binding,
    create=Create(admission_policy.for_create, rules, plain.silent),
    updates={"": Update(admission_policy.for_update, update_rules, plain.no_warnings)},
    delete=deletion.background,
)
