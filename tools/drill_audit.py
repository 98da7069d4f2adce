"""Drill: the memory of `podstrat audit` over many objects, on a fake API server that makes them up as they are listed.

    python -m tools.drill_audit [OBJECTS]

A tenth of the objects are Deployments, the others are pods; one in twenty violates the Pod Security level of its namespace. For
each tenth of the way it prints the resident memory of the audit, sampled when it asks for a page. Exit code 1: not all of the
objects were judged, or the limit of memory was exceeded.
"""

from __future__ import annotations

import http.server
import json
import re
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

LIMIT = 256.0
"""MB: half of what the CronJob of manifests/audit may use."""
NAMESPACES = 20  # a middling cluster
LEVEL = {"pod-security.kubernetes.io/enforce": "baseline"}


def spec(number: int) -> dict[str, Any]:
    env = [{"name": f"SETTING_{key}", "value": f"value {key} of {number}"} for key in range(20)]
    container = {"name": "main", "image": f"registry.example.com/team/app:{number}", "env": env, "imagePullPolicy": "Always"}
    return {"containers": [container], "hostPID": number % 20 == 0, "restartPolicy": "Always"}


def metadata(number: int, total: int) -> dict[str, Any]:
    fields = {"f:spec": {f"f:{name}": {} for name in ("containers", "restartPolicy", "hostPID", "nodeName", "volumes")}}
    namespace = f"team-{number * NAMESPACES // total:02}"
    managed = [{"manager": "kubectl", "operation": "Update", "apiVersion": "v1", "fieldsV1": fields}]
    labels = {"app": f"app-{number}"}
    return {"name": f"app-{number:07}", "namespace": namespace, "labels": labels, "uid": f"{number}", "managedFields": managed}


def deployment(number: int, total: int) -> dict[str, Any]:
    labels = {"app": f"app-{number}"}
    template = {"metadata": {"labels": labels}, "spec": spec(number)}
    return {"metadata": metadata(number, total), "spec": {"selector": {"matchLabels": labels}, "template": template}}


def pod(number: int, total: int) -> dict[str, Any]:
    return {"metadata": metadata(number, total), "spec": spec(number), "status": {"phase": "Running", "podIP": "10.0.0.1"}}


class Fake(http.server.ThreadingHTTPServer):
    """The API server: as many objects as wanted, none of which exists before it is asked for."""

    daemon_threads = True

    def __init__(self, total: int) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.lists = {"/apis/apps/v1/deployments": (deployment, total // 10), "/api/v1/pods": (pod, total - total // 10)}
        self.total, self.served, self.audit = total, 0, 0
        self.samples: list[tuple[int, float]] = []

    def page(self, path: str, query: dict[str, list[str]]) -> dict[str, Any]:
        make, total = self.lists[path]
        start, limit = int(query.get("continue", ["0"])[0]), int(query["limit"][0])
        self.samples.append((self.served, resident(self.audit)))
        items = [make(number, total) for number in range(start, min(start + limit, total))]
        self.served += len(items)
        following = start + limit
        rest = {"continue": str(following), "remainingItemCount": total - following} if following < total else {}
        return {"metadata": rest, "items": items}


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: Fake

    def do_GET(self) -> None:
        at = urlsplit(self.path)
        if at.path == "/version":
            self.answer(200, {"gitVersion": "v1.37.0"})
        elif at.path == "/api/v1/namespaces":
            names = [f"team-{number:02}" for number in range(NAMESPACES)]
            self.answer(200, {"items": [{"metadata": {"name": name, "labels": LEVEL}} for name in names]})
        elif at.path in self.server.lists:
            self.answer(200, self.server.page(at.path, parse_qs(at.query)))
        else:
            self.answer(404, {"kind": "Status", "code": 404, "message": "not found"})

    def answer(self, code: int, body: dict[str, Any]) -> None:
        text = json.dumps(body).encode()
        self.send_response(code)
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def log_message(self, format: str, *args: Any) -> None:
        pass


def resident(pid: int) -> float:
    """The resident memory of a process in MB."""
    found = re.search(r"VmRSS:\s+(\d+) kB", Path(f"/proc/{pid}/status").read_text())
    return int(found[1]) / 1024 if found else 0.0


def main(total: int) -> int:
    server = Fake(total)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    cluster = {"name": "fake", "cluster": {"server": f"http://127.0.0.1:{server.server_port}"}}
    context = {"name": "fake", "context": {"cluster": "fake", "user": "fake"}}
    config = {"apiVersion": "v1", "kind": "Config", "current-context": "fake", "clusters": [cluster], "contexts": [context]}
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "config").write_text(json.dumps({**config, "users": [{"name": "fake", "user": {}}]}))
        argv = ["audit", "--kubeconfig", "config", "--resume", "position", "-o", "json"]
        began = time.monotonic()
        with (Path(folder) / "report.json").open("wb") as report:
            child = subprocess.Popen([sys.executable, "-P", "-m", "podstrat", *argv], cwd=folder, stdout=report)
            server.audit = child.pid
            code = child.wait()
        seconds = time.monotonic() - began
        counts = json.loads((Path(folder) / "report.json").read_text())["summary"]
    print(f"exit code {code}, {seconds:.0f} s, {counts}")
    for tenth in range(10):
        served, megabytes = max(sample for sample in server.samples if sample[0] <= (tenth + 1) * total // 10)
        print(f"after {served:>7} objects: {megabytes:6.1f} MB resident")
    highest = max(megabytes for _, megabytes in server.samples)
    print(f"highest: {highest:.1f} MB")
    return 0 if counts["checked"] == total and highest < LIMIT else 1


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else 100_000))
