"""Errors of TLS handshakes in the words of Go's crypto/tls and x509."""

from __future__ import annotations

import ipaddress
import ssl
from datetime import UTC, datetime

NOT_YET_VALID, EXPIRED, WRONG_NAME, WRONG_ADDRESS = 9, 10, 62, 64
"""What OpenSSL calls what it does not like about a certificate."""
ABOUT_THE_LEAF = (NOT_YET_VALID, EXPIRED, WRONG_NAME, WRONG_ADDRESS)


def why(error: ssl.SSLError, host: str, leaf: bytes | None) -> str:
    """What is wrong. ``leaf`` is the certificate that was shown (DER), where it had to be looked at."""
    if isinstance(error, ssl.SSLCertVerificationError):
        cause = "x509: certificate signed by unknown authority"
        if error.verify_code in ABOUT_THE_LEAF and leaf is not None:
            cause = _about(leaf, error.verify_code, host)
        return f"tls: failed to verify certificate: {cause}"
    if error.reason in ("WRONG_VERSION_NUMBER", "HTTP_REQUEST", "RECORD_LAYER_FAILURE"):
        return "http: server gave HTTP response to HTTPS client"
    if isinstance(error, (ssl.SSLEOFError, ssl.SSLZeroReturnError)):
        return "EOF"
    return f"remote error: tls: {(error.reason or 'handshake failure').lower().replace('_', ' ')}"


def _about(leaf: bytes, code: int, host: str) -> str:
    from cryptography import x509

    certificate = x509.load_der_x509_certificate(leaf)
    if code in (EXPIRED, NOT_YET_VALID):
        now = datetime.now(UTC)
        after = now > certificate.not_valid_after_utc
        limit = certificate.not_valid_after_utc if after else certificate.not_valid_before_utc
        times = f"current time {_time(now)} is {'after' if after else 'before'} {_time(limit)}"
        return f"x509: certificate has expired or is not yet valid: {times}"
    return _not_for(certificate, host)


def _time(moment: datetime) -> str:
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ")


def _not_for(certificate: object, host: str) -> str:
    """Upstream: x509.HostnameError"""
    names, addresses = _names(certificate)
    try:
        ipaddress.ip_address(host)
    except ValueError:
        subjects = names
        if not subjects:
            return f"x509: certificate is not valid for any names, but wanted to match {host}"
    else:
        subjects = addresses
        if not subjects:
            return f"x509: cannot validate certificate for {host} because it doesn't contain any IP SANs"
    return f"x509: certificate is valid for {', '.join(subjects)}, not {host}"


def _names(certificate: object) -> tuple[list[str], list[str]]:
    from cryptography import x509

    assert isinstance(certificate, x509.Certificate)
    try:
        names = certificate.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    except x509.ExtensionNotFound:
        return [], []
    return names.get_values_for_type(x509.DNSName), [str(each) for each in names.get_values_for_type(x509.IPAddress)]
