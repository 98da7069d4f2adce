"""The scene is played and shown; the server ends with it, however it ends."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from podstrat import cli, exits
from podstrat.http import Client


@pytest.fixture(scope="module")
def shown():
    done = subprocess.run([sys.executable, "-m", "podstrat", "up", "--once"], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr) == (exits.OK, "")
    return done.stdout


@pytest.mark.parametrize(
    "line",
    [
        pytest.param(r"create pod web +generation 1, BestEffort, \d+ fields of the spec filled in", id="a-pod-is-made"),
        pytest.param(
            r'create pod refused +refused: Pod "refused" is invalid: spec\.containers\[0\]\.ports\[0\]\.containerPort: '
            r"Invalid value: 70000: must be between 1 and 65535, inclusive",
            id="one-is-refused",
        ),
        pytest.param(r"bind and start training +Running on node-1, gpu-0 Healthy, gpu-1 Unhealthy", id="devices"),
        pytest.param(r"NAME +READY +STATUS +RESTARTS +AGE +IP +NODE +NOMINATED NODE +READINESS GATES", id="headers"),
        pytest.param(r"batch +0/1 +Pending +0 +\d+s +<none> +<none> +<none> +<none>", id="one-waits"),
        pytest.param(r"web +1/1 +Running +0 +\d+s +10\.0\.0\.7 +node-1 +<none> +<none>", id="one-runs"),
    ],
)
def test_the_scene(shown, line):
    assert re.search(f"^{line}$", shown, re.MULTILINE), shown


@pytest.mark.parametrize("sign", [signal.SIGINT, signal.SIGTERM])
def test_it_serves_until_it_is_told_to_stop(sign):
    with subprocess.Popen([sys.executable, "-m", "podstrat", "up"], stdout=subprocess.PIPE, text=True) as process:
        kubeconfig = next(Path(line.split("=")[1].strip()) for line in process.stdout if "KUBECONFIG=" in line)
        with Client(kubeconfig) as client:
            assert len(client.send("GET", "/api/v1/pods")[1]["items"]) == 3
            process.send_signal(sign)
            assert process.wait(30) == exits.OK
            with pytest.raises(OSError, match="refused"):
                client.connection().connect()
    assert not kubeconfig.parent.exists()


def test_what_keeps_it_from_starting(capsys):
    assert cli.main(["up", "--once", "--kubernetes-version", "1.2"]) == exits.USAGE
    said = capsys.readouterr().err
    assert re.fullmatch(r"podstrat: [^\n]*1\.2[^\n]*\n", said)
