"""Whoever is killed in the middle is run again, and all is well: wherever it was, whatever it did."""

from __future__ import annotations

import signal
from collections.abc import Callable
from typing import Any

import pytest

from podstrat.install import install, objects, uninstall
from podstrat.install.apply import Applied, KubernetesCluster
from podstrat.install.install import Patience
from podstrat.install.objects import Installation, Object
from tests.manifests.conftest import INSTALLER, World
from tests.manifests.replicas import until
from tests.manifests.test_kubectl_apply import is_trusted

WRITES = 16
"""More than there are in an installation."""


class Killed(BaseException):
    """The end of a process, in this one."""


class Dying:
    """A cluster whose user does not live to see the answer to its n-th write."""

    def __init__(self, cluster: KubernetesCluster, writes: int) -> None:
        self._cluster = cluster
        self._left = writes

    def get(self, where: str) -> Object | None:
        return self._cluster.get(where)

    def apply(self, obj: Object, dry_run: bool = False) -> Applied:
        return self._last(lambda: self._cluster.apply(obj, dry_run))

    def delete(self, obj: Object, dry_run: bool = False) -> bool:
        return self._last(lambda: self._cluster.delete(obj, dry_run))

    def _last(self, write: Callable[[], Any]) -> Any:
        done = write()
        self._left -= 1
        if self._left == 0:
            raise Killed
        return done


def survived(run: Callable[[Any], None], cluster: KubernetesCluster, writes: int) -> None:
    """Killed at a write, and run again."""
    try:
        run(Dying(cluster, writes))
    except Killed:
        run(cluster)


@pytest.mark.parametrize(
    "writes",
    [pytest.param(each, marks=() if each in (2, 14) else pytest.mark.long, id=f"write-{each}") for each in range(1, WRITES + 1)],
)
def test_killed_at_every_write(kept: World, writes: int) -> None:
    cluster = KubernetesCluster(kept.installer)
    patience, quiet = Patience(30.0), lambda text: None

    def over(wanted: Installation) -> Callable[[Any], None]:
        return lambda cluster: install.install(cluster, install.fitted(cluster, wanted, None), patience, quiet)

    survived(over(Installation()), cluster, writes)
    assert is_trusted(kept)
    before = {objects.path(obj) for obj in objects.load(Installation())}
    assert set(kept.left()) == before

    survived(over(Installation("development", image="podstrat-webhook:0.3.0")), cluster, writes)
    assert is_trusted(kept)
    assert set(kept.left()) == {objects.path(obj) for obj in objects.load(Installation("development"))}

    survived(lambda cluster: uninstall.uninstall(cluster, objects.NAMESPACE, False, patience, quiet), cluster, writes)
    assert kept.left() == []


@pytest.mark.parametrize(
    "method, path, words",
    [
        pytest.param("PATCH", "/deployments/podstrat-webhook", ("install",), id="install-before-the-server"),
        pytest.param("PATCH", "/validatingwebhookconfigurations/podstrat-webhook", ("install",), id="install-between-the-two"),
        pytest.param("DELETE", "/mutatingwebhookconfigurations/podstrat-webhook", ("uninstall",), id="uninstall-between-the-two"),
    ],
)
def test_the_process_is_killed(kept: World, method: str, path: str, words: tuple[str, ...]) -> None:
    if words == ("uninstall",):
        kept.command("install")
    process = kept.start(*words)

    def kill(user: str, sent: str, where: str) -> None:
        if user == INSTALLER and sent == method and where.endswith(path):
            process.send_signal(signal.SIGKILL)
            process.wait()

    kept.proxy.before = kill
    process.communicate(timeout=60)
    assert process.returncode == -signal.SIGKILL
    kept.proxy.before = lambda user, sent, where: None

    kept.command(*words)
    if words == ("install",):
        assert all(line.startswith("ok ") for line in until(lambda: kept.command("status")))
    else:
        assert kept.left() == []
