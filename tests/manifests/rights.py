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


ANY = "*"
"""The name in a right to objects of any name; only reading, and only where the linter and probes need it."""


def held(right: Right, rights: Iterable[Right]) -> Right | None:
    """The right among these by which another one is granted."""
    return next((each for each in rights if each == right or each == right._replace(name=ANY)), None)


def allowed(roles: Iterable[dict[str, Any]]) -> list[Right]:
    """What roles allow. Every rule of ours names its objects, but for those that list, create or are for any of them (``*``)."""
    return [
        Right(verb, group, resource, name)
        for role in roles
        for rule in role["rules"]
        for group in rule["apiGroups"]
        for resource in rule["resources"]
        for verb in rule["verbs"]
        for name in rule.get("resourceNames") or (["" if verb in ("list", "create") else ANY])
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
    if len(parts) > 2:
        resource = f"{resource}/{parts[2]}"
    return Right("list" if method == "GET" and not name else VERBS[method], group, resource, name)
