"""Image references: the tag a text names, and the pull policy that follows."""

from __future__ import annotations

import pytest

from podstrat.strategy.formats import image

HEX = "0123456789abcdef"
SHA256 = "sha256:" + HEX * 4
PATH = "a" * 255


@pytest.mark.parametrize(
    "reference, tag",
    [
        pytest.param("busybox", "latest", id="neither-tag-nor-digest"),
        pytest.param("busybox:1.36", "1.36", id="tag"),
        pytest.param("busybox:latest", "latest", id="latest"),
        pytest.param("team/app:V_1.2-x", "V_1.2-x", id="tag-may-be-upper-case"),
        pytest.param(f"busybox@{SHA256}", "", id="digest"),
        pytest.param(f"busybox:latest@{SHA256}", "latest", id="latest-and-digest"),
        pytest.param(f"busybox:1@{SHA256}", "1", id="tag-and-digest"),
        pytest.param(f"busybox@sha384:{HEX * 6}", "", id="sha384"),
        pytest.param(f"busybox:latest@sha512:{HEX * 8}", "latest", id="sha512"),
        pytest.param(f"busybox:latest@{SHA256.upper().replace('SHA', 'sha')}", "", id="digest-in-capitals"),
        pytest.param(f"busybox:latest@sha256:{HEX * 3}", "", id="digest-too-short-for-its-algorithm"),
        pytest.param(f"busybox:latest@md5:{HEX * 2}", "", id="digest-of-unknown-algorithm"),
        pytest.param("busybox:latest@sha256:12", "", id="digest-of-a-few-digits"),
        pytest.param("reg.example.com:5000/app", "latest", id="port-is-no-tag"),
        pytest.param("reg.example.com:5000/app:v1", "v1", id="port-and-tag"),
        pytest.param("localhost/app", "latest", id="localhost"),
        pytest.param("[2001:db8::1]:5000/app", "latest", id="ipv6-host"),
        pytest.param("index.docker.io/busybox", "latest", id="old-name-of-the-hub"),
        pytest.param("docker.io/busybox:2", "2", id="hub-by-name"),
        pytest.param("REG/app", "latest", id="capitals-make-a-host"),
        pytest.param("REG.example.com/app", "latest", id="host-in-capitals"),
        pytest.param("foo_bar.example/app", "latest", id="no-host-but-a-path"),
        pytest.param("a/b/c/d", "latest", id="deep-path"),
        pytest.param("a__b-.c", "", id="two-separators"),
        pytest.param("a__b--c.d_e", "latest", id="separators"),
        pytest.param("Busybox", "", id="capital-in-the-name"),
        pytest.param("example.com/App:1", "", id="capital-in-the-path"),
        pytest.param("a:b:c", "", id="two-tags"),
        pytest.param("a:", "", id="empty-tag"),
        pytest.param("a b", "", id="blank"),
        pytest.param(" a", "", id="leading-blank"),
        pytest.param("a\n", "", id="trailing-newline"),
        pytest.param("", "", id="empty"),
        pytest.param("/a", "", id="empty-host"),
        pytest.param("a/", "", id="empty-path"),
        pytest.param("https://example.com/a", "", id="scheme"),
        pytest.param("ä", "", id="not-ascii"),
        pytest.param("a:" + "t" * 128, "t" * 128, id="longest-tag"),
        pytest.param("a:" + "t" * 129, "", id="tag-too-long"),
        pytest.param("r.io/" + PATH, "latest", id="longest-path"),
        pytest.param("r.io/" + PATH + "a", "", id="path-too-long"),
        pytest.param(PATH, "", id="path-too-long-with-library"),
        pytest.param("h" * 300 + ".io/a", "latest", id="host-has-no-limit"),
        pytest.param(HEX * 4, "", id="sixty-four-hex-digits"),
        pytest.param(HEX * 4 + "0", "latest", id="sixty-five-hex-digits"),
    ],
)
def test_tag(reference: str, tag: str) -> None:
    assert image.tag(reference) == tag


@pytest.mark.parametrize(
    "reference, policy",
    [
        pytest.param("busybox", "Always", id="implied-latest"),
        pytest.param("busybox:latest", "Always", id="latest"),
        pytest.param("busybox:1", "IfNotPresent", id="tag"),
        pytest.param(f"busybox@{SHA256}", "IfNotPresent", id="digest"),
        pytest.param("Not A Reference", "IfNotPresent", id="unreadable"),
        pytest.param("h" * 600 + ".io/a", "Always", id="too-long-to-remember"),
    ],
)
def test_default_pull_policy(reference: str, policy: str) -> None:
    assert image.default_pull_policy(reference) == policy


def test_long_references_are_not_remembered() -> None:
    before = image._policy.cache_info().currsize
    image.default_pull_policy("x" * (image.CACHED_LENGTH + 1))
    assert image._policy.cache_info().currsize == before
