"""Writing: what happens when the server says no, says nothing, or says something else than it was told."""

from __future__ import annotations

import copy
import itertools
import sys

import pytest

from node.api import Answer
from node.status import Without
from node.watch import Unavailable
from strategy.engine import Engine
from tests.node.desk import Desk, refused
from tests.node.world import claim, gpu, pod

ID = "gpu.example.com/node-1/gpu-0"
WITHOUT = Without()
SHOWN = {"claim:gpu": {ID: "Healthy"}}


async def test_what_is_right_is_not_written():
    async with Desk() as desk:
        uid = desk.add()
        desk.set(0, "Healthy")
        await desk.settle()
        assert desk.shown() == SHOWN
        assert len(desk.server.writes()) == 1
        desk.writer.wake([uid])
        desk.set(0, "Healthy")
        await desk.pass_time(5)
        assert len(desk.server.asked) == 1


async def test_what_changes_quickly_is_written_now_and_then_and_ends_as_it_is():
    async with Desk() as desk:
        desk.add()
        desk.set(0, "Healthy")
        await desk.pass_time(10)
        before = len(desk.server.writes())
        for number in range(100):
            desk.set(0, "Healthy" if number % 2 else "Unhealthy", f"change {number}")
            await desk.pass_time(0.01, 0.01)
        await desk.pass_time(5)
        assert desk.shown() == {"claim:gpu": {ID: ("Healthy", "change 99")}}
        assert len(desk.server.writes()) - before <= 5


async def test_only_so_many_are_written_at_once():
    async with Desk(at_once=2) as desk:
        under_way = []
        request = desk.server.request

        async def watched(*asked, **more):
            under_way.append(len(desk.writer._busy))
            return await request(*asked, **more)

        desk.server.request = watched
        for number in range(10):
            desk.add(f"pod-{number}", f"gpu-{number}")
            desk.set(number, "Healthy")
        await desk.settle()
        await desk.settle()
        assert len(desk.server.writes()) == 10
        assert max(under_way) <= 2


@pytest.mark.scenario(65)
async def test_a_pod_that_is_deleted_during_the_write():
    async with Desk() as desk:
        uid = desk.add()
        desk.server.script = [refused(404, "NotFound")]
        desk.set(0, "Healthy")
        await desk.pass_time(60)
        assert desk.lost == [uid]
        assert len(desk.server.asked) == 1
        assert desk.writer.backlog() == 0
        assert desk.writer._pods == {}


@pytest.mark.scenario(65)
async def test_another_pod_of_the_same_name_is_not_written_to():
    async with Desk() as desk:
        uid = desk.add()
        other = copy.deepcopy(desk.server.pods["train"])
        other["metadata"]["uid"] = "another"
        desk.server.put(other)
        desk.set(0, "Healthy")
        await desk.pass_time(60)
        assert desk.lost == [uid]
        assert [method for method, _ in desk.server.asked] == ["PATCH", "GET"]
        assert desk.shown() == {}


@pytest.mark.scenario(76)
async def test_a_webhook_that_strips_the_generation_is_not_fought_with():
    async with Desk() as desk:
        made = pod("train", claims=["gpu"])
        made["metadata"]["generation"] = 2
        desk.server.stripping = lambda pod: pod["status"].update(observedGeneration=1)
        desk.seen(desk.server.put(made))
        await desk.pass_time(20)
        assert len(desk.server.writes()) == 1
        assert desk.writer.paused() == {"generation"}
        await desk.pass_time(600, 5)
        assert len(desk.server.writes()) <= 6
        assert sum("leaves out generation" in note for note in desk.notes) == 1
        # What has nothing to do with it is written as ever.
        desk.claims.claim_seen(claim("train-gpu", ["gpu-0"], made), desk.clock.now())
        desk.set(0, "Unhealthy")
        await desk.settle()
        assert desk.shown() == {"claim:gpu": {ID: "Unhealthy"}}
        desk.server.stripping = lambda pod: None
        await desk.pass_time(700, 5)
        assert desk.server.pods["train"]["status"]["observedGeneration"] == 2


@pytest.mark.scenario(90)
async def test_a_conflict_is_read_anew_and_tried_again():
    async with Desk() as desk:
        desk.add()
        desk.server.script = [refused(409, "Conflict")] * 2
        desk.set(0, "Healthy")
        await desk.settle()
        assert [method for method, _ in desk.server.asked] == ["PATCH", "GET", "PATCH", "GET", "PATCH"]
        assert desk.shown() == SHOWN


@pytest.mark.scenario(90)
async def test_conflicts_without_end_wait_for_the_next_turn():
    async with Desk(attempts=3) as desk:
        desk.add()
        desk.server.script = [refused(409, "Conflict")] * 4
        desk.set(0, "Healthy")
        await desk.settle()
        assert len(desk.server.writes()) == 3
        await desk.pass_time(2)
        assert desk.shown() == SHOWN
        assert len(desk.server.writes()) == 5


@pytest.mark.scenario(90)
async def test_what_somebody_else_has_changed_meanwhile_is_seen():
    """The place of a container in the list is only good as long as it is the same one that stands there."""
    async with Desk() as desk:
        desk.add()
        changed = copy.deepcopy(desk.server.pods["train"])
        changed["status"]["containerStatuses"][0]["containerID"] = "containerd://another"
        desk.server.put(changed)
        desk.set(0, "Healthy")
        await desk.settle()
        assert [method for method, _ in desk.server.asked] == ["PATCH", "GET", "PATCH"]
        assert desk.shown() == SHOWN
        assert desk.server.pods["train"]["status"]["containerStatuses"][0]["containerID"] == "containerd://another"


def refusing(desk, name):
    """The server refuses an entry of this name, and says which one it is."""
    accept = desk.server.patched

    def patched(stored, body, dry=False):
        for operation in body:
            entries = operation["value"] if operation["path"].endswith("allocatedResourcesStatus") else []
            for i, entry in enumerate(entries):
                if name in (entry["name"], *(each["resourceID"] for each in entry["resources"])):
                    at = f"status.containerStatuses[0].allocatedResourcesStatus[{i}]"
                    if entry["name"] != name:
                        at += f".resources[{[each['resourceID'] for each in entry['resources']].index(name)}].resourceID"
                    return refused(422, "Invalid", "Pod is invalid", desk.causes(at))
        return accept(stored, body, dry)

    desk.server.patched = patched


@pytest.mark.scenario(91)
@pytest.mark.parametrize(
    "causes", [pytest.param(lambda at: [at], id="named"), pytest.param(lambda at: ["status"], id="not-named")]
)
async def test_one_refused_entry_does_not_hold_up_the_others(causes):
    async with Desk() as desk:
        desk.causes = causes
        refusing(desk, "claim:bad")
        made = desk.server.put(pod("train", claims=["bad", "good"]))
        desk.claims.claim_seen(claim("train-bad", ["gpu-0"], made), 0.0)
        desk.claims.claim_seen(claim("train-good", ["gpu-1"], made), 0.0)
        desk.health = {}
        desk.seen(made)
        await desk.settle()
        desk.set(1, "Unhealthy")
        await desk.pass_time(60)
        assert desk.shown() == {"claim:good": {"gpu.example.com/node-1/gpu-1": "Unhealthy"}}
        assert sum("refuses claim:bad, the rest is written" in note for note in desk.notes) == 1
        writes = len(desk.server.writes())
        await desk.pass_time(600, 10)
        assert len(desk.server.writes()) == writes


@pytest.mark.scenario(91)
async def test_one_refused_device_does_not_hold_up_the_others():
    async with Desk() as desk:
        desk.causes = lambda at: [at]
        refusing(desk, ID)
        desk.add("train", "gpu-0", "gpu-1")
        desk.set(1, "Healthy")
        await desk.pass_time(5)
        assert desk.shown() == {"claim:gpu": {"gpu.example.com/node-1/gpu-1": "Healthy"}}
        # Another word about it is tried again.
        desk.set(0, "Unhealthy", "other")
        await desk.pass_time(5)
        assert sum("refuses claim:gpu" in note for note in desk.notes) == 2


@pytest.mark.scenario(91)
async def test_a_server_that_does_not_know_the_names_of_extended_resources():
    """1.36 refuses the whole status for such an entry; the rest is written all the same."""
    async with Desk(engine=Engine("1.36")) as desk:
        resource = "example.com/gpu"
        mapping = {"containerName": "main", "resourceName": resource, "requestName": "r-0"}
        made = pod(
            "train",
            containers=[
                {
                    "name": "main",
                    "resources": {"requests": {resource: "1"}, "limits": {resource: "1"}, "claims": [{"name": "gpu"}]},
                }
            ],
            spec={"resourceClaims": [{"name": "gpu", "resourceClaimName": "train-gpu"}]},
            status={"extendedResourceClaimStatus": {"resourceClaimName": "ext", "requestMappings": [mapping]}},
        )
        stored = desk.server.put(made)
        desk.claims.claim_seen(claim("ext", [("r-0", "gpu-1")], made), 0.0)
        desk.claims.claim_seen(claim("train-gpu", ["gpu-0"], made), 0.0)
        desk.seen(stored)
        desk.set(0, "Unhealthy")
        await desk.pass_time(5)
        assert desk.shown() == {"claim:gpu": {ID: "Unhealthy"}}


@pytest.mark.scenario(92)
async def test_too_many_requests_slow_everything_down_for_as_long_as_the_server_says():
    async with Desk() as desk:
        for number in range(8):
            desk.add(f"pod-{number}", f"gpu-{number}")
        desk.server.script = [refused(429, "TooManyRequests", retry_after="7")] * 4
        for number in range(8):
            desk.set(number, "Healthy")
        await desk.settle()
        assert len(desk.server.writes()) == 4  # those that were under way at once
        assert desk.writer.holding
        await desk.pass_time(6.9, 0.1)
        assert len(desk.server.writes()) == 4
        await desk.pass_time(1.0, 0.1)
        assert len(desk.server.writes()) == 12
        assert all(desk.shown(f"pod-{number}") for number in range(8))
        assert sum("nothing is written for now" in note for note in desk.notes) == 1


@pytest.mark.scenario(93)
@pytest.mark.parametrize(
    "failure",
    [
        pytest.param(refused(500, "InternalError"), id="500"),
        pytest.param(refused(503, "ServiceUnavailable"), id="503"),
        pytest.param(refused(504, "Timeout"), id="504"),
        pytest.param(Unavailable("the API server does not answer in time"), id="timeout"),
    ],
)
async def test_a_server_in_trouble_is_given_time_and_gets_the_newest_only(failure):
    async with Desk() as desk:
        desk.add()
        desk.server.script = [failure] * 5
        times = []
        request = desk.server.request

        async def noted(method, *asked, **more):
            if method == "PATCH":
                times.append(desk.clock.now())
            return await request(method, *asked, **more)

        desk.server.request = noted
        for number in range(300):
            desk.set(0, "Unhealthy", f"change {number}")
            await desk.pass_time(0.1, 0.1)
        pauses = [after - before for before, after in itertools.pairwise(times)][:5]
        assert len(pauses) == 5
        assert pauses[:4] == sorted(pauses[:4])
        assert pauses[3] > 2 * pauses[0]
        await desk.pass_time(5)
        assert desk.shown() == {"claim:gpu": {ID: ("Unhealthy", "change 299")}}


@pytest.mark.scenario(94)
async def test_a_write_whose_answer_is_lost_is_not_written_twice():
    async with Desk() as desk:
        uid = desk.add()

        def lost():
            desk.server.patched(desk.server.pods["train"], desk.plan(uid, WITHOUT).patch)
            return Unavailable("the connection is gone")

        desk.server.script = [lost]
        desk.set(0, "Healthy")
        await desk.pass_time(30)
        assert desk.shown() == SHOWN
        assert [method for method, _ in desk.server.asked] == ["PATCH", "GET"]


@pytest.mark.scenario(95)
async def test_without_a_server_nothing_piles_up():
    async with Desk() as desk:
        for number in range(20):
            desk.add(f"pod-{number}", f"gpu-{number}")
        await desk.settle()
        down = Unavailable("nobody there")
        request = desk.server.request

        async def gone(*asked, **more):
            desk.server.asked.append(asked[:2])
            raise down

        desk.server.request = gone
        asked = len(desk.server.asked)
        for number in range(1000):
            desk.set(number % 20, "Unhealthy" if number % 3 else "Healthy", f"change {number}")
            await desk.pass_time(1.8, 1.8)
        assert desk.writer.backlog() <= 20
        # Half an hour, tried at most once a minute or so at the end, four at a time.
        assert len(desk.server.asked) - asked < 4 * 50
        assert sys.getsizeof(desk.writer._waiting) < 10_000
        desk.server.request = request
        desk.server.asked.clear()
        await desk.pass_time(90, 1.0)
        assert len(desk.server.writes()) == 20
        for number in range(20):
            ((_, message),) = desk.shown(f"pod-{number}")["claim:gpu"].values()
            assert message == f"change {980 + number}"


@pytest.mark.scenario(99)
async def test_what_another_writer_makes_of_it_is_repaired():
    async with Desk() as desk:
        desk.add()
        desk.set(0, "Unhealthy")
        await desk.pass_time(1)
        edited = copy.deepcopy(desk.server.pods["train"])
        edited["status"]["containerStatuses"][0]["allocatedResourcesStatus"][0]["resources"][0]["health"] = "Healthy"
        edited["status"]["containerStatuses"][0]["restartCount"] = 7
        desk.seen(desk.server.put(edited))  # the watch tells
        await desk.pass_time(1)
        assert desk.shown() == {"claim:gpu": {ID: "Unhealthy"}}
        assert desk.server.pods["train"]["status"]["containerStatuses"][0]["restartCount"] == 7


async def test_a_server_that_drops_the_field_for_everybody_is_tried_again_after_a_while():
    async with Desk() as desk:

        def strip(pod):
            pod["status"]["containerStatuses"][0].pop("allocatedResourcesStatus", None)

        desk.server.stripping = strip
        for number in range(10):
            desk.add(f"pod-{number}", f"gpu-{number}")
            desk.set(number, "Healthy")
            await desk.pass_time(1)
        assert len(desk.server.writes()) == 3  # then it is clear that it is the server
        assert any("is its gate off?" in note for note in desk.notes)
        desk.server.stripping = lambda pod: None
        await desk.pass_time(700, 5)
        assert all(desk.shown(f"pod-{number}") for number in range(10))


async def test_messages_that_the_server_drops_are_left_out():
    async with Desk() as desk:

        def strip(pod):
            for entry in pod["status"]["containerStatuses"][0].get("allocatedResourcesStatus") or ():
                for each in entry["resources"]:
                    each.pop("message", None)

        desk.server.stripping = strip
        desk.add()
        desk.set(0, "Unhealthy", "XID 79")
        await desk.pass_time(20)
        assert desk.shown() == {"claim:gpu": {ID: "Unhealthy"}}
        assert len(desk.server.writes()) == 1
        desk.set(0, "Healthy", "fine")
        await desk.pass_time(2)
        assert desk.shown() == {"claim:gpu": {ID: "Healthy"}}


async def test_an_error_that_has_nothing_to_do_with_health_is_not_tried_in_haste():
    async with Desk() as desk:
        made = pod("train", claims=["gpu"])
        made["metadata"]["generation"] = 2
        desk.claims.claim_seen(claim("train-gpu", ["gpu-0"], made), 0.0)
        desk.server.patched = lambda stored, body, dry=False: refused(422, "Invalid", "something else", ["spec"])
        desk.seen(desk.server.put(made))
        await desk.pass_time(120, 1)
        assert 2 <= len(desk.server.writes()) <= 6


async def test_rights_that_are_missing_are_said_once():
    async with Desk() as desk:
        desk.add()
        desk.server.script = [Answer(403, {}, {"message": "you may not"})] * 3
        desk.set(0, "Healthy")
        await desk.pass_time(10)
        assert desk.shown() == SHOWN
        assert [note for note in desk.notes if "you may not" in note] == ["nothing is written for now: you may not (403)"]
        assert desk.notes[-1] == "the API server takes writes again"


async def test_a_pod_whose_device_nobody_knows_reads_unknown():
    async with Desk() as desk:
        desk.add()
        await desk.settle()
        assert desk.shown() == {"claim:gpu": {gpu(0).id: "Unknown"}}
