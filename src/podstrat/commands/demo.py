"""Walk through a pod's lifecycle with the engine: what kube-apiserver 1.37 would answer, without one."""

from __future__ import annotations

import argparse
import copy
from datetime import UTC, datetime
from typing import Any

from podstrat import Engine, Outcome, ResourceHealth, ResourceStatus, exits

Pod = dict[str, Any]

POD: Pod = {
    "apiVersion": "v1",
    "kind": "Pod",
    "metadata": {"name": "training", "namespace": "default"},
    "spec": {
        "containers": [{"name": "train", "image": "example.com/train:1", "resources": {"limits": {"nvidia.com/gpu": "2"}}}],
    },
}


def arguments(parser: argparse.ArgumentParser) -> None:
    """The demonstration takes none."""


def run(args: argparse.Namespace) -> int:
    """Each scene goes on with the pod that the last one left."""
    engine = Engine(version="1.37")
    pod = _create(engine)
    pod = _update(engine, pod)
    _refuse(engine)
    pod = _observe(engine, pod)
    _health(engine, pod)
    return exits.OK


def _create(engine: Engine) -> Pod:
    _scene("create: the server fills in what the client left out")
    _say("sent", "a name, and a container with an image and two GPUs as its limit")
    outcome = engine.create(POD, now=datetime.now(UTC))
    pod = _accepted(outcome)
    for change in outcome.changes:
        print(f"  {change}")
    return pod


def _update(engine: Engine, old: Pod) -> Pod:
    _scene("update: the generation counts changes of the spec, and nothing else")
    labelled = copy.deepcopy(old)
    labelled["metadata"]["labels"] = {"team": "vision"}
    labelled = _accepted(engine.update(labelled, old))
    _say("a new label", _generations(old, labelled))
    rolled = copy.deepcopy(labelled)
    rolled["spec"]["containers"][0]["image"] = "example.com/train:2"
    rolled = _accepted(engine.update(rolled, labelled))
    _say("a new image", _generations(labelled, rolled))
    return rolled


def _refuse(engine: Engine) -> None:
    _scene("create, refused: in the server's own words")
    pod = copy.deepcopy(POD)
    pod["metadata"]["name"] = "Training_Run"
    _refusal(engine.create(pod))


def _observe(engine: Engine, old: Pod) -> Pod:
    _scene("status: an observedGeneration that is left out is kept")
    pod = copy.deepcopy(old)
    pod["status"]["observedGeneration"] = old["metadata"]["generation"]
    pod = _accepted(engine.update_status(pod, old))
    _say("the node writes", pod["status"]["observedGeneration"])
    cleared = copy.deepcopy(pod)
    del cleared["status"]["observedGeneration"]
    cleared = _accepted(engine.update_status(cleared, pod))
    _say("left out, it stays", cleared["status"]["observedGeneration"])
    return cleared


def _health(engine: Engine, old: Pod) -> None:
    _scene("status: the health of the devices that a container was given")
    devices = [
        ResourceHealth(resource_id="gpu-0", health="Healthy"),
        ResourceHealth(resource_id="gpu-1", health="Unhealthy", message="ECC error"),
    ]
    sick = _with_health(old, ResourceStatus(name="nvidia.com/gpu", resources=devices).to_dict())
    pod = _accepted(engine.update_status(sick, old))
    for resource in pod["status"]["containerStatuses"][0]["allocatedResourcesStatus"]:
        for device in resource["resources"]:
            _say(device["resourceID"], " ".join(filter(None, (device["health"], device.get("message")))))
    broken = {"name": "nvidia.com/gpu", "resources": [{"resourceID": "gpu-0", "health": "Broken"}]}
    _refusal(engine.update_status(_with_health(pod, broken), pod))


def _with_health(pod: Pod, resource: dict[str, Any]) -> Pod:
    pod = copy.deepcopy(pod)
    pod["status"]["containerStatuses"] = [
        {
            "name": "train",
            "image": "example.com/train:2",
            "imageID": "",
            "ready": True,
            "restartCount": 0,
            "allocatedResourcesStatus": [resource],
        }
    ]
    return pod


def _accepted(outcome: Outcome) -> Pod:
    if not outcome.ok or outcome.pod is None:
        raise AssertionError(f"the demonstration's pod was refused: {outcome.status()}")
    return outcome.pod


def _generations(old: Pod, new: Pod) -> str:
    return f"generation {old['metadata']['generation']} -> {new['metadata']['generation']}"


def _scene(title: str) -> None:
    print(f"\n{title}")


def _say(what: str, value: Any) -> None:
    print(f"  {what:<20}{value}")


def _refusal(outcome: Outcome) -> None:
    status = outcome.status()
    _say(f"{status['code']} {status['reason']}", status["message"])
