"""Paths as code hosts want them: relative to the repository, with forward slashes."""

from __future__ import annotations

import os


def relative(name: str) -> str:
    """A path from here, if it leads below; otherwise as it is."""
    path = os.path.relpath(name) if os.path.isabs(name) else os.path.normpath(name)
    if path.startswith(os.pardir):
        path = name
    return path.replace(os.sep, "/")


def fingerprint(*words: str) -> str:
    """What stays the same when lines move: so that a finding is known again."""
    from hashlib import sha256

    return sha256("\0".join(words).encode(errors="replace")).hexdigest()[:32]
