"""The rules, a family a file: validity, calls, scope, mutation, trust, server, access."""

from __future__ import annotations

from podstrat.lint.rule import Rule
from podstrat.lint.rules import access, calls, mutation, scope, server, trust, validity

FOR_HOOKS: tuple[Rule, ...] = (*validity.HOOKS, *calls.HOOKS, *scope.HOOKS, *mutation.HOOKS, *trust.HOOKS, *server.HOOKS)
FOR_CONFIGURATIONS: tuple[Rule, ...] = (*validity.CONFIGURATIONS, *calls.CONFIGURATIONS)
FOR_WORKLOADS: tuple[Rule, ...] = server.WORKLOADS
FOR_ROLES: tuple[Rule, ...] = access.ROLES

ALL: tuple[Rule, ...] = (*FOR_HOOKS, *FOR_CONFIGURATIONS, *FOR_WORKLOADS, *FOR_ROLES)
BY_ID: dict[str, Rule] = {rule.id: rule for rule in ALL}
