"""`python -m podstrat` is the command `podstrat`."""

from __future__ import annotations

import sys

from podstrat import cli

if __name__ == "__main__":
    sys.exit(cli.main())
