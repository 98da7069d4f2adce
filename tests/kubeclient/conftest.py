"""An API server over TLS, a clock for token files, and coroutines as tests."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Iterator
from typing import Any

import pytest

from podstrat.testing.server import Server

SECONDS = 60.0
"""How long a coroutine may take."""


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: Any) -> bool | None:
    """Runs the tests that are coroutines."""
    if not inspect.iscoroutinefunction(pyfuncitem.obj):
        return None
    arguments = {name: pyfuncitem.funcargs[name] for name in pyfuncitem._fixtureinfo.argnames}
    asyncio.run(asyncio.wait_for(pyfuncitem.obj(**arguments), SECONDS))
    return True


@pytest.fixture(scope="session")
def server() -> Iterator[Server]:
    """A server with TLS that knows two tokens, and everybody with a certificate."""
    with Server("--token", "alice-token,alice", "--token", "token-2,bob") as made:
        yield made
