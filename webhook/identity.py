"""Who asks: which node a user is, if it is one."""

from __future__ import annotations

from collections.abc import Collection

from webhook.review import UserInfo

NODE_USER, NODE_GROUP = "system:node:", "system:nodes"
SERVICE_ACCOUNT = "system:serviceaccount:"
NODE_NAME = "authentication.kubernetes.io/node-name"
"""Put by the server into the extras of a token that is bound to a pod: the node that the pod runs on."""


def node(user: UserInfo) -> str | None:
    """The node whose kubelet the user is, or on which the user's pod runs; None if it is not known to be on any."""
    if user.username.startswith(NODE_USER) and NODE_GROUP in (user.groups or ()):
        return user.username.removeprefix(NODE_USER)
    if user.username.startswith(SERVICE_ACCOUNT):
        # Only the server's own words count: a user who impersonates can put anything into other extras.
        told = (user.extra or {}).get(NODE_NAME) or []
        return told[0] if len(told) == 1 and told[0] else None
    return None


def is_one_of(user: UserInfo, chosen: Collection[str]) -> bool:
    """Whether ``user:NAME`` or ``group:NAME`` of the chosen is this user."""
    return f"user:{user.username}" in chosen or any(f"group:{group}" in chosen for group in user.groups or ())
