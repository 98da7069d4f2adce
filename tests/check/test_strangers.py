"""A checkout that somebody else wrote: links, devices, pipes and huge files in it are not read, and nothing private is shown."""

from __future__ import annotations

import os
import socket
from pathlib import Path

import pytest

from podstrat.check import inputs, pipeline
from podstrat.check.inputs import LINK, SPECIAL, InputArguments
from tests.check.conftest import GOOD

SECRET = "password: [hunter2\n"


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository with a good manifest, beside a file that is none of its business."""
    (tmp_path / "repo" / "sub").mkdir(parents=True)
    (tmp_path / "repo" / "good.yaml").write_text(GOOD)
    (tmp_path / "private.yaml").write_text(SECRET)
    monkeypatch.chdir(tmp_path / "repo")
    return tmp_path / "repo"


def special(folder: Path) -> dict[str, str]:
    """One of each kind, and why it is not read."""
    os.mkfifo(folder / "fifo.yaml")
    (folder / "out.yaml").symlink_to(folder.parent / "private.yaml")
    (folder / "up.yaml").symlink_to("../private.yaml")
    (folder / "device.yaml").symlink_to("/dev/zero")
    (folder / "environ.yaml").symlink_to("/proc/self/environ")
    (folder / "sub" / "in.yaml").symlink_to("../good.yaml")
    with socket.socket(socket.AF_UNIX) as made:
        made.bind(str(folder / "socket.yaml"))
    links = dict.fromkeys(("out.yaml", "up.yaml", "device.yaml", "environ.yaml"), LINK)
    return links | dict.fromkeys(("fifo.yaml", "socket.yaml"), SPECIAL)


@pytest.mark.parametrize("argv", [["."], ["*.yaml"], ["-f", "."], ["./*.yaml"]], ids=" ".join)
def test_what_is_found_and_leads_out_is_skipped(podstrat, checkout, argv):
    expected = special(checkout)
    done = podstrat("check", *argv, "--verbose")
    assert done.code == 0
    assert "hunter2" not in done.out + done.err
    lines = [line for line in done.out.splitlines() if ": skipped: " in line]
    assert {os.path.normpath(line.partition(":")[0]): line.partition(": skipped: ")[2] for line in lines} == expected


def test_a_link_within_the_tree_is_read(podstrat, checkout):
    (checkout / "sub" / "in.yaml").symlink_to("../good.yaml")
    assert podstrat("check", ".").out.startswith("2 objects checked in 2 files: 2 valid")
    assert "1 skipped: a symbolic link out of the directory" in podstrat("check", "sub").err


def test_what_is_named_is_read(podstrat, checkout):
    (checkout / "link.yaml").symlink_to(checkout / "good.yaml")
    (checkout / "far.yaml").symlink_to("../private.yaml")
    assert podstrat("check", "link.yaml").code == 0
    assert podstrat("check", "far.yaml").code == 1


def test_follow_reads_links_and_ends_where_they_lead_round(podstrat, checkout):
    (checkout / "far.yaml").symlink_to("../private.yaml")
    (checkout / "sub" / "round").symlink_to(checkout)
    (checkout.parent / "other").mkdir()
    (checkout.parent / "other" / "more.yaml").write_text(GOOD)
    (checkout / "other").symlink_to("../other")
    done = podstrat("check", ".", "--follow", "--verbose")
    assert done.code == 1
    read = sorted({line.partition(":")[0] for line in done.out.splitlines() if ".yaml:" in line})
    assert read == ["far.yaml", "good.yaml", "other/more.yaml"]


@pytest.mark.parametrize("command", [["explain"], ["matrix", "--no-gates"], ["webhook", "lint", "--allow-empty"]], ids=" ".join)
def test_the_other_commands_too(podstrat, checkout, command):
    special(checkout)
    done = podstrat(*command, ".")
    assert done.code in (0, 1)
    assert "hunter2" not in done.out + done.err


def test_the_configuration_of_a_stranger_is_no_link_out_of_the_repository(podstrat, checkout):
    (checkout.parent / "private.conf").write_text("hunter2: 1\n")
    (checkout / ".podstrat.yaml").symlink_to("../private.conf")
    done = podstrat("check", "good.yaml")
    assert done.code == 0
    assert "hunter2" not in done.err
    assert podstrat("check", "good.yaml", "--config", ".podstrat.yaml").code == 2  # it was named


def test_a_file_is_refused_by_its_size_before_it_is_read(podstrat, checkout):
    with (checkout / "huge.yaml").open("wb") as file:
        file.truncate(1 << 40)
    done = podstrat("check", ".")
    assert (done.code, "podstrat: huge.yaml: larger than 256 MiB\n" in done.err) == (2, True)


@pytest.mark.parametrize("start", [b"a: b\n", b"{", b"---\n"], ids=["yaml", "json", "documents"])
def test_a_stream_without_an_end_is_given_up(checkout, monkeypatch, start):
    monkeypatch.setattr(inputs, "LARGEST", 1 << 20)

    class Endless:
        def __init__(self):
            self.first = start

        def read(self, count):
            text, self.first = (self.first + b"x" * count)[:count], b""
            return text

    with pytest.raises(OSError, match="larger than"):
        list(inputs._split("endless", Endless()))


def test_a_device_that_was_named_is_given_up(checkout, monkeypatch):
    monkeypatch.setattr(inputs, "LARGEST", 1 << 20)
    (source,) = inputs.sources(InputArguments(["/dev/zero"]))
    with pytest.raises(OSError, match="larger than"):
        list(inputs.pieces(source))


@pytest.mark.parametrize(
    "name, content, shown",
    [
        pytest.param("pod.yaml", b"a: [hunter2", True, id="yaml"),
        pytest.param("pod.json", b'{"hunter2": ', True, id="json"),
        pytest.param("environ", b"A=[1\0PASSWORD=hunter2\0", False, id="environ"),
        pytest.param("id_rsa.yaml", b"a: [hunter2\0", False, id="binary"),
        pytest.param(".env", b"PASSWORD: [hunter2", False, id="no-manifest"),
        pytest.param("utf16.yaml", "a: [hunter2".encode("utf-16"), True, id="utf-16"),
    ],
)
@pytest.mark.parametrize("output", ["text", "json", "github", "junit", "tap"])
def test_no_line_is_shown_of_what_is_no_manifest(podstrat, checkout, name, content, shown, output):
    (checkout / name).write_bytes(content)
    done = podstrat("check", name, "-o", output)
    assert done.code == 1
    assert ("hunter2" in done.out + done.err) == (shown and output == "text")


def test_the_environment_of_a_process_is_not_shown(podstrat, checkout, monkeypatch):
    done = podstrat("check", "/proc/self/environ")
    assert done.code == 1
    assert "PATH=" not in done.out + done.err


def test_the_processes_of_a_stranger_are_counted(checkout, monkeypatch):
    counts = []
    monkeypatch.setattr("podstrat.check.parallel.run", lambda pieces, settings, count: counts.append(count) or iter(()))
    list(pipeline.Run([], None, 1_000_000, None, lambda size: None).results())
    assert counts == [64]
