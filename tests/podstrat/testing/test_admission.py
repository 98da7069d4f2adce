"""The fixtures for people who write webhooks."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from podstrat import patches
from podstrat.testing.admission import Admitted, Tls
from tests.apiserver.admission import hooks
from tests.apiserver.admission.hooks import Webhook

Admit = Callable[..., Admitted]


@pytest.fixture
def webhook(podstrat_tls: Tls) -> Iterator[Webhook]:
    with hooks.running(podstrat_tls) as running:
        yield running


def test_a_url_mutates(podstrat_admit: Admit, podstrat_tls: Tls, webhook: Webhook) -> None:
    webhook.behave = hooks.patch({"op": "add", "path": "/metadata/labels", "value": {"a": "b"}}, warnings=["mind the gap"])
    admitted = podstrat_admit(hooks.pod(), [webhook.url], ca=podstrat_tls.ca)
    assert admitted.ok, admitted
    assert admitted.pod is not None
    assert admitted.pod["metadata"]["labels"] == {"a": "b"}
    assert admitted.pod["metadata"]["generation"] == 1
    assert admitted.warnings == ("mind the gap",)
    assert admitted.patches == {"webhook-1": [{"op": "add", "path": "/metadata/labels", "value": {"a": "b"}}]}
    [call] = admitted.calls
    assert (call.changed, call.request["operation"], call.round) == (True, "CREATE", 0)
    lines = str(admitted).splitlines()
    assert lines[:2] == ["201 accepted", "  warning: mind the gap"]
    assert lines[2].startswith("  webhook-1 (")
    assert lines[2].endswith("ms): changes the pod")
    assert lines[3] == '    add /metadata/labels {"a": "b"}'


def test_a_webhook_that_validates(podstrat_admit: Admit, podstrat_tls: Tls, webhook: Webhook) -> None:
    webhook.behave = hooks.deny("no latest")
    given = {"url": webhook.url, "ca": podstrat_tls.ca, "validating": True, "name": "policy.example.com"}
    admitted = podstrat_admit(hooks.pod(), [given])
    assert not admitted.ok
    assert admitted.pod is None
    assert admitted.message == 'admission webhook "policy.example.com" denied the request: no latest'
    assert str(admitted).splitlines()[0] == f"400 {admitted.message}"
    assert "refuses" in str(admitted)


def test_a_configuration_as_it_would_be_applied(podstrat_admit: Admit, podstrat_tls: Tls, webhook: Webhook) -> None:
    entry = webhook.entry(namespaceSelector={"matchLabels": {"team": "a"}})
    del entry["clientConfig"]["caBundle"]
    configuration = hooks.mutating("c", entry)
    assert podstrat_admit(hooks.pod(), [configuration], ca=podstrat_tls.ca).calls == ()
    assert len(podstrat_admit(hooks.pod(), [configuration], ca=podstrat_tls.ca, namespace_labels={"team": "a"}).calls) == 1


def test_an_update_and_a_delete(podstrat_admit: Admit, podstrat_tls: Tls, webhook: Webhook) -> None:
    old, new = hooks.pod(), hooks.pod(image="web:2")
    changed = podstrat_admit(new, [webhook.url], old=old, ca=podstrat_tls.ca)
    assert (changed.code, changed.calls[0].request["operation"]) == (200, "UPDATE")
    status = {**new, "status": {"phase": "Running"}}
    written = podstrat_admit(status, [webhook.url], old=new, subresource="status", ca=podstrat_tls.ca, user="system:node:n")
    assert written.calls[0].request["subResource"] == "status"
    assert written.calls[0].request["userInfo"]["username"] == "system:node:n"
    gone = podstrat_admit(old, [webhook.url], old=old, delete=True, ca=podstrat_tls.ca)
    assert (gone.code, gone.calls[0].request["operation"]) == (200, "DELETE")


@pytest.mark.parametrize(
    "options, expected",
    [
        pytest.param({"dry_run": True}, {"dryRun": True}, id="dry-run"),
        pytest.param({"user": "jane", "groups": ["dev"]}, {"userInfo": {"username": "jane"}}, id="user"),
    ],
)
def test_how_it_is_asked(
    options: dict[str, Any], expected: dict[str, Any], podstrat_admit: Admit, podstrat_tls: Tls, webhook: Webhook
) -> None:
    request = podstrat_admit(hooks.pod(), [webhook.url], ca=podstrat_tls.ca, **options).calls[0].request
    for key, value in expected.items():
        assert request[key] == value or value.items() <= request[key].items()


def test_a_release_without_the_strategy(podstrat_admit: Admit, podstrat_tls: Tls, webhook: Webhook) -> None:
    stored = podstrat_admit(hooks.pod(), [webhook.url], ca=podstrat_tls.ca, pod_strategy=False, version="1.34").pod
    assert stored is not None
    assert "generation" not in stored["metadata"]


def test_a_webhook_that_is_not_there_is_told(podstrat_admit: Admit) -> None:
    admitted = podstrat_admit(hooks.pod(), ["https://127.0.0.1:1/mutate"])
    assert admitted.code == 500
    assert "connection refused" in admitted.calls[0].error


def test_the_fixtures_cost_nothing_when_they_are_not_used() -> None:
    program = "import sys, podstrat.pytest_plugin; print({'apiserver', 'certs', 'strategy', 'ssl'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"


def test_the_pod_as_a_webhook_left_it_and_all_that_was_changed(
    podstrat_admit: Admit, podstrat_tls: Tls, webhook: Webhook
) -> None:
    webhook.behave = hooks.patch({"op": "add", "path": "/metadata/labels", "value": {"a": "b"}})
    pod = hooks.pod()
    admitted = podstrat_admit(pod, [webhook.url], ca=podstrat_tls.ca)
    left = admitted.patched("webhook-1")
    assert left["metadata"]["labels"] == {"a": "b"}
    assert "generation" not in left["metadata"]  # the server's part comes afterwards
    assert patches.applied(pod, admitted.changes) == admitted.pod
    with pytest.raises(LookupError, match="webhook-2 was not called"):
        admitted.patched("webhook-2")
