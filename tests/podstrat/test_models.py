"""The health models agree with the engine's own rule, which has the last word."""

from __future__ import annotations

import pydantic
import pytest

from podstrat import Engine, ResourceHealth, ResourceStatus

GPU = {"resourceID": "gpu-0", "health": "Healthy"}
POD = {
    "apiVersion": "v1",
    "kind": "Pod",
    "metadata": {"name": "p", "namespace": "default"},
    "spec": {"containers": [{"name": "c", "image": "busybox:1", "resources": {"limits": {"nvidia.com/gpu": "2"}}}]},
}


def status(*devices):
    return {"name": "nvidia.com/gpu", "resources": list(devices)}


def faults(error):
    """Each error of pydantic as `place: message`."""
    return [f"{'.'.join(map(str, each['loc']))}: {each['msg'].removeprefix('Value error, ')}" for each in error.errors()]


@pytest.mark.parametrize(
    "value",
    [
        pytest.param(status(GPU), id="healthy"),
        pytest.param(status(GPU | {"health": "Unhealthy", "message": "ECC error"}), id="with-a-message"),
        pytest.param(status(GPU | {"health": "Unknown"}), id="unknown"),
        pytest.param(status(GPU, GPU | {"resourceID": "gpu-1"}), id="two-devices"),
        pytest.param(status(GPU | {"resourceID": ""}), id="an-empty-id"),
        pytest.param(status(GPU | {"message": "x" * 1024}), id="the-longest-message"),
        pytest.param(status(GPU | {"message": "é" * 512}), id="the-longest-message-counted-in-bytes"),
        pytest.param({"name": "claim:gpu/r0"}, id="no-devices"),
    ],
)
def test_what_the_api_writes_comes_back_as_it_was(value):
    assert ResourceStatus.model_validate(value).to_dict() == value


def test_python_spelling():
    device = ResourceHealth(resource_id="gpu-0", health="Unhealthy", message="ECC error")
    assert device.to_dict() == {"resourceID": "gpu-0", "health": "Unhealthy", "message": "ECC error"}
    assert ResourceStatus(name="nvidia.com/gpu", resources=[device]).to_dict() == status(device.to_dict())


def test_nothing_unset_or_empty_is_written():
    assert ResourceHealth(resource_id="gpu-0", health="Healthy", message=None).to_dict() == GPU
    assert ResourceStatus(name="nvidia.com/gpu", resources=[]).to_dict() == {"name": "nvidia.com/gpu"}


@pytest.mark.parametrize(
    "value, expected",
    [
        pytest.param(
            status(GPU | {"health": "healthy"}),
            ["resources.0.health: Input should be 'Healthy', 'Unhealthy' or 'Unknown'"],
            id="health-in-lower-case",
        ),
        pytest.param(status({"resourceID": "gpu-0"}), ["resources.0.health: Field required"], id="no-health"),
        pytest.param(status({"health": "Healthy"}), ["resources.0.resourceID: Field required"], id="no-id"),
        pytest.param(
            status(GPU | {"message": ""}), ["resources.0.message: must be non-empty if specified"], id="an-empty-message"
        ),
        pytest.param(
            status(GPU | {"message": "x" * 1023 + "é"}),
            ["resources.0.message: may not be more than 1024 bytes"],
            id="a-message-too-long-in-bytes",
        ),
        pytest.param(
            status(GPU, GPU | {"resourceID": "gpu-1"}, GPU | {"health": "Unknown"}),
            ['resources: resources[2].resourceID: Duplicate value: "gpu-0"'],
            id="a-device-twice",
        ),
        pytest.param({"resources": []}, ["name: Field required"], id="no-name"),
        pytest.param(status(GPU | {"heath": "Healthy"}), ["resources.0.heath: Extra inputs are not permitted"], id="misspelt"),
    ],
)
def test_what_is_refused(value, expected):
    with pytest.raises(pydantic.ValidationError) as caught:
        ResourceStatus.model_validate(value)
    assert faults(caught.value) == expected


def test_a_model_does_not_change():
    device = ResourceHealth(resource_id="gpu-0", health="Healthy")
    with pytest.raises(pydantic.ValidationError, match="frozen"):
        device.health = "Unhealthy"


def accepts(value):
    try:
        ResourceStatus.model_validate(value)
    except pydantic.ValidationError:
        return False
    return True


@pytest.mark.parametrize(
    "devices",
    [
        pytest.param([GPU], id="healthy"),
        pytest.param([GPU | {"health": "Degraded"}], id="health"),
        pytest.param([{"resourceID": "gpu-0"}], id="no-health"),
        pytest.param([GPU | {"message": ""}], id="empty-message"),
        pytest.param([GPU | {"message": "é" * 512}], id="long-message"),
        pytest.param([GPU | {"message": "é" * 513}], id="too-long-message"),
        pytest.param([GPU, GPU], id="duplicate"),
        pytest.param([GPU | {"resourceID": ""}], id="empty-id"),
    ],
)
def test_the_engine_agrees(devices):
    engine = Engine(version="1.37")
    old = engine.create(POD).pod
    container = {"name": "c", "image": "busybox:1", "imageID": "", "ready": True, "restartCount": 0}
    written = container | {"allocatedResourcesStatus": [status(*devices)]}
    pod = old | {"status": old["status"] | {"containerStatuses": [written]}}
    assert accepts(status(*devices)) is engine.update_status(pod, old).ok
