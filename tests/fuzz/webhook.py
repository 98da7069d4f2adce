"""Target of the webhook: generated AdmissionReviews, see tests/webhook/fuzzing."""

from __future__ import annotations

import functools

from tests.fuzz.target import Failure
from tests.webhook import fuzzing
from tests.webhook.reviews import Webhook
from tests.webhook.test_fuzz import CHOSEN, check


class Reviews:
    @functools.cached_property
    def _webhook(self) -> Webhook:
        return Webhook(**CHOSEN)

    def check(self, number: int) -> str:
        sent = fuzzing.body(number)
        code, _, body = self._webhook.call(("/mutate", "/validate")[number % 2], sent)
        try:
            return check(code, body, sent)
        except Exception as error:
            raise Failure(f"answered with {code} {body[:500]!r}", sent) from error
