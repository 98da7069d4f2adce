"""Preparing claims, and giving them back; every version of the protocol."""

from __future__ import annotations

import pytest

from podstrat.node.drivers.generated import dra_pb2
from podstrat.node.drivers.protocols import dra, wire
from podstrat.node.drivers.protocols.calls import CallFailed
from podstrat.node.drivers.protocols.dra import Claim, Prepared, Result
from podstrat.node.drivers.protocols.serving import CallRefused, Server
from podstrat.node.simulator.driver import Device, DraDriver, Failure

ONE, TWO = Claim("default", "one", "uid-1"), Claim("default", "two", "uid-2")


@pytest.mark.parametrize("version, share", [pytest.param("v1", "share-1", id="v1"), pytest.param("v1beta1", None, id="v1beta1")])
async def test_claims_are_prepared_and_given_back(root, version, share):
    async with DraDriver(root, prepares=(version,)) as driver:
        driver.allocated["uid-1"] = [Device("gpu", "node-1", "gpu-0", "share-1"), Device("gpu/big", "node-1", "gpu-1")]
        results = await dra.prepare(str(driver.socket), version, [ONE, TWO])
        assert results == {
            "uid-1": Result(
                (
                    Prepared("node-1", "gpu-0", ("gpu",), ("gpu.example.com/gpu=uid-1-gpu-0",), share),
                    Prepared("node-1", "gpu-1", ("gpu/big",), ("gpu.example.com/gpu=uid-1-gpu-1",), None),
                )
            ),
            "uid-2": Result(),
        }
        assert set(driver.prepared) == {"uid-1", "uid-2"}
        (_, request), *_ = driver.asked
        assert [(each.namespace, each.name, each.uid) for each in request.claims] == [ONE, TWO]
        assert await dra.unprepare(str(driver.socket), version, [ONE, TWO]) == {"uid-1": None, "uid-2": None}
        assert not driver.prepared


async def test_the_other_version_is_not_implemented(root):
    async with DraDriver(root, prepares=("v1beta1",)) as driver:
        with pytest.raises(CallFailed) as failure:
            await dra.prepare(str(driver.socket), "v1", [ONE])
        assert failure.value.unimplemented


@pytest.mark.parametrize("version", ["v1", "v1beta1"])
@pytest.mark.parametrize(
    "failure, result",
    [
        pytest.param(Failure("no firmware", True), Result(error="no firmware", permanent=True), id="permanent"),
        pytest.param(Failure("busy"), Result(error="busy"), id="transient"),
        pytest.param(Failure("", True), Result(), id="flag-without-error", marks=pytest.mark.scenario(81)),
    ],
)
async def test_an_error_is_permanent_if_the_driver_says_so(root, version, failure, result):
    async with DraDriver(root, prepares=(version,)) as driver:
        driver.failures["uid-1"] = failure
        assert (await dra.prepare(str(driver.socket), version, [ONE, TWO])) == {"uid-1": result, "uid-2": Result()}


async def test_a_driver_that_knows_no_permanent_errors_has_none(root):
    answer = b"\x0a\x0e\x0a\x05uid-1\x12\x05\x12\x03bad"

    async def prepare(_):
        return answer

    async with Server(str(root / "dra.sock"), {wire.prepare("v1"): prepare}):
        assert await dra.prepare(str(root / "dra.sock"), "v1", [ONE]) == {"uid-1": Result(error="bad")}


@pytest.mark.scenario(88)
async def test_a_call_that_takes_too_long_fails_as_a_whole(root):
    driver = DraDriver(root)
    driver.trouble["NodePrepareResources"] = "hang"
    async with driver:
        with pytest.raises(CallFailed) as failure:
            await dra.prepare(str(driver.socket), "v1", [ONE], timeout=0.05)
        assert failure.value.code == "DEADLINE_EXCEEDED"
    assert dra.TIMEOUT == 45.0


@pytest.mark.scenario(89)
@pytest.mark.parametrize(
    "answered, text",
    [
        pytest.param(["uid-1", "x"], "the driver answered for claims it was not asked about: x", id="unknown"),
        pytest.param(["uid-1"], "the driver skipped 1 claims: default/two", id="missing"),
        pytest.param([], "the driver skipped 2 claims: default/one, default/two", id="all-missing"),
    ],
)
async def test_an_answer_for_other_claims_fails_as_a_whole_and_names_them(root, answered, text):
    async def prepare(_):
        message = dra_pb2.NodePrepareResourcesResponse()
        for uid in answered:
            message.claims[uid].SetInParent()
        return message

    async def unprepare(_):
        message = dra_pb2.NodeUnprepareResourcesResponse()
        for uid in answered:
            message.claims[uid].SetInParent()
        return message

    async with Server(str(root / "dra.sock"), {wire.prepare("v1"): prepare, wire.unprepare("v1"): unprepare}):
        for call in (dra.prepare, dra.unprepare):
            with pytest.raises(CallFailed) as failure:
                await call(str(root / "dra.sock"), "v1", [ONE, TWO])
            assert failure.value.text == text


async def test_unpreparing_may_fail_for_one_claim(root):
    async def unprepare(_):
        message = dra_pb2.NodeUnprepareResourcesResponse()
        message.claims["uid-1"].error = "still in use"
        message.claims["uid-2"].SetInParent()
        return message

    async with Server(str(root / "dra.sock"), {wire.unprepare("v1"): unprepare}):
        assert await dra.unprepare(str(root / "dra.sock"), "v1", [ONE, TWO]) == {"uid-1": "still in use", "uid-2": None}


async def test_a_call_that_is_refused_says_why(root):
    driver = DraDriver(root)
    driver.trouble["NodeUnprepareResources"] = CallRefused("FAILED_PRECONDITION", "not now")
    async with driver:
        with pytest.raises(CallFailed) as failure:
            await dra.unprepare(str(driver.socket), "v1", [ONE])
        assert str(failure.value) == "not now (FAILED_PRECONDITION)"
