"""The node writer's client of the API server: kubeclient's asyncio client, with the writer's clock."""

from __future__ import annotations

from dataclasses import replace

from podstrat.kubeclient import aio
from podstrat.kubeclient.config import ClientConfig
from podstrat.node.runtime.clock import Clock


class ApiClient(aio.Client):
    def __init__(self, config: ClientConfig, clock: Clock, *, timeout: float = 10.0) -> None:
        super().__init__(replace(config, user_agent="podstrat-node"), timeout)
        self.clock = clock
