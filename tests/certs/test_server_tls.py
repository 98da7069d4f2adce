"""What our servers agree to: no TLS before 1.2, no CBC suite, no RSA key exchange."""

from __future__ import annotations

import socket
import ssl
from collections.abc import Iterator

import pytest

from podstrat.certs import server_tls
from podstrat.kubeclient import kubeconfig
from podstrat.testing.server import Server
from tests.webhook.child import Replica, certificates


@pytest.fixture(scope="module")
def addresses(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, tuple[str, int]]]:
    """Both servers, as processes."""
    folder = tmp_path_factory.mktemp("tls")
    with Server() as server, Replica(folder / "replica", cert_dir=certificates(folder / "certs")) as replica:
        config = kubeconfig.load(server.kubeconfig)
        host, _, port = replica.url.removeprefix("https://").rpartition(":")
        yield {"serve": (config.host, config.port), "webhook": (host, int(port))}


def handshake(address: tuple[str, int], ciphers: str, version: ssl.TLSVersion) -> str:
    """The suite that is agreed upon."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    context.minimum_version = context.maximum_version = version
    if ciphers:
        context.set_ciphers(ciphers)
    with socket.create_connection(address, timeout=30) as plain, context.wrap_socket(plain) as secure:
        found = secure.cipher()
        assert found is not None
        return found[0]


@pytest.mark.parametrize("door", ["serve", "webhook"])
@pytest.mark.parametrize("ciphers", ["ECDHE+AES+SHA1:@SECLEVEL=0", "ECDHE+AES+SHA256:!AESGCM", "ECDHE+AES+SHA384:!AESGCM"])
def test_cbc_suites_are_refused(addresses: dict[str, tuple[str, int]], door: str, ciphers: str) -> None:
    with pytest.raises((ssl.SSLError, ConnectionError)):
        handshake(addresses[door], ciphers, ssl.TLSVersion.TLSv1_2)


@pytest.mark.parametrize("door", ["serve", "webhook"])
def test_what_is_agreed_upon(addresses: dict[str, tuple[str, int]], door: str) -> None:
    assert handshake(addresses[door], "ECDHE+AESGCM", ssl.TLSVersion.TLSv1_2).startswith("ECDHE-ECDSA-AES")
    assert handshake(addresses[door], "ECDHE+CHACHA20", ssl.TLSVersion.TLSv1_2) == "ECDHE-ECDSA-CHACHA20-POLY1305"
    assert handshake(addresses[door], "", ssl.TLSVersion.TLSv1_3).startswith("TLS_")


def test_every_suite_of_ours_is_authenticated() -> None:
    suites = [each for each in server_tls.context().get_ciphers() if each["protocol"] == "TLSv1.2"]
    assert suites
    assert [each["name"] for each in suites if not each["aead"]] == []
