"""What all tests need."""

from __future__ import annotations

import logging
import os
import signal
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from tools import bare_names

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    # Shells start background jobs with SIGINT ignored, and whatever a test starts would inherit that.
    signal.signal(signal.SIGINT, signal.default_int_handler)

# How long an example takes says more about the machine than about us.
settings.register_profile("podstrat", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("podstrat")


def pytest_configure(config: pytest.Config) -> None:
    if hasattr(config, "workerinput"):
        bare_names.install()  # the environment is the controller's
    else:
        descriptor, record = tempfile.mkstemp(prefix="podstrat-bare-names-")
        os.close(descriptor)
        bare_names.watch(Path(record))
        _keep_bytecode(config)


def _keep_bytecode(config: pytest.Config) -> None:
    """Workers, and what they start, compile their code once, also where the environment says that nothing is kept beside it."""
    cache = getattr(config, "cache", None)  # there is none with -p no:cacheprovider
    if cache is not None and os.environ.pop("PYTHONDONTWRITEBYTECODE", ""):
        os.environ["PYTHONPYCACHEPREFIX"] = str(cache.mkdir("bytecode"))


@pytest.fixture(autouse=True)
def log_handlers() -> Iterator[None]:
    """A command that is run in this process sends log records to a stream that is closed when its test ends."""
    root = logging.getLogger()
    handlers = root.handlers[:]
    yield
    if root.handlers != handlers:
        root.handlers[:] = handlers


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    """A room imported under its bare name, in whatever process of the session, fails the session."""
    if hasattr(session.config, "workerinput"):
        return
    record = Path(os.environ[bare_names.RECORD])
    imports = record.read_text()
    record.unlink()
    if imports:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED
        print(f"\nrooms imported under their bare names; import podstrat.NAME instead:\n{imports}")
