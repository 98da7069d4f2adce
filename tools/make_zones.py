"""Makes strategy/api/tables/zones.txt: the names of the time zones that a CronJob may have.

    python tools/make_zones.py

The source is the IANA time zone database that Python has at hand (zoneinfo, tzdata).
"""

from __future__ import annotations

import zoneinfo
from pathlib import Path

TABLE = Path(__file__).parent.parent / "strategy" / "api" / "tables" / "zones.txt"


def main() -> None:
    TABLE.write_text(text())


def text() -> str:
    """One name a line."""
    return "".join(f"{name}\n" for name in sorted(zoneinfo.available_timezones()))


if __name__ == "__main__":
    main()
