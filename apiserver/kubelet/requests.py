"""The subresources of a pod that its node answers: log, exec, attach, portforward.

Upstream: LogREST, ExecREST, AttachREST, PortForwardREST
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Any, Final

from podstrat.apiserver.calls import Call, Reply
from podstrat.apiserver.kinds import POD
from podstrat.apiserver.kubelet import container_logs, location
from podstrat.apiserver.listing import list_options
from podstrat.apiserver.storage.store import Store
from podstrat.strategy import errors

Object = dict[str, Any]

LOG: Final = "log"
SUBRESOURCES: Final = frozenset((LOG, "attach", "exec", "portforward"))


class KubeletRequests:
    """Answers what a node would be asked for."""

    def __init__(self, store: Store, clock: Callable[[], datetime]) -> None:
        self._store = store
        self._clock = clock

    def answer(self, call: Call) -> Reply:
        target = call.target
        entry = self._store.get(POD, target.namespace, target.name)
        if entry is None:
            raise errors.NotFound(POD.qualified, target.name)
        if target.subresource == LOG:
            text = container_logs.read(self._store, entry.obj, call.query, self._clock())
            return Reply(200, stream=iter([text.encode()]), content_type="text/plain")
        raise self._refusal(entry.obj, call)

    def _refusal(self, pod: Object, call: Call) -> errors.ApiError:
        """Upstream: streamLocation, UpgradeAwareHandler.tryUpgrade"""
        if call.target.subresource != "portforward":
            location.container(pod, list_options.first(call.query, "container") or "")
        node = pod["spec"].get("nodeName")
        if not node:
            return errors.BadRequest(f"pod {pod['metadata']['name']} does not have a host assigned")
        kubelet = location.of_node(self._store, node)
        return errors.ServerError(f"error dialing backend: {kubelet.unreachable}")
