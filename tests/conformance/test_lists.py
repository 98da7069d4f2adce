"""Lists and watches agree with the recorded scripts of a real server, and never less than they did."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator

import pytest
from werkzeug.serving import make_server

from podstrat.apiserver import serving
from podstrat.apiserver.app import Http
from podstrat.apiserver.auth import Authenticator, parse_token
from podstrat.apiserver.metrics import Metrics
from podstrat.apiserver.storage.store import Store
from podstrat.strategy.admission import Settings as AdmissionSettings
from podstrat.strategy.admission import plugins
from tests.conformance import versions
from tests.conformance.lists import NAME, TOKEN, Script, cases, verdict, verdicts
from tests.conformance.run import FLOOR, agreeing

FORGOTTEN = {"page/expired-no-snapshot"}
"""Scripts that need a server which has forgotten old versions."""


def test_agreement_stays_above_the_floor() -> None:
    found = verdicts()
    held, now = json.loads(FLOOR.read_text())[NAME], agreeing(found)
    differing = {each.id: each.why for each in found if not each.whole}
    assert set(differing) <= FORGOTTEN, differing
    assert {area: count for area, count in held.items() if now.get(area, 0) < count} == {}


@pytest.fixture
def forgetful() -> Iterator[tuple[str, Store]]:
    """A server in this process, whose store can be told to forget; as bare as the one that was recorded."""
    bare = AdmissionSettings(disable=plugins.beyond((1, 37)))
    api = serving.api(serving.Settings(admission=bare, controllers=frozenset(("namespace",))))
    app = Http(api, Authenticator([parse_token(TOKEN)], False), lambda _: None, Metrics()).app()
    server = make_server("127.0.0.1", 0, app, threaded=True)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}", api.store
    server.shutdown()
    server.server_close()
    thread.join(10)


@pytest.mark.parametrize("name", sorted(FORGOTTEN))
def test_a_server_that_has_forgotten_old_versions(forgetful: tuple[str, Store], name: str) -> None:
    url, store = forgetful
    (case,) = cases(name)
    assert verdict(case, Script(url, 0, store.compact)).why is None


def test_a_version_that_is_also_a_code() -> None:
    names = versions.Names(ns="a", ns2="b", rvA="404")
    status = {"kind": "Status", "message": "Too large resource version: 404, current: 41", "code": 404}
    assert names.shown(status) == {**status, "message": "Too large resource version: <rvA>, current: <rv>"}
