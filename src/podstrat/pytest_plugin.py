"""Fixtures for tests that need an API server: a real one, of one's own, that treats pods as kube-apiserver does.

    def test_my_operator(podstrat_client, podstrat_namespace):
        ...

The server is started when the first test asks for it, and ends with the session; each worker of pytest-xdist has one. Nothing is
imported before. Options for it stand in the ini file: ``podstrat_serve_options = --kubernetes-version 1.36``. The admission
plugins of a default cluster are off, unless it says ``podstrat_admission = true``. Deleted namespaces are emptied in any
case, and dependents of deleted objects are collected. docs/operator-testing.md shows more.
"""

from __future__ import annotations

import shlex
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from podstrat.policy.policies import Policies
    from podstrat.testing.admission import Admitted, Tls
    from podstrat.testing.definitions import Source
    from podstrat.testing.server import Server
    from podstrat.testing.snapshot import Snapshot

CONTROLLERS = "--controllers=namespace,garbagecollector"


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addini("podstrat_serve_options", "options for the server of the fixture podstrat_server", default="")
    parser.addini("podstrat_policies", "files and directories of admission policies, for the fixture of that name", type="paths")
    parser.addini("podstrat_crds", "files and directories of definitions that the server has from the start", type="paths")
    parser.addini("podstrat_admission", "run the admission plugins of the release and controllers", type="bool", default=False)


@pytest.fixture(scope="session")
def podstrat_server(request: pytest.FixtureRequest) -> Iterator[Server]:
    """A server for the whole session: ``.url``, ``.kubeconfig``, ``.log``."""
    from podstrat.testing.server import Server

    options = shlex.split(request.config.getini("podstrat_serve_options"))
    admission = request.config.getini("podstrat_admission")
    with Server(*(() if admission else (CONTROLLERS,)), *options, admission=admission) as server:
        if sources := request.config.getini("podstrat_crds"):
            from podstrat.kubeclient.sync import Client
            from podstrat.testing import definitions

            with Client(server.kubeconfig) as calls:
                definitions.establish(calls, definitions.read(*sources))
        yield server


@pytest.fixture(scope="session")
def podstrat_kubeconfig(podstrat_server: Server) -> Path:
    """The path of a kubeconfig for the server."""
    return podstrat_server.kubeconfig


@pytest.fixture
def podstrat_client(podstrat_kubeconfig: Path) -> Iterator[Any]:
    """The kubernetes package's ApiClient for the server: ``kubernetes.client.CoreV1Api(podstrat_client)``."""
    kubernetes = pytest.importorskip("kubernetes", reason="needs the package kubernetes: pip install kubernetes")
    with kubernetes.config.new_client_from_config(str(podstrat_kubeconfig)) as client:
        yield client


@pytest.fixture
def podstrat_namespace(podstrat_server: Server) -> Iterator[str]:
    """The name of a namespace of the test's own; it goes with all that is in it."""
    from podstrat.kubeclient.sync import Client

    name = f"test-{uuid.uuid4().hex[:10]}"
    body = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}
    with Client(podstrat_server.kubeconfig) as calls:
        calls.send("POST", "/api/v1/namespaces", body)
    yield name
    with Client(podstrat_server.kubeconfig) as calls:
        calls.send("DELETE", f"/api/v1/namespaces/{name}")


@pytest.fixture
def podstrat_crds(podstrat_server: Server) -> Iterator[Callable[..., list[dict[str, Any]]]]:
    """Makes custom resources: ``podstrat_crds("config/crd", {...})``, files, folders or dicts.

    What comes back are the definitions, established. They go with the test, but for those that were there before; those of the
    ini option of the same name are there for the whole session.
    """
    from podstrat.kubeclient.sync import Client
    from podstrat.testing import definitions

    installed: list[dict[str, Any]] = []

    def define(*sources: Source) -> list[dict[str, Any]]:
        crds = definitions.read(*sources)
        with Client(podstrat_server.kubeconfig) as calls:
            installed.extend(each for each in crds if not definitions.exists(calls, each))
            return definitions.establish(calls, crds)

    yield define
    with Client(podstrat_server.kubeconfig) as calls:
        definitions.remove(calls, installed)


@pytest.fixture
def podstrat_snapshot(podstrat_server: Server) -> Iterator[Snapshot]:
    """Everything is after the test as it was before. ``podstrat_snapshot.restore()`` goes back in the middle of it."""
    from podstrat.testing.snapshot import Snapshot

    snapshot = Snapshot(podstrat_server)
    yield snapshot
    snapshot.restore()
    snapshot.drop()


@pytest.fixture
def podstrat_reset(podstrat_server: Server) -> Iterator[None]:
    """Everything that the test has made is gone after it."""
    from podstrat.kubeclient.sync import Client

    yield
    with Client(podstrat_server.kubeconfig) as calls:
        calls.send("POST", "/podstrat/reset")


@pytest.fixture
def podstrat_admit() -> Callable[..., Admitted]:
    """Sends a pod through webhooks and the server, in this process: ``podstrat_admit(pod, ["https://..."], ca=podstrat_tls.ca)``.

    What comes back has ``ok``, ``pod``, ``message``, ``warnings``, ``calls`` and ``patches``; printed, it tells all of it.
    """
    from podstrat.testing.admission import admit

    return admit


@pytest.fixture(scope="session")
def podstrat_policies(request: pytest.FixtureRequest) -> Policies:
    """The admission policies that the ini option of the same name lists, in this process: ``podstrat_policies.create(pod)``.

    What comes back has ``name`` (allow, deny, warn or invalid), ``messages``, ``object`` and ``says(text)``.
    """
    from podstrat.policy.policies import Policies

    return Policies(*request.config.getini("podstrat_policies"))


@pytest.fixture(scope="session")
def podstrat_tls(tmp_path_factory: pytest.TempPathFactory) -> Tls:
    """Files by which a webhook of a test can be reached over TLS: ``.certificate``, ``.key``, and ``.ca`` for those who call."""
    from podstrat.testing.admission import tls

    return tls(tmp_path_factory.mktemp("podstrat-tls"))
