"""sysctls (baseline): only those that are kept apart by the pod's namespaces."""

from __future__ import annotations

from podstrat.strategy.admission.pod_security.violation import Pod, Violation

ALLOWED = frozenset(
    (
        "kernel.shm_rmid_forced",
        "net.ipv4.ip_local_port_range",
        "net.ipv4.tcp_syncookies",
        "net.ipv4.ping_group_range",
        "net.ipv4.ip_unprivileged_port_start",
    )
)
ALLOWED_1_27 = ALLOWED | {"net.ipv4.ip_local_reserved_ports"}
ALLOWED_1_29 = ALLOWED_1_27 | {
    "net.ipv4.tcp_keepalive_time",
    "net.ipv4.tcp_fin_timeout",
    "net.ipv4.tcp_keepalive_intvl",
    "net.ipv4.tcp_keepalive_probes",
}
ALLOWED_1_32 = ALLOWED_1_29 | {"net.ipv4.tcp_rmem", "net.ipv4.tcp_wmem"}
ALLOWED_1_37 = ALLOWED_1_32 | {"net.ipv4.tcp_slow_start_after_idle", "net.ipv4.tcp_notsent_lowat"}


def sysctls(pod: Pod, allowed: frozenset[str] = ALLOWED) -> Violation | None:
    """Upstream: sysctlsV1Dot0"""
    given = [sysctl.get("name", "") for sysctl in pod.security.get("sysctls") or ()]
    bad = {i: name for i, name in enumerate(given) if name not in allowed}
    if not bad:
        return None
    places = tuple(("spec", "securityContext", "sysctls", i, "name") for i in bad)
    return Violation("forbidden sysctls", ", ".join(bad.values()), places)
