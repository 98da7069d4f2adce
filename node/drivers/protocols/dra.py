"""DRA: NodePrepareResources and NodeUnprepareResources."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from podstrat.node.drivers.generated import dra_pb2
from podstrat.node.drivers.protocols import calls, wire

VERSIONS = {"v1.DRAPlugin": "v1", "v1beta1.DRAPlugin": "v1beta1"}
"""What drivers register with, and the version of the service it stands for."""
TIMEOUT = 45.0
"""Seconds for one call, as the kubelet's."""


class Claim(NamedTuple):
    namespace: str
    name: str
    uid: str

    def __str__(self) -> str:
        return f"{self.namespace}/{self.name}"


class Prepared(NamedTuple):
    """One device that was made ready."""

    pool: str
    name: str
    requests: tuple[str, ...]
    cdi_devices: tuple[str, ...]
    share: str | None


class Result(NamedTuple):
    """What has become of one claim."""

    devices: tuple[Prepared, ...] = ()
    error: str | None = None
    permanent: bool = False
    """KEP-5322: a retry cannot succeed. Only with an error."""


async def prepare(socket: str, version: str, claims: Sequence[Claim], timeout: float = TIMEOUT) -> Mapping[str, Result]:
    """The result for each claim, by UID. A call that fails as a whole raises CallFailed, which is never permanent."""
    request = dra_pb2.NodePrepareResourcesRequest(claims=map(_claim, claims))
    answer = await calls.call(socket, wire.prepare(version), request, timeout)
    _match(claims, answer.claims)
    return {claim.uid: _result(answer.claims[claim.uid]) for claim in claims}


async def unprepare(socket: str, version: str, claims: Sequence[Claim], timeout: float = TIMEOUT) -> Mapping[str, str | None]:
    """The error for each claim, by UID; None: unprepared."""
    request = dra_pb2.NodeUnprepareResourcesRequest(claims=map(_claim, claims))
    answer = await calls.call(socket, wire.unprepare(version), request, timeout)
    _match(claims, answer.claims)
    return {claim.uid: answer.claims[claim.uid].error or None for claim in claims}


def _claim(claim: Claim) -> Any:
    return dra_pb2.Claim(namespace=claim.namespace, name=claim.name, uid=claim.uid)


def _match(claims: Sequence[Claim], answered: Mapping[str, Any]) -> None:
    """The driver answers for every claim it was asked about, and for no other."""
    uids = {claim.uid for claim in claims}
    if strangers := sorted(uid for uid in answered if uid not in uids):
        raise calls.CallFailed("INTERNAL", f"the driver answered for claims it was not asked about: {', '.join(strangers)}")
    if skipped := [str(claim) for claim in claims if claim.uid not in answered]:
        raise calls.CallFailed("INTERNAL", f"the driver skipped {len(skipped)} claims: {', '.join(skipped)}")


def _result(response: Any) -> Result:
    if response.error:
        return Result(error=response.error, permanent=response.permanent_error)
    return Result(tuple(_prepared(device) for device in response.devices))


def _prepared(device: Any) -> Prepared:
    share = device.share_id if device.HasField("share_id") else None
    return Prepared(device.pool_name, device.device_name, tuple(device.request_names), tuple(device.cdi_device_ids), share)
