"""PodSecurity admission: the Pod Security Standards, by level and version.

``levels`` reads levels and versions, ``policy`` the labels of a namespace; ``checks/`` has the single checks, ``evaluate`` their
table. ``plugin`` judges pods and workloads, ``namespaces`` the labels of namespaces.
"""

from __future__ import annotations

from podstrat.strategy.admission.pod_security.plugin import concerns, configure, is_idle, validate

__all__ = ["concerns", "configure", "is_idle", "validate"]
