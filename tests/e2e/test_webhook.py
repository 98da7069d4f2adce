"""The webhook in front of an API server, end to end over TLS: each step without it and with it, and that it was really called.

Against the embedded server always; against a real kube-apiserver where its binaries are (tests/e2e/servers.py). The
configurations are those that are shipped, but for the address: here the webhook runs on this machine.
"""

from __future__ import annotations

import base64
import json
import re
import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from podstrat import goyaml
from podstrat.certs import files
from podstrat.certs.issuing import Authority
from podstrat.install.apply import KubernetesCluster, Refused
from podstrat.install.migrate import migrate
from podstrat.kubeclient.answer import Answer
from podstrat.strategy.engine import Engine
from podstrat.strategy.gates import history
from podstrat.webhook import activation
from podstrat.webhook.settings import Settings
from tests.e2e import servers
from tests.e2e.servers import ApiServer
from tests.webhook.child import Replica, certificates, until

Object = dict[str, Any]
SHIPPED = Path(__file__).parents[2] / "manifests" / "rendered" / "complete.yaml"
CONFIGURATIONS = "/apis/admissionregistration.k8s.io/v1"
PODS = "/api/v1/namespaces/default/pods"
DEPLOYMENTS = "/apis/apps/v1/namespaces/default/deployments"
GPU = "example.com/gpu"
COUNT = "podstrat.dev/generation"
IMAGE = "/spec/containers/0/image"
ORDINARY_WRITES = 1000
numbers = count()


# ---- the servers -----------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ApiServer]:
    """A server that stores pods as they are."""
    with servers.embedded(tmp_path_factory.mktemp("plain"), "1.37", "--pod-strategy", "off") as made:
        yield made


@pytest.fixture(scope="module", params=["embedded", "real"])
def server(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ApiServer]:
    """A server with the strategy of pods."""
    folder = tmp_path_factory.mktemp("server")
    if request.param == "embedded":
        with servers.embedded(folder, "1.37") as made:
            yield made
        return
    binaries = servers.assets()
    if binaries is None:
        pytest.skip(servers.MISSING)
    with servers.real(folder, binaries) as made:
        yield made


# ---- the webhook -----------------------------------------------------------------------------------


class Webhook:
    """A replica, and the configurations by which a server calls it."""

    def __init__(self, server: ApiServer, replica: Replica, authority: bytes, phases: tuple[str, ...]) -> None:
        self._server, self._replica, self._authority = server, replica, authority
        self._phases = phases
        self._before = dict.fromkeys(("mutate", "validate", "observed", "policy", "preflight"), 0.0)
        self._trial = create(server, pod())

    def configuration(self, phase: str) -> Object:
        kind = {"mutate": "MutatingWebhookConfiguration"}.get(phase, "ValidatingWebhookConfiguration")
        objects = [document.value for document in goyaml.documents(SHIPPED.read_bytes(), SHIPPED.name)]
        made: Object = next(each for each in objects if each["kind"] == kind)
        made["webhooks"] = [hook for hook in made["webhooks"] if hook["name"].partition(".")[0] in self._phases]
        for hook in made["webhooks"]:
            bundle = base64.b64encode(self._authority).decode()
            path = hook["clientConfig"]["service"]["path"]
            hook["clientConfig"] = {"url": f"https://127.0.0.1:{self._replica.port}{path}", "caBundle": bundle}
            # What a failure would hide here is what the test is about.
            hook["failurePolicy"] = "Fail"
        return made

    def install(self) -> None:
        for phase in ("mutate", "validate"):
            made = self.configuration(phase)
            good(self._server.send("POST", f"{CONFIGURATIONS}/{made['kind'].lower()}s", made))
        until(lambda: self._called_for_a_trial() == {"mutate", "validate"})
        self.forget()

    def uninstall(self) -> None:
        """Also what an installation that failed has left behind."""
        for phase in ("mutate", "validate"):
            made = self.configuration(phase)
            answer = self._server.send("DELETE", f"{CONFIGURATIONS}/{made['kind'].lower()}s/{made['metadata']['name']}")
            assert answer.code in (200, 404), answer.text
        until(lambda: not self._called_for_a_trial())

    def _called_for_a_trial(self) -> set[str]:
        """The phases that a dry run of a status write goes through: a real server hears of its configurations a little later."""
        before = {phase: self._counted(phase) for phase in self._before}
        report = reporting((GPU, "Unhealthy"))
        good(self._server.send("PATCH", f"{at(self._trial)}/status?dryRun=All", report, patch="merge"))
        return {phase for phase, count in before.items() if self._counted(phase) > count}

    def forget(self) -> None:
        self._before = {phase: self._counted(phase) for phase in self._before}

    def calls(self, phase: str) -> int:
        """How often it has been called since that was last asked."""
        before, self._before[phase] = self._before[phase], self._counted(phase)
        return int(self._before[phase] - before)

    def _counted(self, phase: str) -> float:
        lines = self._replica.plain("/metrics")[1].splitlines()
        name = "podstrat_webhook_admission_requests_total"
        return sum(float(line.rpartition(" ")[2]) for line in lines if line.startswith(name) and f'webhook="{phase}"' in line)


@contextmanager
def webhook(
    server: ApiServer, folder: Path, phases: tuple[str, ...] = ("mutate", "validate"), **settings: Any
) -> Iterator[Webhook]:
    tls = certificates(folder / "tls", "127.0.0.1", "localhost")
    version = "plain" if "server_version" not in settings else settings.pop("server_version")
    if gates := [each for each in (server.feature_gates, settings.pop("feature_gates", "")) if each]:
        settings["feature_gates"] = ",".join(gates)
    with Replica(folder / "replica", cert_dir=tls, server_version=version, **settings) as replica:
        until(replica.is_ready)
        made = Webhook(server, replica, (tls / "ca.crt").read_bytes(), phases)
        try:
            made.install()
            yield made
        finally:
            made.uninstall()


def good(answer: Answer) -> Any:
    assert answer.code < 300, answer.text
    return answer.body


def warnings(answer: Answer) -> list[str]:
    """The texts of the Warning headers."""
    found = [re.findall(r'299 \S+ "((?:[^"\\]|\\.)*)"', header) for header in answer.headers.get_all("Warning") or ()]
    return [re.sub(r"\\(.)", r"\1", text) for texts in found for text in texts]


# ---- pods ------------------------------------------------------------------------------------------


def pod(**spec: Any) -> Object:
    limits = {"limits": {GPU: "1"}, "requests": {GPU: "1"}}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": f"p{next(numbers)}", "namespace": "default"},
        "spec": {"nodeName": "n1", "containers": [{"name": "c", "image": "i:1", "resources": limits}], **spec},
    }


def deployment(**spec: Any) -> Object:
    made = pod(**spec)
    labels = {"app": made["metadata"]["name"]}
    template = {"metadata": {"labels": labels}, "spec": {key: value for key, value in made["spec"].items() if key != "nodeName"}}
    if template["spec"].get("restartPolicy") == "Never":
        del template["spec"]["restartPolicy"]
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": made["metadata"]["name"]},
        "spec": {"selector": {"matchLabels": labels}, "template": template},
    }


def create(server: ApiServer, made: Object) -> Object:
    stored: Object = good(server.send("POST", PODS, made))
    return stored


def at(stored: Object) -> str:
    return f"{PODS}/{stored['metadata']['name']}"


def reporting(*reports: tuple[str, str]) -> Object:
    """A status patch with the health of devices."""
    report = [{"name": name, "resources": [{"resourceID": "gpu-0", "health": health}]} for name, health in reports]
    status = {"name": "c", "image": "i:1", "imageID": "", "ready": False, "restartCount": 0}
    return {"status": {"containerStatuses": [{**status, "allocatedResourcesStatus": report}]}}


# ---- a server that stores pods as they are ---------------------------------------------------------


def test_generation(plain: ApiServer, tmp_path: Path) -> None:
    def life() -> list[int | None]:
        stored = create(plain, pod())
        numbers = [stored["metadata"].get("generation")]
        stored["spec"]["containers"][0]["image"] = "i:2"
        stored = good(plain.send("PUT", at(stored), stored))
        numbers.append(stored["metadata"].get("generation"))
        patched = good(plain.send("PATCH", at(stored), {"metadata": {"labels": {"a": "b"}}}, patch="merge"))
        return [*numbers, patched["metadata"].get("generation")]

    assert life() == [None, None, None]
    with webhook(plain, tmp_path) as hook:
        assert life() == [1, 2, 2]
        assert hook.calls("mutate") == 2, "a label is no concern of ours"
    assert life() == [None, None, None]


def test_generation_in_an_annotation(plain: ApiServer, tmp_path: Path) -> None:
    """As on servers before 1.33, which put the stored generation back."""

    def life() -> list[str | None]:
        stored = create(plain, pod())
        counts = [(stored["metadata"].get("annotations") or {}).get(COUNT)]
        patched = good(plain.send("PATCH", at(stored), [{"op": "replace", "path": IMAGE, "value": "i:2"}], patch="json"))
        return [*counts, (patched["metadata"].get("annotations") or {}).get(COUNT)]

    assert life() == [None, None]
    with webhook(plain, tmp_path, server_version="1.32") as hook:
        assert life() == ["1", "2"]
        assert hook.calls("mutate") == 2


class Clearing:
    """A webhook of somebody else that clears observedGeneration on every status write."""

    def __init__(self, server: ApiServer, folder: Path) -> None:
        self._server = server
        self.calls = 0
        now = datetime.now(UTC)
        authority = Authority.new("clearing", now)
        leaf = authority.server(["127.0.0.1"], now)
        files.write(folder / "clearing.pem", leaf.certificate + leaf.key, 0o600)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(folder / "clearing.pem")
        this = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                review = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                this.calls += 1
                response: Object = {"uid": review["request"]["uid"], "allowed": True}
                if "observedGeneration" in review["request"]["object"].get("status", {}):
                    patch = json.dumps([{"op": "remove", "path": "/status/observedGeneration"}])
                    response |= {"patchType": "JSONPatch", "patch": base64.b64encode(patch.encode()).decode()}
                body = json.dumps({"apiVersion": review["apiVersion"], "kind": review["kind"], "response": response}).encode()
                self.send_response(200)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, format: str, *args: object) -> None:
                """Nothing."""

        self._http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._http.daemon_threads = True
        self._http.socket = context.wrap_socket(self._http.socket, server_side=True)
        self._configuration = {
            "apiVersion": "admissionregistration.k8s.io/v1",
            "kind": "MutatingWebhookConfiguration",
            "metadata": {"name": "zz-clearing"},  # after ours
            "webhooks": [
                {
                    "name": "clearing.example.com",
                    "admissionReviewVersions": ["v1"],
                    "sideEffects": "None",
                    "clientConfig": {
                        "url": f"https://127.0.0.1:{self._http.server_port}/",
                        "caBundle": base64.b64encode(authority.certificate).decode(),
                    },
                    "rules": [{"apiGroups": [""], "apiVersions": ["v1"], "operations": ["UPDATE"], "resources": ["pods/status"]}],
                }
            ],
        }

    def __enter__(self) -> Clearing:
        threading.Thread(target=self._http.serve_forever, daemon=True).start()
        good(self._server.send("POST", f"{CONFIGURATIONS}/mutatingwebhookconfigurations", self._configuration))
        return self

    def __exit__(self, *_: object) -> None:
        good(self._server.send("DELETE", f"{CONFIGURATIONS}/mutatingwebhookconfigurations/zz-clearing"))
        self._http.shutdown()
        self._http.server_close()


def test_observed_generation(plain: ApiServer, tmp_path: Path) -> None:
    def life() -> list[int | None]:
        stored = create(plain, pod())
        seen = good(plain.send("PATCH", f"{at(stored)}/status", {"status": {"observedGeneration": 1}}, patch="merge"))
        numbers = [seen["status"].get("observedGeneration")]
        with Clearing(plain, tmp_path) as other:
            cleared = good(plain.send("PATCH", f"{at(stored)}/status", {"status": {"phase": "Running"}}, patch="merge"))
            assert other.calls == 1
        return [*numbers, cleared["status"].get("observedGeneration")]

    assert life() == [1, None]
    with webhook(plain, tmp_path) as hook:
        # Its shipped conditions see the request before the other webhook has had its turn; here it is asked about every write.
        configuration = f"{CONFIGURATIONS}/mutatingwebhookconfigurations/{hook.configuration('mutate')['metadata']['name']}"
        stored = good(plain.send("GET", configuration))
        del stored["webhooks"][0]["matchConditions"]
        good(plain.send("PUT", configuration, stored))
        assert life() == [1, 1]
        assert hook.calls("mutate") > 2, "it was called again after the other one"


def test_bad_health(plain: ApiServer, tmp_path: Path) -> None:
    def written(health: str) -> Answer:
        stored = create(plain, pod())
        return plain.send("PATCH", f"{at(stored)}/status", reporting((GPU, health)), "n1", "merge")

    assert written("Fine").code == 200, "whatever it is, it is stored"
    with webhook(plain, tmp_path) as hook:
        answer = written("Fine")
        assert answer.code == 422
        (cause,) = answer.body["details"]["causes"]
        assert cause["field"] == "status.containerStatuses[0].allocatedResourcesStatus[0].resources[0].health"
        assert written("Unhealthy").code == 200
        assert hook.calls("validate") == 2


# ---- a server with the strategy of pods ------------------------------------------------------------


def test_gated_fields(server: ApiServer, tmp_path: Path) -> None:
    """The server drops them without a word."""
    container = {"name": "c", "image": "i:1", "lifecycle": {"stopSignal": "SIGTERM"}}
    gated = {"containers": [container], "os": {"name": "linux"}}
    off = {"feature_gates": "ContainerStopSignals=false", "server_version": server.version}
    path = "spec.containers[0].lifecycle.stopSignal"

    if server.version not in history.RELEASES:
        # Whose gates are not known is not judged.
        with webhook(server, tmp_path / "old", gated_action="refuse", **off):
            assert not any("feature gate" in text for text in warnings(server.send("POST", PODS, pod(**gated))))
        return
    silent = server.send("POST", PODS, pod(**gated))
    assert (silent.code, warnings(silent)) == (201, [])
    assert "lifecycle" not in silent.body["spec"]["containers"][0]
    with webhook(server, tmp_path / "warn", **off) as hook:
        warned = server.send("POST", PODS, pod(**gated))
        assert warned.code == 201
        assert warnings(warned) == [f"{path}: the feature gate ContainerStopSignals is off; the server may drop this field"]
        assert hook.calls("mutate") == 1
    with webhook(server, tmp_path / "refuse", gated_action="refuse", **off) as hook:
        refused = server.send("POST", PODS, pod(**gated))
        assert refused.code == 422
        assert f"{path}: Forbidden: the feature gate ContainerStopSignals is off in this cluster" in refused.body["message"]
        assert refused.body["message"].startswith('admission webhook "mutate.podstrat.dev" denied the request: ')
        assert hook.calls("mutate") == 1


def test_a_gate_policy_holds_by_itself(server: ApiServer, tmp_path: Path) -> None:
    """A label opts out of the mutating entry; what the server would store is refused all the same."""
    if server.version not in history.RELEASES:
        assert activation.decide(Settings(server_version=server.version, gated_action="refuse"))["gated_fields"].on is False
        return
    # A gate that is on in every release: only our policy turns it off.
    spec = {"containers": [{"name": "c", "image": "i:1"}], "hostUsers": False}
    off = {"feature_gates": "UserNamespacesSupport=false", "server_version": server.version, "gated_action": "refuse"}
    labelled = pod(**spec)
    labelled["metadata"]["labels"] = {"podstrat.dev/webhook": "ignore"}
    with webhook(server, tmp_path, ("mutate", "validate", "policy"), **off) as hook:
        refused = server.send("POST", PODS, labelled)
        assert refused.code == 422, refused.text
        assert refused.body["message"].startswith('admission webhook "policy.podstrat.dev" denied the request: ')
        assert (hook.calls("mutate"), hook.calls("policy")) == (0, 1)


def test_generation_is_the_servers_own(server: ApiServer, tmp_path: Path) -> None:
    """Where both do it, the result is the same."""

    def life() -> list[int]:
        stored = create(server, pod())
        numbers = [stored["metadata"].get("generation", 0)]
        stored = good(
            server.send("PATCH", at(stored), {"spec": {"containers": [{"name": "c", "image": "i:2"}]}}, patch="strategic-merge")
        )
        return [*numbers, stored["metadata"].get("generation", 0)]

    if minor(server) < 33:
        # Not yet: test_backport has what is done about it.
        assert life() == [0, 0]
        return
    assert life() == [1, 2]
    with webhook(server, tmp_path, server_version=server.version) as hook:
        assert life() == [1, 2]
        assert hook.calls("mutate") == 2


def counts(metadata: Object) -> tuple[int, str]:
    return metadata.get("generation", 0), (metadata.get("annotations") or {}).get(COUNT, "")


def test_backport(server: ApiServer, tmp_path: Path) -> None:
    """Before 1.33 the count is in an annotation, ephemeral containers included; since then it is left to the server."""
    changed = {"spec": {"containers": [{"name": "c", "image": "i:2"}]}}
    debug = {"spec": {"ephemeralContainers": [{"name": "d", "image": "d", "targetContainerName": "c"}]}}
    with webhook(server, tmp_path, server_version=server.version):
        stored = create(server, pod())
        found = [counts(stored["metadata"])]
        for part, patch in (("", changed), ("/ephemeralcontainers", debug), ("/status", {"status": {"phase": "Running"}})):
            answer = good(server.send("PATCH", f"{at(stored)}{part}", patch, patch="strategic-merge"))
            found.append(counts(answer["metadata"]))
    if minor(server) < 33:
        assert found == [(1, "1"), (1, "2"), (1, "2"), (1, "3")]
    else:
        assert found == [(1, ""), (2, ""), (3, ""), (3, "")]


def test_migration(server: ApiServer, tmp_path: Path) -> None:
    """A pod that was counted before an upgrade to 1.33 has two counts, until the annotation is removed."""
    old = pod()
    old["metadata"]["annotations"] = {COUNT: "5", COUNT + "-basis": "0/abcd", "a": "b"}
    stored = create(server, old)
    patch = [{"op": "replace", "path": IMAGE, "value": "i:2"}]
    before = good(server.send("PATCH", at(stored), patch, patch="json"))["metadata"]
    server.as_user("admin")
    cluster = KubernetesCluster(server.folder / "kubeconfig-admin")
    if minor(server) < 33:
        with pytest.raises(Refused, match=r"before 1\.33 the annotation podstrat\.dev/generation is the only count"):
            migrate(cluster, COUNT, False, print)
        return
    assert counts(before) == (2, "5")
    assert migrate(cluster, COUNT, False, print) >= 1
    after = good(server.send("GET", at(stored)))["metadata"]
    assert (after["generation"], after["annotations"]) == (2, {"a": "b"})


def minor(server: ApiServer) -> int:
    return int(server.version.partition(".")[2])


def test_health_of_another_nodes_pod(server: ApiServer, tmp_path: Path) -> None:
    def written(user: str) -> Answer:
        stored = create(server, pod())
        return server.send("PATCH", f"{at(stored)}/status", reporting((GPU, "Unhealthy")), user, "strategic-merge")

    assert [written(user).code for user in ("n1", "n2", "eve")] == [200, 200, 200]
    with webhook(server, tmp_path, server_version=server.version) as hook:
        assert [written(user).code for user in ("n1", "admin")] == [200, 200]
        for user in ("n2", "eve"):
            answer = written(user)
            assert answer.code == 403
            assert "only node 'n1' reports the health of this pod's devices" in answer.body["message"]
        assert hook.calls("validate") == 4


def test_names_that_are_not_unique(server: ApiServer, tmp_path: Path) -> None:
    def written() -> Answer:
        stored = create(server, pod())
        twice = reporting((GPU, "Healthy"), (GPU, "Unhealthy"))
        return server.send("PATCH", f"{at(stored)}/status", twice, "n1", "merge")

    assert written().code == 200
    with webhook(server, tmp_path, server_version=server.version) as hook:
        answer = written()
        if server.version not in history.RELEASES:
            assert answer.code == 200, "without the engine's rules"
            return
        assert answer.code == 422
        assert f'allocatedResourcesStatus[1].name: Duplicate value: "{GPU}"' in answer.body["message"]
        assert hook.calls("validate") == 1


ALL_AGAIN = {"action": "RestartAllContainers", "exitCodes": {"operator": "In", "values": [1]}}
ODD = (
    ("1.37", {"dnsConfig": {"nameservers": ["010.001.001.001"]}}),
    ("1.36", {"securityContext": {"seLinuxChangePolicy": "MountOption"}}),
    ("1.34", {"securityContext": {"seLinuxChangePolicy": "MountOption"}}),
    ("1.35", {"containers": [{"name": "c", "image": "i:1", "restartPolicy": "Never", "restartPolicyRules": [ALL_AGAIN]}]}),
)
"""Releases, and what they refuse while others take it."""


def odd_for(version: str) -> tuple[str, Object]:
    """A release, and a pod that it refuses and a server of this version takes."""
    if version not in history.RELEASES:
        return ODD[0]
    for other, spec in ODD:
        if Engine(version).create(pod(**spec)).ok and not Engine(other).create(pod(**spec)).ok:
            return other, spec
    raise AssertionError(f"{version} takes nothing that others refuse")


def preflighted(server: ApiServer, folder: Path) -> None:
    """An upgrade is planned, or a way back: first with warnings, then with refusals."""
    other, spec = odd_for(server.version)
    preflight = ("mutate", "validate", "preflight")
    expected = [str(error) for error in Engine(other).create(pod(**spec)).errors]
    silent = server.send("POST", PODS, pod(**spec))
    own = warnings(silent)
    assert silent.code == 201
    assert not any(f"Kubernetes {other}" in text for text in own)
    chosen = {"preflight": "on", "preflight_version": other, "server_version": server.version, "gated_fields": "off"}
    with webhook(server, folder / "warn", preflight, **chosen) as hook:
        warned = server.send("POST", PODS, pod(**spec))
        assert warned.code == 201
        told = [text for text in warnings(warned) if text not in own]
        assert told == [f"Kubernetes {other} would refuse this pod: {error}" for error in expected]
        assert hook.calls("preflight") == 1
        # A workload is judged by its template, where its author sees it.
        made = server.send("POST", DEPLOYMENTS, deployment(**spec))
        assert made.code == 201
        told = [text for text in warnings(made) if f"Kubernetes {other}" in text]
        assert told == [f"Kubernetes {other} would refuse this template: spec.template.{error}" for error in expected]
        scaled = {"spec": {"replicas": 2}}
        good(server.send("PATCH", f"{DEPLOYMENTS}/{made.body['metadata']['name']}", scaled, patch="merge"))
        assert hook.calls("preflight") == 1, "scaling is no concern of ours"
    with webhook(server, folder / "deny", preflight, preflight_action="deny", **chosen) as hook:
        denied = server.send("POST", PODS, pod(**spec))
        assert denied.code == 422
        assert f"Kubernetes {other} would refuse it: " in denied.body["message"]
        assert [f"{each['field']}: {each['message']}" for each in denied.body["details"]["causes"]] == expected
        assert hook.calls("preflight") == 1
        assert server.send("POST", DEPLOYMENTS, deployment(**spec)).code == 422
        create(server, pod())
        assert hook.calls("preflight") == 2


def test_preflight(server: ApiServer, tmp_path: Path) -> None:
    preflighted(server, tmp_path)


@pytest.mark.parametrize("version, other", [("1.34", "1.37"), ("1.35", "1.37"), ("1.36", "1.35")])
def test_preflight_from_other_releases(version: str, other: str, tmp_path: Path) -> None:
    with servers.embedded(tmp_path, version) as made:
        assert odd_for(version)[0] == other
        preflighted(made, tmp_path)


def test_mirror_pods_are_not_touched(server: ApiServer, tmp_path: Path) -> None:
    with webhook(server, tmp_path, server_version=server.version) as hook:
        made = pod()
        made["metadata"]["annotations"] = {"kubernetes.io/config.mirror": "x"}
        create(server, made)
        assert hook.calls("mutate") == 0


def test_a_dry_run_is_reviewed_and_leaves_nothing(server: ApiServer, tmp_path: Path) -> None:
    with webhook(server, tmp_path, server_version=server.version) as hook:
        made = pod()
        assert good(server.send("POST", f"{PODS}?dryRun=All", made))["metadata"]["generation"] == 1
        assert hook.calls("mutate") == 1
        assert server.send("GET", at(made)).code == 404


def test_ordinary_status_writes_cause_no_call(server: ApiServer, tmp_path: Path) -> None:
    """With the match conditions as shipped: what a kubelet writes all the time stays in the server."""
    condition = {"type": "Ready", "observedGeneration": 1}
    with webhook(server, tmp_path, server_version=server.version) as hook:
        stored = create(server, pod())
        good(server.send("PATCH", f"{at(stored)}/status", reporting((GPU, "Healthy")), "n1", "strategic-merge"))
        hook.forget()
        for number in range(ORDINARY_WRITES):
            status = {
                "phase": "Running",
                "observedGeneration": 1,
                "conditions": [{**condition, "status": "True" if number % 2 else "False"}],
                "message": f"heartbeat {number}",
            }
            stored = good(server.send("PATCH", f"{at(stored)}/status", {"status": status}, "n1", "strategic-merge"))
        assert (hook.calls("mutate"), hook.calls("validate")) == (0, 0)
        # And one that does concern us is seen. A real server works on what its cache has, and asks again if that was not the last
        # word: so it is made to wait for it.
        good(server.send("GET", f"{at(stored)}?resourceVersion={stored['metadata']['resourceVersion']}"))
        good(server.send("PATCH", f"{at(stored)}/status", reporting((GPU, "Unhealthy")), "n1", "merge"))
        assert hook.calls("validate") == 1
