"""Resource claims of a pod."""

from __future__ import annotations

import pytest

from podstrat.strategy.formats import validation
from podstrat.strategy.rules import claims
from tests.strategy.make import context

AT = "spec.template.spec.resourceClaims"
NOT_BOTH = "at most one of `resourceClaimName` or `resourceClaimTemplateName` may be specified"
NEEDS_ONE = "must specify one of: `resourceClaimName`, `resourceClaimTemplateName`"


def check(*given, meta=None):
    ctx = context()
    return list(claims.each(given, meta, AT, ctx))


def claim(name="gpu", **fields):
    return {"name": name} | (fields or {"resourceClaimName": "c"})


@pytest.mark.parametrize(
    "given, errors",
    [
        pytest.param(claim(), [], id="claim"),
        pytest.param(claim(resourceClaimTemplateName="t.example.com"), [], id="template"),
        pytest.param(claim(""), [".name: Required value"], id="no-name"),
        pytest.param(claim("a.b"), ['.name: Invalid value: "a.b": must not contain dots'], id="bad-name"),
        pytest.param(
            {"name": "gpu"},
            [f': Invalid value: {{"Name":"gpu","ResourceClaimName":null,"ResourceClaimTemplateName":null}}: {NEEDS_ONE}'],
            id="no-source",
        ),
        pytest.param(
            claim(resourceClaimName="A", resourceClaimTemplateName=""),
            [
                f': Invalid value: {{"Name":"gpu","ResourceClaimName":"A","ResourceClaimTemplateName":""}}: {NOT_BOTH}',
                f'.resourceClaimName: Invalid value: "A": {validation.DNS_SUBDOMAIN}',
                f'.resourceClaimTemplateName: Invalid value: "": {validation.DNS_SUBDOMAIN}',
            ],
            id="two-sources",
        ),
    ],
)
def test_one(given, errors):
    assert [str(error) for error in check(given)] == [f"{AT}[0]{error}" for error in errors]


def test_names_are_unique_and_a_repeated_one_is_not_judged_again():
    assert [str(error) for error in check(claim("A"), claim("b"), claim("A"), claim(""), claim(""))] == [
        f'{AT}[0].name: Invalid value: "A": {validation.DNS_LABEL}',
        f'{AT}[2].name: Duplicate value: "A"',
        f"{AT}[3].name: Required value",
        f"{AT}[4].name: Required value",
    ]


def test_static_pods_have_none():
    meta = {"annotations": {"kubernetes.io/config.mirror": ""}}
    found = check(claim("A"), claim("b"), meta=meta)
    assert [str(error) for error in found] == ["[]: Forbidden: static pods do not support resource claims"] * 2
    assert [error.where[-2:] for error in found] == [("resourceClaims", 0), ("resourceClaims", 1)]
    assert check(claim(), meta={"annotations": {"other": ""}}) == check(claim(), meta={}) == []
