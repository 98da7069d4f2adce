"""The live view beside `podstrat serve` and within `podstrat up`: there while they are, and gone with them."""

from __future__ import annotations

import re
import shutil
import signal
import tempfile
import urllib.error
import urllib.request
from pathlib import Path

import pytest

from podstrat.testing.server import Server
from tests.eventually import eventually
from tests.up.running import Up, assert_nothing_left

ADDRESS = r"http://127\.0\.0\.1:(\d+)/\?token=[\w-]+"


def code(port: str) -> int:
    """What one without the token is answered; 0 if there is nobody."""
    try:
        urllib.request.urlopen(f"http://127.0.0.1:{port}/", timeout=60)
    except urllib.error.HTTPError as refused:
        refused.close()
        return refused.code
    except OSError:
        return 0
    return 200


@pytest.mark.parametrize("sign", [signal.SIGTERM, signal.SIGKILL])
def test_beside_serve(sign: int) -> None:
    with Server("--ui") as server:
        found = eventually(lambda: re.search(rf"podstrat live: {ADDRESS}\n", server.log.read_text()))
        assert code(found[1]) == 403
        server.stop(sign)
        eventually(lambda: code(found[1]) == 0)


@pytest.mark.long
def test_within_up() -> None:
    folder = Path(tempfile.mkdtemp(prefix="up-"))
    try:
        with Up(folder, "--no-story", "--web") as up:
            port = up.until(rf"In a browser:\s+{ADDRESS}")[1]
            assert code(port) == 403
            assert up.ends(signal.SIGTERM) == 0
        assert code(port) == 0
        assert_nothing_left(folder)
    finally:
        shutil.rmtree(folder)
