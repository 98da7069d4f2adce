"""Pods that have ended: what is still to be said about their devices."""

from __future__ import annotations

import pytest

from tests.node.fixtures import NODE, claim, gpu, pod
from tests.node.state_harness import StateHarness, using

GPU = [f"gpu.example.com/{NODE}/gpu-{number}" for number in range(8)]


@pytest.mark.scenario(62)
@pytest.mark.parametrize("phase", ["Failed", "Succeeded"])
def test_a_device_that_turns_bad_after_the_pod_has_ended_is_shown(phase):
    made = pod(claims=["gpu"])
    harness = StateHarness()
    uid = harness.see(made)
    harness.give(claim("train-gpu", ["gpu-0"], made))
    harness.set(gpu(0), "Healthy")
    harness.phase(uid, phase)
    harness.give(claim("train-gpu", []))  # the claim is given back
    assert harness.shown(uid) == {"claim:gpu": {GPU[0]: "Healthy"}}
    harness.now = 3.0
    harness.set(gpu(0), "Unhealthy", "XID 79")
    assert harness.shown(uid) == {"claim:gpu": {GPU[0]: ("Unhealthy", "XID 79")}}
    harness.write(harness.claims.claim_gone("default", "train-gpu", "uid-train-gpu", harness.now))
    assert harness.shown(uid) == {"claim:gpu": {GPU[0]: ("Unhealthy", "XID 79")}}


@pytest.mark.scenario(63)
def test_a_device_that_another_pod_has_now_says_nothing_about_the_ended_one():
    made, next_one = pod(claims=["gpu"]), pod("next", claims=["gpu"])
    harness = StateHarness()
    uid, other = harness.see(made), harness.see(next_one)
    harness.give(claim("train-gpu", ["gpu-0"], made))
    harness.set(gpu(0), "Healthy")
    harness.phase(uid, "Failed")
    harness.give(claim("train-gpu", []), claim("next-gpu", ["gpu-0"], next_one))
    harness.writes.clear()
    harness.set(gpu(0), "Unhealthy")
    assert harness.shown(uid) == {"claim:gpu": {GPU[0]: "Healthy"}}
    assert harness.shown(other) == {"claim:gpu": {GPU[0]: "Unhealthy"}}
    assert harness.writes == [other]


def test_one_who_had_the_device_together_with_the_ended_pod_does_not_take_it_away():
    first = pod("a", **using("shared"))
    second = pod("b", **using("shared"))
    third = pod("c", **using("shared"))
    harness = StateHarness()
    for each in (first, second, third):
        harness.see(each)
    harness.give(claim("shared", ["gpu-0"], first, second))
    harness.phase("uid-a", "Failed")
    harness.give(claim("shared", ["gpu-0"], second))
    harness.set(gpu(0), "Unhealthy")
    assert harness.shown("uid-a") == harness.shown("uid-b") == {"claim:gpu": {GPU[0]: "Unhealthy"}}
    harness.give(claim("shared", ["gpu-0"], second, third))
    harness.set(gpu(0), "Healthy")
    assert harness.shown("uid-a") == {"claim:gpu": {GPU[0]: "Unhealthy"}}
    assert harness.shown("uid-c") == {"claim:gpu": {GPU[0]: "Healthy"}}


def test_an_ended_pod_hears_of_its_devices_for_a_while_only():
    made = pod(claims=["gpu"])
    harness = StateHarness(window=600.0)
    uid = harness.see(made)
    harness.give(claim("train-gpu", ["gpu-0"], made))
    harness.phase(uid, "Failed")
    harness.now = 599.0
    harness.set(gpu(0), "Unhealthy")
    assert harness.shown(uid) == {"claim:gpu": {GPU[0]: "Unhealthy"}}
    harness.now = 600.0
    harness.set(gpu(0), "Healthy")
    assert harness.shown(uid) == {"claim:gpu": {GPU[0]: "Unhealthy"}}


def test_that_a_driver_falls_silent_tells_nothing_about_an_ended_pod():
    made = pod(claims=["gpu"])
    harness = StateHarness()
    uid = harness.see(made)
    harness.give(claim("train-gpu", ["gpu-0"], made))
    harness.set(gpu(0), "Unhealthy")
    harness.phase(uid, "Failed")
    harness.set(gpu(0), "Unknown")
    assert harness.shown(uid) == {"claim:gpu": {GPU[0]: "Unhealthy"}}


def test_after_a_restart_an_ended_pod_keeps_what_it_shows():
    made = pod(claims=["gpu"])
    before = StateHarness()
    uid = before.see(made)
    before.give(claim("train-gpu", ["gpu-0"], made))
    before.set(gpu(0), "Unhealthy", "XID 79")
    before.phase(uid, "Failed")
    for claims in ([], [claim("train-gpu", ["gpu-0"], made)]):
        after = StateHarness(listed=False)
        after.give(*claims)
        after.see(before.pods[uid])
        after.write(after.claims.listed("pods") | after.claims.listed("claims"))
        assert after.writes == []
        assert after.shown(uid) == {"claim:gpu": {GPU[0]: ("Unhealthy", "XID 79")}}
    after.set(gpu(0), "Healthy")
    assert after.shown(uid) == {"claim:gpu": {GPU[0]: "Healthy"}}


def test_while_pods_and_claims_are_being_listed_nobody_takes_a_device_away():
    ended, other = pod("a", phase="Failed", **using("shared")), pod("b", **using("shared"))
    harness = StateHarness(listed=False)
    harness.give(claim("shared", ["gpu-0"], ended, other))
    harness.see(ended)
    harness.see(other)
    harness.write(harness.claims.listed("pods") | harness.claims.listed("claims"))
    harness.set(gpu(0), "Unhealthy")
    assert harness.shown("uid-a") == harness.shown("uid-b") == {"claim:gpu": {GPU[0]: "Unhealthy"}}
