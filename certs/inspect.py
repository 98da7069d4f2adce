"""Inspect certificates: validity, names, issuer, and whether a CA bundle trusts them."""

from __future__ import annotations

import ipaddress
from collections.abc import Iterable
from datetime import datetime
from typing import NamedTuple

from cryptography import x509
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import hashes, serialization

from podstrat.certs.issuing import Pair


class Unreadable(Exception):
    """What should be a certificate or a key is none."""


class Facts(NamedTuple):
    """What is worth knowing about a certificate."""

    subject: str
    issuer: str
    names: tuple[str, ...]
    begins: datetime
    ends: datetime
    fingerprint: str
    is_authority: bool

    def left(self, now: datetime) -> float:
        """How much of its life is left, from 1 down to 0 and below."""
        return (self.ends - now) / (self.ends - self.begins)

    def is_valid(self, now: datetime) -> bool:
        return self.begins <= now < self.ends


def certificates(text: bytes) -> list[x509.Certificate]:
    """The certificates of a file, the leaf first in a chain."""
    try:
        return x509.load_pem_x509_certificates(text)
    except ValueError:
        raise Unreadable("contains no valid certificate") from None


def blocks(text: bytes) -> list[bytes]:
    """The certificates of a bundle, each as PEM."""
    if not text.strip():
        return []
    return [each.public_bytes(serialization.Encoding.PEM) for each in certificates(text)]


def facts(text: bytes) -> Facts:
    """About the first certificate of a file."""
    return _facts(certificates(text)[0])


def _facts(certificate: x509.Certificate) -> Facts:
    return Facts(
        certificate.subject.rfc4514_string(),
        certificate.issuer.rfc4514_string(),
        _names(certificate),
        certificate.not_valid_before_utc,
        certificate.not_valid_after_utc,
        certificate.fingerprint(hashes.SHA256()).hex(),
        _is_authority(certificate),
    )


def _names(certificate: x509.Certificate) -> tuple[str, ...]:
    try:
        names = certificate.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    except x509.ExtensionNotFound:
        return ()
    addresses = (str(each) for each in names.get_values_for_type(x509.IPAddress))
    return (*names.get_values_for_type(x509.DNSName), *addresses)


def _is_authority(certificate: x509.Certificate) -> bool:
    try:
        return certificate.extensions.get_extension_for_class(x509.BasicConstraints).value.ca
    except x509.ExtensionNotFound:
        return False


def belong_together(pair: Pair) -> bool:
    """Whether the key is the certificate's."""
    certificate = certificates(pair.certificate)[0]
    try:
        key = serialization.load_pem_private_key(pair.key, None)
    except (ValueError, TypeError):
        raise Unreadable("contains no valid key") from None
    form = serialization.Encoding.DER, serialization.PublicFormat.SubjectPublicKeyInfo
    return key.public_key().public_bytes(*form) == certificate.public_key().public_bytes(*form)


def vouches(bundle: bytes, chain: bytes, now: datetime) -> bool:
    """Whether a client that trusts the bundle trusts the first certificate of a chain, perhaps by way of the others in it."""
    leaf, *between = certificates(chain)
    if not _facts(leaf).is_valid(now):
        return False
    trusted = [each for each in certificates(bundle) if _facts(each).is_valid(now)] if bundle.strip() else []
    reached, length = leaf, 0
    while length <= len(between):
        if any(reached == anchor or _signed(reached, anchor) for anchor in trusted):
            return True
        above = next((each for each in between if each != reached and _signed(reached, each)), None)
        if above is None or not _facts(above).is_valid(now):
            return False
        reached, length = above, length + 1
    return False


def _signed(certificate: x509.Certificate, by: x509.Certificate) -> bool:
    try:
        certificate.verify_directly_issued_by(by)
    except (ValueError, TypeError, InvalidSignature):
        return False
    return _is_authority(by)


def has_names(text: bytes, names: Iterable[str]) -> bool:
    """Whether a certificate is good for all of these names and addresses."""
    return {_plain(name) for name in names} <= {_plain(name) for name in facts(text).names}


def _plain(name: str) -> str:
    try:
        return str(ipaddress.ip_address(name))
    except ValueError:
        return name.lower()
