"""Projected volumes and their sources."""

from __future__ import annotations

import pytest

from podstrat.strategy.api import types
from podstrat.strategy.formats import validation
from podstrat.strategy.rules import projected
from tests.strategy.make import context, lines

P = "spec.volumes[0].projected"
S = f"{P}.sources[0]"
USER = "must be between 0 and 2147483647, inclusive"
FIELD = {"apiVersion": "v1", "fieldPath": "metadata.name"}
SAME = "conflicting duplicate paths"
CERTIFICATE = {"signerName": "example.com/s", "keyType": "ED25519", "credentialBundlePath": "c"}


def judged(*sources, ctx=None, **rest):
    return list(projected.volume({"sources": list(sources), **rest}, P, ctx or context()))


def keys(*paths):
    return [{"key": "k", "path": path} for path in paths]


def token(path="t", **rest):
    return {"serviceAccountToken": {"path": path, "expirationSeconds": 3600, **rest}}


def bundle(**rest):
    return {"clusterTrustBundle": {"path": "ca", **rest}}


def test_kinds_have_rules_in_every_release():
    for release in types.RELEASES:
        assert set(types.load(release).fields("VolumeProjection")) == set(projected._KINDS)


def test_a_good_volume():
    assert (
        lines(
            judged(
                {"secret": {"name": "s", "items": keys("a", "b")}},
                {"configMap": {"name": "c"}},
                {"downwardAPI": {"items": [{"path": "d", "fieldRef": FIELD}]}},
                token("d", user=0),
                bundle(name="b", user=0),
                {"podCertificate": {**CERTIFICATE, "keyPath": "k", "certificateChainPath": "h", "user": 0}},
                {},
                defaultMode=0o777,
                defaultUser=0,
            )
        )
        == []
    )


def test_no_sources():
    assert lines(projected.volume({"sources": None, "defaultMode": -1}, P, context())) == [
        f"{P}.defaultMode: Invalid value: -1: must be a number between 0 and 0777 (octal), both inclusive"
    ]


def test_every_kind_of_a_source_is_looked_into_in_the_servers_order():
    source = token("") | {"downwardAPI": {"items": [{"path": ""}]}, "configMap": {}, "secret": {"items": keys("")}}
    assert lines(judged({}, source)) == [
        f"{P}.sources[1].secret.name: Required value",
        f"{P}.sources[1].secret.items[0].path: Required value",
        f"{P}.sources[1].configMap.name: Required value",
        f"{P}.sources[1].downwardAPI.path: Required value",
        f"{P}.sources[1].downwardAPI: Required value: one of fieldRef and resourceFieldRef is required",
        f"{P}.path: Required value",
        f"{P}.sources[1]: Forbidden: may not specify more than 1 volume type per source",
    ]


@pytest.mark.parametrize(
    "sources, value, place",
    [
        pytest.param(
            [{"secret": {"name": "s", "items": keys("p", "p")}}], "s", ("sources", 0, "secret", "items", 1, "path"), id="secret"
        ),
        pytest.param(
            [{"secret": {"name": "s", "items": keys("p")}}, {"configMap": {"name": "c", "items": keys("o", "p")}}],
            "c",
            ("sources", 1, "configMap", "items", 1, "path"),
            id="configMap",
        ),
        pytest.param(
            [{"configMap": {"name": "c", "items": keys("p")}}, {"downwardAPI": {"items": [{"path": "p", "fieldRef": FIELD}]}}],
            "p",
            ("sources", 1, "downwardAPI", "items", 0, "path"),
            id="downwardAPI",
        ),
        pytest.param(
            [{"configMap": {"name": "c", "items": keys("ca")}}, bundle(name="b")],
            "ca",
            ("sources", 1, "clusterTrustBundle", "path"),
            id="clusterTrustBundle",
        ),
        pytest.param(
            [{"configMap": {"name": "c", "items": keys("k")}}, {"podCertificate": {**CERTIFICATE, "keyPath": "k"}}],
            "k",
            ("sources", 1, "podCertificate", "keyPath"),
            id="podCertificate",
        ),
    ],
)
def test_the_same_path_twice(sources, value, place):
    (error,) = judged(*sources)
    assert str(error) == f'{P}: Invalid value: "{value}": {SAME}'
    assert error.where == ("spec", "volumes", 0, "projected", *place)


@pytest.mark.parametrize(
    "sources, errors",
    [
        pytest.param([{"configMap": {"name": "c", "items": keys("t")}}, token("t"), token("t")], [], id="tokens-do-not-count"),
        pytest.param(
            [{"secret": {"name": "s", "items": keys("", "")}}],
            [f"{S}.secret.items[0].path: Required value", f"{S}.secret.items[1].path: Required value"],
            id="no-path-is-no-path",
        ),
        pytest.param(
            [bundle(name="a", path=""), bundle(name="b", path="")],
            [
                f"{S}.clusterTrustBundle.path: Required value",
                f"{P}.sources[1].clusterTrustBundle.path: Required value",
                f'{P}: Invalid value: "": {SAME}',
            ],
            id="but-one-of-trust-bundles",
        ),
    ],
)
def test_paths_that_are_not_compared(sources, errors):
    assert lines(judged(*sources)) == errors


@pytest.mark.parametrize(
    "source, errors",
    [
        pytest.param(
            token(expirationSeconds=599),
            [f"{S}.serviceAccountToken.expirationSeconds: Invalid value: 599: may not specify a duration less than 10 minutes"],
            id="short",
        ),
        pytest.param(token(expirationSeconds=2**32), [], id="longest"),
        pytest.param(
            token(expirationSeconds=2**32 + 1),
            [
                f"{S}.serviceAccountToken.expirationSeconds: Invalid value: 4294967297: "
                "may not specify a duration larger than 2^32 seconds"
            ],
            id="long",
        ),
        pytest.param(token(""), [f"{P}.path: Required value"], id="no-path"),
        pytest.param(token("/t"), [f'{P}.path: Invalid value: "/t": must be a relative path'], id="absolute"),
        pytest.param(token(user=-1), [f"{S}.serviceAccountToken.user: Invalid value: -1: {USER}"], id="user"),
    ],
)
def test_service_account_token(source, errors):
    assert lines(judged(source)) == errors


@pytest.mark.parametrize("path", ["", "/t"])
def test_where_a_token_path_is(path):
    (error,) = judged(token(), token(path))
    assert error.field == f"{P}.path"
    assert error.where == ("spec", "volumes", 0, "projected", "sources", 1, "serviceAccountToken", "path")


@pytest.mark.parametrize(
    "stored, errors",
    [
        pytest.param(token("/old"), [], id="bad-one-stored"),
        pytest.param(token("old"), [f"{P}.path: Invalid value: \"..t\": must not start with '..'"], id="good-one-stored"),
        pytest.param({}, [f"{P}.path: Invalid value: \"..t\": must not start with '..'"], id="none-stored"),
    ],
)
def test_a_stored_token_path_excuses_others(stored, errors):
    old = {"spec": {"volumes": [{"name": "e", "emptyDir": {}}, {"name": "v", "projected": {"sources": [stored]}}]}}
    assert lines(judged(token("..t"), ctx=context(old=old))) == errors


BUNDLE = f"{S}.clusterTrustBundle"
NAME = "not a valid clustertrustbundlename"


@pytest.mark.parametrize(
    "source, errors",
    [
        pytest.param({"name": "example.com:signer:bundle"}, [], id="name-after-signer"),
        pytest.param({"signerName": "example.com/s", "labelSelector": {"matchLabels": {"a": "b"}}}, [], id="signer"),
        pytest.param({}, [f"{BUNDLE}: Required value: either name or signerName must be specified"], id="neither"),
        pytest.param(
            {"name": "b", "signerName": "s", "labelSelector": {"matchLabels": {"a": "b"}}},
            [
                f'{BUNDLE}: Invalid value: {{"Name":"b","SignerName":"s","LabelSelector":{{"matchLabels":{{"a":"b"}}}},'
                '"Optional":null,"Path":"ca","User":null}: only one of name and signerName may be used'
            ],
            id="both",
        ),
        pytest.param(
            {"name": ""},
            [
                f"{BUNDLE}.name: Required value: must be a valid object name",
                f'{BUNDLE}.name: Invalid value: "": {NAME}: {validation.DNS_SUBDOMAIN}',
            ],
            id="empty-name",
        ),
        pytest.param(
            {"name": ":b"},
            [f'{BUNDLE}.name: Invalid value: ":b": {NAME}: ClusterTrustBundle without signer name must not have ":" in its name'],
            id="colon-first",
        ),
        pytest.param(
            {"name": "example.com:s:"},
            [f'{BUNDLE}.name: Invalid value: "example.com:s:": {NAME}: {validation.DNS_SUBDOMAIN}'],
            id="colon-last",
        ),
        pytest.param(
            {"name": "example.com/s:b"},
            [
                f'{BUNDLE}.name: Invalid value: "example.com/s:b": {NAME}: '
                "ClusterTrustBundle for signerName example.com/s must be named with prefix example.com:s:"
            ],
            id="slash-in-signer",
        ),
        pytest.param(
            {"name": "b", "labelSelector": {}},
            [f"{BUNDLE}.labelSelector: Invalid value: {{}}: labelSelector must be unset if name is specified"],
            id="name-and-selector",
        ),
        pytest.param(
            {"signerName": "", "labelSelector": {"matchExpressions": [{"key": "a", "operator": "In"}]}},
            [
                f"{BUNDLE}.signerName: Required value: must be a valid signer name",
                f"{BUNDLE}.signerName: Required value",
                f"{BUNDLE}.labelSelector.matchExpressions[0].values: Required value: "
                "must be specified when `operator` is 'In' or 'NotIn'",
            ],
            id="empty-signer",
        ),
        pytest.param(
            {"name": "b", "path": "..ca", "user": 2**31},
            [
                f"{BUNDLE}.path: Invalid value: \"..ca\": must not start with '..'",
                f"{BUNDLE}.user: Invalid value: 2147483648: {USER}",
            ],
            id="path-and-user",
        ),
    ],
)
def test_cluster_trust_bundle(source, errors):
    assert lines(judged(bundle(**source))) == errors


LONG_DOMAIN = ".".join(["a" * 63] * 4)
LONG_PATH = ".".join(["b" * 200] * 2)


@pytest.mark.parametrize(
    "name, faults",
    [
        pytest.param("example.com/team.name", [], id="good"),
        pytest.param("", ["Required value"], id="empty"),
        pytest.param("example.com", [f'Invalid value: "example.com": {projected.SIGNER_FORM}'], id="no-slash"),
        pytest.param("a.b/c/d", [f'Invalid value: "a.b/c/d": {projected.SIGNER_FORM}'], id="two-slashes"),
        pytest.param(
            "A.B/C.D",
            [
                f'Invalid value: "A.B": validating label "A": {validation.DNS_LABEL}',
                f'Invalid value: "C.D": validating label "C": {validation.DNS_SUBDOMAIN}',
            ],
            id="first-bad-part-of-each",
        ),
        pytest.param(
            f"{'A' * 64}/s",
            [
                f'Invalid value: "{"A" * 64}": validating label "{"A" * 64}": must be no more than 63 characters',
                f'Invalid value: "{"A" * 64}": validating label "{"A" * 64}": {validation.DNS_LABEL}',
                f'Invalid value: "{"A" * 64}": should be a domain with at least two segments separated by dots',
            ],
            id="one-part",
        ),
        pytest.param(
            f"{LONG_DOMAIN}/{LONG_PATH}",
            ["Too long: may not be more than 253 bytes", "Too long: may not be more than 571 bytes"],
            id="too-long",
        ),
    ],
)
def test_signer_names(name, faults):
    assert [error.body for error in projected.signer_name(name, "at")] == faults


C = f"{S}.podCertificate"


@pytest.mark.parametrize(
    "source, errors",
    [
        pytest.param({}, [], id="good"),
        pytest.param({"signerName": ""}, [f"{C}.signerName: Required value"], id="no-signer"),
        pytest.param(
            {"keyType": "RSA2048"},
            [
                f'{C}.keyType: Unsupported value: "RSA2048": supported values: '
                '"RSA3072", "RSA4096", "ECDSAP256", "ECDSAP384", "ECDSAP521", "ED25519"'
            ],
            id="key-type",
        ),
        pytest.param(
            {"credentialBundlePath": "", "user": -1},
            [
                f"{C}: Required value: specify at least one of credentialBundlePath, keyPath, and certificateChainPath",
                f"{C}.user: Invalid value: -1: {USER}",
            ],
            id="no-file",
        ),
        pytest.param(
            {"credentialBundlePath": "/c", "keyPath": "..k", "certificateChainPath": "a/../b"},
            [
                f'{C}.credentialBundlePath: Invalid value: "/c": must be a relative path',
                f"{C}.keyPath: Invalid value: \"..k\": must not start with '..'",
                f"{C}.certificateChainPath: Invalid value: \"a/../b\": must not contain '..'",
            ],
            id="paths",
        ),
        pytest.param(
            {"keyPath": "c", "certificateChainPath": "c"}, [f'{P}: Invalid value: "c": {SAME}'] * 2, id="one-path-for-all"
        ),
        pytest.param({"maxExpirationSeconds": 3600}, [], id="an-hour"),
        pytest.param(
            {"maxExpirationSeconds": 3599},
            [f"{C}.maxExpirationSeconds: Invalid value: 3599: if provided, maxExpirationSeconds must be >= 3600"],
            id="less-than-an-hour",
        ),
        pytest.param({"maxExpirationSeconds": 7862400}, [], id="91-days"),
        pytest.param(
            {"maxExpirationSeconds": 7862401},
            [f"{C}.maxExpirationSeconds: Invalid value: 7862401: if provided, maxExpirationSeconds must be <= 7862400"],
            id="more-than-91-days",
        ),
        pytest.param({"maxExpirationSeconds": 86400, "signerName": "kubernetes.io/s"}, [], id="a-day-of-kubernetes"),
        pytest.param({"maxExpirationSeconds": 86401, "signerName": "notkubernetes.io/s"}, [], id="no-signer-of-kubernetes"),
        pytest.param(
            {"maxExpirationSeconds": 86401, "signerName": "kubernetes.io/s"},
            [f"{C}.maxExpirationSeconds: Invalid value: 86401: if provided, maxExpirationSeconds must be <= 86400"],
            id="more-than-a-day-of-kubernetes",
        ),
        pytest.param(
            {"maxExpirationSeconds": 86401, "signerName": "a.kubernetes.io/s"},
            [f"{C}.maxExpirationSeconds: Invalid value: 86401: if provided, maxExpirationSeconds must be <= 86400"],
            id="more-than-a-day-of-a-part-of-kubernetes",
        ),
        pytest.param({"userAnnotations": {"Example.com/A": "B"}}, [], id="annotations"),
        pytest.param(
            {"userAnnotations": {"": "", "A": "1", "X y/z": "2"}, "keyType": ""},
            [
                f"{C}.userAnnotations: Required value",
                f'{C}.userAnnotations: Invalid value: "a": must be a domain-prefixed key (such as "acme.io/foo")',
                f'{C}.userAnnotations: Invalid value: "x y/z": prefix part {validation.DNS_SUBDOMAIN}',
                f'{C}.keyType: Unsupported value: "": supported values: '
                '"RSA3072", "RSA4096", "ECDSAP256", "ECDSAP384", "ECDSAP521", "ED25519"',
            ],
            id="bad-annotations",
        ),
        pytest.param({"userAnnotations": {"a.b/c": "ä" * (128 * 1024 - 3) + "a"}}, [], id="large-annotations"),
        pytest.param(
            {"userAnnotations": {"a.b/c": "ä" * (128 * 1024 - 2)}},
            [f"{C}.userAnnotations: Too long: may not be more than 262144 bytes"],
            id="too-large-annotations",
        ),
    ],
)
def test_pod_certificate(source, errors):
    assert lines(judged({"podCertificate": CERTIFICATE | source})) == errors


def test_where_a_user_annotation_is():
    found = judged({"podCertificate": {**CERTIFICATE, "userAnnotations": {"": "", "Key": "", "a b/c": ""}}})
    assert [error.where[-2:] for error in found] == [("userAnnotations", key) for key in ("", "Key", "a b/c")]


def test_items_of_downward_projections_have_no_index():
    found = judged({"downwardAPI": {"items": [{"path": "a", "fieldRef": FIELD}, {"path": "b"}]}})
    assert lines(found) == [f"{S}.downwardAPI: Required value: one of fieldRef and resourceFieldRef is required"]
    assert found[0].where == ("spec", "volumes", 0, "projected", "sources", 0, "downwardAPI", "items", 1)
