"""JSON log lines: one object per record, with the fields that the caller passes."""

from __future__ import annotations

import json
import logging
import time
from typing import Any, TextIO

LOGGER = "podstrat"


class Formatter(logging.Formatter):
    """Formats a record as one line of JSON; ``extra={"fields": {...}}`` adds keys beside the message."""

    def format(self, record: logging.LogRecord) -> str:
        seconds = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(record.created))
        line: dict[str, Any] = {
            "time": f"{seconds}.{int(record.msecs):03d}Z",
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
            **getattr(record, "fields", {}),
        }
        if record.exc_info:
            line["exception"] = self.formatException(record.exc_info)
        return json.dumps(line, default=str)


def configure(stream: TextIO, level: str) -> None:
    """Sends all log records of this process to a stream: ours from a level on, those of libraries from warning on."""
    handler = logging.StreamHandler(stream)
    handler.setFormatter(Formatter())
    logging.basicConfig(level=logging.WARNING, handlers=[handler], force=True)
    logging.getLogger(LOGGER).setLevel(level.upper())
