"""ValidatingAdmissionPolicy: refusals and warnings by policies in CEL.

Upstream: the admission plugin ValidatingAdmissionPolicy
"""

from __future__ import annotations

from collections.abc import Iterator

from podstrat.strategy.admission.attributes import Attributes
from podstrat.strategy.admission.policies.config import GROUP, Config, configure

__all__ = ["BINDING", "POLICY", "Config", "configure", "validate"]

POLICY = (GROUP, "ValidatingAdmissionPolicy")
BINDING = (GROUP, "ValidatingAdmissionPolicyBinding")


def validate(request: Attributes, config: Config) -> Iterator[str]:
    policies = request.every(POLICY)
    if policies:
        from podstrat.strategy.admission.policies import validation

        yield from validation.validate(request, policies, config)
