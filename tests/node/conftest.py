"""Tests of the node side: real sockets and real gRPC, and a clock that only moves when it is told to."""

from __future__ import annotations

import asyncio
import inspect
import shutil
import tempfile
from pathlib import Path

import pytest

# How long a test may take before it is given up, in seconds. Nothing waits for this; it is for tests that would wait for ever.
PATIENCE = 60


def pytest_configure(config):
    config.addinivalue_line(
        "markers", "scenario(*numbers): the rows of the matrix in tests/node/scenarios.py that the test shows"
    )


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem):
    """Runs the tests that are coroutines."""
    if not inspect.iscoroutinefunction(pyfuncitem.obj):
        return None
    wanted = {name: pyfuncitem.funcargs[name] for name in pyfuncitem._fixtureinfo.argnames}

    async def run():
        async with asyncio.timeout(PATIENCE):
            await pyfuncitem.obj(**wanted)

    asyncio.run(run())
    return True


@pytest.fixture
def root():
    """A directory with a short name: the path of a socket has at most 107 bytes."""
    path = Path(tempfile.mkdtemp(prefix="n"))
    yield path
    shutil.rmtree(path, ignore_errors=True)
