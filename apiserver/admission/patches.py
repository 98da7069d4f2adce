"""JSON patches of webhook responses."""

from __future__ import annotations

from typing import Any

from podstrat.strategy import errors
from podstrat.strategy.decoding import jsontext
from podstrat.strategy.patch import body as bodies


class Undecodable(Exception):
    """Not a JSON patch; the text is the server's."""


def operations(patch: bytes) -> list[Any]:
    """The operations of a patch.

    Upstream: jsonpatch.DecodePatch
    """
    try:
        jsontext.parse(patch)
        return list(bodies.read("json", patch, (1, 37), "Ignore").patch)
    except jsontext.JSONError as error:
        raise Undecodable(error.message) from None
    except errors.ApiError as error:
        raise Undecodable(error.message) from None
