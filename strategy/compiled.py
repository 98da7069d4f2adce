"""Whether this engine runs compiled: this module is then one of those that are."""

from __future__ import annotations

from typing import Final

COMPILED: Final = __file__.endswith((".so", ".pyd"))
