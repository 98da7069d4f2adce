"""The strategy and the rules of MutatingAdmissionPolicies."""

from __future__ import annotations

from podstrat.strategy import field
from podstrat.strategy.context import Context, Pod
from podstrat.strategy.field import Errors
from podstrat.strategy.kinds import admission_policy, plain
from podstrat.strategy.kinds.kind import Create, Strategy, Update
from podstrat.strategy.rules import expressions, meta, policies
from podstrat.strategy.verbs import deletion

OPERATIONS = ("*", "CONNECT", "CREATE", "UPDATE")
REINVOCATION_POLICIES = ("IfNeeded", "Never")
PATCH_TYPES = {
    "ApplyConfiguration": ("applyConfiguration", expressions.APPLY_CONFIGURATION),
    "JSONPatch": ("jsonPatch", expressions.JSON_PATCHES),
}
"""By patch type: the field that has the expression, and what that may use."""


def rules(obj: Pod, ctx: Context) -> Errors:
    """Upstream: ValidateMutatingAdmissionPolicy"""
    yield from meta.on_create(obj["metadata"], ctx)
    yield from spec_rules(obj["spec"], ctx)


def spec_rules(spec: Pod, ctx: Context) -> Errors:
    """Upstream: validateMutatingAdmissionPolicySpec"""
    params = spec.get("paramKind") is not None
    yield from policies.common(spec, ctx)
    for rule in (spec.get("matchConstraints") or {}).get("resourceRules") or ():
        for operation in rule.get("operations") or ():
            if operation == "DELETE":
                # The server's path has no indexes.
                yield field.not_supported("spec.matchConstraints.resourceRules.operations", operation, OPERATIONS)
    yield from policies.match_conditions(spec.get("matchConditions") or (), params, "spec.matchConditions")
    variables = yield from policies.variables(spec.get("variables") or (), params, "spec.variables")
    mutations = spec.get("mutations") or []
    if not mutations:
        yield field.required("spec.mutations", "mutations must contain at least one item")
    for i, mutation in enumerate(mutations):
        yield from _mutation(mutation, params, variables, f"spec.mutations[{i}]")
    policy = spec.get("reinvocationPolicy", "")
    if not policy:
        yield field.required("spec.reinvocationPolicy")
    elif policy not in REINVOCATION_POLICIES:
        yield field.not_supported("spec.reinvocationPolicy", policy, REINVOCATION_POLICIES)


def _mutation(mutation: Pod, params: bool, variables: expressions.Variables, at: str) -> Errors:
    """Upstream: validateMutation"""
    kind = mutation.get("patchType", "")
    if not kind:
        yield field.required(f"{at}.patchType")
        return
    if kind not in PATCH_TYPES:
        yield field.not_supported(f"{at}.patchType", kind, tuple(PATCH_TYPES))
        return
    for other, (name, use) in PATCH_TYPES.items():
        value = mutation.get(name)
        if other != kind:
            if value is not None:
                yield field.forbidden(f"{at}.{name}", f"must not be specified when patchType is {kind}")
        elif value is None:
            yield field.required(f"{at}.{name}", f"must be specified when patchType is {kind}")
        elif not policies.trimmed(value.get("expression", "")):
            yield field.required(f"{at}.{name}.expression", policies.NOT_SPECIFIED)
        else:
            yield from policies.expression(value["expression"], use, params, f"{at}.{name}.expression", variables)


def update_rules(obj: Pod, old: Pod, ctx: Context) -> Errors:
    """Upstream: ValidateMutatingAdmissionPolicyUpdate"""
    yield from plain.generic(obj, old, ctx)
    yield from spec_rules(obj["spec"], ctx)


STRATEGY = Strategy(
    default=admission_policy.default_policy,
    create=Create(admission_policy.for_create, rules, plain.silent),
    updates={"": Update(admission_policy.for_update, update_rules, plain.no_warnings)},
    delete=deletion.background,
)
