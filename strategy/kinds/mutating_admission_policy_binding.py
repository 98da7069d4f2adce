"""The strategy and the rules of MutatingAdmissionPolicyBindings."""

from __future__ import annotations

from podstrat.strategy.context import Context, Pod
from podstrat.strategy.field import Errors
from podstrat.strategy.kinds import admission_policy, plain
from podstrat.strategy.kinds.kind import Create, Strategy, Update
from podstrat.strategy.rules import meta, policies
from podstrat.strategy.verbs import deletion


def rules(obj: Pod, ctx: Context) -> Errors:
    """Upstream: ValidateMutatingAdmissionPolicyBinding"""
    yield from meta.on_create(obj["metadata"], ctx)
    yield from policies.binding(obj["spec"], ctx)


def update_rules(obj: Pod, old: Pod, ctx: Context) -> Errors:
    """Upstream: ValidateMutatingAdmissionPolicyBindingUpdate"""
    yield from plain.generic(obj, old, ctx)
    yield from policies.binding(obj["spec"], ctx)


STRATEGY = Strategy(
    default=admission_policy.default_binding,
    create=Create(admission_policy.for_create, rules, plain.silent),
    updates={"": Update(admission_policy.for_update, update_rules, plain.no_warnings)},
    delete=deletion.background,
)
