"""The settings of one server."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from podstrat.apiserver.auth import User
from podstrat.apiserver.storage.journal import Durability
from podstrat.strategy.admission import Settings as AdmissionSettings
from podstrat.strategy.ranges import DEFAULT, Ranges

LOOPBACK = ("127.0.0.1", "localhost", "::1")


class StartError(Exception):
    """The server cannot be started; the text says why and what to do."""


@dataclass(frozen=True)
class Settings:
    """What the flags of `podstrat serve` say."""

    host: str = "127.0.0.1"
    port: int = 8443
    """0 takes a free one."""
    health_port: int | None = None
    """Port of the liveness endpoint of the supervising process; None: there is none."""
    tls: bool = True
    tls_dir: Path | None = None
    """Directory of the CA and the certificates; a temporary one if not set."""
    data_dir: Path | None = None
    """Directory of the stored objects; if not set they are in memory only."""
    durability: Durability = "normal"
    kubernetes_version: str = "1.37"
    feature_gates: Mapping[str, bool] = field(default_factory=dict)
    pod_strategy: bool = True
    load: Sequence[Path] = ()
    tokens: Sequence[tuple[str, User]] = ()
    resolve: Mapping[str, tuple[str, int]] = field(default_factory=dict)
    """Addresses of webhook services that DNS does not know: host and port by ``name.namespace.svc``."""
    service_ranges: Ranges = DEFAULT
    """What Services get addresses and node ports from."""
    admission: AdmissionSettings = AdmissionSettings()  # noqa: RUF009 immutable
    """Which admission plugins run, and how they are configured."""
    controllers: frozenset[str] = frozenset(("garbagecollector", "namespace", "resourcequota", "serviceaccount"))
    """What is made as controllers of a cluster would make it."""
    allow_faults: bool = False
    """Whether clients may inject faults."""
    kubeconfig: Path | None = None
    ready_file: Path | None = None
    log_requests: bool = True

    @property
    def tls_folder(self) -> Path | None:
        """Where the certificates are kept from one start to the next; None: nowhere."""
        return self.tls_dir or (self.data_dir / "tls" if self.data_dir else None)
