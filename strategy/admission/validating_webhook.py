"""ValidatingAdmissionWebhook: the place of the registered validating webhooks in the chain; the server calls them.

Upstream: the admission plugin ValidatingAdmissionWebhook
"""

from __future__ import annotations

from collections.abc import Iterator

from podstrat.strategy.admission.attributes import Attributes
from podstrat.strategy.admission.plugins import Write


def concerns(write: Write) -> bool:
    return write.webhooks


def validate(request: Attributes, config: None) -> Iterator[str]:
    webhooks = request.request.webhooks
    if webhooks is not None:
        yield from webhooks.validate(request.asked)
