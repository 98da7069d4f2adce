"""Issue certificates from a private CA. Elliptic-curve keys throughout: generating one takes microseconds."""

from __future__ import annotations

import datetime
import ipaddress
from collections.abc import Iterable
from typing import NamedTuple

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

# Clocks of machines differ a little: what is issued now is valid for all of them.
SKEW = datetime.timedelta(minutes=5)
YEAR = datetime.timedelta(days=365)


class Pair(NamedTuple):
    """A certificate and its key, as PEM."""

    certificate: bytes
    key: bytes


class Authority:
    """A certificate authority that lives as long as its key does."""

    def __init__(self, pair: Pair) -> None:
        self.pair = pair
        self._certificate = x509.load_pem_x509_certificate(pair.certificate)
        key = serialization.load_pem_private_key(pair.key, None)
        if not isinstance(key, ec.EllipticCurvePrivateKey):
            raise ValueError("the authority's key is not an elliptic-curve key")
        self._key = key

    @classmethod
    def new(cls, name: str, now: datetime.datetime, lifetime: datetime.timedelta = 10 * YEAR) -> Authority:
        """A fresh authority, signed by itself."""
        key = ec.generate_private_key(ec.SECP256R1())
        subject = _name(name, ())
        certificate = (
            _begun(subject, subject, key, now, lifetime)
            .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
            .add_extension(_usage(key_cert_sign=True, crl_sign=True), critical=True)
            .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
            .sign(key, hashes.SHA256())
        )
        return cls(Pair(_pem(certificate), _key_pem(key)))

    @property
    def certificate(self) -> bytes:
        return self.pair.certificate

    def server(self, names: Iterable[str], now: datetime.datetime, lifetime: datetime.timedelta = YEAR) -> Pair:
        """A certificate for a server that is reached under these names and addresses."""
        names = list(names)
        return self._issue(names[0], (), names, ExtendedKeyUsageOID.SERVER_AUTH, now, lifetime)

    def client(self, user: str, groups: Iterable[str], now: datetime.datetime, lifetime: datetime.timedelta = YEAR) -> Pair:
        """A certificate by which a client is known: the user is its common name, the groups are its organisations."""
        return self._issue(user, tuple(groups), (), ExtendedKeyUsageOID.CLIENT_AUTH, now, lifetime)

    def _issue(
        self,
        name: str,
        groups: tuple[str, ...],
        alternatives: Iterable[str],
        purpose: x509.ObjectIdentifier,
        now: datetime.datetime,
        lifetime: datetime.timedelta,
    ) -> Pair:
        key = ec.generate_private_key(ec.SECP256R1())
        builder = (
            _begun(_name(name, groups), self._certificate.subject, key, now, lifetime)
            .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
            .add_extension(_usage(digital_signature=True), critical=True)
            .add_extension(x509.ExtendedKeyUsage([purpose]), critical=False)
            .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
            # Tells authorities of one name apart, and strict clients ask for it.
            .add_extension(x509.AuthorityKeyIdentifier.from_issuer_public_key(self._key.public_key()), critical=False)
        )
        if names := [_alternative(each) for each in alternatives]:
            builder = builder.add_extension(x509.SubjectAlternativeName(names), critical=False)
        return Pair(_pem(builder.sign(self._key, hashes.SHA256())), _key_pem(key))


def identity(certificate: bytes) -> tuple[str, tuple[str, ...]]:
    """The user and the groups that a client certificate (DER) stands for."""
    subject = x509.load_der_x509_certificate(certificate).subject
    names = [str(each.value) for each in subject.get_attributes_for_oid(NameOID.COMMON_NAME)]
    groups = tuple(str(each.value) for each in subject.get_attributes_for_oid(NameOID.ORGANIZATION_NAME))
    return (names[0] if names else ""), groups


def _name(name: str, groups: tuple[str, ...]) -> x509.Name:
    organisations = [x509.NameAttribute(NameOID.ORGANIZATION_NAME, group) for group in groups]
    # A common name has 64 characters at the most; the alternatives have the whole name.
    return x509.Name([*organisations, x509.NameAttribute(NameOID.COMMON_NAME, name[:64])])


def _begun(
    subject: x509.Name,
    issuer: x509.Name,
    key: ec.EllipticCurvePrivateKey,
    now: datetime.datetime,
    lifetime: datetime.timedelta,
) -> x509.CertificateBuilder:
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - SKEW)
        .not_valid_after(now + lifetime)
    )


def _usage(**usages: bool) -> x509.KeyUsage:
    every = (
        "digital_signature",
        "content_commitment",
        "key_encipherment",
        "data_encipherment",
        "key_agreement",
        "key_cert_sign",
        "crl_sign",
        "encipher_only",
        "decipher_only",
    )
    return x509.KeyUsage(**{name: usages.get(name, False) for name in every})


def _alternative(name: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ipaddress.ip_address(name))
    except ValueError:
        return x509.DNSName(name)


def _pem(certificate: x509.Certificate) -> bytes:
    return certificate.public_bytes(serialization.Encoding.PEM)


def _key_pem(key: ec.EllipticCurvePrivateKey) -> bytes:
    return key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
