"""Evaluation of validating policies: every policy that a request matches, its decisions, and what becomes of them.

Upstream: k8s.io/apiserver/pkg/admission/plugin/policy/validating, dispatcher and validator
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from podstrat import cel
from podstrat.strategy import errors
from podstrat.strategy.admission.attributes import Attributes
from podstrat.strategy.admission.policies import activation, matching, parameters
from podstrat.strategy.admission.policies.compiled import POLICY_BUDGET, Binding, Expression, Plan, Policy
from podstrat.strategy.admission.policies.validating import BINDING, Config
from podstrat.strategy.admission.settings import Authorize
from podstrat.strategy.rules import expressions, policies

Object = dict[str, Any]

CODES = {"Unauthorized": 401, "Forbidden": 403, "RequestEntityTooLarge": 413}
INVALID = "Invalid"
LONGEST_MESSAGE = 5 * 1024  # upstream: celconfig.MaxEvaluatedMessageExpressionSizeBytes
FAILURES = "validation.policy.admission.k8s.io/validation_failure"
FAILURES_KEPT = 50  # bounds the audit annotation


class Denied(errors.ApiError):
    """The refusal of a policy: "is forbidden", with the code of its reason."""

    def __init__(self, request: Attributes, cause: str, reason: str) -> None:
        forbidden = request.forbidden(cause)
        super().__init__(forbidden.message, {**(forbidden.details or {}), "causes": [{"message": cause}]})
        self.reason = reason
        self.code = CODES.get(reason, 422)


class Validation(NamedTuple):
    expression: Expression
    message: str
    message_expression: Expression | None
    reason: str


class Decision(NamedTuple):
    """A validation that failed, or had no value."""

    message: str
    reason: str = INVALID
    number: int = 0
    """The index of the validation."""


class Validating(Policy):
    """A validating policy ready to evaluate."""

    def __init__(self, obj: Object) -> None:
        super().__init__(obj)
        self.validations = tuple(self._validation(each) for each in self.spec.get("validations") or ())
        self.annotations = tuple(
            (each["key"], self.expression(policies.trimmed(each.get("valueExpression", "")), expressions.ANNOTATION))
            for each in self.spec.get("auditAnnotations") or ()
        )

    def _validation(self, each: Object) -> Validation:
        text = each.get("messageExpression", "")
        computed = self.expression(text, expressions.MESSAGE) if policies.trimmed(text) else None
        expression = self.expression(each.get("expression", ""), expressions.VALIDATION)
        return Validation(expression, policies.trimmed(each.get("message", "")), computed, each.get("reason") or INVALID)

    def decisions(self, scope: Object, budget: cel.Budget) -> list[Decision]:
        """What the validations deny. All are evaluated; one without a value denies unless the policy ignores failures."""
        found = []
        for i, validation in enumerate(self.validations):
            try:
                if validation.expression.value(scope, budget) is not True:
                    found.append(Decision(_message(validation, scope, budget), validation.reason, i))
            except cel.EvaluationError as error:
                if not self.ignores_failures:
                    found.append(Decision(str(error), INVALID, i))
        return found


def _message(validation: Validation, scope: Object, budget: cel.Budget) -> str:
    """The message expression's text if it is fit, else the message, else the expression."""
    if validation.message_expression is not None:
        try:
            text = validation.message_expression.value(scope, budget)
        except cel.EvaluationError:
            text = ""
        text = policies.trimmed(text) if isinstance(text, str) else ""
        if text and "\n" not in text and len(text.encode()) <= LONGEST_MESSAGE:
            return text
    return validation.message or f"failed expression: {policies.trimmed(validation.expression.text)}"


def validate(request: Attributes, objects: Sequence[Object], config: Config) -> Iterator[str]:
    """Asks every policy; the first denial is the refusal."""
    if request.resource in matching.EXEMPT:
        return
    if config.plan is None:
        config.plan = Plan(Validating)
    run = _Run(request, config.authorize)
    for policy, bindings in config.plan.entries(objects, request.every(BINDING)):
        if policy.constraints.match(run.target, request):
            run.policy(policy, bindings)
    yield from run.warnings
    run.publish()
    if run.denied:
        raise Denied(request, *run.denied[0])


class _Run:
    """The policies over one request."""

    def __init__(self, request: Attributes, authorize: Authorize | None) -> None:
        self.request = request
        self.denied: list[tuple[str, str]] = []
        """Message and reason of each denial."""
        self.warnings: list[str] = []
        self._activation = activation.Activation(request, authorize)
        self.target = self._activation.target
        self._annotations: dict[str, list[str]] = {}
        self._failures: list[Object] = []

    def policy(self, policy: Validating, bindings: list[Binding]) -> None:
        namespaced = True
        if policy.param_kind is not None:
            try:
                namespaced = parameters.scope_of(policy.param_kind, self.request)
            except parameters.ConfigurationError as error:
                self._misconfigured(policy, "", f"failed to configure policy: {error}")
                return
        for binding in bindings:
            if not binding.constraints.match(self.target, self.request):
                continue
            if policy.param_kind is None:
                self._evaluate(policy, binding, None)
                continue
            try:
                params = parameters.collect(policy.param_kind, binding.param_ref, namespaced, self.request)
            except parameters.ConfigurationError as error:
                self._misconfigured(policy, binding.name, f"failed to configure binding: {error}")
                continue
            for param in params:
                self._evaluate(policy, binding, param)

    def _misconfigured(self, policy: Validating, binding: str, text: str) -> None:
        if not policy.ignores_failures:
            self._deny(policy, binding, Decision(text))

    def _deny(self, policy: Validating, binding: str, decision: Decision) -> None:
        named = f"'{policy.name}' with binding '{binding}'" if binding else f"'{policy.name}'"
        text = f"ValidatingAdmissionPolicy {named} denied request: {decision.message}"
        self.denied.append((text, decision.reason))

    def _evaluate(self, policy: Validating, binding: Binding, param: Object | None) -> None:
        """One policy with one binding and one parameter."""
        budget = cel.Budget(POLICY_BUDGET)
        variables = self._activation.for_policy(policy.needs)
        try:
            if policy.conditions and not policy.condition(variables, param):
                return
        except cel.EvaluationError as error:
            if not policy.ignores_failures:
                self._act(policy, binding, Decision(str(error)))
            return
        scope = policy.scope(variables, param, budget)
        for decision in policy.decisions(scope, budget):
            self._act(policy, binding, decision)
        if policy.annotations:
            self._annotate(policy, binding.name, scope, budget)

    def _act(self, policy: Validating, binding: Binding, decision: Decision) -> None:
        """What the binding wants to be done about a failure."""
        for action in binding.actions:
            if action == "Deny":
                self._deny(policy, binding.name, decision)
            elif action == "Warn":
                named = f"'{policy.name}' with binding '{binding.name}'"
                self.warnings.append(f"Validation failed for ValidatingAdmissionPolicy {named}: {decision.message}")
            elif action == "Audit":
                failure = {"message": decision.message, "policy": policy.name, "binding": binding.name}
                self._failures.append({**failure, "expressionIndex": decision.number, "validationActions": list(binding.actions)})

    def _annotate(self, policy: Validating, binding: str, scope: Object, budget: cel.Budget) -> None:
        """Audit annotations; one without a value denies whatever the actions are, unless the policy ignores failures."""
        for key, expression in policy.annotations:
            try:
                value = expression.value(scope, budget)
            except cel.EvaluationError as error:
                if not policy.ignores_failures:
                    self._deny(policy, binding, Decision(str(error)))
                continue
            values = self._annotations.setdefault(f"{policy.name}/{key}", [])
            if isinstance(value, str) and value.strip() and value.strip() not in values:
                values.append(value.strip())

    def publish(self) -> None:
        """Annotations of the audit log: values of several bindings together."""
        self.request.audit.update({key: ", ".join(values) for key, values in self._annotations.items() if values})
        if self._failures:
            self.request.audit[FAILURES] = json.dumps(self._failures[:FAILURES_KEPT], separators=(",", ":"))
