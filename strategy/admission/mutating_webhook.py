"""MutatingAdmissionWebhook: the place of the registered mutating webhooks in the chain; the server calls them.

Upstream: the admission plugin MutatingAdmissionWebhook
"""

from __future__ import annotations

from collections.abc import Iterator

from podstrat.strategy.admission.attributes import Attributes
from podstrat.strategy.admission.plugins import Write


def concerns(write: Write) -> bool:
    return write.webhooks


def mutate(request: Attributes, config: None) -> Iterator[str]:
    webhooks = request.request.webhooks
    if webhooks is None:
        return
    changed, warnings = webhooks.mutate(request.asked, request.round)
    request.take()
    request.warnings += warnings
    if changed:
        request.reinvoke()
        yield ""
