"""MutatingAdmissionPolicy: changes of objects by policies in CEL.

Upstream: the admission plugin MutatingAdmissionPolicy
"""

from __future__ import annotations

from collections.abc import Iterator

from podstrat.strategy.admission.attributes import Attributes
from podstrat.strategy.admission.plugins import Write
from podstrat.strategy.admission.policies.config import GROUP, Config, configure
from podstrat.strategy.admission.prepared import Prepared

__all__ = ["BINDING", "POLICY", "Config", "configure", "is_idle", "mutate"]

POLICY = (GROUP, "MutatingAdmissionPolicy")
BINDING = (GROUP, "MutatingAdmissionPolicyBinding")


def is_idle(write: Write, world: Prepared, config: Config) -> bool:
    return world.has_none(POLICY)


def mutate(request: Attributes, config: Config) -> Iterator[str]:
    policies = request.every(POLICY)
    if policies and request.operation != "DELETE":
        from podstrat.strategy.admission.policies import mutation

        yield from mutation.mutate(request, policies, config)
