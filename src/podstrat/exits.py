"""Exit codes of the command, and the exception for invalid arguments."""

from __future__ import annotations

OK = 0
INVALID = 1
"""What was looked at is not valid."""
USAGE = 2
"""The arguments are wrong, or something that they name cannot be read or written."""
BUG = 3
"""We are wrong."""

# As shells count a program that a signal ended.
INTERRUPTED = 128 + 2
BROKEN_PIPE = 128 + 13  # what a shell reports of SIGPIPE


class BadArguments(Exception):
    """The arguments parse, but what they say is wrong. The text is for the user."""
