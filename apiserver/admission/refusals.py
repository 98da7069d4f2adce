"""Errors of webhooks that deny a request or cannot be called, in the words of kube-apiserver."""

from __future__ import annotations

from typing import Any

from podstrat.strategy import errors
from podstrat.strategy.formats.go import quote


class Internal(errors.ApiError):
    """Something on the server's own way went wrong; a webhook that must be asked and cannot be is one such thing.

    Upstream: apierrors.NewInternalError
    """

    code = 500
    reason = "InternalError"

    def __init__(self, cause: str) -> None:
        super().__init__(f"Internal error occurred: {cause}", {"causes": [{"message": cause}]})


class Denied(errors.ApiError):
    """A webhook has said no. What it gives as its reasons goes to the client.

    Upstream: ToStatusErr
    """

    def __init__(self, webhook: str, result: dict[str, Any] | None) -> None:
        status = result or {}
        denied = f"admission webhook {quote(webhook)} denied the request"
        why = status.get("message") or status.get("reason")
        details = status.get("details")
        if details is not None:
            details = {key: value for key, value in details.items() if value != []}
        super().__init__(f"{denied}: {why}" if why else f"{denied} without explanation", details)
        self.code = max(int(status.get("code", 0)), 400)
        self.reason = status.get("reason", "")


def no_dry_run(webhook: str) -> errors.BadRequest:
    """Upstream: NewDryRunUnsupportedErr"""
    return errors.BadRequest(f"admission webhook {quote(webhook)} does not support dry run")


class NotCalled(Exception):
    """A webhook could not be asked, or gave no answer that can be used: its failurePolicy decides what that means.

    Upstream: ErrCallingWebhook
    """

    def __init__(self, webhook: str, reason: str) -> None:
        super().__init__(f"failed calling webhook {quote(webhook)}: {reason}")
