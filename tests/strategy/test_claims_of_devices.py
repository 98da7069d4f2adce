"""ResourceClaims and ResourceClaimTemplates: what they ask for, where no recorded answer says it."""

from __future__ import annotations

import copy

import pytest

from podstrat.strategy.engine import Engine
from podstrat.strategy.formats import validation
from podstrat.strategy.rules import devices as rules
from tests.strategy.devices import (
    BEFORE,
    NEWEST,
    REFERENCE,
    RESULT,
    allocation,
    claim,
    device_class,
    lines,
    request,
    send,
    status,
    stored,
    template,
)

ADMIN = (
    "Forbidden: admin access to devices requires the `resource.kubernetes.io/admin-access: true` label on the "
    "containing namespace"
)


def alternatives(*names, **rest):
    return {"name": "r", "firstAvailable": [{"name": name, "deviceClassName": "gpu", **rest} for name in names]}


# ---- what is asked for -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    "body, newest, before",
    [
        pytest.param(
            claim(alternatives(*"abcdefghi")),
            ["spec.devices.requests[0].firstAvailable: Too many: 9: must have at most 8 items"],
            None,
            id="alternatives",
        ),
        pytest.param(
            claim(alternatives("a", "a")),
            [
                'spec.devices.requests[0].firstAvailable[1]: Duplicate value: {"name":"a","deviceClassName":"gpu",'
                '"allocationMode":"ExactCount","count":1}'
            ],
            ['spec.devices.requests[0].firstAvailable[1]: Duplicate value: "a"'],
            id="same-alternatives",
        ),
        pytest.param(
            claim(request(deviceClassName="Gpu")),
            [f'spec.devices.requests[0].exactly.deviceClassName: Invalid value: "Gpu": {validation.DNS_SUBDOMAIN}'],
            None,
            id="class",
        ),
        pytest.param(
            claim(alternatives("a", tolerations=[{"key": "a b", "operator": "Exists"}])),
            [f'spec.devices.requests[0].firstAvailable[0].tolerations[0].key: Invalid value: "a b": {validation.NAME_PART}'],
            None,
            id="toleration-of-an-alternative",
        ),
        pytest.param(
            claim(constraints=[{"requests": ["r", "a_", "a/b/c"], "matchAttribute": "a.b/c"}]),
            [
                f'spec.devices.constraints[0].requests[1]: Invalid value: "a_": {validation.DNS_LABEL}',
                f'spec.devices.constraints[0].requests[1]: Invalid value: "a_": {REFERENCE}',
                f'spec.devices.constraints[0].requests[2]: Invalid value: "a/b/c": {REFERENCE}',
            ],
            None,
            id="references",
        ),
        pytest.param(
            claim(config=[{"requests": ["r"] * 33, "opaque": {"driver": "a.b", "parameters": {}}}]),
            ["spec.devices.config[0].requests: Too many: 33: must have at most 32 items"],
            None,
            id="many-references",
        ),
        pytest.param(
            claim(constraints=[{"matchAttribute": f"{'a' * 64}/{'b' * 33}", "distinctAttribute": "x"}]),
            [
                "spec.devices.constraints[0].matchAttribute: Too long: may not be more than 63 bytes",
                "spec.devices.constraints[0].matchAttribute: Too long: may not be more than 32 bytes",
                'spec.devices.constraints[0].distinctAttribute: Invalid value: "x": a fully qualified name '
                "must be a domain and a "
                "name separated by a slash",
            ],
            [
                "spec.devices.constraints[0].matchAttribute: Too long: may not be more than 63 bytes",
                "spec.devices.constraints[0].matchAttribute: Too long: may not be more than 32 bytes",
            ],
            id="attributes",
        ),
        pytest.param(
            claim(constraints=[{"matchAttribute": "a/b/c"}]),
            [],
            None,
            id="slashes-are-not-counted",
        ),
        pytest.param(
            claim(config=[{"opaque": {"driver": "d" * 64, "parameters": {}}}]),
            ["spec.devices.config[0].opaque.driver: Too long: may not be more than 63 characters"],
            ["spec.devices.config[0].opaque.driver: Too long: may not be more than 63 bytes"],
            id="long-driver",
        ),
        pytest.param(
            claim(config=[{"opaque": {"driver": "Gpu.Example.com", "parameters": {}}}]), [], None, id="driver-in-any-case"
        ),
    ],
)
def test_claims(body, newest, before):
    assert lines(body) == newest
    assert lines(body, BEFORE) == (newest if before is None else before)


def test_declared_rules_come_last_in_the_order_of_the_fields():
    body = claim(
        request("a", allocationMode="Odd", tolerations=[{"key": "a b", "operator": "Exists", "value": "v"}]),
        request("a", deviceClassName=""),
        config=[{"opaque": {"parameters": []}}],
    )
    same = [
        'spec.devices.requests[0].exactly.tolerations[0].value: Invalid value: "v": must be empty for operator `Exists`',
        "spec.devices.requests[1].exactly.deviceClassName: Required value",
        'spec.devices.config[0].opaque.parameters: Invalid value: "<value omitted>": must be a valid JSON object',
    ]
    declared = [
        "spec.devices.requests[1]: Duplicate value: "
        '{"name":"a","exactly":{"deviceClassName":"","allocationMode":"ExactCount","count":1}}',
        'spec.devices.requests[0].exactly.allocationMode: Unsupported value: "Odd": supported values: "All", "ExactCount"',
        f'spec.devices.requests[0].exactly.tolerations[0].key: Invalid value: "a b": {validation.NAME_PART}',
        "spec.devices.config[0].opaque.driver: Required value",
    ]
    assert lines(body) == [*same, *declared]
    without = Engine("1.37", gates={"DeclarativeValidationBeta": False})
    assert [line.partition(": ")[0] for line in lines(body, without)] == [
        "spec.devices.requests[0].exactly.allocationMode",
        "spec.devices.requests[0].exactly.tolerations[0].key",
        "spec.devices.requests[0].exactly.tolerations[0].value",
        "spec.devices.requests[1].exactly.deviceClassName",
        "spec.devices.requests[1]",
        "spec.devices.config[0].opaque.driver",
        "spec.devices.config[0].opaque.parameters",
    ]


def test_an_operator_that_is_taken_away_again_is_missing():
    """No request can say so, for it has a default; a stored object of another release can."""
    assert [str(error) for error in rules.toleration({"key": "a"}, "t", NEWEST.context)] == ["t.operator: Required value"]


def test_a_constraint_needs_an_attribute():
    body = claim(constraints=[{}])
    assert lines(body) == [
        'spec.devices.constraints[0]: Required value: exactly one of "matchAttribute" or "distinctAttribute" is required, but '
        "multiple fields are set"
    ]
    off = Engine("1.37", gates={"DRAConsumableCapacity": False})
    assert lines(body, off) == ["spec.devices.constraints[0].matchAttribute: Required value"]


def test_names_of_attributes_in_1_34():
    body = claim(constraints=[{"matchAttribute": "/"}, {"matchAttribute": "a.b"}, {"matchAttribute": ""}])
    assert lines(body, Engine("1.34")) == [
        "spec.devices.constraints[0].matchAttribute: Required value: the domain must not be empty",
        "spec.devices.constraints[0].matchAttribute: Required value: the name must not be empty",
        f'spec.devices.constraints[1].matchAttribute: Invalid value: "a.b": {rules.C_IDENTIFIER}',
        'spec.devices.constraints[1].matchAttribute: Invalid value: "a.b": must include a domain',
        "spec.devices.constraints[2].matchAttribute: Required value: name required",
    ]
    no_domain = "a fully qualified name must be a domain and a name separated by a slash"
    assert lines(claim(constraints=[{"matchAttribute": "a.b"}])) == [
        f'spec.devices.constraints[0].matchAttribute: Invalid value: "a.b": {rules.C_IDENTIFIER}',
        f'spec.devices.constraints[0].matchAttribute: Invalid value: "a.b": {no_domain}',
    ]
    assert lines(body, BEFORE)[:2] == [
        'spec.devices.constraints[0].matchAttribute: Invalid value: "": the domain must not be empty',
        'spec.devices.constraints[0].matchAttribute: Invalid value: "": the name must not be empty',
    ]


def test_derived_attributes():
    engine = Engine("1.37", gates={"DRADerivedAttributes": True})
    given = [
        {"name": "a.b/c", "expression": "device.driver"},
        {"name": "a.b/d", "expression": "nope"},
        {"name": "a.b/c", "expression": ""},
        {},
    ]
    body = claim(request(derivedAttributes=given), constraints=[{"requests": ["r"], "matchAttribute": "a.b/c"}])
    at = "spec.devices.requests[0].exactly.derivedAttributes"
    constrained = "must be referenced by at least one matchAttribute or distinctAttribute constraint targeting this request"
    assert lines(body, engine) == [
        f'{at}[1].name: Invalid value: "a.b/d": {constrained}',
        f"{at}[1].expression: Invalid value: \"nope\": compilation failed: ERROR: <input>:1:1: undeclared reference to 'nope' "
        "(in container '')\n | nope\n | ^",
        f'{at}[2]: Duplicate value: "a.b/c"',
        f"{at}[2].expression: Required value",
        f"{at}[3].name: Required value",
        f"{at}[3].expression: Required value",
    ]
    assert stored(body)["spec"]["devices"]["requests"][0]["exactly"] == {
        "deviceClassName": "gpu",
        "allocationMode": "ExactCount",
        "count": 1,
    }


@pytest.mark.parametrize(
    "text, words",
    [
        ("device.attributes['a'].b", ""),
        ("cel.bind(d, device.attributes['a'], d.b == 1 && d.c == 'x')", ""),
        ("device.capacity['a'].b", "must evaluate to bool or the unknown type, not kubernetes.Quantity"),
        ("dyn(true)", "must evaluate to bool or the unknown type, not dyn"),
        (
            "device.odd",
            "compilation failed: ERROR: <input>:1:7: undefined field 'odd'\n | device.odd\n | ......^",
        ),
    ],
)
def test_expressions(text, words):
    at = "spec.selectors[0].cel.expression: Invalid value: "
    assert lines(device_class(selectors=[{"cel": {"expression": text}}])) == ([f'{at}"{text}": {words}'] if words else [])


def test_a_device_says_whether_it_is_shared_where_that_is_possible():
    body = device_class(selectors=[{"cel": {"expression": "device.allowMultipleAllocations"}}])
    assert lines(body) == []
    assert "undefined field 'allowMultipleAllocations'" in lines(body, Engine("1.35"))[0]


def test_expressions_without_the_library(monkeypatch):
    from podstrat import cel
    from podstrat.strategy.rules import device_expressions

    def missing(*_):
        raise cel.MissingLibrary

    monkeypatch.setattr(device_expressions, "fault", missing)
    assert lines(device_class(selectors=[{"cel": {"expression": "true"}}])) == [
        "spec.selectors[0].cel.expression: Internal error: CEL expressions need the package cel-expr-python: "
        "pip install 'podstrat[policies]'"
    ]


# ---- updates ---------------------------------------------------------------------------------------


def test_a_spec_that_stays_is_not_judged_again():
    old = stored(claim())
    old["spec"]["devices"]["requests"][0]["exactly"]["deviceClassName"] = ""
    assert send("update", copy.deepcopy(old), old)[1] == []


@pytest.mark.parametrize("release", ["1.34", "1.35", "1.36", "1.37"])
def test_what_is_kept_of_a_claim(release):
    """Its generation, whatever is sent, and its status."""
    old = {**stored(claim(), Engine(release)), "status": allocation()}
    new = {**copy.deepcopy(old), "status": {}}
    new["metadata"]["generation"] = 7
    answer, _ = send("update", new, old, engine=Engine(release))
    assert (answer.code, answer.body["status"], "generation" in answer.body["metadata"]) == (200, allocation(), False)


def test_a_template_for_claims_has_labels_and_annotations_only():
    body = template(name="n", labels={"a": "-"}, annotations={"b c": "d"})
    assert lines(body) == [
        f'spec.metadata.annotations: Invalid value: "b c": {validation.NAME_PART}',
        f'spec.metadata.labels: Invalid value: "-": {validation.LABEL_VALUE}',
        "spec.metadata.name: Forbidden: cannot be set",
    ]


def test_1_34_judges_the_spec_of_an_update_twice():
    engine = Engine("1.34")
    old = stored(template(), engine)
    new = copy.deepcopy(old)
    del new["spec"]["spec"]["devices"]["requests"][0]["exactly"]["deviceClassName"]
    missing = "spec.spec.devices.requests[0].exactly.deviceClassName: Required value"
    found = send("update", new, old, engine=engine)[1]
    assert [found[0], found[2]] == [missing, missing]
    assert found[1].endswith(": field is immutable")


# ---- permission for admin access -------------------------------------------------------------------


def test_admin_access_is_for_namespaces_with_a_label():
    body, labels = claim(request(adminAccess=True)), {"resource.kubernetes.io/admin-access": "true"}
    assert lines(body) == [f"spec.devices.requests[0].adminAccess: {ADMIN}"]
    assert send("create", body, namespace_labels=labels)[0].code == 201
    assert lines(template(body["spec"])) == [f"spec.devices.requests[0].adminAccess: {ADMIN}"]
    assert send("create", template(body["spec"]), namespace_labels=labels)[0].code == 201


def test_the_labels_can_come_from_the_world():
    from podstrat.strategy.admission.world import World

    labelled = {"metadata": {"name": "default", "labels": {"resource.kubernetes.io/admin-access": "true"}}}
    world = World([{"apiVersion": "v1", "kind": "Namespace", **labelled}])
    assert lines(claim(request(adminAccess=True)), Engine("1.37", admission=world)) == []


def test_admin_access_that_was_granted_stays():
    granted = allocation({**RESULT, "adminAccess": True})
    assert status(granted) == [f"status.allocation.devices.results[0].adminAccess: {ADMIN}"]
    assert status({**granted, "reservedFor": []}, before=granted) == []


# ---- gates -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "release, kept",
    [("1.34", {"tolerations"}), ("1.35", set()), ("1.36", {"capacity", "tolerations"}), ("1.37", {"capacity", "tolerations"})],
)
def test_gated_fields_of_a_request(release, kept):
    given = {"capacity": {"requests": {"memory": "1"}}, "tolerations": [{"key": "a", "operator": "Exists"}]}
    found = stored(claim(request(**given)), Engine(release))["spec"]["devices"]["requests"][0]["exactly"]
    assert found.keys() - {"deviceClassName", "allocationMode", "count"} == kept


def test_a_gated_field_that_is_in_use_stays():
    old = stored(claim(request(capacity={"requests": {"memory": "1"}})))
    off = Engine("1.37", gates={"DRAConsumableCapacity": False})
    assert send("update", copy.deepcopy(old), old, engine=off)[1] == []
    assert "capacity" not in stored(claim(request(capacity={"requests": {}})), off)["spec"]["devices"]["requests"][0]["exactly"]
