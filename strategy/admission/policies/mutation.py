"""Evaluation of mutating policies: every policy that a request matches, in the order of their names.

Upstream: k8s.io/apiserver/pkg/admission/plugin/policy/mutating, dispatcher
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from podstrat import cel
from podstrat.strategy import errors
from podstrat.strategy.admission.attributes import Attributes
from podstrat.strategy.admission.policies import activation, matching, mutations, parameters
from podstrat.strategy.admission.policies.compiled import POLICY_BUDGET, Binding, Expression, Plan, Policy
from podstrat.strategy.admission.policies.mutating import BINDING, Config
from podstrat.strategy.admission.settings import Authorize
from podstrat.strategy.decoding.codec import DecodeError
from podstrat.strategy.rules import expressions

Object = dict[str, Any]

NAME = "MutatingAdmissionPolicy"


class Mutation(NamedTuple):
    expression: Expression
    patches: bool
    """Whether it is a JSON patch; otherwise an apply configuration."""


class Denied(errors.ApiError):
    """The refusal of policies that failed: 403 without the usual words, each failure a cause."""

    code = 403

    def __init__(self, request: Attributes, messages: Sequence[str], reason: str) -> None:
        details = {**(request.forbidden("").details or {}), "causes": [{"message": message} for message in messages]}
        super().__init__(messages[0], details)
        self.reason = reason


class Mutating(Policy):
    """A mutating policy ready to evaluate."""

    def __init__(self, obj: Object) -> None:
        super().__init__(obj)
        self.again = self.spec.get("reinvocationPolicy") == "IfNeeded"
        self.mutations = tuple(self._mutation(each) for each in self.spec.get("mutations") or ())

    def _mutation(self, each: Object) -> Mutation:
        patches = each.get("patchType") == "JSONPatch"
        use = expressions.JSON_PATCHES if patches else expressions.APPLY_CONFIGURATION
        text = (each.get("jsonPatch" if patches else "applyConfiguration") or {}).get("expression", "")
        return Mutation(self.expression(text, use), patches)


def mutate(request: Attributes, objects: Sequence[Object], config: Config) -> Iterator[str]:
    """Runs every policy; in the second round those that were run in the first and want it."""
    if request.resource in matching.EXEMPT:
        return
    if config.plan is None:
        config.plan = Plan(Mutating)
    run = _Run(request, config.authorize)
    for policy, bindings in config.plan.entries(objects, request.every(BINDING)):
        if policy.constraints.match(run.target, request):
            yield from run.policy(policy, bindings)
    if run.failures:
        raise Denied(request, [text for text, _ in run.failures], run.failures[0][1])


class _Run:
    """The policies over one request, in one round."""

    def __init__(self, request: Attributes, authorize: Authorize | None) -> None:
        self.request = request
        self.failures: list[tuple[str, str]] = []
        """Message and reason of each failure."""
        self._activation = activation.Activation(request, authorize)
        self.target = self._activation.target
        self._invoked: set[tuple[str, str]] = request.memory.setdefault(NAME, set())

    def policy(self, policy: Mutating, bindings: list[Binding]) -> Iterator[str]:
        namespaced = True
        if policy.param_kind is not None:
            try:
                namespaced = parameters.scope_of(policy.param_kind, self.request)
            except parameters.ConfigurationError as error:
                self._failed(policy, "", f"failed to configure policy: {error}", "Forbidden")
                return
        for binding in bindings:
            if self.request.round and (not policy.again or (policy.name, binding.name) not in self._invoked):
                continue
            if not binding.constraints.match(self.target, self.request):
                continue
            try:
                params = parameters.collect(policy.param_kind, binding.param_ref, namespaced, self.request)
            except parameters.ConfigurationError as error:
                self._failed(policy, binding.name, f"failed to configure binding: {error}", "Forbidden")
                continue
            for param in params:
                yield from self._evaluated(policy, binding.name, param)

    def _failed(self, policy: Mutating, binding: str, text: str, reason: str = "Invalid") -> None:
        if not policy.ignores_failures:
            named = f"'{policy.name}' with binding '{binding}'" if binding else f"'{policy.name}'"
            self.failures.append((f"policy {named} denied request: {text}", reason))

    def _evaluated(self, policy: Mutating, binding: str, param: Object | None) -> Iterator[str]:
        """One policy with one binding and one parameter: each mutation sees what those before it did."""
        budget = cel.Budget(POLICY_BUDGET)
        variables = {**self._activation.for_policy(policy.needs), "object": self.request.draft.printed()}
        try:
            if not policy.condition(variables, param):
                return
        except cel.EvaluationError as error:
            self._failed(policy, binding, str(error))
            return
        self._invoked.add((policy.name, binding))
        for mutation in policy.mutations:
            variables["object"] = self.request.draft.printed()
            scope = policy.scope(variables, param, budget)
            try:
                changed = self._changed(mutation, scope, budget)
            except (cel.EvaluationError, mutations.Unfit) as error:
                self._failed(policy, binding, str(error))
                if not policy.ignores_failures:
                    return
                continue
            if changed:
                self.request.reinvoke()
                yield ""

    def _changed(self, mutation: Mutation, scope: Object, budget: cel.Budget) -> bool:
        """Whether a mutation changed the object, which is decoded and defaulted again. A result that does not decode is a 500."""
        value = mutation.expression.value(scope, budget)
        change = mutations.patched if mutation.patches else mutations.applied
        made = change(scope["object"], value, self.request)
        if made is scope["object"]:
            return False
        try:
            if complaints := self.request.draft.unknown(made):
                raise errors.InternalError(f"strict decoding error: {', '.join(complaints)}")
            is_other = self.request.draft.replace(made)
        except DecodeError as error:
            raise errors.InternalError(str(error)) from None
        self.request.take()
        return is_other
