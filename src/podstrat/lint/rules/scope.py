"""Scope: which requests are sent, and which must not be because a cluster needs them to start and to recover."""

from __future__ import annotations

from podstrat.lint import values
from podstrat.lint.rule import ERROR, WARNING, Finds, Problem, Rule, rule
from podstrat.lint.subjects import Hook

VIRTUAL = (
    ("authentication.k8s.io", "tokenreviews"),
    ("authentication.k8s.io", "selfsubjectreviews"),
    ("authorization.k8s.io", "subjectaccessreviews"),
    ("authorization.k8s.io", "localsubjectaccessreviews"),
    ("authorization.k8s.io", "selfsubjectaccessreviews"),
    ("authorization.k8s.io", "selfsubjectrulesreviews"),
)
FOUNDATIONS = (
    ("", "nodes", ""),
    ("", "endpoints", ""),
    ("discovery.k8s.io", "endpointslices", ""),
    ("", "serviceaccounts", "token"),
    ("certificates.k8s.io", "certificatesigningrequests", ""),
    ("apiregistration.k8s.io", "apiservices", ""),
)
"""What must be written before any webhook can be called: nodes, addresses, tokens, certificates."""


@rule(
    "wildcard-rules",
    WARNING,
    (2, 13, 14),
    "all resources of all groups",
    "Whatever the cluster writes, leases, events, tokens and kinds that are not invented yet, goes through the webhook.",
    "Rules that name the groups and resources which the webhook looks at.",
)
def wildcard_rules(hook: Hook) -> Finds:
    for i, each in enumerate(hook.rules):
        groups, resources = values.texts(each.get("apiGroups")), values.texts(each.get("resources"))
        if "*" in groups and {"*", "*/*"} & set(resources) and not hook.is_asked_for:
            yield Problem(hook.at("rules", i), f"{hook.name} is called for everything")
            return


@rule(
    "no-namespace-selector",
    WARNING,
    (12, 15),
    "no limit to some namespaces",
    "kube-system is among them: what keeps the cluster alive then depends on the webhook.",
    "namespaceSelector with kubernetes.io/metadata.name NotIn [kube-system, kube-node-lease, the webhook's own].",
)
def no_namespace_selector(hook: Hook) -> Finds:
    if not hook.value.get("namespaceSelector") and hook.is_about_built_in and hook.reaches("kube-system"):
        severity = ERROR if hook.fails_closed else None
        yield Problem(hook.at(), f"{hook.name} is called for objects of every namespace", severity)


@rule(
    "kube-system",
    WARNING,
    (12,),
    "kube-system is not exempt",
    "What keeps the cluster alive then depends on the webhook: a network or a scheduler that cannot be started keeps the webhook "
    "itself from coming back.",
    "kubernetes.io/metadata.name NotIn [kube-system] in the namespaceSelector.",
)
def kube_system(hook: Hook) -> Finds:
    if hook.value.get("namespaceSelector") and hook.is_about_built_in and hook.reaches("kube-system"):
        severity = ERROR if hook.fails_closed else None
        yield Problem(hook.at("namespaceSelector"), f"{hook.name} is called for objects of kube-system", severity)


@rule(
    "own-namespace",
    WARNING,
    (26, 30),
    "the webhook's own namespace is not exempt",
    "Its own pods have to get past it: once all of them are gone, none can be made.",
    "The namespace of the Service among the exempt ones.",
)
def own_namespace(hook: Hook) -> Finds:
    if hook.service is None or not hook.matches("", "pods", "", "CREATE"):
        return
    namespace, _ = hook.service
    # In kube-system it is the same fault, and told there.
    if namespace != "kube-system" and hook.reaches(namespace):
        severity = ERROR if hook.fails_closed else None
        place = hook.at("namespaceSelector") if "namespaceSelector" in hook.value else hook.at()
        yield Problem(place, f"{hook.name} runs in {namespace}, and is called for the pods there", severity)


@rule(
    "node-leases",
    WARNING,
    (13,),
    "the leases of nodes",
    "A node whose lease is not renewed in time counts as lost, and its pods are evicted.",
    "No rule for leases, or kube-node-lease exempt.",
)
def node_leases(hook: Hook) -> Finds:
    if hook.matches("coordination.k8s.io", "leases", "", "UPDATE") and hook.reaches("kube-node-lease") and not hook.conditions:
        severity = ERROR if hook.fails_closed else None
        yield Problem(
            hook.place_of("coordination.k8s.io", "leases"), f"{hook.name} is called whenever a node says it lives", severity
        )


@rule(
    "virtual-resources",
    WARNING,
    (14,),
    "reviews of tokens and of access",
    "They are asked with nearly every request, and nothing is stored: a webhook in their way slows down or stops all of them. "
    "Servers since 1.37 leave them out, older ones do not.",
    "No rule for authentication.k8s.io and authorization.k8s.io.",
)
def virtual_resources(hook: Hook) -> Finds:
    if hook.conditions:
        return
    for group, resource in VIRTUAL:
        if hook.matches(group, resource, "", "CREATE"):
            severity = ERROR if hook.fails_closed else None
            yield Problem(hook.place_of(group, resource), f"{hook.name} is called for {resource}", severity)
            return


@rule(
    "foundations",
    ERROR,
    (27,),
    "fails closed on what a webhook needs to be called at all",
    "Nodes, the addresses of services, tokens and certificates are written before any webhook can be called: it and the cluster "
    "wait for each other.",
    "No rule for them, failurePolicy: Ignore, or matchConditions that leave the system's own writers out.",
)
def foundations(hook: Hook) -> Finds:
    if not hook.fails_closed or hook.conditions or hook.is_asked_for:
        return
    for group, resource, part in FOUNDATIONS:
        # Those in namespaces are exempt where kube-system is: that is where the cluster's own are.
        if hook.matches(group, resource, part) and (resource == "nodes" or hook.reaches("kube-system")):
            what = f"{resource}/{part}" if part else resource
            yield Problem(hook.place_of(group, resource, part), f"{hook.name} must answer before {what} can be written")
            return


@rule(
    "all-operations",
    WARNING,
    (18,),
    "operations that change nothing",
    "CONNECT is kubectl exec, logs and proxy, and DELETE brings nothing to look at: each of them waits for the webhook.",
    "operations: [CREATE, UPDATE].",
)
def all_operations(hook: Hook) -> Finds:
    for i, each in enumerate(hook.rules):
        if "*" in values.texts(each.get("operations")):
            yield Problem(hook.at("rules", i, "operations"), f"{hook.name} is called for every operation")
            return


@rule(
    "match-policy",
    WARNING,
    (17,),
    "matchPolicy: Exact",
    "The same object written in another version of the API passes the webhook by.",
    "matchPolicy: Equivalent, which is the default.",
)
def match_policy(hook: Hook) -> Finds:
    if hook.value.get("matchPolicy") == "Exact":
        yield Problem(hook.at("matchPolicy"), f"{hook.name} is called only for the versions that its rules name")


@rule(
    "opt-out-by-label",
    WARNING,
    (15,),
    "opt-out by an object label",
    "Anyone who may label an object can bypass this webhook.",
    "Exempt namespaces rather than objects, or let objects ask for it (In, Exists).",
)
def opt_out_by_label(hook: Hook) -> Finds:
    selector = values.mapping(hook.value.get("objectSelector"))
    if hook.mutating:
        return
    for i, each in enumerate(values.mappings(selector.get("matchExpressions"))):
        if each.get("operator") in ("NotIn", "DoesNotExist") and not hook.is_asked_for:
            yield Problem(
                hook.at("objectSelector", "matchExpressions", i),
                f"{hook.name} leaves objects alone that have a label ({each.get('key')})",
            )


HOOKS: tuple[Rule, ...] = (
    wildcard_rules,
    no_namespace_selector,
    kube_system,
    own_namespace,
    node_leases,
    virtual_resources,
    foundations,
    all_operations,
    match_policy,
    opt_out_by_label,
)
