"""MutatingAdmissionPolicy: changes of objects by policies in CEL.

Upstream: the admission plugin MutatingAdmissionPolicy
"""

from __future__ import annotations

from collections.abc import Iterator

from podstrat.strategy.admission.attributes import Attributes
from podstrat.strategy.admission.policies.config import GROUP, Config, configure

__all__ = ["BINDING", "POLICY", "Config", "configure", "mutate"]

POLICY = (GROUP, "MutatingAdmissionPolicy")
BINDING = (GROUP, "MutatingAdmissionPolicyBinding")


def mutate(request: Attributes, config: Config) -> Iterator[str]:
    policies = request.every(POLICY)
    if policies and request.operation != "DELETE":
        from podstrat.strategy.admission.policies import mutation

        yield from mutation.mutate(request, policies, config)
