"""Availability of the Deployment behind a webhook during drains, rollouts and node loss."""

from __future__ import annotations

from podstrat.lint import values
from podstrat.lint.rule import ERROR, INFO, WARNING, Finds, Problem, Rule, rule
from podstrat.lint.subjects import Hook, Workload

HTTPS_PORT = 443  # the default of ServiceReference.port
POD = ("spec", "template", "spec")


@rule(
    "single-replica",
    WARNING,
    (9,),
    "one replica",
    "While it is rescheduled, replaced or lost, the webhook is unavailable.",
    "replicas: 2, or more; all of them answer, also where only one of them leads.",
)
def single_replica(workload: Workload) -> Finds:
    if workload.replicas < 2:
        place = ("spec", "replicas") if "replicas" in workload.spec else ("spec",)
        yield Problem(place, f"{workload.name} has {workload.replicas} replica{'s' if workload.replicas != 1 else ''}")


@rule(
    "not-spread",
    WARNING,
    (9,),
    "replicas that may all be on one node",
    "The loss of that node is the loss of all of them.",
    "topologySpreadConstraints over kubernetes.io/hostname and topology.kubernetes.io/zone, or a podAntiAffinity.",
)
def not_spread(workload: Workload) -> Finds:
    anti = values.mapping(values.mapping(workload.pod.get("affinity")).get("podAntiAffinity"))
    if workload.replicas > 1 and not anti and not workload.pod.get("topologySpreadConstraints"):
        yield Problem(POD, f"Nothing keeps the replicas of {workload.name} apart")


@rule(
    "no-disruption-budget",
    WARNING,
    (9,),
    "no disruption budget",
    "Nodes that are drained at the same time take all replicas along.",
    "A PodDisruptionBudget with maxUnavailable: 1 for the pods.",
)
def no_disruption_budget(workload: Workload) -> Finds:
    if workload.replicas > 1 and not workload.budgets:
        yield Problem(("spec",), f"No PodDisruptionBudget is about the pods of {workload.name}")


@rule(
    "budget-holds-up-drains",
    WARNING,
    (9,),
    "a disruption budget that allows none",
    "No node with one of the pods can be drained.",
    "maxUnavailable: 1.",
)
def budget_holds_up_drains(workload: Workload) -> Finds:
    for budget in workload.budgets:
        spec = values.mapping(budget.get("spec"))
        least, most = spec.get("minAvailable"), spec.get("maxUnavailable")
        if most in (0, "0", "0%") or least == "100%" or (type(least) is int and least >= workload.replicas):
            text = f"maxUnavailable: {most}" if most is not None else f"minAvailable: {least}"
            yield Problem(("spec",), f"The budget of {workload.name} says {text} of {workload.replicas}")


@rule(
    "gap-in-rollouts",
    WARNING,
    (9,),
    "a rollout with no available replica",
    "Every new version is a moment without the webhook.",
    "strategy.rollingUpdate with maxUnavailable: 0 and maxSurge: 1.",
)
def gap_in_rollouts(workload: Workload) -> Finds:
    strategy = values.mapping(workload.spec.get("strategy"))
    rolling = values.mapping(strategy.get("rollingUpdate"))
    most = rolling.get("maxUnavailable", "25%")
    if strategy.get("type") == "Recreate":
        yield Problem(("spec", "strategy"), f"All replicas of {workload.name} end before a new one begins")
    elif most == "100%" or (type(most) is int and most >= workload.replicas > 0):
        yield Problem(
            ("spec", "strategy", "rollingUpdate", "maxUnavailable"), f"All replicas of {workload.name} may be replaced at once"
        )


@rule(
    "no-readiness-probe",
    WARNING,
    (9, 43),
    "calls before the webhook is ready",
    "The Service sends calls to replicas that are not listening yet, or have no certificate.",
    "A readinessProbe that succeeds when the webhook answers over TLS.",
)
def no_readiness_probe(workload: Workload) -> Finds:
    containers = values.mappings(workload.pod.get("containers"))
    if containers and not any(each.get("readinessProbe") for each in containers):
        yield Problem((*POD, "containers"), f"No container of {workload.name} has a readinessProbe")


@rule(
    "abrupt-end",
    INFO,
    (9,),
    "no graceful termination",
    "A replica that stops listening before every node has heard of it takes the calls that are on their way along.",
    "A preStop that sleeps for some seconds, or a webhook that goes on serving for a while after SIGTERM.",
)
def abrupt_end(workload: Workload) -> Finds:
    containers = values.mappings(workload.pod.get("containers"))
    if containers and not any(values.mapping(each.get("lifecycle")).get("preStop") for each in containers):
        yield Problem((*POD, "containers"), f"No container of {workload.name} has a preStop")


@rule(
    "service-missing",
    ERROR,
    (8,),
    "a Service that is not there, or lacks the port",
    "The API server has no endpoint to call.",
    "A Service of that name and namespace with the port that clientConfig.service says; 443 where it says none.",
)
def service_missing(hook: Hook) -> Finds:
    """In files a Service that is not there may be elsewhere; on a server it is not."""
    if hook.service is None:
        return
    namespace, name = hook.service
    services = hook.scene.services(namespace, name)
    if not services and hook.scene.live:
        yield Problem(hook.at("clientConfig", "service"), f"There is no Service {name} in {namespace}")
    port = values.number(values.mapping(hook.client.get("service")).get("port"), HTTPS_PORT)
    for service in services:
        ports = [each.get("port") for each in values.mappings(values.mapping(service.get("spec")).get("ports"))]
        if port not in ports:
            yield Problem(hook.at("clientConfig", "service"), f"The Service {name} has no port {port}")


HOOKS: tuple[Rule, ...] = (service_missing,)
WORKLOADS: tuple[Rule, ...] = (
    single_replica,
    not_spread,
    no_disruption_budget,
    budget_holds_up_drains,
    gap_in_rollouts,
    no_readiness_probe,
    abrupt_end,
)
