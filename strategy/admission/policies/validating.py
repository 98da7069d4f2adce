"""ValidatingAdmissionPolicy: refusals and warnings by policies in CEL.

Upstream: the admission plugin ValidatingAdmissionPolicy
"""

from __future__ import annotations

from collections.abc import Iterator

from podstrat.strategy.admission.attributes import Attributes
from podstrat.strategy.admission.plugins import Write
from podstrat.strategy.admission.policies.config import GROUP, Config, configure
from podstrat.strategy.admission.prepared import Prepared

__all__ = ["BINDING", "POLICY", "Config", "configure", "is_idle", "validate"]

POLICY = (GROUP, "ValidatingAdmissionPolicy")
BINDING = (GROUP, "ValidatingAdmissionPolicyBinding")


def is_idle(write: Write, world: Prepared, config: Config) -> bool:
    return world.has_none(POLICY)


def validate(request: Attributes, config: Config) -> Iterator[str]:
    policies = request.every(POLICY)
    if policies:
        from podstrat.strategy.admission.policies import validation

        yield from validation.validate(request, policies, config)
