"""Tests of the node side: real sockets and real gRPC, and a clock that only moves when it is told to."""

from __future__ import annotations

import asyncio
import inspect
import shutil
import tempfile
from pathlib import Path

import pytest

from podstrat.testing.server import Server
from tests.node.cluster import Cluster

# How long a test may take before it is given up, in seconds. Nothing waits for this; it is for tests that would wait for ever.
PATIENCE = 60


def pytest_configure(config):
    config.addinivalue_line(
        "markers", "scenario(*numbers): the rows of the matrix in tests/node/scenarios.py that the test shows"
    )
    config.addinivalue_line("markers", "patience(seconds): how long the test may take before it is given up")


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem):
    """Runs the tests that are coroutines."""
    if not inspect.iscoroutinefunction(pyfuncitem.obj):
        return None
    wanted = {name: pyfuncitem.funcargs[name] for name in pyfuncitem._fixtureinfo.argnames}

    async def run():
        try:
            mark = pyfuncitem.get_closest_marker("patience")
            async with asyncio.timeout(mark.args[0] if mark else PATIENCE):
                await pyfuncitem.obj(**wanted)
        finally:
            for value in wanted.values():
                if isinstance(value, Cluster):
                    await value.close()

    asyncio.run(run())
    return True


@pytest.fixture
def root():
    """A directory with a short name: the path of a socket has at most 107 bytes."""
    path = Path(tempfile.mkdtemp(prefix="n"))
    yield path
    shutil.rmtree(path, ignore_errors=True)


@pytest.fixture(scope="session")
def api_server():
    """An API server for the tests of the writer, which fails on request."""
    with Server("--allow-faults") as server:
        yield server


@pytest.fixture
def cluster(api_server):
    """That server, with a node of the test's own."""
    return Cluster(api_server)
