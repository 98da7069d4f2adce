"""A `podstrat node` as a child process."""

from __future__ import annotations

import os
import signal
import subprocess
import sys

from tests.eventually import eventually_async

PATIENCE = 60.0


class Child:
    """Started, waited for, killed or stopped. `module` is what is run instead of the command, for one that pauses."""

    def __init__(self, cluster, root, *options, module="podstrat", environ=None):
        self.ready = root / "ready"
        self.log = root / "log"
        self.state = root / "state"
        command = ["node"] if module == "podstrat" else []
        self._arguments = [
            *(sys.executable, "-m", module, *command, "--node", cluster.node, "--root", str(root)),
            *("--kubeconfig", str(cluster.server.kubeconfig), "--state-dir", str(self.state), "--ready-file", str(self.ready)),
            *options,
        ]
        self._environ = {**os.environ, **(environ or {})}
        self.process = None

    def start(self):
        self.ready.unlink(missing_ok=True)
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(self._arguments, stdout=log, stderr=log, env=self._environ)
        return self

    async def until_ready(self):
        await eventually_async(lambda: self.process.poll() is not None or self.ready.exists(), PATIENCE)
        assert self.process.poll() is None, self.log.read_text()
        return self.ready.read_text().split()

    def kill(self):
        self.process.kill()
        return self.process.wait()

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(PATIENCE)

    async def __aenter__(self):
        self.start()
        await self.until_ready()
        return self

    async def __aexit__(self, *_):
        if self.process.poll() is None:
            self.stop()
