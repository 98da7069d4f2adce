"""Status writes that report a terminated container as running again."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import repeat

from podstrat.strategy import field
from podstrat.strategy.context import V1_35, Context, Pod
from podstrat.strategy.field import Errors

NOT_AGAIN = "may not be transitioned to non-terminated state"
_LISTS = (("containerStatuses", "containers"), ("initContainerStatuses", "initContainers"))


def transitions(status: Pod, stored: Pod, spec: Pod, ctx: Context) -> Errors:
    """A terminated container stays so unless its restart policy lets it run again. The index is the stored entry's.

    Upstream: ValidateContainerStateTransition, ValidateInitContainerStateTransition, ValidateEphemeralContainerStateTransition
    """
    everything = _restarts_everything(spec, ctx)
    for key, containers in _LISTS:
        if everything or not stored.get(key):
            continue
        if key == "initContainerStatuses" and ctx.version < V1_35:
            yield from _by_pod_policy(status, stored, spec, key)
        elif _knows_rules(ctx):
            yield from _by_container(status.get(key) or (), stored[key], spec.get(containers) or (), spec, f"status.{key}")
        else:
            yield from _by_pod_policy(status, stored, spec, key)
    key = "ephemeralContainerStatuses"
    running = _running(status.get(key) or ())
    for i, before in enumerate(stored.get(key) or ()):
        if _ended(before) is not None:
            yield from repeat(field.forbidden(f"status.{key}[{i}].state", NOT_AGAIN), running[before["name"]])


def _knows_rules(ctx: Context) -> bool:
    """1.34 looks at the gate alone, later releases also at what the stored pod uses."""
    if ctx.version < V1_35:
        return "ContainerRestartRules" in ctx.gates
    return ctx.allows("ContainerRestartRules")


def _restarts_everything(spec: Pod, ctx: Context) -> bool:
    """A rule that restarts all containers: then every state may follow every other."""
    if not ctx.allows("RestartAllContainersOnContainerExits"):
        return False
    containers = [*(spec.get("containers") or ()), *(spec.get("initContainers") or ())]
    return any(rule["action"] == "RestartAllContainers" for each in containers for rule in each.get("restartPolicyRules") or ())


def _by_container(statuses: Sequence[Pod], stored: Sequence[Pod], containers: Sequence[Pod], spec: Pod, at: str) -> Errors:
    """Each container's own rules, then its own policy, then the pod's. A container that is not in the spec never restarts."""
    running, by_name = _running(statuses), {each["name"]: each for each in reversed(containers)}
    may: dict[tuple[str, int], bool] = {}
    for i, before in enumerate(stored):
        ended = _ended(before)
        if ended is None or not running[before["name"]]:
            continue
        key = before["name"], ended["exitCode"]
        if key not in may:
            container = by_name.get(key[0])
            may[key] = container is not None and _may_restart(container, spec, key[1])
        if not may[key]:
            yield field.forbidden(f"{at}[{i}].state", NOT_AGAIN)


def _may_restart(container: Pod, spec: Pod, exit_code: int) -> bool:
    """Upstream: ContainerShouldRestart"""
    for rule in container.get("restartPolicyRules") or ():
        codes = rule.get("exitCodes")
        if codes is not None and (exit_code in (codes.get("values") or ())) == (codes["operator"] == "In"):
            return True
    return _policy_allows(container.get("restartPolicy") or spec.get("restartPolicy"), exit_code)


def _policy_allows(policy: str | None, exit_code: int) -> bool:
    return policy == "Always" or (policy == "OnFailure" and exit_code != 0)


def _by_pod_policy(status: Pod, stored: Pod, spec: Pod, key: str) -> Errors:
    """Before restart rules the pod's policy alone decided, with sidecars let through: one error a new status of the name."""
    policy = spec.get("restartPolicy")
    if policy == "Always":
        return
    sidecars = {each["name"] for each in spec.get("initContainers") or () if each.get("restartPolicy") == "Always"}
    running = _running(status.get(key) or ())
    for i, before in enumerate(stored.get(key) or ()):
        ended = _ended(before)
        if ended is None or _policy_allows(policy, ended["exitCode"]):
            continue
        if key == "initContainerStatuses" and before["name"] in sidecars:
            continue
        yield from repeat(field.forbidden(f"status.{key}[{i}].state", NOT_AGAIN), running[before["name"]])


def _ended(status: Pod) -> Pod | None:
    state: Pod = status.get("state") or {}
    return state.get("terminated")


def _running(statuses: Sequence[Pod]) -> Counter[str]:
    """How many statuses of each name say that the container has not ended: there is an error for each."""
    return Counter(status["name"] for status in statuses if _ended(status) is None)
