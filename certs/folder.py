"""The rotation state in a folder: for a single machine without a shared Secret."""

from __future__ import annotations

from pathlib import Path

from podstrat.certs import files, secret
from podstrat.certs.rotation import State

NAMES = (
    "tls.key",
    "tls.crt",
    "ca.crt",
    "authority.key",
    "authority.crt",
    "successor.key",
    "successor.crt",
    "rotation.json",
)


def read(folder: Path) -> State | None:
    """The state in a folder; None if there is nothing of it. Broken if there is only a part."""
    contents = {name: (folder / name).read_bytes() for name in NAMES if (folder / name).exists()}
    return secret.of_files(contents) if contents else None


def write(folder: Path, state: State) -> None:
    """Keys are private. A key is written before its certificate: until both are new the old pair stays in use."""
    contents = secret.files(state)
    for name in NAMES:
        if name in contents:
            files.write(folder / name, contents[name], 0o600 if name.endswith(".key") else 0o644)
        else:
            (folder / name).unlink(missing_ok=True)
