"""Logs as lines of JSON."""

from __future__ import annotations

import json
import logging
import sys
import time
from typing import Any

LOG = logging.getLogger("podstrat.node")


class Lines(logging.Formatter):
    """One line a record; what is passed as ``extra={"fields": {...}}`` stands beside the message."""

    def format(self, record: logging.LogRecord) -> str:
        seconds = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(record.created))
        said: dict[str, Any] = {
            "time": f"{seconds}.{int(record.msecs):03d}Z",
            "level": record.levelname.lower(),
            "message": record.getMessage(),
            **getattr(record, "fields", {}),
        }
        if record.exc_info:
            said["exception"] = self.formatException(record.exc_info)
        return json.dumps(said, default=str)


def to_stderr(level: str) -> None:
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(Lines())
    logging.basicConfig(level=logging.WARNING, handlers=[handler], force=True)
    LOG.setLevel(level.upper())


def say(message: str, level: int = logging.INFO, **fields: Any) -> None:
    LOG.log(level, message, extra={"fields": fields})


def warn(message: str) -> None:
    say(message, logging.WARNING)
