"""Writing: what happens when the server says no, says nothing, or says something else than it was told."""

from __future__ import annotations

import copy
import itertools

import pytest

from podstrat.kubeclient.answer import Answer
from podstrat.kubeclient.errors import Unavailable
from podstrat.node.status.patch import Without
from podstrat.strategy.engine import Engine
from tests.node.fixtures import claim, gpu, pod
from tests.node.writer_harness import WriterHarness, refused

ID = "gpu.example.com/node-1/gpu-0"
WITHOUT = Without()
SHOWN = {"claim:gpu": {ID: "Healthy"}}


async def test_what_is_right_is_not_written():
    async with WriterHarness() as harness:
        uid = harness.add()
        harness.set(0, "Healthy")
        await harness.settle()
        assert harness.shown() == SHOWN
        assert len(harness.server.writes()) == 1
        harness.writer.wake([uid])
        harness.set(0, "Healthy")
        await harness.pass_time(5)
        assert len(harness.server.asked) == 1


async def test_what_changes_quickly_is_written_now_and_then_and_ends_as_it_is():
    async with WriterHarness() as harness:
        harness.add()
        harness.set(0, "Healthy")
        await harness.pass_time(10)
        before = len(harness.server.writes())
        for number in range(100):
            harness.set(0, "Healthy" if number % 2 else "Unhealthy", f"change {number}")
            await harness.pass_time(0.01, 0.01)
        await harness.pass_time(5)
        assert harness.shown() == {"claim:gpu": {ID: ("Healthy", "change 99")}}
        assert len(harness.server.writes()) - before <= 5


async def test_only_so_many_are_written_at_once():
    async with WriterHarness(at_once=2) as harness:
        under_way = []
        request = harness.server.request

        async def watched(*asked, **more):
            under_way.append(harness.writer.in_flight())
            return await request(*asked, **more)

        harness.server.request = watched
        for number in range(10):
            harness.add(f"pod-{number}", f"gpu-{number}")
            harness.set(number, "Healthy")
        await harness.settle()
        await harness.settle()
        assert len(harness.server.writes()) == 10
        assert max(under_way) <= 2


@pytest.mark.scenario(65)
async def test_a_pod_that_is_deleted_during_the_write():
    async with WriterHarness() as harness:
        uid = harness.add()
        harness.server.script = [refused(404, "NotFound")]
        harness.set(0, "Healthy")
        await harness.pass_time(60)
        assert harness.lost == [uid]
        assert len(harness.server.asked) == 1
        assert harness.writer.backlog() == 0
        assert harness.writer.tracked() == 0


@pytest.mark.scenario(65)
async def test_another_pod_of_the_same_name_is_not_written_to():
    async with WriterHarness() as harness:
        uid = harness.add()
        other = copy.deepcopy(harness.server.pods["train"])
        other["metadata"]["uid"] = "another"
        harness.server.put(other)
        harness.set(0, "Healthy")
        await harness.pass_time(60)
        assert harness.lost == [uid]
        assert [method for method, _ in harness.server.asked] == ["PATCH", "GET"]
        assert harness.shown() == {}


@pytest.mark.scenario(76)
async def test_a_webhook_that_strips_the_generation_is_not_fought_with():
    async with WriterHarness() as harness:
        made = pod("train", claims=["gpu"])
        made["metadata"]["generation"] = 2
        harness.server.stripping = lambda pod: pod["status"].update(observedGeneration=1)
        harness.seen(harness.server.put(made))
        await harness.pass_time(20)
        assert len(harness.server.writes()) == 1
        assert harness.writer.paused() == {"generation"}
        await harness.pass_time(600, 5)
        assert len(harness.server.writes()) <= 6
        assert sum("drops generation" in note for note in harness.notes) == 1
        # What has nothing to do with it is written as ever.
        harness.claims.claim_seen(claim("train-gpu", ["gpu-0"], made), harness.clock.now())
        harness.set(0, "Unhealthy")
        await harness.settle()
        assert harness.shown() == {"claim:gpu": {ID: "Unhealthy"}}
        harness.server.stripping = lambda pod: None
        await harness.pass_time(700, 5)
        assert harness.server.pods["train"]["status"]["observedGeneration"] == 2


@pytest.mark.scenario(90)
async def test_a_conflict_is_read_anew_and_tried_again():
    async with WriterHarness() as harness:
        harness.add()
        harness.server.script = [refused(409, "Conflict")] * 2
        harness.set(0, "Healthy")
        await harness.settle()
        assert [method for method, _ in harness.server.asked] == ["PATCH", "GET", "PATCH", "GET", "PATCH"]
        assert harness.shown() == SHOWN


@pytest.mark.scenario(90)
async def test_conflicts_without_end_wait_for_the_next_turn():
    async with WriterHarness(attempts=3) as harness:
        harness.add()
        harness.server.script = [refused(409, "Conflict")] * 4
        harness.set(0, "Healthy")
        await harness.settle()
        assert len(harness.server.writes()) == 3
        await harness.pass_time(2)
        assert harness.shown() == SHOWN
        assert len(harness.server.writes()) == 5


@pytest.mark.scenario(90)
async def test_what_somebody_else_has_changed_meanwhile_is_seen():
    """The place of a container in the list is only good as long as it is the same one that stands there."""
    async with WriterHarness() as harness:
        harness.add()
        changed = copy.deepcopy(harness.server.pods["train"])
        changed["status"]["containerStatuses"][0]["containerID"] = "containerd://another"
        harness.server.put(changed)
        harness.set(0, "Healthy")
        await harness.settle()
        assert [method for method, _ in harness.server.asked] == ["PATCH", "GET", "PATCH"]
        assert harness.shown() == SHOWN
        assert harness.server.pods["train"]["status"]["containerStatuses"][0]["containerID"] == "containerd://another"


def refusing(harness, name):
    """The server refuses an entry of this name, and says which one it is."""
    accept = harness.server.patched

    def patched(stored, body, dry=False):
        for operation in body:
            entries = operation["value"] if operation["path"].endswith("allocatedResourcesStatus") else []
            for i, entry in enumerate(entries):
                if name in (entry["name"], *(each["resourceID"] for each in entry["resources"])):
                    at = f"status.containerStatuses[0].allocatedResourcesStatus[{i}]"
                    if entry["name"] != name:
                        at += f".resources[{[each['resourceID'] for each in entry['resources']].index(name)}].resourceID"
                    return refused(422, "Invalid", "Pod is invalid", harness.causes(at))
        return accept(stored, body, dry)

    harness.server.patched = patched


@pytest.mark.scenario(91)
@pytest.mark.parametrize(
    "causes", [pytest.param(lambda at: [at], id="named"), pytest.param(lambda at: ["status"], id="not-named")]
)
async def test_one_refused_entry_does_not_hold_up_the_others(causes):
    async with WriterHarness() as harness:
        harness.causes = causes
        refusing(harness, "claim:bad")
        made = harness.server.put(pod("train", claims=["bad", "good"]))
        harness.claims.claim_seen(claim("train-bad", ["gpu-0"], made), 0.0)
        harness.claims.claim_seen(claim("train-good", ["gpu-1"], made), 0.0)
        harness.health = {}
        harness.seen(made)
        await harness.settle()
        harness.set(1, "Unhealthy")
        await harness.pass_time(60)
        assert harness.shown() == {"claim:good": {"gpu.example.com/node-1/gpu-1": "Unhealthy"}}
        assert sum("refused claim:bad; writing the rest" in note for note in harness.notes) == 1
        writes = len(harness.server.writes())
        await harness.pass_time(600, 10)
        assert len(harness.server.writes()) == writes


@pytest.mark.scenario(91)
async def test_one_refused_device_does_not_hold_up_the_others():
    async with WriterHarness() as harness:
        harness.causes = lambda at: [at]
        refusing(harness, ID)
        harness.add("train", "gpu-0", "gpu-1")
        harness.set(1, "Healthy")
        await harness.pass_time(5)
        assert harness.shown() == {"claim:gpu": {"gpu.example.com/node-1/gpu-1": "Healthy"}}
        # Another word about it is tried again.
        harness.set(0, "Unhealthy", "other")
        await harness.pass_time(5)
        assert sum("refused claim:gpu" in note for note in harness.notes) == 2


@pytest.mark.scenario(91)
async def test_a_server_that_does_not_know_the_names_of_extended_resources():
    """1.36 refuses the whole status for such an entry; the rest is written all the same."""
    async with WriterHarness(engine=Engine("1.36")) as harness:
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
        stored = harness.server.put(made)
        harness.claims.claim_seen(claim("ext", [("r-0", "gpu-1")], made), 0.0)
        harness.claims.claim_seen(claim("train-gpu", ["gpu-0"], made), 0.0)
        harness.seen(stored)
        harness.set(0, "Unhealthy")
        await harness.pass_time(5)
        assert harness.shown() == {"claim:gpu": {ID: "Unhealthy"}}


@pytest.mark.scenario(92)
async def test_too_many_requests_slow_everything_down_for_as_long_as_the_server_says():
    async with WriterHarness() as harness:
        for number in range(8):
            harness.add(f"pod-{number}", f"gpu-{number}")
        harness.server.script = [refused(429, "TooManyRequests", retry_after="7")] * 4
        for number in range(8):
            harness.set(number, "Healthy")
        await harness.settle()
        assert len(harness.server.writes()) == 4  # those that were under way at once
        assert harness.writer.holding
        await harness.pass_time(6.9, 0.1)
        assert len(harness.server.writes()) == 4
        await harness.pass_time(1.0, 0.1)
        assert len(harness.server.writes()) == 12
        assert all(harness.shown(f"pod-{number}") for number in range(8))
        assert sum("status writes on hold" in note for note in harness.notes) == 1


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
    async with WriterHarness() as harness:
        harness.add()
        harness.server.script = [failure] * 5
        times = []
        request = harness.server.request

        async def noted(method, *asked, **more):
            if method == "PATCH":
                times.append(harness.clock.now())
            return await request(method, *asked, **more)

        harness.server.request = noted
        for number in range(300):
            harness.set(0, "Unhealthy", f"change {number}")
            await harness.pass_time(0.1, 0.1)
        pauses = [after - before for before, after in itertools.pairwise(times)][:5]
        assert len(pauses) == 5
        assert pauses[:4] == sorted(pauses[:4])
        assert pauses[3] > 2 * pauses[0]
        await harness.pass_time(5)
        assert harness.shown() == {"claim:gpu": {ID: ("Unhealthy", "change 299")}}


@pytest.mark.scenario(94)
async def test_a_write_whose_answer_is_lost_is_not_written_twice():
    async with WriterHarness() as harness:
        uid = harness.add()

        def lost():
            harness.server.patched(harness.server.pods["train"], harness.plan(uid, WITHOUT).patch)
            return Unavailable("the connection is gone")

        harness.server.script = [lost]
        harness.set(0, "Healthy")
        await harness.pass_time(30)
        assert harness.shown() == SHOWN
        assert [method for method, _ in harness.server.asked] == ["PATCH", "GET"]


@pytest.mark.scenario(95)
async def test_without_a_server_nothing_piles_up():
    async with WriterHarness() as harness:
        for number in range(20):
            harness.add(f"pod-{number}", f"gpu-{number}")
        await harness.settle()
        down = Unavailable("nobody there")
        request = harness.server.request

        async def gone(*asked, **more):
            harness.server.asked.append(asked[:2])
            raise down

        harness.server.request = gone
        asked = len(harness.server.asked)
        for number in range(1000):
            harness.set(number % 20, "Unhealthy" if number % 3 else "Healthy", f"change {number}")
            await harness.pass_time(1.8, 1.8)
        assert harness.writer.backlog() <= 20
        # Half an hour, tried at most once a minute or so at the end, four at a time.
        assert len(harness.server.asked) - asked < 4 * 50
        harness.server.request = request
        harness.server.asked.clear()
        await harness.pass_time(90, 1.0)
        assert len(harness.server.writes()) == 20
        for number in range(20):
            ((_, message),) = harness.shown(f"pod-{number}")["claim:gpu"].values()
            assert message == f"change {980 + number}"


@pytest.mark.scenario(99)
async def test_what_another_writer_makes_of_it_is_repaired():
    async with WriterHarness() as harness:
        harness.add()
        harness.set(0, "Unhealthy")
        await harness.pass_time(1)
        edited = copy.deepcopy(harness.server.pods["train"])
        edited["status"]["containerStatuses"][0]["allocatedResourcesStatus"][0]["resources"][0]["health"] = "Healthy"
        edited["status"]["containerStatuses"][0]["restartCount"] = 7
        harness.seen(harness.server.put(edited))  # the watch tells
        await harness.pass_time(1)
        assert harness.shown() == {"claim:gpu": {ID: "Unhealthy"}}
        assert harness.server.pods["train"]["status"]["containerStatuses"][0]["restartCount"] == 7


async def test_a_server_that_drops_the_field_for_everybody_is_tried_again_after_a_while():
    async with WriterHarness() as harness:

        def strip(pod):
            pod["status"]["containerStatuses"][0].pop("allocatedResourcesStatus", None)

        harness.server.stripping = strip
        for number in range(10):
            harness.add(f"pod-{number}", f"gpu-{number}")
            harness.set(number, "Healthy")
            await harness.pass_time(1)
        assert len(harness.server.writes()) == 3  # then it is clear that it is the server
        assert any("is its feature gate off?" in note for note in harness.notes)
        harness.server.stripping = lambda pod: None
        await harness.pass_time(700, 5)
        assert all(harness.shown(f"pod-{number}") for number in range(10))


async def test_messages_that_the_server_drops_are_left_out():
    async with WriterHarness() as harness:

        def strip(pod):
            for entry in pod["status"]["containerStatuses"][0].get("allocatedResourcesStatus") or ():
                for each in entry["resources"]:
                    each.pop("message", None)

        harness.server.stripping = strip
        harness.add()
        harness.set(0, "Unhealthy", "XID 79")
        await harness.pass_time(20)
        assert harness.shown() == {"claim:gpu": {ID: "Unhealthy"}}
        assert len(harness.server.writes()) == 1
        harness.set(0, "Healthy", "fine")
        await harness.pass_time(2)
        assert harness.shown() == {"claim:gpu": {ID: "Healthy"}}


async def test_an_error_that_has_nothing_to_do_with_health_is_not_tried_in_haste():
    async with WriterHarness() as harness:
        made = pod("train", claims=["gpu"])
        made["metadata"]["generation"] = 2
        harness.claims.claim_seen(claim("train-gpu", ["gpu-0"], made), 0.0)
        harness.server.patched = lambda stored, body, dry=False: refused(422, "Invalid", "something else", ["spec"])
        harness.seen(harness.server.put(made))
        await harness.pass_time(120, 1)
        assert 2 <= len(harness.server.writes()) <= 6


async def test_rights_that_are_missing_are_said_once():
    async with WriterHarness() as harness:
        harness.add()
        harness.server.script = [Answer.of(403, {"message": "you may not"})] * 3
        harness.set(0, "Healthy")
        await harness.pass_time(10)
        assert harness.shown() == SHOWN
        assert [note for note in harness.notes if "you may not" in note] == ["status writes on hold: you may not (403)"]
        assert harness.notes[-1] == "API server accepts writes again"


async def test_a_pod_whose_device_nobody_knows_reads_unknown():
    async with WriterHarness() as harness:
        harness.add()
        await harness.settle()
        assert harness.shown() == {"claim:gpu": {gpu(0).id: "Unknown"}}
