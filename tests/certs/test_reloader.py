"""The context that reloads: what is good replaces what is served, nothing else does."""

from __future__ import annotations

import os
import socket
import ssl
import threading
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from podstrat.certs import files, inspect
from podstrat.certs.issuing import Authority, Pair
from podstrat.certs.reloader import NoCertificate, Reloading

NOW = datetime.now(UTC)
DAY = timedelta(days=1)
AUTHORITY = Authority.new("authority", NOW)


def leaf(days: float = 10) -> Pair:
    return AUTHORITY.server(["localhost"], NOW if days > 0 else NOW + 2 * days * DAY, abs(days) * DAY)


class Files:
    """A pair in a folder, and the context that watches it."""

    def __init__(self, folder: Path) -> None:
        self.certificate, self.key = folder / "tls.crt", folder / "tls.key"
        self.clock = NOW
        self.reloading = Reloading(self.certificate, self.key, clock=lambda: self.clock)

    def write(self, pair: Pair) -> None:
        files.write(self.key, pair.key, 0o600)
        files.write(self.certificate, pair.certificate)

    def served(self) -> str:
        """The fingerprint of what a client is shown, by a real handshake."""
        context = self.reloading.context()
        ours, theirs = socket.socketpair()
        server = threading.Thread(target=lambda: context.wrap_socket(ours, server_side=True).close())
        server.start()
        client = ssl.create_default_context(cadata=AUTHORITY.certificate.decode())
        with client.wrap_socket(theirs, server_hostname="localhost") as connection:
            shown = connection.getpeercert(binary_form=True)
        server.join()
        assert shown
        return inspect.facts(ssl.DER_cert_to_PEM_cert(shown).encode()).fingerprint


@pytest.fixture
def pair(tmp_path: Path) -> Files:
    return Files(tmp_path)


def fingerprint(pair: Pair) -> str:
    return inspect.facts(pair.certificate).fingerprint


def test_a_new_pair_is_taken_up_and_the_context_is_kept(pair: Files) -> None:
    one, two = leaf(), leaf()
    pair.write(one)
    assert pair.served() == fingerprint(one)
    context = pair.reloading.context()
    assert pair.reloading.context() is context, "the same files are the same context"
    pair.write(two)
    assert pair.served() == fingerprint(two)
    assert pair.reloading.loads == 2
    assert pair.reloading.fault is None


def test_without_a_pair_there_is_no_context(pair: Files) -> None:
    with pytest.raises(NoCertificate, match=r"tls\.crt is not there"):
        pair.reloading.context()
    pair.write(leaf())
    assert pair.served()


@pytest.mark.parametrize(
    "certificate, key, fault",
    [
        pytest.param(b"", None, "contains no valid certificate", id="emptied"),
        pytest.param("half", None, "contains no valid certificate", id="half-a-certificate"),
        pytest.param(None, b"-----BEGIN PRIVATE KEY-----\n", "contains no valid key", id="half-a-key"),
        pytest.param("other", None, "is not the key of", id="a-key-that-has-not-followed"),
        pytest.param("ended", "ended", "only", id="a-pair-that-has-ended"),
        pytest.param("gone", None, "is not there", id="removed"),
    ],
)
def test_what_is_no_good_does_not_replace_what_is(
    pair: Files, certificate: bytes | str | None, key: bytes | str | None, fault: str
) -> None:
    good, other, ended = leaf(), leaf(), leaf(-1)
    pair.write(good)
    assert pair.served() == fingerprint(good)
    if key is not None:
        files.write(pair.key, ended.key if key == "ended" else key, 0o600)  # type: ignore[arg-type]
    if certificate == "gone":
        pair.certificate.unlink()
    elif certificate is not None:
        texts = {"half": other.certificate[:200], "other": other.certificate, "ended": ended.certificate}
        files.write(pair.certificate, texts[certificate] if isinstance(certificate, str) else certificate)
    assert pair.served() == fingerprint(good)
    assert fault in (pair.reloading.fault or "")
    # When the rest has been written, all is well.
    pair.write(other)
    assert pair.served() == fingerprint(other)
    assert pair.reloading.fault is None


def test_a_pair_whose_time_is_yet_to_come_is_taken_when_it_comes(pair: Files, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("podstrat.certs.reloader.AGAIN", 0.0)
    pair.clock = NOW - DAY
    pair.write(leaf())
    with pytest.raises(NoCertificate):
        pair.reloading.context()
    pair.clock = NOW
    assert pair.served()


def test_a_mounted_secret_changes_by_a_link(tmp_path: Path) -> None:
    """As the kubelet writes: a folder for each version, and one link to the newest that is swapped."""
    one, two = leaf(), leaf()
    for name, pair in (("..1", one), ("..2", two)):
        (tmp_path / name).mkdir()
        (tmp_path / name / "tls.crt").write_bytes(pair.certificate)
        (tmp_path / name / "tls.key").write_bytes(pair.key)
        for file in (tmp_path / name).iterdir():
            os.utime(file, (1, 1))  # equal times and equal sizes: the inode tells
    (tmp_path / "..data").symlink_to("..1")
    for file in ("tls.crt", "tls.key"):
        (tmp_path / file).symlink_to(Path("..data") / file)
    watched = Files(tmp_path)
    assert watched.served() == fingerprint(one)
    (tmp_path / "..new").symlink_to("..2")
    os.replace(tmp_path / "..new", tmp_path / "..data")
    assert watched.served() == fingerprint(two)


def test_many_connections_while_the_files_change(pair: Files) -> None:
    """No handshake ever meets half a pair."""
    pairs = [leaf() for _ in range(30)]
    known = {fingerprint(each) for each in pairs}
    pair.write(pairs[0])
    assert pair.served() in known
    done = threading.Event()
    seen: list[str] = []
    failures: list[Exception] = []

    def connect() -> None:
        while not done.is_set():
            try:
                seen.append(pair.served())
            except Exception as error:
                failures.append(error)

    threads = [threading.Thread(target=connect) for _ in range(4)]
    for thread in threads:
        thread.start()
    for each in pairs:
        pair.write(each)
    done.set()
    for thread in threads:
        thread.join()
    assert failures == []
    assert set(seen) <= known
    assert pair.served() == fingerprint(pairs[-1])


def test_clients_may_have_to_show_a_certificate(tmp_path: Path) -> None:
    pair = leaf()
    files.write(tmp_path / "tls.crt", pair.certificate)
    files.write(tmp_path / "tls.key", pair.key)
    files.write(tmp_path / "clients.crt", AUTHORITY.certificate)
    made = Reloading(tmp_path / "tls.crt", tmp_path / "tls.key", tmp_path / "clients.crt")
    assert made.context().verify_mode == ssl.CERT_REQUIRED
