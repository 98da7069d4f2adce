"""JSON Web Tokens, signed with a key of our own: ES256, as the API server signs those of service accounts."""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
from collections.abc import Mapping
from typing import Any

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, utils

ALGORITHM = "ES256"
_HALF = 32
"""Bytes of each half of a signature."""


class SigningKey:
    """A key that signs tokens, and tells its own from others."""

    def __init__(self, key: ec.EllipticCurvePrivateKey) -> None:
        self._key = key
        public = key.public_key()
        der = public.public_bytes(serialization.Encoding.DER, serialization.PublicFormat.SubjectPublicKeyInfo)
        self.id = _text(hashlib.sha256(der).digest())
        """What tokens call the key. Upstream: keyIDFromPublicKey"""

    @classmethod
    def new(cls) -> SigningKey:
        return cls(ec.generate_private_key(ec.SECP256R1()))

    @classmethod
    def load(cls, pem: bytes) -> SigningKey:
        """ValueError if it is not a key of the curve P-256."""
        key = serialization.load_pem_private_key(pem, None)
        if not isinstance(key, ec.EllipticCurvePrivateKey) or not isinstance(key.curve, ec.SECP256R1):
            raise ValueError("not a private key of the curve P-256")
        return cls(key)

    def pem(self) -> bytes:
        return self._key.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        )

    def sign(self, claims: Mapping[str, Any]) -> str:
        """The token of some claims."""
        head = {"alg": ALGORITHM, "kid": self.id}
        signed = ".".join(_text(json.dumps(part, separators=(",", ":")).encode()) for part in (head, claims))
        r, s = utils.decode_dss_signature(self._key.sign(signed.encode(), ec.ECDSA(hashes.SHA256())))
        return f"{signed}.{_text(r.to_bytes(_HALF, 'big') + s.to_bytes(_HALF, 'big'))}"

    def claims(self, token: str) -> dict[str, Any] | None:
        """What a token says; None if this key has not signed it."""
        signed, _, signature = token.rpartition(".")
        try:
            head, payload = (json.loads(_bytes(part)) for part in signed.split("."))
            raw = _bytes(signature)
            if head.get("alg") != ALGORITHM or len(raw) != 2 * _HALF or not isinstance(payload, dict):
                return None
            whole = utils.encode_dss_signature(int.from_bytes(raw[:_HALF], "big"), int.from_bytes(raw[_HALF:], "big"))
            self._key.public_key().verify(whole, signed.encode(), ec.ECDSA(hashes.SHA256()))
        except (ValueError, AttributeError, binascii.Error, InvalidSignature):
            return None
        return payload

    def jwk(self) -> dict[str, str]:
        """The public key as a JSON Web Key."""
        numbers = self._key.public_key().public_numbers()
        x, y = (_text(number.to_bytes(_HALF, "big")) for number in (numbers.x, numbers.y))
        return {"use": "sig", "kty": "EC", "kid": self.id, "crv": "P-256", "alg": ALGORITHM, "x": x, "y": y}


def _text(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def _bytes(text: str) -> bytes:
    return base64.b64decode(text.encode() + b"=" * (-len(text) % 4), altchars=b"-_", validate=True)
