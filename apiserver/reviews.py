"""SelfSubjectReview and SelfSubjectAccessReview: answered from the caller's identity, never stored."""

from __future__ import annotations

from podstrat.apiserver.calls import Call, Reply
from podstrat.strategy.request import Request


def self_review(call: Call, request: Request) -> Reply:
    """Who the caller is, or whether it may do something: every authenticated user may do everything."""
    body = request.body if isinstance(request.body, dict) else {}
    kind = call.target.kind
    head = {"kind": kind.kind, "apiVersion": kind.api_version, "metadata": {"creationTimestamp": None}}
    if kind.kind == "SelfSubjectReview":
        info = {"username": call.user.name, "groups": list(call.user.groups)}
        return Reply(201, {**head, "status": {"userInfo": info}})
    return Reply(201, {**head, "spec": body.get("spec") or {}, "status": {"allowed": True}})
