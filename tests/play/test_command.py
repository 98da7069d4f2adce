"""`podstrat play` as a process: it says where the page is, and nobody else gets in."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
import urllib.error
import urllib.request

import pytest

from tests.processes import started


def test_the_address_is_printed_and_ctrl_c_ends_it() -> None:
    asked = [sys.executable, "-m", "podstrat", "play", "--port", "0"]
    with started(asked, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        found = re.fullmatch(r"podstrat play: (http://127\.0\.0\.1:\d+)/\?token=[\w-]{32}\n", process.stdout.readline())
        assert found
        with pytest.raises(urllib.error.HTTPError, match="403") as refused:
            urllib.request.urlopen(found[1])
        refused.value.close()
        process.send_signal(signal.SIGINT)
        assert process.wait(60) == 0
        assert process.stderr is not None
        assert process.stderr.read() == "Ctrl-C ends it.\n"


@pytest.mark.parametrize("port", ["-1", "65536", "x"])
def test_a_port_that_is_none(port: str) -> None:
    asked = [sys.executable, "-m", "podstrat", "play", "--port", port]
    done = subprocess.run(asked, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 2
    assert "Traceback" not in done.stderr
