"""The real kubectl, for tests: run in one namespace of a server, with a home of its own."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from podstrat.testing.server import Server

KUBECTL = shutil.which("kubectl")
NEEDS_KUBECTL = pytest.mark.skipif(KUBECTL is None, reason="kubectl is not on PATH: apt-get install kubernetes-client")


class Kubectl:
    """kubectl in one namespace."""

    def __init__(self, server: Server, namespace: str, home: Path) -> None:
        self.namespace = namespace
        self.home = home
        self._begin = [str(KUBECTL), "--kubeconfig", str(server.kubeconfig), "--namespace", namespace]
        self._environment = {**os.environ, "HOME": str(home), "TMPDIR": str(home), "KUBECACHEDIR": str(home / "cache")}

    def start(self, *arguments: str, **environment: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [*self._begin, *arguments],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={**self._environment, **environment},
        )

    def __call__(self, *arguments: str, code: int = 0, **environment: str) -> str:
        """What it says; of a failure what it complains about."""
        process = self.start(*arguments, **environment)
        try:
            said, complained = process.communicate(timeout=60)
        finally:
            process.kill()
        assert process.returncode == code, said + complained
        return (complained or said) if code else said

    def delete(self, *arguments: str) -> list[str]:
        """The names of what it says is deleted. Newer releases also say where."""
        return re.findall(r'^\S+ "([^"]+)"(?: force)? deleted(?: from \S+ namespace)?$', self("delete", *arguments), re.MULTILINE)

    def json(self, *arguments: str) -> Any:
        return json.loads(self("get", *arguments, "-o", "json"))

    def file(self, text: str, name: str = "pod.yaml") -> str:
        path = self.home / name
        path.write_text(text)
        return str(path)
