"""The node that a user belongs to: a kubelet, or a service account whose token is bound to a pod on it."""

from __future__ import annotations

from collections.abc import Collection

from podstrat.webhook.review import UserInfo

NODE_USER, NODE_GROUP = "system:node:", "system:nodes"
SERVICE_ACCOUNT = "system:serviceaccount:"
NODE_NAME = "authentication.kubernetes.io/node-name"
"""Set by the API server for tokens bound to a pod: the node that the pod runs on."""


def node(user: UserInfo) -> str | None:
    """The node of a kubelet, or the node that the user's pod runs on; None if unknown."""
    if user.username.startswith(NODE_USER) and NODE_GROUP in (user.groups or ()):
        return user.username.removeprefix(NODE_USER)
    if user.username.startswith(SERVICE_ACCOUNT):
        # Set by the API server itself; impersonation can set other extras.
        names = (user.extra or {}).get(NODE_NAME) or []
        return names[0] if len(names) == 1 and names[0] else None
    return None


def is_one_of(user: UserInfo, names: Collection[str]) -> bool:
    """Whether an entry, ``user:NAME`` or ``group:NAME``, matches this user."""
    return f"user:{user.username}" in names or any(f"group:{group}" in names for group in user.groups or ())
