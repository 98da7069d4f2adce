"""Pods that have ended: what is still to be said about their devices."""

from __future__ import annotations

import pytest

from tests.node.books import Books, using
from tests.node.world import NODE, claim, gpu, pod

GPU = [f"gpu.example.com/{NODE}/gpu-{number}" for number in range(8)]


@pytest.mark.scenario(62)
@pytest.mark.parametrize("phase", ["Failed", "Succeeded"])
def test_a_device_that_turns_bad_after_the_pod_has_ended_is_shown(phase):
    made = pod(claims=["gpu"])
    books = Books()
    uid = books.see(made)
    books.give(claim("train-gpu", ["gpu-0"], made))
    books.set(gpu(0), "Healthy")
    books.phase(uid, phase)
    books.give(claim("train-gpu", []))  # the claim is given back
    assert books.shown(uid) == {"claim:gpu": {GPU[0]: "Healthy"}}
    books.now = 3.0
    books.set(gpu(0), "Unhealthy", "XID 79")
    assert books.shown(uid) == {"claim:gpu": {GPU[0]: ("Unhealthy", "XID 79")}}
    books.write(books.claims.claim_gone("default", "train-gpu", "uid-train-gpu", books.now))
    assert books.shown(uid) == {"claim:gpu": {GPU[0]: ("Unhealthy", "XID 79")}}


@pytest.mark.scenario(63)
def test_a_device_that_another_pod_has_now_says_nothing_about_the_ended_one():
    made, next_one = pod(claims=["gpu"]), pod("next", claims=["gpu"])
    books = Books()
    uid, other = books.see(made), books.see(next_one)
    books.give(claim("train-gpu", ["gpu-0"], made))
    books.set(gpu(0), "Healthy")
    books.phase(uid, "Failed")
    books.give(claim("train-gpu", []), claim("next-gpu", ["gpu-0"], next_one))
    books.writes.clear()
    books.set(gpu(0), "Unhealthy")
    assert books.shown(uid) == {"claim:gpu": {GPU[0]: "Healthy"}}
    assert books.shown(other) == {"claim:gpu": {GPU[0]: "Unhealthy"}}
    assert books.writes == [other]


def test_one_who_had_the_device_together_with_the_ended_pod_does_not_take_it_away():
    first = pod("a", **using("shared"))
    second = pod("b", **using("shared"))
    third = pod("c", **using("shared"))
    books = Books()
    for each in (first, second, third):
        books.see(each)
    books.give(claim("shared", ["gpu-0"], first, second))
    books.phase("uid-a", "Failed")
    books.give(claim("shared", ["gpu-0"], second))
    books.set(gpu(0), "Unhealthy")
    assert books.shown("uid-a") == books.shown("uid-b") == {"claim:gpu": {GPU[0]: "Unhealthy"}}
    books.give(claim("shared", ["gpu-0"], second, third))
    books.set(gpu(0), "Healthy")
    assert books.shown("uid-a") == {"claim:gpu": {GPU[0]: "Unhealthy"}}
    assert books.shown("uid-c") == {"claim:gpu": {GPU[0]: "Healthy"}}


def test_an_ended_pod_hears_of_its_devices_for_a_while_only():
    made = pod(claims=["gpu"])
    books = Books(window=600.0)
    uid = books.see(made)
    books.give(claim("train-gpu", ["gpu-0"], made))
    books.phase(uid, "Failed")
    books.now = 599.0
    books.set(gpu(0), "Unhealthy")
    assert books.shown(uid) == {"claim:gpu": {GPU[0]: "Unhealthy"}}
    books.now = 600.0
    books.set(gpu(0), "Healthy")
    assert books.shown(uid) == {"claim:gpu": {GPU[0]: "Unhealthy"}}


def test_that_a_driver_falls_silent_tells_nothing_about_an_ended_pod():
    made = pod(claims=["gpu"])
    books = Books()
    uid = books.see(made)
    books.give(claim("train-gpu", ["gpu-0"], made))
    books.set(gpu(0), "Unhealthy")
    books.phase(uid, "Failed")
    books.set(gpu(0), "Unknown")
    assert books.shown(uid) == {"claim:gpu": {GPU[0]: "Unhealthy"}}


def test_after_a_restart_an_ended_pod_keeps_what_it_shows():
    made = pod(claims=["gpu"])
    before = Books()
    uid = before.see(made)
    before.give(claim("train-gpu", ["gpu-0"], made))
    before.set(gpu(0), "Unhealthy", "XID 79")
    before.phase(uid, "Failed")
    for claims in ([], [claim("train-gpu", ["gpu-0"], made)]):
        after = Books(listed=False)
        after.give(*claims)
        after.see(before.pods[uid])
        after.write(after.claims.listed("pods") | after.claims.listed("claims"))
        assert after.writes == []
        assert after.shown(uid) == {"claim:gpu": {GPU[0]: ("Unhealthy", "XID 79")}}
    after.set(gpu(0), "Healthy")
    assert after.shown(uid) == {"claim:gpu": {GPU[0]: "Healthy"}}


def test_while_pods_and_claims_are_being_listed_nobody_takes_a_device_away():
    ended, other = pod("a", phase="Failed", **using("shared")), pod("b", **using("shared"))
    books = Books(listed=False)
    books.give(claim("shared", ["gpu-0"], ended, other))
    books.see(ended)
    books.see(other)
    books.write(books.claims.listed("pods") | books.claims.listed("claims"))
    books.set(gpu(0), "Unhealthy")
    assert books.shown("uid-a") == books.shown("uid-b") == {"claim:gpu": {GPU[0]: "Unhealthy"}}
