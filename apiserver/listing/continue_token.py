"""Continue tokens: the resourceVersion and the start key of the next page, in the encoding of kube-apiserver."""

from __future__ import annotations

import base64
import json
import re
from typing import Any, NamedTuple

from podstrat.strategy import errors
from podstrat.strategy.decoding import jsontext

FORM = "meta.k8s.io/v1"
LATEST = -1
"""In place of a version: continue in the newest state, which makes the list inconsistent."""

_NOT_VALID = "continue key is not valid"
_BASE64 = re.compile(r"[A-Za-z0-9_-]*")
_GO_TYPES = {"v": "string", "rv": "int64", "start": "string"}
_JSON_TYPES = ((bool, "bool"), (str, "string"), (list, "array"), (dict, "object"))


class Continue(NamedTuple):
    """Continue at a version, with the first key that is not before ``start``."""

    version: int
    start: str
    """Without the common prefix of the list's keys."""

    def encode(self) -> str:
        """Upstream: EncodeContinue"""
        token = json.dumps({"v": FORM, "rv": self.version, "start": self.start}, separators=(",", ":"))
        return base64.urlsafe_b64encode(token.encode()).decode().rstrip("=")

    @classmethod
    def decode(cls, token: str) -> Continue:
        """Upstream: DecodeContinue"""
        try:
            fields = _fields(jsontext.parse(_bytes(token)))
        except jsontext.JSONError as error:
            raise _refused(error.message) from None
        if fields["v"] != FORM:
            raise _refused(f"server does not recognize this encoded version {fields['v']}")
        if fields["rv"] == 0:
            raise _refused(f"incorrect encoded start resourceVersion (version {FORM})")
        if not fields["start"]:
            raise _refused(f"encoded start key empty (version {FORM})")
        start = fields["start"].removeprefix("/")
        if start and any(part in ("", ".", "..") for part in start.split("/")):
            raise _refused(fields["start"])
        return cls(fields["rv"], start)


def _bytes(token: str) -> bytes:
    """Base64 with - and _ and without padding; line ends are passed over. Upstream: base64.RawURLEncoding"""
    text = token.replace("\r", "").replace("\n", "")
    good = _BASE64.match(text)
    end = good.end() if good else 0
    if end == len(text) and end % 4 == 1:
        end -= 1
    if end < len(text):
        raise _refused(f"illegal base64 data at input byte {end}")
    return base64.urlsafe_b64decode(text + "=" * (-end % 4))


def _fields(data: Any) -> dict[str, Any]:
    """The fields of the token, absent ones with Go's zero values."""
    token: dict[str, Any] = {"v": "", "rv": 0, "start": ""}
    if data is None:
        return token
    if not isinstance(data, dict):
        raise _refused(f"json: cannot unmarshal {_json_type(data)} into Go value of type storage.continueToken")
    for name, value in data.items():
        if name not in token or value is None:
            continue
        if not _fits(name, value):
            number = f" {value}" if name == "rv" and _json_type(value) == "number" else ""
            target = f"Go struct field continueToken.{name} of type {_GO_TYPES[name]}"
            raise _refused(f"json: cannot unmarshal {_json_type(value)}{number} into {target}")
        token[name] = value
    return token


def _fits(name: str, value: Any) -> bool:
    if name != "rv":
        return isinstance(value, str)
    return isinstance(value, int) and not isinstance(value, bool) and -(2**63) <= value < 2**63


def _json_type(value: Any) -> str:
    return next((name for kind, name in _JSON_TYPES if isinstance(value, kind)), "number")


def _refused(text: str) -> errors.BadRequest:
    return errors.BadRequest(f"invalid continue token: {_NOT_VALID}: {text}")
