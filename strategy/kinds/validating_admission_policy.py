"""The strategy and the rules of ValidatingAdmissionPolicies."""

from __future__ import annotations

import re

from podstrat.strategy import field
from podstrat.strategy.context import Context, Pod
from podstrat.strategy.field import Errors
from podstrat.strategy.formats import validation
from podstrat.strategy.kinds import admission_policy, plain, workload
from podstrat.strategy.kinds.kind import Create, Strategy, Update
from podstrat.strategy.rules import conditions, expressions, meta, policies
from podstrat.strategy.verbs import deletion

REASONS = ("Forbidden", "Invalid", "RequestEntityTooLarge")
AT_LEAST_ONE = "validations or auditAnnotations must contain at least one item"
ANNOTATIONS_LIMIT = 20  # upstream: maxAuditAnnotations
ANNOTATION_LENGTH = 5 * 1024  # upstream: maxAuditAnnotationValueExpressionLength
_LINE_BREAK = re.compile(r"[\n\r]")


def rules(obj: Pod, ctx: Context) -> Errors:
    """Upstream: ValidateValidatingAdmissionPolicy"""
    yield from meta.on_create(obj["metadata"], ctx)
    yield from spec_rules(obj["spec"], obj["metadata"].get("name", ""), ctx)


def spec_rules(spec: Pod, name: str, ctx: Context) -> Errors:
    params = spec.get("paramKind") is not None
    yield from policies.common(spec, ctx)
    yield from policies.match_conditions(spec.get("matchConditions") or (), params, "spec.matchConditions")
    variables = yield from policies.variables(spec.get("variables") or (), params, "spec.variables")
    validations, annotations = spec.get("validations") or [], spec.get("auditAnnotations") or []
    if not validations and not annotations:
        yield field.required("spec.validations", AT_LEAST_ONE)
        yield field.required("spec.auditAnnotations", AT_LEAST_ONE)
        return
    for i, each in enumerate(validations):
        yield from _validation(each, params, variables, f"spec.validations[{i}]")
    if len(annotations) > ANNOTATIONS_LIMIT:
        text = f"must not have more than {ANNOTATIONS_LIMIT} auditAnnotations"
        yield field.invalid("spec.auditAnnotations", annotations, text)
    keys: set[str] = set()
    for i, each in enumerate(annotations):
        yield from _annotation(each, name, params, variables, f"spec.auditAnnotations[{i}]")
        key = each.get("key", "")
        if key in keys:
            yield field.duplicate(f"spec.auditAnnotations[{i}].key", key)
        keys.add(key)


def _validation(each: Pod, params: bool, variables: expressions.Variables, at: str) -> Errors:
    """Upstream: validateValidation"""
    text, message, computed = (each.get(name, "") for name in ("expression", "message", "messageExpression"))
    if not policies.trimmed(text):
        yield field.required(f"{at}.expression", policies.NOT_SPECIFIED)
    else:
        yield from policies.expression(text, expressions.VALIDATION, params, f"{at}.expression", variables)
    if computed and not policies.trimmed(computed):
        yield field.invalid(f"{at}.messageExpression", computed, "must be non-empty if specified")
    elif computed:
        yield from policies.expression(computed, expressions.MESSAGE, params, f"{at}.messageExpression", variables)
    if message and not policies.trimmed(message):
        yield field.invalid(f"{at}.message", message, "must be non-empty if specified")
    elif _LINE_BREAK.search(policies.trimmed(message)):
        yield field.invalid(f"{at}.message", message, "must not contain line breaks")
    reason = each.get("reason")
    if reason is not None and reason not in REASONS:
        yield field.not_supported(f"{at}.reason", reason, REASONS)


def _annotation(each: Pod, name: str, params: bool, variables: expressions.Variables, at: str) -> Errors:
    """Upstream: validateAuditAnnotation"""
    key, text = each.get("key", ""), policies.trimmed(each.get("valueExpression", ""))
    if not name:
        yield field.invalid(f"{at}.key", key, "requires metadata.name be non-empty")
    else:
        qualified = f"{name}/{key}"
        yield from validation.each(f"{at}.key", qualified, validation.label_key(qualified))
    if not text:
        yield field.required(f"{at}.valueExpression", "valueExpression is not specified")
    elif len(text.encode()) > ANNOTATION_LENGTH:
        yield field.required(f"{at}.valueExpression", f"must not exceed {ANNOTATION_LENGTH} bytes in length")
    else:
        yield from policies.expression(text, expressions.ANNOTATION, params, f"{at}.valueExpression", variables)


def update_rules(obj: Pod, old: Pod, ctx: Context) -> Errors:
    """Upstream: ValidateValidatingAdmissionPolicyUpdate"""
    yield from plain.generic(obj, old, ctx)
    yield from spec_rules(obj["spec"], obj["metadata"].get("name", ""), ctx)


def status_rules(obj: Pod, old: Pod, ctx: Context) -> Errors:
    """Upstream: ValidateValidatingAdmissionPolicyStatusUpdate"""
    yield from plain.generic(obj, old, ctx)
    status = obj.get("status") or {}
    for i, warning in enumerate((status.get("typeChecking") or {}).get("expressionWarnings") or ()):
        for name in ("warning", "fieldRef"):
            if not policies.trimmed(warning.get(name, "")):
                yield field.required(f"status.typeChecking.expressionWarnings[{i}].{name}")
    yield from conditions.each(status.get("conditions") or (), "status.conditions", ctx)


STRATEGY = Strategy(
    default=admission_policy.default_policy,
    create=Create(admission_policy.for_create, rules, plain.silent),
    updates={
        "": Update(admission_policy.for_update, update_rules, plain.no_warnings),
        "status": Update(workload.for_status, status_rules, plain.no_warnings),
    },
    delete=deletion.background,
    reset=workload.RESET,
)
