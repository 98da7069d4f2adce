"""An API server on this machine with a small scene in it: pods that wait, run and are refused. Ends with Ctrl-C."""

from __future__ import annotations

import argparse
import signal
import sys
from collections.abc import Sequence
from types import FrameType
from typing import Any

from podstrat import exits
from podstrat.child import NotStarted, Server
from podstrat.http import Client

Object = dict[str, Any]

PODS = "/api/v1/namespaces/default/pods"
STRATEGIC = "application/strategic-merge-patch+json"
TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io"
NODE = "node-1"
GPU = "nvidia.com/gpu"


def _pod(name: str, container: Object) -> Object:
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name}, "spec": {"containers": [container]}}


def _status(name: str, address: str, **container: Any) -> Object:
    """What a kubelet says of a pod that runs."""
    seen = {"name": name, "image": "", "imageID": "", "ready": True, "started": True, "restartCount": 0, **container}
    return {
        "observedGeneration": 1,
        "phase": "Running",
        "podIPs": [{"ip": address}],
        "podIP": address,
        "conditions": [{"type": "Ready", "status": "True"}],
        "containerStatuses": [{**seen, "state": {"running": {"startedAt": "2026-01-01T00:00:00Z"}}}],
    }


WEB = _pod("web", {"name": "nginx", "image": "nginx:1.29", "ports": [{"containerPort": 80}]})
TRAINING = _pod("training", {"name": "train", "image": "example.com/train:1", "resources": {"limits": {GPU: "2"}}})
BATCH = _pod("batch", {"name": "job", "image": "example.com/job:1", "resources": {"requests": {"cpu": "64"}}})
REFUSED = _pod("refused", {"name": "api", "image": "example.com/api:1", "ports": [{"containerPort": 70000}]})
DEVICES = [
    {"resourceID": "gpu-0", "health": "Healthy"},
    {"resourceID": "gpu-1", "health": "Unhealthy", "message": "ECC error"},
]
RUNNING = {
    "web": _status("nginx", "10.0.0.7"),
    "training": _status("train", "10.0.0.8", allocatedResourcesStatus=[{"name": GPU, "resources": DEVICES}]),
}


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--once", action="store_true", help="show the scene and end")
    parser.add_argument("--port", type=int, default=0, help="port to listen on (default: a free one)")
    parser.add_argument("--kubernetes-version", default="1.37", metavar="X.Y", help="whose rules (default 1.37)")


def run(args: argparse.Namespace) -> int:
    # Told to stop by whomever, the server that we have started stops with us.
    before = signal.signal(signal.SIGTERM, _interrupt)
    try:
        with Server("--port", str(args.port), "--kubernetes-version", args.kubernetes_version) as server:
            with Client(server.kubeconfig) as client:
                _scene(client)
                _show(client)
            return exits.OK if args.once else _wait(server)
    except NotStarted as error:
        raise exits.BadArguments(str(error).removeprefix("podstrat: ")) from None
    finally:
        signal.signal(signal.SIGTERM, before)


def _interrupt(sign: int, frame: FrameType | None) -> None:
    raise KeyboardInterrupt


def _wait(server: Server) -> int:
    print(f"\nThe server is at {server.url}; Ctrl-C ends it. To join:\n\n  export KUBECONFIG={server.kubeconfig}", flush=True)
    assert server.process is not None
    try:
        code = server.process.wait()
    except KeyboardInterrupt:
        return exits.OK
    print(f"the server has ended with code {code}:\n{server.log.read_text(errors='replace')}", file=sys.stderr)
    return exits.INVALID


# ---- the scene -------------------------------------------------------------------------------------


def _scene(client: Client) -> None:
    _done(client.send("POST", "/api/v1/nodes", {"apiVersion": "v1", "kind": "Node", "metadata": {"name": NODE}}))
    for pod in (WEB, TRAINING, BATCH, REFUSED):
        code, answer = client.send("POST", PODS, pod)
        name = pod["metadata"]["name"]
        _say(f"create pod {name}", f"refused: {answer['message']}" if code >= 300 else _filled_in(pod, answer))
    for name, status in RUNNING.items():
        binding = {"metadata": {"name": name}, "target": {"kind": "Node", "name": NODE}}
        _done(client.send("POST", f"{PODS}/{name}/binding", binding))
        running = _done(client.send("PATCH", f"{PODS}/{name}/status", {"status": status}, STRATEGIC))
        _say(f"bind and start {name}", ", ".join(("Running on " + NODE, *_health(running))))


def _filled_in(sent: Object, made: Object) -> str:
    more = len(made["spec"]) - len(sent["spec"])
    return f"generation {made['metadata']['generation']}, {made['status']['qosClass']}, {more} fields of the spec filled in"


def _health(pod: Object) -> list[str]:
    found = pod["status"]["containerStatuses"][0].get("allocatedResourcesStatus") or ()
    return [f"{device['resourceID']} {device['health']}" for each in found for device in each["resources"]]


def _done(answer: tuple[int, Any]) -> Any:
    code, body = answer
    if code >= 300:
        raise AssertionError(f"the scene cannot be played: {body['message']}")
    return body


def _say(what: str, told: str) -> None:
    print(f"{what:<24}{told}")


# ---- what is to be seen ----------------------------------------------------------------------------


def _show(client: Client) -> None:
    print("\nkubectl get pods -o wide")
    table = client.exchange("GET", PODS, headers={"Accept": TABLE}).body
    names = [each["name"].upper() for each in table["columnDefinitions"]]
    print("\n".join(_aligned([names, *(list(map(str, row["cells"])) for row in table["rows"])])), flush=True)


def _aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    """Columns as kubectl sets them."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return ["   ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]
