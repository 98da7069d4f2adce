"""Logs as lines of JSON, ours and gunicorn's."""

from __future__ import annotations

import json
import logging
import sys
import time
from typing import Any

from gunicorn.glogging import Logger


class Lines(logging.Formatter):
    """One line a record; what is passed as ``extra={"fields": {...}}`` stands beside the message."""

    def format(self, record: logging.LogRecord) -> str:
        seconds = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(record.created))
        said: dict[str, Any] = {
            "time": f"{seconds}.{int(record.msecs):03d}Z",
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
            **getattr(record, "fields", {}),
        }
        if record.exc_info:
            said["exception"] = self.formatException(record.exc_info)
        return json.dumps(said, default=str)


def to_stdout(level: str) -> None:
    """Everything that is logged in this process goes there."""
    handler = logging.StreamHandler(sys.stdout)
    handler.setFormatter(Lines())
    logging.basicConfig(level=logging.WARNING, handlers=[handler], force=True)
    logging.getLogger("podstrat").setLevel(level.upper())


class GunicornLogger(Logger):
    """gunicorn's own messages go where ours go. Its access log is not used: a review has a line of ours."""

    def setup(self, cfg: Any) -> None:
        super().setup(cfg)
        self.error_log.handlers.clear()
        self.error_log.propagate = True
