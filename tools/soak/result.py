"""What a part of the soak came to."""

from __future__ import annotations

from typing import NamedTuple

from tools.soak.memory import Memory


class Result(NamedTuple):
    part: str
    summary: str
    memory: Memory
    is_complete: bool
    """Nothing was lost."""

    @property
    def ok(self) -> bool:
        return self.is_complete and self.memory.is_flat

    def __str__(self) -> str:
        flat = "flat" if self.memory.is_flat else "GROWING"
        return f"{self.part}: {'ok' if self.ok else 'FAILED'}: {self.summary}; {self.memory} ({flat})"
