"""Definitions in the shape of well-known ones: deep objects, unions, int-or-string, unknown fields, embedded pod templates."""

from __future__ import annotations

from typing import Any

import pytest

from tests.strategy.crds.definitions import (
    INT_OR_STRING,
    NUMBER,
    TEXT,
    TEXTS,
    causes,
    definition,
    listed,
    obj,
    post,
    resource,
)

_SECRET_KEY = obj(("name",), name=TEXT, key=TEXT)
_ISSUER = obj(("name",), name=TEXT, kind={"type": "string", "default": "Issuer"}, group=TEXT)
CERTIFICATE = definition(
    "Certificate",
    obj(
        ("issuerRef", "secretName"),
        secretName={"type": "string", "minLength": 1, "maxLength": 253},
        issuerRef=_ISSUER,
        dnsNames=listed({"type": "string", "maxLength": 253}, **{"x-kubernetes-list-type": "set"}),
        duration={"type": "string", "format": "duration"},
        revisionHistoryLimit={"type": "integer", "format": "int32", "minimum": 1},
        usages=listed({"type": "string", "enum": ["signing", "server auth", "client auth"]}),
        privateKey=obj(
            algorithm={"type": "string", "enum": ["RSA", "ECDSA", "Ed25519"]},
            size=NUMBER,
            rotationPolicy={"type": "string", "enum": ["Never", "Always"], "default": "Never"},
        ),
        keystores=obj(pkcs12=obj(("create", "passwordSecretRef"), create={"type": "boolean"}, passwordSecretRef=_SECRET_KEY)),
        additionalOutputFormats=listed(
            obj(("type",), type={"type": "string", "enum": ["DER", "CombinedPEM"]}),
            **{"x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["type"]},
        ),
    ),
    obj(conditions=listed(obj(("type", "status"), type=TEXT, status=TEXT))),
    subresources={"status": {}},
)
_VALID_CERTIFICATE: dict[str, Any] = {"secretName": "tls", "issuerRef": {"name": "ca"}, "dnsNames": ["a.example.com"]}

SERVICE_MONITOR = definition(
    "ServiceMonitor",
    obj(
        ("endpoints", "selector"),
        selector={
            **obj(
                matchLabels=TEXTS,
                matchExpressions=listed(obj(("key", "operator"), key=TEXT, operator=TEXT, values=listed(TEXT))),
            ),
            "x-kubernetes-map-type": "atomic",
        },
        namespaceSelector=obj(any={"type": "boolean"}, matchNames=listed(TEXT)),
        endpoints=listed(
            obj(
                port=TEXT,
                targetPort=INT_OR_STRING,
                scheme={"type": "string", "enum": ["http", "https", "HTTP", "HTTPS"]},
                interval={
                    "type": "string",
                    "pattern": r"^(0|(([0-9]+)y)?(([0-9]+)w)?(([0-9]+)d)?(([0-9]+)h)?(([0-9]+)m)?(([0-9]+)s)?)$",
                },
                params={"type": "object", "additionalProperties": listed(TEXT)},
                tlsConfig=obj(ca=obj(secret=_SECRET_KEY, configMap=_SECRET_KEY), insecureSkipVerify={"type": "boolean"}),
            )
        ),
    ),
)
_VALID_MONITOR: dict[str, Any] = {
    "selector": {"matchLabels": {"app": "web"}},
    "endpoints": [{"port": "http", "targetPort": 8080}],
}

ROLLOUT = definition(
    "Rollout",
    obj(
        replicas={"type": "integer", "format": "int32"},
        selector=obj(matchLabels=TEXTS),
        strategy={
            **obj(
                blueGreen=obj(("activeService",), activeService=TEXT, previewService=TEXT),
                canary=obj(
                    maxSurge=INT_OR_STRING,
                    steps=listed(
                        {
                            **obj(setWeight={"type": "integer", "minimum": 0, "maximum": 100}, pause=obj(duration=INT_OR_STRING)),
                            "maxProperties": 1,
                        },
                        maxItems=20,
                    ),
                ),
            ),
            "oneOf": [{"required": ["blueGreen"]}, {"required": ["canary"]}],
        },
        template=obj(
            metadata={"type": "object", "x-kubernetes-preserve-unknown-fields": True},
            spec={
                **obj(("containers",), containers=listed(obj(("name",), name=TEXT, image=TEXT))),
                "x-kubernetes-preserve-unknown-fields": True,
            },
        ),
    ),
    obj(replicas=NUMBER, selector=TEXT),
    subresources={
        "status": {},
        "scale": {
            "specReplicasPath": ".spec.replicas",
            "statusReplicasPath": ".status.replicas",
            "labelSelectorPath": ".status.selector",
        },
    },
)
_WEIGHT = "spec.strategy.canary.steps[0].setWeight"
_ONE_OF = '<nil>: Invalid value: "": "spec.strategy" must validate one and only one schema (oneOf)'
_TEMPLATE = {"metadata": {"labels": {"app": "web"}}, "spec": {"containers": [{"name": "web", "ports": [{"containerPort": 80}]}]}}

RAY_CLUSTER = definition(
    "RayCluster",
    obj(
        ("headGroupSpec",),
        headGroupSpec=obj(
            ("rayStartParams", "template"),
            rayStartParams=TEXTS,
            template={"type": "object", "x-kubernetes-preserve-unknown-fields": True},
        ),
        workerGroupSpecs=listed(
            {
                **obj(
                    ("groupName",),
                    groupName={"type": "string", "maxLength": 63},
                    replicas={"type": "integer", "format": "int32", "default": 0},
                    minReplicas={"type": "integer", "default": 0},
                    maxReplicas={"type": "integer", "default": 2147483647},
                    template={
                        "type": "object",
                        "x-kubernetes-embedded-resource": True,
                        "x-kubernetes-preserve-unknown-fields": True,
                    },
                ),
                "x-kubernetes-validations": [
                    {"rule": "self.minReplicas <= self.maxReplicas", "message": "minReplicas must not exceed maxReplicas"}
                ],
            },
            maxItems=50,
            **{"x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["groupName"]},
        ),
    ),
)
_UNCHECKED = (
    "<nil>: Invalid value: null: some validation rules were not checked because the object was invalid; correct the existing "
    "errors to complete validation"
)
_HEAD = {"rayStartParams": {"num-cpus": "0"}, "template": {"spec": {"containers": [{"name": "head"}]}}}


def _mistyped(at: str, wanted: str, met: str) -> str:
    return f'{at}: Invalid value: "{met}": {at} in body must be of type {wanted}: "{met}"'


def _group(**more: Any) -> dict[str, Any]:
    return {"headGroupSpec": _HEAD, "workerGroupSpecs": [{"groupName": "gpu", **more}]}


@pytest.mark.parametrize(
    "crd, spec, want",
    [
        pytest.param(CERTIFICATE, _VALID_CERTIFICATE, [], id="certificate"),
        pytest.param(
            CERTIFICATE,
            {"secretName": "tls"},
            ["spec.issuerRef: Required value"],
            id="certificate-without-issuer",
        ),
        pytest.param(
            CERTIFICATE,
            {**_VALID_CERTIFICATE, "usages": ["server auth", "world peace"]},
            ['spec.usages[1]: Unsupported value: "world peace": supported values: "signing", "server auth", "client auth"'],
            id="certificate-usage",
        ),
        pytest.param(
            CERTIFICATE,
            {**_VALID_CERTIFICATE, "dnsNames": ["a", "b", "a"]},
            ['spec.dnsNames[2]: Duplicate value: "a"'],
            id="certificate-name-twice",
        ),
        pytest.param(
            CERTIFICATE,
            {**_VALID_CERTIFICATE, "duration": "90 fortnights"},
            ['spec.duration: Invalid value: "90 fortnights": spec.duration in body must be of type duration: "90 fortnights"'],
            id="certificate-duration",
        ),
        pytest.param(
            CERTIFICATE,
            {**_VALID_CERTIFICATE, "additionalOutputFormats": [{"type": "DER"}, {"type": "DER"}]},
            ['spec.additionalOutputFormats[1]: Duplicate value: {"type":"DER"}'],
            id="certificate-format-twice",
        ),
        pytest.param(
            CERTIFICATE,
            {**_VALID_CERTIFICATE, "keystores": {"pkcs12": {"create": "yes"}}},
            [
                _mistyped("spec.keystores.pkcs12.create", "boolean", "string"),
                "spec.keystores.pkcs12.passwordSecretRef: Required value",
            ],
            id="certificate-keystore",
        ),
        pytest.param(SERVICE_MONITOR, _VALID_MONITOR, [], id="monitor"),
        pytest.param(
            SERVICE_MONITOR,
            {**_VALID_MONITOR, "endpoints": [{"targetPort": "http", "interval": "30s"}]},
            [],
            id="monitor-port-name",
        ),
        pytest.param(
            SERVICE_MONITOR,
            {**_VALID_MONITOR, "endpoints": [{"targetPort": True}]},
            [
                _mistyped("spec.endpoints[0].targetPort", "integer,string", "boolean"),
                '<nil>: Invalid value: "": "spec.endpoints[0].targetPort" must validate at least one schema (anyOf)',
                _mistyped("spec.endpoints[0].targetPort", "integer", "boolean"),
            ],
            id="monitor-port-type",
        ),
        pytest.param(
            SERVICE_MONITOR,
            {**_VALID_MONITOR, "endpoints": [{"params": {"match[]": "up"}}]},
            [_mistyped("spec.endpoints[0].params.match[]", "array", "string")],
            id="monitor-params",
        ),
        pytest.param(
            ROLLOUT, {"replicas": 2, "strategy": {"canary": {"maxSurge": "25%"}}, "template": _TEMPLATE}, [], id="rollout"
        ),
        pytest.param(
            ROLLOUT,
            {"strategy": {}},
            [
                f"{_ONE_OF}. Found none valid",
                "spec.strategy.blueGreen: Required value",
            ],
            id="rollout-without-strategy",
        ),
        pytest.param(
            ROLLOUT,
            {"strategy": {"canary": {}, "blueGreen": {"activeService": "a"}}},
            [f"{_ONE_OF}. Found 2 valid alternatives"],
            id="rollout-with-both",
        ),
        pytest.param(
            ROLLOUT,
            {"strategy": {"canary": {"steps": [{"setWeight": 200}, {"setWeight": 1, "pause": {}}]}}},
            [
                f"{_WEIGHT}: Invalid value: 200: {_WEIGHT} in body should be less than or equal to 100",
                "spec.strategy.canary.steps[1]: Too many: 2: must have at most 1 item",
            ],
            id="rollout-steps",
        ),
        pytest.param(
            ROLLOUT,
            {"replicas": -1, "strategy": {"canary": {}}},
            [".spec.replicas: Invalid value: -1: should be a non-negative integer"],
            id="rollout-replicas",
        ),
        pytest.param(RAY_CLUSTER, _group(), [], id="ray"),
        pytest.param(
            RAY_CLUSTER,
            _group(minReplicas=3, maxReplicas=2),
            ["spec.workerGroupSpecs[0]: Invalid value: minReplicas must not exceed maxReplicas"],
            id="ray-rule",
        ),
        pytest.param(
            RAY_CLUSTER,
            _group(template={"apiVersion": "v1", "spec": {}}),
            ["spec.workerGroupSpecs[0].template.kind: Required value", _UNCHECKED],
            id="ray-embedded",
        ),
    ],
)
def test_objects(crd: dict[str, Any], spec: dict[str, Any], want: list[str]) -> None:
    assert causes(post(resource(crd), spec)) == want


def test_defaults_are_filled_in_and_unknown_fields_are_pruned() -> None:
    answer = post(resource(CERTIFICATE), {**_VALID_CERTIFICATE, "privateKey": {}, "colour": "red"})
    assert answer.body["spec"]["privateKey"] == {"rotationPolicy": "Never"}
    assert answer.body["spec"]["issuerRef"] == {"kind": "Issuer", "name": "ca"}
    assert "colour" not in answer.body["spec"]
    assert answer.warnings == ('unknown field "spec.colour"',)


def test_pod_templates_keep_fields_that_the_schema_does_not_have() -> None:
    answer = post(resource(ROLLOUT), {"strategy": {"canary": {}}, "template": _TEMPLATE})
    kept = answer.body["spec"]["template"]
    assert kept["metadata"] == {"labels": {"app": "web"}}
    # Items have a schema of their own, which is pruned by.
    assert kept["spec"] == {"containers": [{"name": "web"}]}
    assert answer.warnings == ('unknown field "spec.template.spec.containers[0].ports"',)
