"""The fixtures that the pytest plugin gives to other people's tests."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

POD = {"metadata": {"name": "p"}, "spec": {"containers": [{"name": "c", "image": "busybox:1"}]}}


def test_a_client_makes_a_pod_in_a_namespace_of_its_own(podstrat_client: Any, podstrat_namespace: str) -> None:
    from kubernetes.client import CoreV1Api

    core = CoreV1Api(podstrat_client)
    made = core.create_namespaced_pod(podstrat_namespace, POD)
    assert made.metadata.generation == 1
    assert made.status.phase == "Pending"
    assert [each.metadata.name for each in core.list_namespaced_pod(podstrat_namespace).items] == ["p"]


def test_nothing_is_left_after_a_reset(podstrat_client: Any, podstrat_reset: None) -> None:
    from kubernetes.client import CoreV1Api

    CoreV1Api(podstrat_client).create_namespaced_config_map("default", {"metadata": {"name": "left"}})


def test_nothing_was_left(podstrat_client: Any) -> None:
    from kubernetes.client import CoreV1Api

    names = [each.metadata.name for each in CoreV1Api(podstrat_client).list_namespaced_config_map("default").items]
    assert "left" not in names


def test_the_kubeconfig_is_for_nobody_else(podstrat_kubeconfig: Path) -> None:
    assert podstrat_kubeconfig.stat().st_mode & 0o077 == 0


def test_the_plugin_costs_nothing_when_it_is_not_used() -> None:
    program = "import sys, podstrat.pytest_plugin; print({'flask', 'kubernetes', 'gunicorn', 'strategy'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"
