"""Proxies of the environment: HTTPS_PROXY, HTTP_PROXY and NO_PROXY, as Go programs read them."""

from __future__ import annotations

import pytest

from podstrat.kubeclient.proxy import BadProxy, Proxy, from_environ

FOUND = Proxy("proxy", 3128)


@pytest.mark.parametrize(
    "environ, found",
    [
        ({}, None),
        ({"HTTPS_PROXY": "http://proxy:3128"}, FOUND),
        ({"https_proxy": "http://proxy:3128"}, FOUND),
        ({"HTTPS_PROXY": "proxy:3128"}, FOUND),
        ({"HTTP_PROXY": "http://proxy:3128"}, None),
        ({"HTTPS_PROXY": ""}, None),
    ],
)
def test_which_variable(environ: dict[str, str], found: Proxy | None) -> None:
    assert from_environ(environ, "https", "api.example.com", 6443) == found


@pytest.mark.parametrize(
    "host, exempt, is_exempt",
    [
        ("127.0.0.1", "", True),
        ("::1", "", True),
        ("localhost", "", True),
        ("api.example.com", "", False),
        ("api.example.com", "*", True),
        ("api.example.com", "example.com", True),
        ("api.example.com", ".example.com", True),
        ("api.example.com", "*.example.com", True),
        ("example.com", ".example.com", False),
        ("example.com", "example.com", True),
        ("badexample.com", "example.com", False),
        ("API.example.com", "other, API.EXAMPLE.com", True),
        ("api.example.com", "api.example.com:6443", True),
        ("api.example.com", "api.example.com:443", False),
        ("10.0.0.1", "10.0.0.1", True),
        ("10.0.0.1", "10.0.0.0/8", True),
        ("10.0.0.1", "11.0.0.0/8", False),
        ("10.0.0.1", "10.0.0.1:6443", True),
        ("10.0.0.1", "nonsense/8,10.0.0.2", False),
        ("fd00::1", "fd00::/8", True),
        ("fd00::1", "[fd00::1]:6443", True),
        ("fd00::1", "fd00::1", True),
    ],
)
def test_no_proxy(host: str, exempt: str, is_exempt: bool) -> None:
    environ = {"HTTPS_PROXY": "http://proxy:3128", "NO_PROXY": exempt}
    assert from_environ(environ, "https", host, 6443) == (None if is_exempt else FOUND)


def test_a_bad_one_is_named() -> None:
    with pytest.raises(BadProxy) as caught:
        from_environ({"HTTPS_PROXY": "socks5://proxy"}, "https", "api.example.com", 443)
    assert str(caught.value) == "HTTPS_PROXY: scheme socks5 is not supported: use an HTTP proxy, http://HOST:PORT"
