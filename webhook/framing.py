"""HTTP/1.1 request framing: whether a buffer holds a complete request, and where it ends. Parsing is gunicorn's."""

from __future__ import annotations

import re

HEAD_LIMIT = 64 * 1024
"""Request line and headers. gunicorn, which parses them, rejects less than that with a reason."""
_LENGTH = re.compile(rb"\r\ncontent-length:[ \t]*([^\r\n]*)", re.IGNORECASE)
_CHUNKED = re.compile(rb"\r\ntransfer-encoding:[^\r\n]*\bchunked\b", re.IGNORECASE)
_EXPECT = re.compile(rb"\r\nexpect:[ \t]*100-continue[ \t]*(?=\r\n)", re.IGNORECASE)
_SIZE = re.compile(rb"([0-9A-Fa-f]{1,8})[ \t]*(?:;[^\r\n]*)?\r\n")
CHUNK_LINE_LIMIT = 1024  # a size in hex and extensions, which clients do not send


class TooLarge(Exception):
    """The body is larger than the limit."""


class Framer:
    """Finds the end of each request in a growing buffer. State is kept between calls, so that no byte is looked at twice."""

    def __init__(self, body_limit: int) -> None:
        self._body_limit = body_limit
        self._reset()

    def _reset(self) -> None:
        self._searched = 0
        self._body = 0
        """Where the body begins; 0 while the head is incomplete."""
        self._length = 0
        self._chunk = 0
        """Where the next chunk begins; 0 for a body with a length."""
        self.expects = False
        """Whether the client waits for 100 Continue before it sends the body."""

    def end(self, buffer: bytearray) -> int:
        """Where the first request of the buffer ends; 0 while it is incomplete. TooLarge if its body is larger than the limit."""
        if not self._body and not self._head(buffer):
            return 0
        end = self._chunked_end(buffer) if self._chunk else self._body + self._length
        if not end or len(buffer) < end:
            return 0
        self._reset()
        return end

    def _head(self, buffer: bytearray) -> bool:
        at = buffer.find(b"\r\n\r\n", max(0, self._searched - 3))
        if at < 0:
            self._searched = len(buffer)
            if len(buffer) <= HEAD_LIMIT:
                return False
            at = len(buffer) - 4
        self._body = at + 4
        head = bytes(buffer[: at + 2])
        if _CHUNKED.search(head):
            self._chunk = self._body
        elif lengths := _LENGTH.findall(head):
            # What is not a number, or several that differ, is for the parser to reject: it needs no body for that.
            text = lengths[0].strip()
            self._length = int(text) if len(set(lengths)) == 1 and text.isdigit() and len(text) < 16 else 0
        if self._length > self._body_limit:
            raise TooLarge
        if _EXPECT.search(head):
            self.expects = len(buffer) == self._body
            del buffer[: self._body]
            buffer[:0] = _EXPECT.sub(b"", head) + b"\r\n"
            moved = self._body - (len(_EXPECT.sub(b"", head)) + 2)
            self._body -= moved
            self._chunk = self._body if self._chunk else 0
        return True

    def _chunked_end(self, buffer: bytearray) -> int:
        while True:
            size = _SIZE.match(buffer, self._chunk)
            if size is None:
                malformed = len(buffer) - self._chunk > CHUNK_LINE_LIMIT or buffer.find(b"\n", self._chunk) >= 0
                return len(buffer) if malformed else 0
            length = int(size[1], 16)
            if length == 0:
                return self._trailer_end(buffer, size.end())
            if size.end() + length - self._body > self._body_limit + HEAD_LIMIT:
                raise TooLarge
            if len(buffer) < size.end() + length + 2:
                return 0
            self._chunk = size.end() + length + 2

    def _trailer_end(self, buffer: bytearray, at: int) -> int:
        if buffer.startswith(b"\r\n", at):
            return at + 2
        end = buffer.find(b"\r\n\r\n", at)
        if end < 0 and len(buffer) - at > HEAD_LIMIT:
            return len(buffer)
        return end + 4 if end >= 0 else 0
