"""The story: what a pod with devices can live to see. Each step is verified; the first that fails ends it."""

from __future__ import annotations

import re
import urllib.request
from collections.abc import Callable
from typing import Any, NamedTuple

from podstrat.up import scene, view
from podstrat.up.client import CLAIMS, EVENTS, JSON_PATCH, PODS, ApiClient, Object, Refused
from podstrat.up.faulty_webhook import FaultyWebhook
from podstrat.up.process import UpError
from podstrat.up.scene import CRASHER, DOOMED, ENCODER, ENTRY, NODE, SERVING, TRAINING
from podstrat.up.system import System
from podstrat.up.view import View

PATIENCE = 15.0
"""Seconds until something that does not come about is given up."""
XID = "XID 79: the GPU has fallen off the bus"
HOT = "97 C: too hot"
FIRMWARE = "firmware 1.2 is too old for this driver"
UNHEALTHY, RECOVERED, NOT_PREPARED = "DeviceUnhealthy", "DeviceRecovered", "FailedPrepareDynamicResources"
PERMANENT = "PermanentDriverFailure"


class Missed(Exception):
    """Something has not come about."""


class Stage:
    """Where the story is played: the system, those who act in it, and those who watch."""

    def __init__(self, system: System, view: View, messages: bool = True) -> None:
        self.system, self.view = system, view
        self.messages = messages
        """Whether the server takes messages about devices."""
        self.api = system.api()
        self.node = system.api(system.node_kubeconfig)
        self.guest = system.api(system.guest_kubeconfig)

    def tell(self, line: str) -> None:
        """The driver is told something."""
        self.view.say(f"   (the driver is told: {line})")
        self.system.process("driver-sim").tell(line)

    def pod(self, name: str) -> Object:
        return self.api.get(f"{PODS}/{name}")

    def expect(self, what: str, condition: Callable[[], Any]) -> Any:
        """Waits until it is so, and says it."""

        def look() -> Any:
            if self.view.live:
                self.view.refresh(self.api)
            return condition()

        result = self.system.until(look, PATIENCE)
        if not result:
            raise Missed(what)
        self.view.say(f"   ok  {what}")
        return result

    def expect_devices(self, name: str, text: str) -> None:
        expected = text if self.messages else re.sub(r" \([^()]*\)", "", text)
        self.expect(f"{name}: {expected}", lambda: view.health(self.pod(name)) == expected)

    def expect_event(self, name: str, reason: str, text: str) -> None:
        def found() -> bool:
            events = view.happenings(self.api.items(EVENTS))
            return any((each.pod, each.reason) == (name, reason) and text in each.message for each in events)

        self.expect(f"event {reason} of {name}", found)

    def expect_refused(self, what: str, code: int, words: str, act: Callable[[], object]) -> None:
        """It is refused, in these words among others; all of them are shown."""
        try:
            act()
        except Refused as refused:
            if refused.code == code and words in refused.message:
                self.view.say(f"   ok  {what}, {code}:\n       {refused.message}")
                return
            raise Missed(f"{what}, {code} {words}; the answer is {refused}") from None
        raise Missed(f"{what}; the server has taken it")


class Step(NamedTuple):
    title: str
    play: Callable[[Stage], None]


def play(stage: Stage) -> bool:
    """Whether everything came about."""
    for number, step in enumerate(STEPS, 1):
        stage.view.say(f"{number}. {step.title}")
        try:
            step.play(stage)
        except (Missed, Refused) as missed:
            stage.view.say(f"   FAILED  {missed}\n\n{_how_it_is(stage.api)}")
            return False
        stage.view.say()
    return True


def _how_it_is(api: ApiClient) -> str:
    events = view.aligned(view.happenings(api.items(EVENTS))[-5:] or [("no events",)])
    return "\n".join([*view.pods_table([view.row(pod) for pod in api.items(PODS)]), "", *events])


# ---- the steps -------------------------------------------------------------------------------------


def _begin(stage: Stage) -> None:
    stage.expect_devices(TRAINING, "gpu-0 gpu-1 Healthy")
    stage.expect_devices(SERVING, "gpu-2 Healthy")
    stage.expect_devices(ENCODER, "gpu-6 gpu-7 Healthy")
    stage.expect(f"{SERVING} is ready: its readiness gate sees healthy devices", lambda: _is_ready(stage.pod(SERVING)))
    stage.expect(f"{CRASHER} is in CrashLoopBackOff", lambda: "CrashLoopBackOff" in view.phase(stage.pod(CRASHER)))
    stage.expect(
        "all of them: generation 1, observed 1",
        lambda: {_counts(each) for each in stage.api.items(PODS)} == {(1, 1)},
    )


def _update(stage: Stage) -> None:
    labelled = stage.api.patch(f"{PODS}/{TRAINING}", {"metadata": {"labels": {"team": "vision"}}})
    stage.expect("a label is no change of the spec: generation 1", lambda: _counts(labelled)[0] == 1)
    image = {"spec": {"containers": [{"name": "main", "image": "example.com/training:2"}]}}
    updated = stage.api.patch(f"{PODS}/{TRAINING}", image)
    stage.expect("a new image is: generation 2, and observed is still 1", lambda: _counts(updated) == (2, 1))
    stage.expect("the node has seen it: observed 2", lambda: _counts(stage.pod(TRAINING)) == (2, 2))


def _break(stage: Stage) -> None:
    stage.tell(f"health gpu-1 Unhealthy {XID}")
    stage.expect_devices(TRAINING, f"gpu-0 Healthy, gpu-1 Unhealthy ({XID})")
    stage.expect_event(TRAINING, UNHEALTHY, "gpu-1")
    stage.tell(f"health gpu-2 Unhealthy {HOT}")
    stage.expect_devices(SERVING, f"gpu-2 Unhealthy ({HOT})")
    stage.expect(f"{SERVING} runs, and is not ready any more", lambda: not _is_ready(stage.pod(SERVING)))


def _forget(stage: Stage) -> None:
    before = _kept_by_webhook(stage)
    condition = {"type": "example.com/Checkpoint", "status": "True"}
    with FaultyWebhook(stage.api, stage.system.folder) as faulty:
        answer = stage.node.patch(f"{PODS}/{TRAINING}/status", {"status": {"conditions": [condition]}})
        stage.expect("the careless webhook was called, and has removed it", lambda: faulty.cleared)
        stage.expect("our webhook, called after it, has put it back", lambda: _kept_by_webhook(stage) > before)
        stage.expect("stored is: generation 2, observed 2", lambda: _counts(answer) == (2, 2))


def _lie(stage: Stage) -> None:
    def write(api: ApiClient, health: str) -> Callable[[], object]:
        entry = "/status/containerStatuses/0/allocatedResourcesStatus/0"
        change = [
            {"op": "test", "path": f"{entry}/name", "value": ENTRY},
            {"op": "replace", "path": f"{entry}/resources/0/health", "value": health},
        ]
        return lambda: api.patch(f"{PODS}/{TRAINING}/status", change, JSON_PATCH)

    stage.expect_refused(f"{NODE} says that a GPU is Fine", 422, 'Unsupported value: "Fine"', write(stage.node, "Fine"))
    stage.expect_refused("a guest says that it is Unhealthy", 403, "denied the request", write(stage.guest, "Unhealthy"))
    stage.expect_devices(TRAINING, f"gpu-0 Healthy, gpu-1 Unhealthy ({XID})")


def _doom(stage: Stage) -> None:
    claim, pod = scene.doomed()
    uid = stage.api.create(CLAIMS, claim)["metadata"]["uid"]
    stage.system.process("driver-sim").tell(f"fail {uid} permanent {FIRMWARE}")
    stage.view.say(f"   (the driver will not prepare the claim, ever: {FIRMWARE})")
    stage.api.create(PODS, pod)
    stage.expect(f"{DOOMED} is Failed: {PERMANENT}", lambda: view.phase(stage.pod(DOOMED)) == f"Failed ({PERMANENT})")
    stage.expect_event(DOOMED, NOT_PREPARED, FIRMWARE)


def _recover(stage: Stage) -> None:
    stage.tell("health gpu-[12] Healthy")
    stage.expect_devices(TRAINING, "gpu-0 gpu-1 Healthy")
    stage.expect(f"{SERVING} is ready again", lambda: _is_ready(stage.pod(SERVING)))
    stage.expect_event(TRAINING, RECOVERED, "gpu-1")
    stage.expect_event(SERVING, RECOVERED, "gpu-2")


STEPS = (
    Step(f"Four pods on {NODE}: two with claims, one with a device plugin, one that crashes", _begin),
    Step("The spec changes: generation and observedGeneration move", _update),
    Step("Two GPUs become unhealthy, and say why", _break),
    Step("Somebody's webhook clears observedGeneration", _forget),
    Step("Health that is not true is refused", _lie),
    Step("A claim can never be prepared: its pod fails", _doom),
    Step("The GPUs recover", _recover),
)


# ---- what is looked at -----------------------------------------------------------------------------


def _counts(pod: Object) -> tuple[int, int]:
    return pod["metadata"].get("generation") or 0, (pod.get("status") or {}).get("observedGeneration") or 0


def _is_ready(pod: Object) -> bool:
    conditions = (pod.get("status") or {}).get("conditions") or ()
    return any((each["type"], each["status"]) == ("Ready", "True") for each in conditions)


def _kept_by_webhook(stage: Stage) -> float:
    """How often our webhook has put back what was observed, by its own count."""
    try:
        with urllib.request.urlopen(f"{stage.system.webhook_metrics}/metrics", timeout=PATIENCE) as answer:
            text = answer.read().decode()
    except OSError as error:
        raise UpError(f"the webhook's metrics are unavailable: {error}") from error
    values = re.findall(r'^podstrat_webhook_patch_operations_total\{concern="observed_generation"\} (\S+)', text, re.MULTILINE)
    return sum(map(float, values))
