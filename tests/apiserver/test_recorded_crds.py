"""Recorded requests about definitions and custom objects, over HTTPS: a sample always, all of them where there is time."""

from __future__ import annotations

import http.client
import json
import ssl
import urllib.parse
from typing import Any

import pytest

from podstrat.testing.server import Server
from tests.conformance import crds
from tests.conformance.recorded import Recording, crd_recordings
from tests.conformance.run import FLOOR

TOKEN = "recorded"
SAMPLED = 9
"""Every ninth case is sent where time is short."""


class Client:
    """A kept-alive connection to one server."""

    def __init__(self, url: str) -> None:
        address = urllib.parse.urlsplit(url)
        context = ssl._create_unverified_context()
        self._connection = http.client.HTTPSConnection(address.hostname or "", address.port, context=context, timeout=60)

    def send(self, method: str, path: str, body: Any, content_type: str, accept: str) -> dict[str, Any]:
        data = body if isinstance(body, bytes) or body is None else json.dumps(body).encode()
        headers = {"Content-Type": content_type, "Accept": accept, "Authorization": f"Bearer {TOKEN}"}
        self._connection.request(method, path, data, headers)
        response = self._connection.getresponse()
        told = [value for key, value in response.getheaders() if key.lower() == "warning"]
        return crds.answer(response.status, response.read(), told)

    def close(self) -> None:
        self._connection.close()


def _files() -> list[Any]:
    newest = next(each for each in crd_recordings() if each.version == "1.37")
    return [
        pytest.param(newest, SAMPLED, id=f"{newest.name}-sampled"),
        pytest.param(newest, 1, id=newest.name, marks=pytest.mark.long),
    ]


@pytest.mark.parametrize("recording, every", _files())
def test_recorded_answers_over_https(recording: Recording, every: int) -> None:
    cases = list(recording.cases())
    floor = sum(json.loads(FLOOR.read_text())[recording.name].values())
    with Server("--token", TOKEN, "--kubernetes-version", recording.version) as server:
        client = Client(server.url)
        found = [crds.verdict(case, client) for case in cases[::every]]
        client.close()
    differing = [f"{each.id}: {each.why}" for each in found if not each.whole]
    assert len(differing) <= len(cases) - floor, "\n".join([f"{len(differing)} of {len(found)}", *differing[:20]])
    assert found, "nothing was sent"
