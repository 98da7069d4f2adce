"""A client for the tests that talk to a server, and the rule that kubectl is not passed over where it is."""

from __future__ import annotations

import os
import shutil
from collections.abc import Generator, Iterator
from typing import Any

import pytest

from podstrat.kubeclient.sync import Client
from podstrat.testing.server import Server


@pytest.fixture
def client(podstrat_server: Server) -> Iterator[Client]:
    """Plain requests to the session's server."""
    with Client(podstrat_server.kubeconfig) as found:
        yield found


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """In continuous integration, a machine that has kubectl runs the tests that need it."""
    report = yield
    passed_over = report.skipped and item.path.name.startswith("test_kubectl")
    if passed_over and os.environ.get("CI") == "true" and shutil.which("kubectl"):
        report.outcome = "failed"
        told: Any = report.longrepr
        report.longrepr = f"skipped although kubectl is there: {told[2] if isinstance(told, tuple) else told}"
    return report
