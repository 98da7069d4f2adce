"""The node writer's log lines: JSON on standard error."""

from __future__ import annotations

import logging
import sys
from typing import Any

from podstrat.telemetry import jsonlog

LOG = logging.getLogger("podstrat.node")


def to_stderr(level: str) -> None:
    jsonlog.configure(sys.stderr, level)


def say(message: str, level: int = logging.INFO, **fields: Any) -> None:
    LOG.log(level, message, extra={"fields": fields})


def warn(message: str) -> None:
    say(message, logging.WARNING)
