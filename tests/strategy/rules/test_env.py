"""Environment variables of containers."""

from __future__ import annotations

import pytest

from podstrat.strategy.formats import validation
from podstrat.strategy.rules import env
from tests.strategy.make import context, lines

AT = "spec.containers[0]"
V = f"{AT}.env[0].valueFrom"
FIELD = {"apiVersion": "v1", "fieldPath": "metadata.name"}
KEY = {"name": "cm", "key": "k"}


@pytest.mark.parametrize(
    "variable, errors",
    [
        pytest.param({"name": "A", "value": "1"}, [], id="value"),
        pytest.param({"name": "A"}, [], id="no-value"),
        pytest.param({"name": "1 odd-name."}, [], id="relaxed-name"),
        pytest.param({"name": ""}, [f"{AT}.env[0].name: Required value"], id="no-name"),
        pytest.param({"name": "A=B"}, [f'{AT}.env[0].name: Invalid value: "A=B": {validation.ENV_NAME}'], id="equals-sign"),
        pytest.param({"name": "A", "valueFrom": {"fieldRef": FIELD}}, [], id="field"),
        pytest.param(
            {"name": "A", "valueFrom": {"resourceFieldRef": {"resource": "limits.cpu", "divisor": "0"}}}, [], id="resource"
        ),
        pytest.param({"name": "A", "valueFrom": {"configMapKeyRef": KEY}}, [], id="config-map"),
        pytest.param({"name": "A", "valueFrom": {"secretKeyRef": KEY}}, [], id="secret"),
        pytest.param(
            {"name": "A", "valueFrom": {}},
            [
                f'{V}: Invalid value: "": must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef`, '
                "`secretKeyRef` or `fileKeyRef`"
            ],
            id="no-source",
        ),
        pytest.param(
            {"name": "A", "value": "1", "valueFrom": {"fieldRef": FIELD, "secretKeyRef": KEY}},
            [f'{V}: Invalid value: "": may not be specified when `value` is not empty'],
            id="value-and-two-sources",
        ),
        pytest.param(
            {"name": "A", "valueFrom": {"fieldRef": FIELD, "secretKeyRef": KEY}},
            [f'{V}: Invalid value: "": may not have more than one field specified at a time'],
            id="two-sources",
        ),
        pytest.param(
            {"name": "A", "valueFrom": {"secretKeyRef": {}, "fieldRef": {"apiVersion": "v1"}}},
            [
                f"{V}.fieldRef.fieldPath: Required value",
                f'{V}.secretKeyRef.name: Invalid value: "": {validation.DNS_SUBDOMAIN}',
                f"{V}.secretKeyRef.key: Required value",
                f'{V}: Invalid value: "": may not have more than one field specified at a time',
            ],
            id="server-order-not-document-order",
        ),
        pytest.param(
            {"name": "A", "valueFrom": {"configMapKeyRef": {"name": "cm", "key": ".."}}},
            [f"{V}.configMapKeyRef.key: Invalid value: \"..\": must not be '..'"],
            id="climbing-key",
        ),
        pytest.param(
            {"name": "A", "valueFrom": {"resourceFieldRef": {"resource": ""}}},
            [f"{V}.resourceFieldRef.resource: Required value"],
            id="no-resource",
        ),
        pytest.param(
            {"name": "A", "valueFrom": {"fileKeyRef": {}}},
            [
                f"{V}.fileKeyRef.key: Required value",
                f"{V}.fileKeyRef.volumeName: Required value",
                f"{V}.fileKeyRef.path: Required value",
            ],
            id="empty-file-reference",
        ),
        pytest.param(
            {"name": "A", "valueFrom": {"fileKeyRef": {"key": "=", "volumeName": "V", "path": "a/../b"}}},
            [
                f'{V}.fileKeyRef.key: Invalid value: "=": {validation.ENV_NAME}',
                f'{V}.fileKeyRef.volumeName: Invalid value: "V": {validation.DNS_LABEL}',
                f"{V}.fileKeyRef.path: Invalid value: \"a/../b\": must not contain '..'",
            ],
            id="bad-file-reference",
        ),
        pytest.param(
            {"name": "A", "valueFrom": {"fileKeyRef": {"key": "K", "volumeName": "v", "path": "/a..b"}}}, [], id="absolute-file"
        ),
    ],
)
def test_variable(variable, errors):
    assert lines(env.variables({"env": [variable]}, AT, context())) == errors


@pytest.mark.parametrize(
    "ctx",
    [pytest.param(context("1.34"), id="1.34"), pytest.param(context(EnvFiles=False), id="gate-off")],
)
def test_without_env_files_the_text_names_four_sources(ctx):
    (error,) = env.variables({"env": [{"name": "A", "valueFrom": {}}]}, AT, ctx)
    assert error.detail == "must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef` or `secretKeyRef`"


@pytest.mark.parametrize(
    "source, errors",
    [
        pytest.param({"configMapRef": {"name": "cm"}}, [], id="config-map"),
        pytest.param({"prefix": "P_", "secretRef": {"name": "s-"}}, [], id="name-judged-as-prefix"),
        pytest.param(
            {"prefix": "=", "configMapRef": {"name": "cm"}},
            [f'{AT}.envFrom[0].prefix: Invalid value: "=": {validation.ENV_NAME}'],
            id="bad-prefix",
        ),
        pytest.param({"configMapRef": {}}, [f"{AT}.envFrom[0].configMapRef.name: Required value"], id="no-name"),
        pytest.param(
            {"secretRef": {"name": "S"}},
            [f'{AT}.envFrom[0].secretRef.name: Invalid value: "S": {validation.DNS_SUBDOMAIN}'],
            id="bad-name",
        ),
        pytest.param(
            {}, [f'{AT}.envFrom: Invalid value: "": must specify one of: `configMapRef` or `secretRef`'], id="no-source"
        ),
        pytest.param(
            {"configMapRef": {"name": "a"}, "secretRef": {"name": "b"}},
            [f'{AT}.envFrom: Invalid value: "": may not have more than one field specified at a time'],
            id="two-sources",
        ),
    ],
)
def test_env_from(source, errors):
    assert lines(env.imports({"envFrom": [source]}, AT)) == errors


@pytest.mark.parametrize("bad", [{}, {"configMapRef": {"name": "a"}, "secretRef": {"name": "b"}}], ids=["none", "both"])
def test_env_from_knows_its_place(bad):
    (error,) = env.imports({"envFrom": [{"secretRef": {"name": "s"}}, bad]}, AT)
    assert error.where == ("spec", "containers", 0, "envFrom", 1)


def file_variable(volume):
    return {"name": "A", "valueFrom": {"fileKeyRef": {"key": "K", "path": "f", "volumeName": volume}}}


def test_file_keys_come_from_empty_dirs():
    spec = {
        "volumes": [{"name": "e", "emptyDir": {}}, {"name": "h", "hostPath": {"path": "/"}}],
        "containers": [{"env": [{"name": "B"}, file_variable("e"), file_variable("h")]}, {}],
        "initContainers": [{"env": [file_variable("gone"), {"name": "C", "valueFrom": {"fieldRef": FIELD}}]}],
        "ephemeralContainers": [{"env": [file_variable("")]}],
    }
    assert lines(env.file_key_volumes(spec, "spec", context())) == [
        'spec.initContainers[0].env[0].valueFrom.fileKeyRef.volumeName: Not found: "gone"',
        f'{AT}.env[2].valueFrom.fileKeyRef.volumeName: Invalid value: "h": referenced volume must be of type emptyDir',
        'spec.ephemeralContainers[0].env[0].valueFrom.fileKeyRef.volumeName: Not found: ""',
    ]
