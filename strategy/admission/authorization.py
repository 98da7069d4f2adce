"""Authorization as plugins ask for it: everything is allowed, or what the roles of a world allow.

Upstream: the authorization modes AlwaysAllow and RBAC
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

from podstrat.strategy.admission.world import KindName, Lookup
from podstrat.strategy.request import User

Object = dict[str, Any]

ALWAYS_ALLOW: Final = "AlwaysAllow"
RBAC: Final = "RBAC"
MODES: Final = (ALWAYS_ALLOW, RBAC)
MASTERS: Final = "system:masters"
SERVICE_ACCOUNT: Final = "system:serviceaccount:"
ALL: Final = "*"
GROUP: Final = "rbac.authorization.k8s.io"

_V1 = f"{GROUP}/v1"
CLUSTER_ROLE: Final[KindName] = (_V1, "ClusterRole")
CLUSTER_ROLE_BINDING: Final[KindName] = (_V1, "ClusterRoleBinding")
ROLE: Final[KindName] = (_V1, "Role")
ROLE_BINDING: Final[KindName] = (_V1, "RoleBinding")


class Access(NamedTuple):
    """What a user wants to do."""

    verb: str
    resource: str
    """The plural."""
    group: str = ""
    subresource: str = ""
    namespace: str = ""
    name: str = ""

    @property
    def path(self) -> str:
        return f"{self.resource}/{self.subresource}" if self.subresource else self.resource


def allows(mode: str, world: Lookup, user: User, access: Access) -> bool:
    """Whether the user may do it."""
    if mode != RBAC or MASTERS in user.groups:
        return True
    return any(_grants(rule, access) for rule in rules(world, user, access.namespace))


def reviewed(mode: str, world: Lookup, spec: Mapping[str, Any]) -> bool:
    """Whether the spec of a SubjectAccessReview is allowed. Paths that are no resources are, to everybody."""
    asked = spec.get("resourceAttributes")
    if asked is None:
        return True
    names = ("verb", "resource", "group", "subresource", "namespace", "name")
    user = User(spec.get("user", ""), tuple(spec.get("groups") or ()))
    return allows(mode, world, user, Access(*(asked.get(name, "") for name in names)))


def refusal(user: User, access: Access) -> str:
    """Why a request is refused.

    Upstream: responsewriters.ForbiddenStatusError
    """
    where = f'in the namespace "{access.namespace}"' if access.namespace else "at the cluster scope"
    return f'User "{user.name}" cannot {access.verb} resource "{access.path}" in API group "{access.group}" {where}'


def rules(world: Lookup, user: User, namespace: str) -> Iterator[Object]:
    """The rules that roles give a user in a namespace.

    Upstream: DefaultRuleResolver.VisitRulesFor
    """
    for binding in world.list(CLUSTER_ROLE_BINDING):
        if _is_bound(user, binding, ""):
            yield from _rules_of(world, binding, "")
    for binding in world.list(ROLE_BINDING, namespace) if namespace else ():
        if _is_bound(user, binding, namespace):
            yield from _rules_of(world, binding, namespace)


def _is_bound(user: User, binding: Object, namespace: str) -> bool:
    for subject in binding.get("subjects") or ():
        kind, name = subject.get("kind"), subject.get("name", "")
        if kind == "User" and name == user.name:
            return True
        if kind == "Group" and name in user.groups:
            return True
        if kind == "ServiceAccount" and user.name == f"{SERVICE_ACCOUNT}{subject.get('namespace') or namespace}:{name}":
            return True
    return False


def _rules_of(world: Lookup, binding: Object, namespace: str) -> Sequence[Object]:
    ref = binding.get("roleRef") or {}
    is_role = ref.get("kind") == "Role"
    role = world.get(ROLE if is_role else CLUSTER_ROLE, ref.get("name", ""), namespace if is_role else "")
    return (role or {}).get("rules") or ()


def _grants(rule: Object, access: Access) -> bool:
    """Upstream: RuleAllows"""
    verbs, groups, resources = (rule.get(key) or () for key in ("verbs", "apiGroups", "resources"))
    if not ({ALL, access.verb} & set(verbs)) or not ({ALL, access.group} & set(groups)):
        return False
    if not ({ALL, access.path, f"{ALL}/{access.subresource}" if access.subresource else ALL} & set(resources)):
        return False
    names = rule.get("resourceNames") or ()
    return not names or access.name in names
