"""Prints how far `podstrat serve` agrees with the recorded scripts of lists and watches.

python -m tests.conformance.lists                     agreement by area
python -m tests.conformance.lists --case watch/ --show 50
python -m tests.conformance.lists --write-floor       raise tests/conformance/floor.json to what agrees now
"""

from __future__ import annotations

import argparse
import contextlib
import gzip
import http.client
import itertools
import json
import queue
import socket
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from urllib.parse import urlencode, urlsplit

from podstrat.testing.server import Server
from tests.conformance import compare, versions
from tests.conformance.recorded import CASES
from tests.conformance.replay import Verdict
from tests.conformance.run import print_table, raise_floor

NAME = "lists-watches-1.37"
TOKEN = "recorded"
PODS = "/api/v1/namespaces/{ns}/pods"
SERVERS = 5
"""Scripts need a server without other pods, and mostly wait: each thread has a server of its own."""
SURPLUS = 0.3
"""Seconds in which nothing more may come after the last recorded event."""
WITHIN = 12.0
"""Seconds for the recorded events to come."""
PREFIXES = (("apiVersion:", "<yaml>"), ("\x00\x00", "<frames of protobuf>"), ('{"type"', "<lines of events>"))

Step = dict[str, Any]


def cases(prefix: str = "") -> Iterator[dict[str, Any]]:
    with gzip.open(CASES / f"{NAME}.jsonl.gz", "rt", encoding="utf-8") as lines:
        yield from (case for case in map(json.loads, lines) if case["id"].startswith(prefix))


def verdicts(prefix: str = "") -> list[Verdict]:
    """Every script whose id begins so, over HTTP."""
    numbered = list(enumerate(cases(prefix)))
    waiting: queue.SimpleQueue[tuple[int, dict[str, Any]]] = queue.SimpleQueue()
    for each in sorted(numbered, key=lambda each: -sum(step.get("slow", 0) for step in each[1]["steps"])):
        waiting.put(each)  # the slowest first
    with ThreadPoolExecutor(SERVERS) as threads:
        parts = threads.map(_played, [waiting] * SERVERS)
        found = dict(itertools.chain.from_iterable(parts))
    return [found[number] for number, _ in numbered]


def _played(waiting: queue.SimpleQueue[tuple[int, dict[str, Any]]]) -> list[tuple[int, Verdict]]:
    """One server plays what the others have not begun yet."""
    found = []
    with Server("--http", "--token", TOKEN) as server, contextlib.suppress(queue.Empty):
        while True:
            number, case = waiting.get_nowait()
            found.append((number, verdict(case, Script(server.url, number))))
    return found


def verdict(case: dict[str, Any], script: Script) -> Verdict:
    codes, why = True, None
    try:
        for number, (step, want, got) in enumerate(script.answers(case)):
            if want is None:
                continue
            codes = codes and want.get("code") == got.get("code")
            difference = compare.first_difference(want, got)
            why = why or (difference and f"step {number} ({step['do']}): {difference}")
    except Exception as error:  # a script that cannot be run is a difference, not the end of the run
        codes, why = False, f"{type(error).__name__}: {error}"
    finally:
        script.close()
    return Verdict(case["id"], case["id"].partition("/")[0], codes, why is None, why)


class Script:
    """One script: two namespaces of its own, the values it saves, its open watches.

    ``compact`` makes the server forget old versions; without it, a compaction is not carried out.
    """

    def __init__(self, url: str, number: int, compact: Callable[[], object] = lambda: None) -> None:
        self._compact = compact
        self._address = urlsplit(url)
        self._names = versions.Names(ns=f"lw-{number:03}", ns2=f"lx-{number:03}")
        self._watches: dict[str, Watch] = {}

    def answers(self, case: dict[str, Any]) -> Iterator[tuple[Step, Any, Any]]:
        for name in ("ns", "ns2"):
            body = {"metadata": {"name": self._names.saved[name]}}
            assert self._send("POST", "/api/v1/namespaces", {}, body)[0].status == 201
        for step, want in zip(case["steps"], case["want"], strict=True):
            got = self._answer(step, want)
            yield step, want, None if got is None else self._names.anonymous(got)

    def _answer(self, step: Step, want: Any) -> Any:
        if step["do"] == "request":
            return self._request(step)
        if step["do"] == "watch":
            return self._watch(step)
        if step["do"] == "events":
            return self._events(step, want)
        if step["do"] == "compact":
            self._compact()
        return None  # pauses are for etcd

    def _request(self, step: Step) -> Any:
        start = time.monotonic()
        response, data = self._send(
            step.get("method", "GET"), self._path(step), _headers(step), self._names.filled(step.get("body"))
        )
        body = _decoded(response, data)
        if isinstance(body, dict):
            self._names.save(body, step.get("save") or {})
        record: dict[str, Any] = {"code": response.status, "body": self._names.shown(body)}
        if warnings := response.headers.get_all("Warning"):
            record["warnings"] = warnings
        if "show" in step:
            record["headers"] = {name: response.getheader(name) for name in step["show"]}
        if "slow" in step:
            record["slow"] = time.monotonic() - start >= step["slow"]
        return record

    def _watch(self, step: Step) -> Any:
        path = self._path(step)
        path += ("&" if "?" in path else "?") + "watch=1"
        connection = self._connection()
        connection.request("GET", path, headers=_headers(step))
        response = connection.getresponse()
        record: dict[str, Any] = {"code": response.status}
        if "show" in step:
            record["headers"] = {name: response.getheader(name) for name in step["show"]}
        if response.status == 200:
            self._watches[step["as"]] = Watch(connection, response)
        else:
            record["body"] = self._names.shown(_decoded(response, response.read()))
            connection.close()
        return record

    def _events(self, step: Step, want: Any) -> Any:
        watch = self._watches.get(step["of"])
        if watch is None:
            return {"events": [], "ended": True}
        events, ended = watch.read(len(want["events"]), bool(want.get("ended")))
        for name, number in (step.get("save") or {}).items():
            self._names.saved[name] = events[int(number)]["object"]["metadata"]["resourceVersion"]
        shown = [{"type": event["type"], "object": self._names.shown(event["object"])} for event in events]
        if step.get("brief"):
            shown = [{"type": each["type"], **_brief(each["object"].get("metadata") or {})} for each in shown]
        return {"events": shown, "ended": True} if ended else {"events": shown}

    def _path(self, step: Step) -> str:
        query = urlencode(self._names.filled(step.get("query") or {}))
        return self._names.filled(step.get("path", PODS)) + (f"?{query}" if query else "")

    def _send(self, method: str, path: str, headers: dict[str, str], body: Any = None) -> tuple[http.client.HTTPResponse, bytes]:
        data = None if body is None else body.encode() if isinstance(body, str) else json.dumps(body).encode()
        connection = self._connection()
        try:
            given = {"Content-Type": "application/json", **headers} if data is not None else headers
            connection.request(method, path, data, {**_headers({}), **given})
            response = connection.getresponse()
            return response, response.read()
        finally:
            connection.close()

    def _connection(self) -> http.client.HTTPConnection:
        return http.client.HTTPConnection(self._address.hostname or "", self._address.port, timeout=60)

    def close(self) -> None:
        """Ends the watches, and leaves no pod behind."""
        for watch in self._watches.values():
            watch.close()
        self._send("POST", "/podstrat/reset", {}, {})


class Watch:
    """An open watch, read by a thread."""

    def __init__(self, connection: http.client.HTTPConnection, response: http.client.HTTPResponse) -> None:
        self._connection = connection
        self._response = response
        self._lines: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._follow, daemon=True)
        self._thread.start()

    def _follow(self) -> None:
        with contextlib.suppress(OSError, http.client.HTTPException, ValueError):
            while line := self._response.readline():
                self._lines.put(line)
        self._lines.put(None)

    def read(self, count: int, ends: bool) -> tuple[list[dict[str, Any]], bool]:
        """As many events as were recorded, and whatever else comes soon; whether the server has ended the stream."""
        events: list[dict[str, Any]] = []
        deadline = time.monotonic() + WITHIN
        while True:
            missing = len(events) < count or ends
            try:
                line = self._lines.get(timeout=max(0.0, deadline - time.monotonic()) if missing else SURPLUS)
            except queue.Empty:
                return events, False
            if line is None:
                return events, True
            event = json.loads(line)
            if not versions.is_periodic_bookmark(event):
                events.append(event)

    def close(self) -> None:
        with contextlib.suppress(OSError):
            self._connection.sock.shutdown(socket.SHUT_RDWR)
        self._thread.join(5)
        self._connection.close()


def _headers(step: Step) -> dict[str, str]:
    headers = {
        "Accept": step.get("accept") or "application/json",
        "Authorization": f"Bearer {TOKEN}",
        **(step.get("headers") or {}),
    }
    if "type" in step:
        headers["Content-Type"] = step["type"]
    return headers


def _decoded(response: http.client.HTTPResponse, data: bytes) -> Any:
    """A body as a value; other forms are named, not shown."""
    if response.getheader("Content-Encoding") == "gzip":
        data = gzip.decompress(data)
    with contextlib.suppress(ValueError):
        return json.loads(data)
    if data.startswith(b"k8s\0"):
        return {"bytes": data[:4].hex()}
    text = data.decode("utf-8", "replace")
    return {"raw": next((name for prefix, name in PREFIXES if text.startswith(prefix)), text[:400])}


def _brief(metadata: dict[str, Any]) -> dict[str, Any]:
    return {"name": metadata.get("name"), "rv": metadata.get("resourceVersion")}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--case", default="", help="only scripts whose id begins so")
    parser.add_argument("--show", type=int, default=20, help="how many differences to print (default 20)")
    parser.add_argument("--write-floor", action="store_true", help="raise the floor to what agrees now; it never sinks")
    args = parser.parse_args()
    found = verdicts(args.case)
    for verdict in [each for each in found if not each.whole][: args.show]:
        print(f"{verdict.id}\n    {verdict.why}")
    print_table({NAME: found})
    if args.write_floor:
        raise_floor({NAME: found})
    return 0 if all(each.whole for each in found) else 1


if __name__ == "__main__":
    sys.exit(main())
