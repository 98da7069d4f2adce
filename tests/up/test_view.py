"""What is shown of pods and events, on a terminal and in plain lines."""

from __future__ import annotations

import pytest

from podstrat.up import view


def pod(name="training", generation=1, *, phase="Running", ready="True", devices=(), **status):
    entry = {
        "name": "claim:gpus",
        "resources": [dict(zip(("resourceID", "health", "message"), each, strict=False)) for each in devices],
    }
    container = {"name": "main", "allocatedResourcesStatus": [entry] if devices else []}
    return {
        "metadata": {"name": name, "generation": generation, "resourceVersion": "1"},
        "status": {
            "phase": phase,
            "observedGeneration": generation,
            "conditions": [{"type": "Ready", "status": ready}],
            "containerStatuses": [container],
            **status,
        },
    }


@pytest.mark.parametrize(
    "devices, shown",
    [
        pytest.param([], "", id="none"),
        pytest.param([("d/p/gpu-0", "Healthy"), ("d/p/gpu-1", "Healthy")], "gpu-0 gpu-1 Healthy", id="alike"),
        pytest.param(
            [("gpu-0", "Healthy"), ("gpu-1", "Unhealthy", "XID 79"), ("gpu-2", "Unknown")],
            "gpu-0 Healthy, gpu-1 Unhealthy (XID 79), gpu-2 Unknown",
            id="different",
        ),
    ],
)
def test_devices(devices, shown):
    assert view.health(pod(devices=devices)) == shown


WAITING = [{"name": "main", "state": {"waiting": {"reason": "CrashLoopBackOff"}}}]


@pytest.mark.parametrize(
    "given, shown",
    [
        pytest.param(pod(), "Running", id="well"),
        pytest.param(pod(containerStatuses=WAITING), "Running (CrashLoopBackOff)", id="a-container-waits"),
        pytest.param(
            pod(phase="Failed", reason="Evicted", containerStatuses=WAITING), "Failed (Evicted)", id="the-pods-own-reason"
        ),
        pytest.param(pod(phase="Failed", containerStatuses=WAITING), "Failed", id="what-has-ended-waits-for-nothing"),
        pytest.param({"metadata": {"name": "p"}}, "Unknown", id="nothing-is-said"),
    ],
)
def test_phase(given, shown):
    assert view.phase(given) == shown


def test_a_pod_of_which_nothing_is_known():
    assert view.row({"metadata": {"name": "p"}}) == ("p", "no", "-", "-", "Unknown", "")


def event(version, reason):
    about = {"involvedObject": {"name": "training"}, "type": "Normal", "message": "m"}
    return {"metadata": {"resourceVersion": version}, "reason": reason, **about}


def test_events_are_in_order():
    found = view.happenings([event("10", "Second"), event("9", "First")])
    assert [each.reason for each in found] == ["First", "Second"]


class Server:
    """What there is to be looked at."""

    def __init__(self, *pods):
        self.pods, self.events = list(pods), []

    def items(self, path):
        return self.pods if path == view.PODS else self.events


@pytest.fixture
def at_once(monkeypatch):
    monkeypatch.setattr(view, "REFRESH", 0.0)


@pytest.mark.usefixtures("at_once")
def test_plain_lines_say_what_has_changed(capsys):
    shown, server = view.View(live=False), Server(pod("a"), pod("b"))
    shown.refresh(server)
    assert capsys.readouterr().out.splitlines() == [
        "NAME   READY   GENERATION   OBSERVED   PHASE     DEVICES",
        "a      yes     1            1          Running",
        "b      yes     1            1          Running",
    ]
    shown.refresh(server)
    assert capsys.readouterr().out == ""
    server.pods = [pod("a", 2, devices=[("gpu-0", "Unhealthy", "XID 79")])]
    server.events = [event("1", "Moved")]
    shown.refresh(server)
    assert capsys.readouterr().out.splitlines() == [
        "pod a: generation 2, observed 2, Running, gpu-0 Unhealthy (XID 79)",
        "pod b: gone",
        "event Normal Moved: training: m",
    ]


@pytest.mark.usefixtures("at_once")
def test_a_table_stays_in_its_place(capsys, monkeypatch):
    monkeypatch.setenv("NO_COLOR", "1")
    shown, server = view.View(live=True), Server(pod("a"))
    table = "\nNAME   READY   GENERATION   OBSERVED   PHASE     DEVICES\na      yes     1            1          Running\n\n"
    shown.refresh(server)
    assert capsys.readouterr().out == table
    shown.refresh(server)
    assert capsys.readouterr().out == "", "nothing has changed"
    shown.say("a line")
    assert capsys.readouterr().out == "\x1b[4A\x1b[Ja line\n", "what is said stands where the table was"
    shown.refresh(server)
    assert capsys.readouterr().out == table
    shown.leave()
    shown.say("below")
    assert capsys.readouterr().out == "below\n"


@pytest.mark.usefixtures("at_once")
def test_lines_are_cut_to_the_terminal(capsys, monkeypatch):
    monkeypatch.setattr(view, "_size", lambda: (12, 40))
    view.View(live=True).refresh(Server(pod("a")))
    assert max(len(line) for line in capsys.readouterr().out.replace("\x1b[1m", "").replace("\x1b[0m", "").splitlines()) == 11


def test_colours(monkeypatch, capsys):
    monkeypatch.delenv("NO_COLOR", raising=False)
    view.View(live=True).say("gpu-0 Unhealthy, gpu-1 Healthy")
    assert capsys.readouterr().out == "gpu-0 \x1b[31mUnhealthy\x1b[0m, gpu-1 \x1b[32mHealthy\x1b[0m\n"
