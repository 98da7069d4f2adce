"""The state of rotation in a folder: for one machine, where there is no Secret to share."""

from __future__ import annotations

from pathlib import Path

from certs import files, secret
from certs.rotation import State

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
    found = {name: (folder / name).read_bytes() for name in NAMES if (folder / name).exists()}
    return secret.of_files(found) if found else None


def write(folder: Path, state: State) -> None:
    """Keys are for nobody else's eyes. A key comes before its certificate: until both are new the old pair stays in use."""
    made = secret.files(state)
    for name in NAMES:
        if name in made:
            files.write(folder / name, made[name], 0o600 if name.endswith(".key") else 0o644)
        else:
            (folder / name).unlink(missing_ok=True)
