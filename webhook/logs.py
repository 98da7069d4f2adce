"""The webhook's log lines, gunicorn's included: JSON on standard output."""

from __future__ import annotations

import sys
from typing import Any

from gunicorn.glogging import Logger

from podstrat.telemetry import jsonlog


def to_stdout(level: str) -> None:
    jsonlog.configure(sys.stdout, level)


class GunicornLogger(Logger):
    """Passes gunicorn's error log to our handler. Its access log is not used: every review has a line of ours."""

    def setup(self, cfg: Any) -> None:
        super().setup(cfg)
        self.error_log.handlers.clear()
        self.error_log.propagate = True
