"""The spec of a Job, alone or in the template of a CronJob."""

from __future__ import annotations

import re
from collections.abc import Sequence

from podstrat.strategy import errors, field
from podstrat.strategy.api import internal
from podstrat.strategy.context import Context, Pod
from podstrat.strategy.field import Errors
from podstrat.strategy.formats import go, validation
from podstrat.strategy.rules import index_ranges, rollouts, scheduling_groups, templates

MOST_INDEXED, MOST_FAILED, MOST_PARALLEL = 100_000, 100_000, 10_000
MANAGER_LIMIT = 63  # upstream: maxManagedByLength, a DNS label's
RULES_LIMIT, CODES_LIMIT, CONDITIONS_LIMIT, SUCCESS_LIMIT = 20, 255, 20, 20
INDEXES_LIMIT = 64 * 1024  # upstream: maxJobSuccessPolicySucceededIndexesLimit
MODES = ("NonIndexed", "Indexed")
ACTIONS = ("Count", "FailIndex", "FailJob", "Ignore")
OPERATORS = ("In", "NotIn")
STATUSES = ("False", "True", "Unknown")
REPLACEMENTS = ("Failed", "TerminatingOrFailed")
INDEXED_ONLY = "requires indexed completion mode"
MANY_INDEXES = "must be less than or equal to 10000 when completions are above 100000 and used with backoff limit per index"
PATH = "Invalid path (regex used for validation is '[A-Za-z0-9/\\-._~%!$&'()*+,;=:]+')"

_path = re.compile(r"[A-Za-z0-9/\-._~%!$&'()*+,;=:]+", re.ASCII).fullmatch


def spec(spec: Pod, at: str, ctx: Context, about: Context) -> Errors:
    """``about`` is the context of the template.

    Upstream: validateJobSpec
    """
    counts = ("parallelism", "completions", "activeDeadlineSeconds", "backoffLimit", "ttlSecondsAfterFinished")
    yield from rollouts.not_negative(spec, at, *counts, "backoffLimitPerIndex", "maxFailedIndexes")
    if "maxFailedIndexes" in spec and "backoffLimitPerIndex" not in spec:
        yield field.required(f"{at}.backoffLimitPerIndex", "when maxFailedIndexes is specified")
    if "managedBy" in spec:
        yield from _manager(spec["managedBy"], f"{at}.managedBy")
    yield from _mode(spec, at)
    if "podFailurePolicy" in spec:
        yield from _failure_policy(spec, at, ctx)
    if "successPolicy" in spec:
        yield from _success_policy(spec, at, ctx)
    if "podReplacementPolicy" in spec:
        choices = REPLACEMENTS[:1] if "podFailurePolicy" in spec else REPLACEMENTS
        if spec["podReplacementPolicy"] not in choices:
            yield field.not_supported(f"{at}.podReplacementPolicy", spec["podReplacementPolicy"], choices)
    if "scheduling" in spec:
        yield from scheduling_groups.of_job(spec, f"{at}.scheduling")
    yield from templates.template(spec["template"], f"{at}.template", about)
    yield from templates.runs_to_the_end(spec["template"]["spec"], f"{at}.template", "podFailurePolicy" in spec)


def _manager(name: str, at: str) -> Errors:
    """A controller of one's own is named by a domain and a path.

    Upstream: IsDomainPrefixedPath
    """
    domain, slash, path = name.partition("/")
    if not name:
        yield field.required(at)
    elif not slash or not domain or not path:
        yield field.invalid(at, name, 'must be a domain-prefixed path (such as "acme.io/foo")')
    else:
        yield from validation.each(at, domain, validation.dns_subdomain(domain))
        if not _path(path):
            yield field.invalid(at, path, PATH)
    if len(name.encode()) > MANAGER_LIMIT:
        yield field.too_long(at, MANAGER_LIMIT)


def _mode(spec: Pod, at: str) -> Errors:
    """What depends on whether the pods of a job have an index."""
    mode = spec.get("completionMode")
    if mode is not None and mode not in MODES:
        yield field.not_supported(f"{at}.completionMode", mode, MODES)
    if mode == "Indexed":
        yield from _indexed(spec, at)
    if mode in (None, "NonIndexed"):
        for name in ("backoffLimitPerIndex", "maxFailedIndexes"):
            if name in spec:
                yield field.invalid(f"{at}.{name}", spec[name], INDEXED_ONLY)


def _indexed(spec: Pod, at: str) -> Errors:
    completions, parallelism, failed = (spec.get(key) for key in ("completions", "parallelism", "maxFailedIndexes"))
    if completions is None:
        yield field.required(f"{at}.completions", "when completion mode is Indexed")
    if parallelism is not None and parallelism > MOST_INDEXED:
        text = f"must be less than or equal to {MOST_INDEXED} when completion mode is Indexed"
        yield field.invalid(f"{at}.parallelism", parallelism, text)
    if completions is not None and failed is not None and failed > completions:
        yield field.invalid(f"{at}.maxFailedIndexes", failed, "must be less than or equal to completions")
    if failed is not None and failed > MOST_FAILED:
        yield field.invalid(f"{at}.maxFailedIndexes", failed, f"must be less than or equal to {MOST_FAILED}")
    if completions is None or completions <= MOST_INDEXED or "backoffLimitPerIndex" not in spec:
        return
    if failed is None:
        yield field.required(f"{at}.maxFailedIndexes", f"must be specified when completions is above {MOST_INDEXED}")
    if parallelism is not None and parallelism > MOST_PARALLEL:
        yield field.invalid(f"{at}.parallelism", parallelism, MANY_INDEXES)
    if failed is not None and failed > MOST_PARALLEL:
        yield field.invalid(f"{at}.maxFailedIndexes", failed, MANY_INDEXES)


# ---- failures --------------------------------------------------------------------------------------


def _failure_policy(spec: Pod, at: str, ctx: Context) -> Errors:
    """Upstream: validatePodFailurePolicy"""
    rules = spec["podFailurePolicy"].get("rules") or ()
    at = f"{at}.podFailurePolicy.rules"
    if len(rules) > RULES_LIMIT:
        yield field.too_many(at, len(rules), RULES_LIMIT)
    names = {
        container["name"] for kind in ("initContainers", "containers") for container in spec["template"]["spec"].get(kind) or ()
    }
    for i, rule in enumerate(rules):
        yield from _failure_rule(rule, f"{at}[{i}]", spec, names, ctx)


def _failure_rule(rule: Pod, at: str, spec: Pod, names: set[str], ctx: Context) -> Errors:
    """Upstream: validatePodFailurePolicyRule"""
    action = rule.get("action", "")
    if not action:
        yield field.required(f"{at}.action", f"valid values: {_listed(ACTIONS)}")
    elif action == "FailIndex":
        if "backoffLimitPerIndex" not in spec:
            text = "requires the backoffLimitPerIndex to be set"
            yield field.invalid(f"{at}.action", action, text, show=go.to_json(action))
    elif action not in ACTIONS:
        yield field.not_supported(f"{at}.action", action, ACTIONS)
    codes, conditions = rule.get("onExitCodes"), rule.get("onPodConditions") or ()
    if codes is not None:
        yield from _exit_codes(codes, f"{at}.onExitCodes", names)
    if conditions:
        yield from _pod_conditions(conditions, f"{at}.onPodConditions", ctx)
    if codes is not None and conditions:
        yield field.valueless(at, "specifying both OnExitCodes and OnPodConditions is not supported")
    elif codes is None and not conditions:
        yield field.valueless(at, "specifying one of OnExitCodes and OnPodConditions is required")


def _exit_codes(codes: Pod, at: str, names: set[str]) -> Errors:
    """Upstream: validatePodFailurePolicyRuleOnExitCodes"""
    operator = codes.get("operator", "")
    if not operator:
        yield field.required(f"{at}.operator", f"valid values: {_listed(OPERATORS)}")
    elif operator not in OPERATORS:
        yield field.not_supported(f"{at}.operator", operator, OPERATORS)
    if "containerName" in codes and codes["containerName"] not in names:
        text = "must be one of the container or initContainer names in the pod template"
        yield field.invalid(f"{at}.containerName", codes["containerName"], text)
    values = codes.get("values")
    if not values:
        yield field.invalid(f"{at}.values", values, "at least one value is required")
        return
    if len(values) > CODES_LIMIT:
        yield field.too_many(f"{at}.values", len(values), CODES_LIMIT)
    seen = set[int]()
    ordered = True
    for i, value in enumerate(values):
        if operator == "In" and value == 0:
            yield field.invalid(f"{at}.values[{i}]", value, "must not be 0 for the In operator")
        if value in seen:
            yield field.duplicate(f"{at}.values[{i}]", value)
        seen.add(value)
        ordered = ordered and (i == 0 or values[i - 1] <= value)
    if not ordered:
        yield field.invalid(f"{at}.values", values, "must be ordered")


def _pod_conditions(conditions: Sequence[Pod], at: str, ctx: Context) -> Errors:
    """The status of a pattern is known. Upstream also asks for one, but a pattern without has been given True by then.

    Upstream: validatePodFailurePolicyRuleOnPodConditions
    """
    if len(conditions) > CONDITIONS_LIMIT:
        yield field.too_many(at, len(conditions), CONDITIONS_LIMIT)
    for i, condition in enumerate(conditions):
        kind, status = condition.get("type", ""), condition.get("status", "")
        yield from validation.each(f"{at}[{i}].type", kind, validation.label_key(kind, ctx.name_unit))
        if status not in STATUSES:
            yield field.not_supported(f"{at}[{i}].status", status, STATUSES)


def _listed(choices: Sequence[str]) -> str:
    """As Go prints a list of strings with %q."""
    return "[" + " ".join(map(go.quote, choices)) + "]"


# ---- success ---------------------------------------------------------------------------------------


def _success_policy(spec: Pod, at: str, ctx: Context) -> Errors:
    """Upstream: validateSuccessPolicy"""
    policy = spec["successPolicy"]
    at = f"{at}.successPolicy"
    if spec.get("completionMode") != "Indexed":
        yield field.invalid(at, policy, INDEXED_ONLY, show=internal.text("batch.SuccessPolicy", policy, ctx.version))
        return
    rules = policy.get("rules") or ()
    if not rules:
        yield field.required(f"{at}.rules", "at least one rules must be specified when the successPolicy is specified")
    if len(rules) > SUCCESS_LIMIT:
        yield field.too_many(f"{at}.rules", len(rules), SUCCESS_LIMIT)
    for i, rule in enumerate(rules):
        yield from _success_rule(rule, f"{at}.rules[{i}]", spec)


def _success_rule(rule: Pod, at: str, spec: Pod) -> Errors:
    """The server reads completions here without a look whether there are any, and panics where there are none.

    Upstream: validateSuccessPolicyRule
    """
    completions = spec.get("completions")
    indexes, count = rule.get("succeededIndexes"), rule.get("succeededCount")
    if completions is None and (indexes is not None or count is not None):
        raise errors.Panic(f"{at} without completions of the job; set completions")
    if indexes is None and count is None:
        yield field.required(at, "at least one of succeededCount or succeededIndexes must be specified")
    total = 0
    if indexes is not None:
        if len(indexes.encode()) > INDEXES_LIMIT:
            yield field.too_long(f"{at}.succeededIndexes", INDEXES_LIMIT)
        try:
            total = index_ranges.count(indexes, completions or 0)
        except index_ranges.RangeError as error:
            yield field.invalid(f"{at}.succeededIndexes", indexes, f"error parsing succeededIndexes: {error}")
    if count is None:
        return
    yield from rollouts.not_negative(rule, at, "succeededCount")
    if completions is not None and count > completions:
        text = f"must be less than or equal to {completions} (the number of specified completions)"
        yield field.invalid(f"{at}.succeededCount", count, text)
    if indexes is not None and count > total:
        text = f"must be less than or equal to {total} (the number of indexes in the specified succeededIndexes field)"
        yield field.invalid(f"{at}.succeededCount", count, text)
