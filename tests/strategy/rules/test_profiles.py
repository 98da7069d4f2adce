"""Seccomp and AppArmor profiles, and Windows options."""

from __future__ import annotations

import pytest

from podstrat.strategy.formats import validation
from podstrat.strategy.rules import profiles
from tests.strategy.make import context, lines

CTX = context()
TYPES = 'supported values: "Localhost", "RuntimeDefault", "Unconfined"'


@pytest.mark.parametrize(
    "profile, errors",
    [
        pytest.param({"type": "RuntimeDefault"}, [], id="default"),
        pytest.param({"type": "Localhost", "localhostProfile": "a/b.json"}, [], id="local"),
        pytest.param({"type": "Localhost", "localhostProfile": ""}, [], id="empty-path"),
        pytest.param({}, ["s.type: Required value: type is required when seccompProfile is set"], id="no-type"),
        pytest.param(
            {"type": "Localhost"},
            ["s.localhostProfile: Required value: must be set when seccomp type is Localhost"],
            id="no-path",
        ),
        pytest.param(
            {"type": "Localhost", "localhostProfile": "/.."},
            [
                's.localhostProfile: Invalid value: "/..": must be a relative path',
                "s.localhostProfile: Invalid value: \"/..\": must not contain '..'",
            ],
            id="bad-path",
        ),
        pytest.param(
            {"type": "Foo", "localhostProfile": "<"},
            [
                f's.type: Unsupported value: "Foo": {TYPES}',
                r's.localhostProfile: Invalid value: {"Type":"Foo","LocalhostProfile":"\u003c"}: '
                "can only be set when seccomp type is Localhost",
            ],
            id="path-without-need",
        ),
    ],
)
def test_seccomp(profile, errors):
    assert lines(profiles.seccomp_profile(profile, "s", CTX)) == errors


NEEDED = "a.localhostProfile: Required value: must be set when AppArmor type is Localhost"


@pytest.mark.parametrize(
    "profile, errors",
    [
        pytest.param({"type": "Unconfined"}, [], id="none"),
        pytest.param({"type": "Localhost", "localhostProfile": "p" * 4095}, [], id="long-name"),
        pytest.param({"type": "Localhost"}, [NEEDED], id="no-name"),
        pytest.param({"type": "Localhost", "localhostProfile": ""}, [NEEDED], id="empty-name"),
        pytest.param(
            {"type": "Localhost", "localhostProfile": "  "},
            ['a.localhostProfile: Invalid value: "  ": must not be padded with whitespace'],
            id="blank-name",
        ),
        pytest.param({"type": "Localhost", "localhostProfile": "a\x1f"}, [], id="separator-is-no-space-to-go"),
        pytest.param(
            {"type": "Localhost", "localhostProfile": "p" * 4096},
            ["a.localhostProfile: Too long: may not be more than 4095 bytes"],
            id="too-long-a-name",
        ),
        pytest.param(
            {"type": "RuntimeDefault", "localhostProfile": ""},
            ['a.localhostProfile: Invalid value: "": can only be set when AppArmor type is Localhost'],
            id="name-without-need",
        ),
        pytest.param(
            {"type": "Unconfined", "localhostProfile": "<a>"},
            ['a.localhostProfile: Invalid value: "\\u003ca\\u003e": can only be set when AppArmor type is Localhost'],
            id="name-without-need-as-json",
        ),
        pytest.param(
            {"localhostProfile": "x"}, ["a.type: Required value: type is required when appArmorProfile is set"], id="no-type"
        ),
        pytest.param({"type": "Foo"}, [f'a.type: Unsupported value: "Foo": {TYPES}'], id="bad-type"),
    ],
)
def test_apparmor(profile, errors):
    assert lines(profiles.apparmor_profile(profile, "a")) == errors


@pytest.mark.parametrize(
    "options, errors",
    [
        pytest.param(
            {"gmsaCredentialSpecName": "a", "gmsaCredentialSpec": "{}", "runAsUserName": "u", "hostProcess": True}, [], id="all"
        ),
        pytest.param(
            {"gmsaCredentialSpecName": "A"}, [f'gmsaCredentialSpecName: "A": {validation.DNS_SUBDOMAIN}'], id="bad-name"
        ),
        pytest.param(
            {"gmsaCredentialSpec": ""}, ['gmsaCredentialSpec: "": gmsaCredentialSpec cannot be an empty string'], id="empty"
        ),
        pytest.param({"gmsaCredentialSpec": "x" * 65536}, [], id="64-kib"),
        pytest.param(
            {"gmsaCredentialSpec": "é" * 32769},
            [f'gmsaCredentialSpec: "{"é" * 32769}": gmsaCredentialSpec size must be under 64 KiB'],
            id="over-64-kib",
        ),
    ],
)
def test_windows_options(options, errors):
    expected = [f"w.{error}".replace(": ", ": Invalid value: ", 1) for error in errors]
    assert lines(profiles.windows_options(options, "w")) == expected


LONG = ".".join(["a" * 63] * 4)


@pytest.mark.parametrize(
    "name, faults",
    [
        pytest.param("ContainerUser", [], id="user"),
        pytest.param("a b", [], id="space-inside"),
        pytest.param("DOMAIN\\user", [], id="net-bios"),
        pytest.param("my.long-domain.example.com\\user", [], id="dns"),
        pytest.param(f"{LONG}\\u", [], id="domain-of-255"),
        pytest.param("u" * 104, [], id="user-of-104"),
        pytest.param("", ["runAsUserName cannot be an empty string"], id="empty"),
        pytest.param("a\tb\\c\\d", ["runAsUserName cannot contain control characters"], id="tab"),
        pytest.param("a\\b\\c", ["runAsUserName cannot contain more than one backslash"], id="two-backslashes"),
        pytest.param(f"{LONG[:-1]}.b\\u", ["runAsUserName's Domain length must be under 256 characters"], id="domain-of-256"),
        pytest.param(".dom\\u", ["runAsUserName's Domain doesn't match the NetBios nor the DNS format"], id="dot-first"),
        pytest.param(
            "abcdefghijklmno!\\u", ["runAsUserName's Domain doesn't match the NetBios nor the DNS format"], id="net-bios-of-16"
        ),
        pytest.param("\\u", ["runAsUserName's Domain doesn't match the NetBios nor the DNS format"], id="empty-domain"),
        pytest.param("DOM\\", ["runAsUserName's User cannot be empty"], id="empty-user"),
        pytest.param("u" * 105, ["runAsUserName's User length must not be longer than 104 characters"], id="user-of-105"),
        pytest.param(". .", ["runAsUserName's User cannot contain only periods or spaces"], id="periods"),
        pytest.param("a@b", ["runAsUserName's User cannot contain the following characters: \"/\\:;|=,+*?<>@[]"], id="at"),
    ],
)
def test_windows_user(name, faults):
    assert [error.detail for error in profiles.windows_options({"runAsUserName": name}, "w")] == faults


@pytest.mark.parametrize("number, errors", [(0, 0), (2147483647, 0), (2147483648, 1), (-1, 1)])
def test_user_or_group(number, errors):
    text = f"u: Invalid value: {number}: must be between 0 and 2147483647, inclusive"
    assert lines(profiles.user_or_group(number, "u")) == [text] * errors
