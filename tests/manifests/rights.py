"""What roles allow, and what a request takes: enough of an authorizer for roles that name their objects."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

VERBS = {"GET": "get", "PUT": "update", "PATCH": "patch", "DELETE": "delete", "POST": "create"}


class Right(NamedTuple):
    """One thing that may be done, to one object."""

    verb: str
    group: str
    resource: str
    name: str
    """Empty for a collection."""


def allowed(roles: Iterable[dict[str, Any]]) -> list[Right]:
    """What roles allow. Every rule of ours names its objects; KeyError for one that does not."""
    return [
        Right(verb, group, resource, name)
        for role in roles
        for rule in role["rules"]
        for group in rule["apiGroups"]
        for resource in rule["resources"]
        for name in rule["resourceNames"]
        for verb in rule["verbs"]
    ]


def wanted(method: str, path: str) -> Right | None:
    """What a request takes. Discovery and the version are open to everybody who is known."""
    parts = path.strip("/").split("/")
    group, parts = ("", parts[2:]) if parts[0] == "api" else (parts[1] if len(parts) > 1 else "", parts[3:])
    if parts[:1] == ["namespaces"] and len(parts) > 2:
        parts = parts[2:]
    if not parts:
        return None
    resource, name = (*parts, "")[:2]
    return Right(VERBS[method], group, resource, name)
