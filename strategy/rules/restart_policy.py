"""Restart policy of a container, and restart rules by exit code."""

from __future__ import annotations

from typing import Any

from podstrat.strategy import field
from podstrat.strategy.context import V1_35, V1_36, Context
from podstrat.strategy.field import Errors, FieldError

POLICIES = ("Always", "Never", "OnFailure")
OPERATORS = ("In", "NotIn")
RESTART = "Restart"
RESTART_ALL = "RestartAllContainers"

NEEDS_POLICY = "must specify restartPolicy when restart rules are used"
NOT_FOR_SIDECARS = "restartPolicyRules are not allowed for init containers with restart policy Always"


def policy(container: dict[str, Any], at: str, ctx: Context) -> Errors:
    """A container's restart policy is known, and stands by if there are rules.

    Upstream: validateContainerRestartPolicy
    """
    rules = container.get("restartPolicyRules") or ()
    value = container.get("restartPolicy")
    if value is None:
        if not rules:
            return
        yield field.required(f"{at}.restartPolicy", NEEDS_POLICY)
    elif value not in POLICIES:
        yield field.not_supported(f"{at}.restartPolicy", value, POLICIES)
    if len(rules) > 20:
        yield _too_many(f"{at}.restartPolicyRules", len(rules), 20, ctx)
    for i, rule in enumerate(rules):
        yield from _rule(rule, f"{at}.restartPolicyRules[{i}]", ctx)


def init_policy(container: dict[str, Any], at: str, ctx: Context) -> Errors:
    """The same for an init container; one that is always restarted has rules only if all containers may be restarted.

    Upstream: validateInitContainerRestartPolicy
    """
    rules = container.get("restartPolicyRules")
    value = container.get("restartPolicy")
    if value is None:
        if rules and ctx.version >= V1_35:
            yield field.required(f"{at}.restartPolicy", NEEDS_POLICY)
    elif value == "Always" and rules and not ctx.allows("RestartAllContainersOnContainerExits"):
        yield field.forbidden(f"{at}.restartPolicyRules", NOT_FOR_SIDECARS)
    else:
        yield from policy(container, at, ctx)


def _rule(rule: dict[str, Any], at: str, ctx: Context) -> Errors:
    """A rule has a known action and says for which exit codes; these may be any numbers."""
    action = rule.get("action", "")
    if action != RESTART and not (action == RESTART_ALL and ctx.allows("RestartAllContainersOnContainerExits")):
        yield field.not_supported(f"{at}.action", action, _actions(ctx))
    codes = rule.get("exitCodes")
    if codes is None:
        yield field.required(f"{at}.exitCodes", "must be specified")
        return
    if codes.get("operator", "") not in OPERATORS:
        yield field.not_supported(f"{at}.exitCodes.operator", codes.get("operator", ""), OPERATORS)
    values = codes.get("values") or ()
    if len(values) > 255:
        yield _too_many(f"{at}.exitCodes.values", len(values), 255, ctx)


def _actions(ctx: Context) -> tuple[str, ...]:
    """The actions that the error lists; 1.35 forgets the newer one even where it is allowed."""
    if ctx.version >= V1_36 and ctx.allows("RestartAllContainersOnContainerExits"):
        return (RESTART, RESTART_ALL)
    return (RESTART,)


def _too_many(path: str, count: int, limit: int, ctx: Context) -> FieldError:
    """Before 1.36 the server spoke of bytes where it counted items."""
    return field.too_many(path, count, limit) if ctx.version >= V1_36 else field.too_long(path, limit)
