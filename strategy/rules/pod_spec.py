"""The spec of a pod, or of a template of pods: every rule, in the server's order.

What few pods have is imported where it is judged: most offline checks start without it.
"""

from __future__ import annotations

from podstrat.strategy import field
from podstrat.strategy.context import V1_37, Context, Pod
from podstrat.strategy.field import Errors
from podstrat.strategy.formats import validation
from podstrat.strategy.rules import containers, env, meta, operating_system, pod_security, ports, tolerations, volumes

RESTART_POLICIES = ("Always", "OnFailure", "Never")
DNS_POLICIES = ("ClusterFirstWithHostNet", "ClusterFirst", "Default", "None")
MAX_DEADLINE = 2**31 - 1  # the largest int32
CLASSES = frozenset(
    ("priorityClassName", "runtimeClassName", "preemptionPolicy", "overhead", "os", "schedulingGroup", "workloadRef")
)

NO_ACCOUNT = "must not be specified when serviceAccountName is not set"
STILL_GATED = "cannot be set until all schedulingGates have been cleared"


def spec(spec: Pod, metadata: Pod | None, at: str, ctx: Context) -> Errors:
    """What holds wherever a pod spec stands. ``metadata`` is that of the pod; a template has none yet.

    Upstream: ValidatePodSpec
    """
    if "terminationGracePeriodSeconds" not in spec:
        yield field.required(f"{at}.terminationGracePeriodSeconds")
    yield from _parts(spec, metadata, at, ctx)
    if spec.get("restartPolicy") not in RESTART_POLICIES or spec.get("dnsPolicy") not in DNS_POLICIES:
        yield from _policies(spec, at)
    if "nodeSelector" in spec:
        yield from meta.labels(spec["nodeSelector"], ctx.name_unit, f"{at}.nodeSelector")
    if spec.get("securityContext") or spec.get("shareProcessNamespace"):
        yield from pod_security.context(spec, at, ctx)
    if spec.get("affinity"):
        from podstrat.strategy.rules import affinity

        yield from affinity.each(spec["affinity"], f"{at}.affinity", ctx)
    if "dnsConfig" in spec or spec.get("dnsPolicy") == "None":
        from podstrat.strategy.rules import dns

        yield from dns.config(spec, f"{at}.dnsConfig", ctx)
    if "readinessGates" in spec or "schedulingGates" in spec:
        yield from _gates(spec, at, ctx)
    if "topologySpreadConstraints" in spec:
        from podstrat.strategy.rules import spread

        yield from spread.each(spec["topologySpreadConstraints"], f"{at}.topologySpreadConstraints", ctx)
    if operating_system.speaks_of_windows(spec):
        yield from operating_system.host_processes(spec, at, ctx)
    if "hostUsers" in spec:
        yield from pod_security.own_users(spec, at, ctx)
    yield from _names(spec, at)
    if "tolerations" in spec:
        yield from tolerations.each(spec["tolerations"], f"{at}.tolerations", ctx)
    if "hostAliases" in spec:
        from podstrat.strategy.rules import dns

        yield from dns.host_aliases(spec["hostAliases"], f"{at}.hostAliases", ctx)
    if not CLASSES.isdisjoint(spec):
        yield from _classes(spec, at, ctx)
    yield from env.file_key_volumes(spec, at, ctx)


def _parts(spec: Pod, metadata: Pod | None, at: str, ctx: Context) -> Errors:
    """What a pod is made of: volumes, claims, containers; and what it asks for as a whole."""
    usable: dict[str, Pod] = {}
    if spec.get("volumes"):
        usable = yield from volumes.each(spec["volumes"], f"{at}.volumes", ctx, (metadata or {}).get("name", ""))
    if spec.get("resourceClaims"):
        from podstrat.strategy.rules import claims

        yield from claims.each(spec["resourceClaims"], metadata, f"{at}.resourceClaims", ctx)
    yield from containers.regular(spec, at, ctx, usable)
    if spec.get("initContainers"):
        yield from containers.init(spec, at, ctx, usable)
    if spec.get("ephemeralContainers"):
        yield from containers.ephemeral(spec, at, ctx, usable)
    # The gate alone decides, also where a stored pod keeps the field without it.
    if "resources" in spec and "PodLevelResources" in ctx.gates:
        from podstrat.strategy.rules import pod_resources

        yield from pod_resources.pod_level(spec, at, ctx)
    yield from ports.host_network(spec, at, in_template=metadata is None)


def _policies(spec: Pod, at: str) -> Errors:
    """Upstream: validateRestartPolicy"""
    policy = spec.get("restartPolicy", "")
    if not policy:
        yield field.required(f"{at}.restartPolicy")
    elif policy not in RESTART_POLICIES:
        yield field.not_supported(f"{at}.restartPolicy", policy, RESTART_POLICIES)
    yield from dns_policy(spec.get("dnsPolicy", ""), f"{at}.dnsPolicy")


def dns_policy(policy: str, at: str) -> Errors:
    """Upstream: validateDNSPolicy"""
    if not policy:
        yield field.required(at)
    elif policy not in DNS_POLICIES:
        yield field.not_supported(at, policy, DNS_POLICIES)


def _gates(spec: Pod, at: str, ctx: Context) -> Errors:
    """What a pod waits for: to be ready, and to be scheduled."""
    from podstrat.strategy.rules import scheduling

    if "readinessGates" in spec:
        yield from scheduling.readiness_gates(spec["readinessGates"], f"{at}.readinessGates", ctx)
    if "schedulingGates" in spec:
        yield from scheduling.gates(spec["schedulingGates"], f"{at}.schedulingGates", ctx)


def _names(spec: Pod, at: str) -> Errors:
    """Names of the pod on the network, and of its account and node; with the deadline between them."""
    if "hostnameOverride" in spec:
        from podstrat.strategy.rules import dns

        yield from dns.hostname_override(spec, f"{at}.hostnameOverride")
    for key in ("serviceAccountName", "nodeName"):
        if spec.get(key) and (faults := validation.dns_subdomain(spec[key])):
            yield from validation.each(f"{at}.{key}", spec[key], faults)
    deadline = spec.get("activeDeadlineSeconds", 1)
    if not 1 <= deadline <= MAX_DEADLINE:
        yield field.invalid(f"{at}.activeDeadlineSeconds", deadline, validation.between(1, MAX_DEADLINE))
    for key in ("hostname", "subdomain"):
        if spec.get(key) and (faults := validation.dns_label(spec[key])):
            yield from validation.each(f"{at}.{key}", spec[key], faults)


def _classes(spec: Pod, at: str, ctx: Context) -> Errors:
    """Classes that others define, what they bring along, the operating system, and the group to be scheduled with."""
    from podstrat.strategy.rules import scheduling

    if spec.get("priorityClassName") and (faults := validation.dns_subdomain(spec["priorityClassName"])):
        yield from validation.each(f"{at}.priorityClassName", spec["priorityClassName"], faults)
    if "runtimeClassName" in spec and (faults := validation.dns_subdomain(spec["runtimeClassName"])):
        yield from validation.each(f"{at}.runtimeClassName", spec["runtimeClassName"], faults)
    if "preemptionPolicy" in spec:
        yield from scheduling.preemption_policy(spec["preemptionPolicy"], f"{at}.preemptionPolicy")
    if spec.get("overhead"):
        yield from scheduling.overhead(spec, f"{at}.overhead", ctx)
    if "os" in spec:
        yield from operating_system.fields(spec, at, ctx)
    if "schedulingGroup" in spec:
        yield from scheduling.group(spec, f"{at}.schedulingGroup")
    if "workloadRef" in spec:
        yield from scheduling.workload(spec["workloadRef"], f"{at}.workloadRef")


# ---- what holds for pods, but not for templates ------------------------------------------------------


def pod_only(pod: Pod, ctx: Context) -> Errors:
    """A token needs a service account, grace periods are not negative, and images have no surrounding blanks.

    Upstream: validatePodMetadataAndSpec, behind the spec
    """
    spec: Pod = pod["spec"]
    if not spec.get("serviceAccountName"):
        yield from _tokens(spec)
    if ctx.version >= V1_37 and spec.get("terminationGracePeriodSeconds", 0) < 0:
        seconds = spec["terminationGracePeriodSeconds"]
        yield field.invalid("spec.terminationGracePeriodSeconds", seconds, validation.NOT_NEGATIVE)
    yield from containers.image_whitespace(spec, "spec")


def _tokens(spec: Pod) -> Errors:
    for i, volume in enumerate(spec.get("volumes") or ()):
        for j, source in enumerate((volume.get("projected") or {}).get("sources") or ()):
            if "serviceAccountToken" in source:
                yield field.forbidden(f"spec.volumes[{i}].projected.sources[{j}].serviceAccountToken", NO_ACCOUNT)


def on_create(pod: Pod, ctx: Context) -> Errors:
    """A new pod has no ephemeral containers, and no node while it is gated.

    Upstream: ValidatePodCreate
    """
    spec: Pod = pod["spec"]
    if spec.get("ephemeralContainers"):
        yield field.forbidden("spec.ephemeralContainers", "cannot be set on create")
    if spec.get("nodeName") and spec.get("schedulingGates"):
        yield field.forbidden("spec.nodeName", STILL_GATED)


def declared(spec: Pod, at: str, ctx: Context) -> Errors:
    """Rules that the server generates from what its types declare; they come behind all others.

    Upstream: the generated validation of Pod (since 1.37)
    """
    if spec.get("evictionResponders"):
        from podstrat.strategy.rules import responders

        yield from responders.each(spec["evictionResponders"], f"{at}.evictionResponders", ctx)
