"""`podstrat node` and `podstrat driver-sim` as people run them."""

from __future__ import annotations

import asyncio
import base64
import json
import os
import stat
import subprocess
import sys
import urllib.request

import pytest

from podstrat import cli, exits
from podstrat.node.simulator.driver import DraDriver
from tests.eventually import eventually_async
from tests.kubeclient import files
from tests.kubeclient.tunnel import Tunnels
from tests.node.child import Child
from tests.node.cluster import health_of, running
from tests.processes import started

LIFE = ("--simulate-lifecycle",)


async def train(cluster, device="gpu-0"):
    pod = await cluster.pod(claims=["gpu"])
    await cluster.claim(pod, "gpu", [device])
    return pod["metadata"]["name"]


async def said(*arguments):
    """What the command prints."""
    command = [sys.executable, "-m", "podstrat", *map(str, arguments)]
    done = await asyncio.to_thread(subprocess.run, command, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout, done.stderr


async def test_a_kubeconfig_with_contexts_a_plugin_and_a_proxy(cluster, root):
    """As clouds write them: the certificate comes from an exec plugin, the server is behind a proxy."""
    config = json.loads(cluster.server.kubeconfig.read_text())
    user, server = config["users"][0]["user"], config["clusters"][0]["cluster"]
    host, _, port = server["server"].removeprefix("https://").partition(":")
    pair = {"clientCertificateData": "client-certificate-data", "clientKeyData": "client-key-data"}
    status = {name: base64.b64decode(user[key]).decode() for name, key in pair.items()}
    env = {"COUNT": str(root / "count"), "STATUS": json.dumps(status)}
    files.plugin(root, files.PRINT)
    plugin = {
        "apiVersion": "client.authentication.k8s.io/v1beta1",
        "command": "./plugin",
        "env": [{"name": name, "value": value} for name, value in env.items()],
    }
    with Tunnels(redirect=(host, int(port))) as proxy:
        far = {**server, "server": "https://cluster.invalid", "tls-server-name": "localhost", "proxy-url": proxy.url}
        made = files.config({"exec": plugin}, far)
        made["contexts"].append({"name": "elsewhere", "context": {"cluster": "none", "user": "none"}})
        made["current-context"] = "elsewhere"
        options = ("--kubeconfig", str(files.write(root / "config", made)), "--context", "here")
        async with DraDriver(root, pool=cluster.node, devices=1), Child(cluster, root, *LIFE, *options) as child:
            name = await train(cluster)
            await cluster.until_shown(name, cluster.id("gpu-0"), "Healthy")
            assert (await child.until_ready())[0] == "owner"
        assert set(proxy.asked) == {"CONNECT cluster.invalid:443"}
    assert len((root / "count").read_text().splitlines()) == 1


async def test_it_runs_and_tells(cluster, root):
    async with DraDriver(root, pool=cluster.node, devices=2) as driver:
        async with Child(cluster, root, *LIFE, "--metrics", "127.0.0.1:0") as child:
            role, port = await child.until_ready()
            assert role == "owner"
            name = await train(cluster)
            await cluster.until_shown(name, cluster.id("gpu-0"), "Healthy")
            driver.set("gpu-0", "Unhealthy", "XID 79")
            await cluster.until_shown(name, cluster.id("gpu-0"), "Unhealthy")
            code, out, _ = await said("node", "devices", "--state-dir", child.state)
            assert code == exits.OK
            assert [line.split() for line in out.splitlines()] == [
                ["DRIVER", "POOL", "DEVICE", "HEALTH", "PODS", "MESSAGE"],
                ["gpu.example.com", cluster.node, "gpu-0", "Unhealthy", f"default/{name}", "XID", "79"],
                ["gpu.example.com", cluster.node, "gpu-1", "Healthy"],
            ]
            code, out, _ = await said("node", "pods", "--state-dir", child.state)
            assert out.splitlines()[1].split() == ["default", name, "Running", "1", "0", "1", "1", "prepared"]
            code, out, _ = await said("node", "pods", "-o", "json", "--state-dir", child.state)
            assert json.loads(out)[0]["pod"] == name
            assert stat.S_IMODE(os.stat(child.state / "admin.sock").st_mode) == 0o600

            def page(path):
                with urllib.request.urlopen(f"http://127.0.0.1:{port}{path}") as answer:
                    return answer.read().decode()

            assert await asyncio.to_thread(page, "/healthz") == "ok\n"
            assert await asyncio.to_thread(page, "/readyz") == "ok\n"
            metrics = await asyncio.to_thread(page, "/metrics")
            for line in (
                'podstrat_node_devices{driver="gpu.example.com",health="Healthy"} 1',
                'podstrat_node_devices{driver="gpu.example.com",health="Unhealthy"} 1',
                'podstrat_node_device_transitions_total{health="Unhealthy"} 1',
                "podstrat_node_streams 1",
                "podstrat_node_refused_entries_total 0",
                'podstrat_node_role{role="owner"} 1',
            ):
                assert line in metrics.splitlines()
            assert "podstrat_node_write_lag_seconds_count" in metrics
            with pytest.raises(urllib.error.HTTPError):
                await asyncio.to_thread(page, "/devices")  # the tables are for whoever may open the socket
        for line in child.log.read_text().splitlines():
            assert {"time", "level", "message"} <= json.loads(line).keys()


async def test_the_tables_of_nobody(root):
    code, _, error = await said("node", "devices", "--state-dir", root)
    assert code == exits.USAGE
    assert "no node writer answers" in error


@pytest.mark.scenario(108)
async def test_a_second_one_on_the_same_node_is_refused(cluster, root):
    async with Child(cluster, root, *LIFE) as child:
        second = Child(cluster, root, *LIFE).start()
        assert await asyncio.to_thread(second.process.wait) == exits.USAGE
        last = second.log.read_text().splitlines()[-1]
        pid = child.process.pid
        assert last == f"podstrat: {child.state}/lock: another node writer is running for {cluster.node} (process {pid})"
        elsewhere = Child(cluster, root, *LIFE, "--state-dir", str(root / "other")).start()
        assert await asyncio.to_thread(elsewhere.process.wait) == exits.USAGE
        last = elsewhere.log.read_text().splitlines()[-1]
        assert last == f"podstrat: {root}/other/lock: another node writer is running for {cluster.node}"
        assert child.process.poll() is None
    async with Child(cluster, root, *LIFE):
        pass  # the lock goes with the process


@pytest.mark.scenario(109)
async def test_sigterm_during_writes(cluster, root):
    """What is under way ends; nothing is set to Unknown because we stop."""
    async with DraDriver(root, pool=cluster.node) as driver:
        async with Child(cluster, root, *LIFE) as child:
            name = await train(cluster)
            await cluster.until_shown(name, cluster.id("gpu-0"), "Healthy")
            await cluster.until(name, lambda pod: pod["status"]["phase"] == "Running")
            await cluster.fault(method="PATCH", resource="pods", name=name, hang=1)
            driver.set("gpu-0", "Unhealthy", "XID 79")
            await eventually_async(cluster.faults_over)
            assert await asyncio.to_thread(child.stop) == exits.OK
        found = await cluster.get(name)
        assert health_of(found, cluster.id("gpu-0")) == "Unhealthy"
        await driver.stop()
        assert health_of(await cluster.get(name), cluster.id("gpu-0")) == "Unhealthy"


@pytest.mark.scenario(109)
async def test_a_write_that_does_not_end_is_abandoned(cluster, root):
    async with DraDriver(root, pool=cluster.node) as driver:
        async with running(cluster, root, shutdown=0.2) as agent:
            name = await train(cluster)
            await cluster.until_shown(name, cluster.id("gpu-0"), "Healthy")
            await cluster.until(name, lambda pod: pod["status"]["phase"] == "Running")
            await cluster.fault(method="PATCH", resource="pods", name=name, hang=2)
            driver.set("gpu-0", "Unhealthy", "XID 79")
            await eventually_async(cluster.faults_over)
        assert agent.writer.backlog() <= 1
        await cluster.no_faults()
        # The server may still come to do what it was asked. It is not asked again, and not for Unknown.
        assert health_of(await cluster.get(name), cluster.id("gpu-0")) in ("Healthy", "Unhealthy")


async def test_a_simulated_driver_from_the_command(cluster, root):
    command = [sys.executable, "-m", "podstrat", "driver-sim", "--root", str(root), "--driver", "gpu.example.com"]
    process = await asyncio.create_subprocess_exec(
        *command, "--pool", cluster.node, stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE
    )
    try:
        async with Child(cluster, root, *LIFE):
            name = await train(cluster)
            await cluster.until_shown(name, cluster.id("gpu-0"), "Healthy")
            process.stdin.write(b"health gpu-* Unhealthy XID 79\n")
            await cluster.until_shown(name, cluster.id("gpu-0"), "Unhealthy")
    finally:
        process.terminate()
        await process.wait()


def test_a_simulated_driver_without_standard_input(root):
    """As services have it: it serves until it is stopped, and says nothing else."""
    command = [sys.executable, "-m", "podstrat", "driver-sim", "--root", str(root), "--driver", "gpu.example.com"]
    pipe = subprocess.PIPE
    with started(command, stdin=subprocess.DEVNULL, stdout=pipe, stderr=pipe) as process:
        assert process.stdout.readline() == "ready\n"
        process.terminate()
        assert process.communicate(timeout=60) == ("", "")
    assert process.returncode == 0


@pytest.mark.parametrize(
    "arguments, text",
    [
        pytest.param(["--feature-gates", "Nonsense=true"], "unknown feature gate Nonsense", id="unknown-gate"),
        pytest.param(["--feature-gates", "NodeHealth"], "--feature-gates: missing bool value for NodeHealth", id="no-value"),
        pytest.param(["--metrics", "here"], "--metrics: 'here' is not HOST:PORT", id="metrics"),
        pytest.param(["--kubeconfig", "/nowhere"], "/nowhere: No such file or directory", id="kubeconfig"),
        pytest.param(
            ["--role", "beside-kubelet", "--simulate-lifecycle"], "cannot be combined with --role beside-kubelet", id="roles"
        ),
    ],
)
def test_wrong_arguments(api_server, root, capsys, arguments, text):
    if "--kubeconfig" not in arguments:
        arguments = [*arguments, "--kubeconfig", str(api_server.kubeconfig)]
    assert cli.main(["node", "--node", "n", "--state-dir", str(root), "--root", str(root), *arguments]) == exits.USAGE
    assert text in capsys.readouterr().err
