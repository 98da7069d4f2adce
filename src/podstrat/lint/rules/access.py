"""RBAC: who may change webhook configurations."""

from __future__ import annotations

from podstrat.lint import values
from podstrat.lint.rule import WARNING, Finds, Problem, Rule, rule
from podstrat.lint.subjects import GROUP, Role

CONFIGURATIONS = ("mutatingwebhookconfigurations", "validatingwebhookconfigurations")
CHANGES = ("update", "patch", "delete", "deletecollection", "*")


@rule(
    "rights-over-all-configurations",
    WARNING,
    (40,),
    "a role that may change the configurations of others",
    "Its subjects can disable or redirect every webhook of the cluster.",
    "resourceNames with the configurations that are one's own.",
)
def rights_over_all_configurations(role: Role) -> Finds:
    for i, each in enumerate(values.mappings(role.value.get("rules"))):
        resources, verbs = values.texts(each.get("resources")), values.texts(each.get("verbs"))
        is_about_them = GROUP in values.texts(each.get("apiGroups")) and set(CONFIGURATIONS) & set(resources)
        if is_about_them and set(CHANGES) & set(verbs) and not each.get("resourceNames"):
            changes = ", ".join(verb for verb in verbs if verb in CHANGES)
            yield Problem(("rules", i), f"{role.name} may {changes} every webhook configuration")


ROLES: tuple[Rule, ...] = (rights_over_all_configurations,)
