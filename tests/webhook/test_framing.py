"""Where a request ends in what a client has sent so far."""

from __future__ import annotations

import pytest

from podstrat.webhook.framing import HEAD_LIMIT, Framer, TooLarge

POST = b"POST /mutate HTTP/1.1\r\nHost: h\r\n"
SIZED = POST + b"Content-Length: 5\r\n\r\nhello"
CHUNKED = POST + b"Transfer-Encoding: chunked\r\n\r\n3\r\nhel\r\n2;x=y\r\nlo\r\n0\r\n\r\n"
TRAILED = POST + b"transfer-encoding: gzip, chunked\r\n\r\n0\r\nA: b\r\n\r\n"


@pytest.mark.parametrize("request_", [SIZED, CHUNKED, TRAILED, POST + b"\r\n", b"GET / HTTP/1.1\r\n\r\n"])
@pytest.mark.parametrize("step", [1, 7, 10_000])
def test_the_end_is_found_however_it_arrives(request_: bytes, step: int) -> None:
    """Two requests in a row, in pieces: each is found when its last byte is there, and not before."""
    framer, buffer, found = Framer(1000), bytearray(), []
    sent = request_ + request_
    for at in range(0, len(sent), step):
        buffer += sent[at : at + step]
        while end := framer.end(buffer):
            found.append(bytes(buffer[:end]))
            del buffer[:end]
    assert found == [request_, request_]
    assert not buffer


@pytest.mark.parametrize(
    "sent",
    [
        pytest.param(POST + b"Content-Length: 1001\r\n\r\n", id="announced"),
        pytest.param(POST + b"Transfer-Encoding: chunked\r\n\r\nfffffff\r\n", id="chunk"),
    ],
)
def test_too_large(sent: bytes) -> None:
    with pytest.raises(TooLarge):
        Framer(1000).end(bytearray(sent))


@pytest.mark.parametrize(
    "sent",
    [
        pytest.param(POST + b"Content-Length: x\r\n\r\n", id="no-number"),
        pytest.param(POST + b"Content-Length: 5\r\nContent-Length: 6\r\n\r\n", id="two-lengths"),
        pytest.param(POST + b"Transfer-Encoding: chunked\r\n\r\nxyz\r\n", id="no-chunk"),
        pytest.param(b"G" * (HEAD_LIMIT + 1), id="no-end"),
    ],
)
def test_what_is_malformed_goes_to_the_parser(sent: bytes) -> None:
    assert Framer(1000).end(bytearray(sent)) == len(sent)


def test_a_client_that_waits_to_be_told() -> None:
    framer, buffer = Framer(1000), bytearray(POST + b"Expect: 100-continue\r\nContent-Length: 5\r\n\r\n")
    assert framer.end(buffer) == 0
    assert framer.expects
    buffer += b"hello"
    assert framer.end(buffer) == len(buffer)
    assert bytes(buffer) == SIZED
