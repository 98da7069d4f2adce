"""ResourceClaims, ResourceClaimTemplates and DeviceClasses, where no recorded answer says it."""

from __future__ import annotations

import copy

import pytest

from podstrat.strategy.engine import Engine
from podstrat.strategy.formats import validation
from podstrat.strategy.rules import devices as rules
from tests.strategy.devices import BEFORE, NEWEST, claim, device_class, lines, request, send, status, stored, template

REFERENCE = "must be the name of a request in the claim or the name of a request and a subrequest separated by '/'"
ADMIN = (
    "Forbidden: admin access to devices requires the `resource.kubernetes.io/admin-access: true` label on the "
    "containing namespace"
)
RESULT = {"request": "r", "driver": "gpu.example.com", "pool": "p", "device": "d"}
UID = "0123abcd-0123-0123-0123-0123456789ab"


def alternatives(*names, **rest):
    return {"name": "r", "firstAvailable": [{"name": name, "deviceClassName": "gpu", **rest} for name in names]}


def allocation(*results, **devices):
    return {"allocation": {"devices": {"results": list(results or [RESULT]), **devices}}}


def report(**rest):
    return {"driver": "gpu.example.com", "pool": "p", "device": "d", **rest}


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


# ---- status ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "new, newest, before",
    [
        pytest.param(
            {"reservedFor": [{"resource": "pods", "name": "p", "uid": "u"}]},
            ["status.reservedFor: Forbidden: may not be specified when `allocated` is not set"],
            None,
            id="reserved-before-allocated",
        ),
        pytest.param(
            {**allocation(), "reservedFor": [{"resource": "pods", "name": name, "uid": "u"} for name in "ab"]},
            ['status.reservedFor[1]: Duplicate value: {"resource":"pods","name":"b","uid":"u"}'],
            ['status.reservedFor[1]: Duplicate value: "u"'],
            id="reserved-twice",
        ),
        pytest.param(
            allocation(*[RESULT] * 33),
            ["status.allocation.devices.results: Too many: 33: must have at most 32 items"],
            None,
            id="results",
        ),
        pytest.param(
            allocation(config=[{"source": "FromClaim", "opaque": {"driver": "a.b", "parameters": {}}}] * 65),
            ["status.allocation.devices.config: Too many: 65: must have at most 64 items"],
            None,
            id="configs",
        ),
        pytest.param(
            {"allocation": {"nodeSelector": {}}},
            ["status.allocation.nodeSelector.nodeSelectorTerms: Required value: must have at least one node selector term"],
            None,
            id="nodes",
        ),
        pytest.param(
            {"allocation": {"nodeSelector": {"nodeSelectorTerms": [{"matchFields": [{"key": "a", "operator": "In"}]}]}}},
            [
                "status.allocation.nodeSelector.nodeSelectorTerms[0].matchFields[0].values: Required value: "
                "must be only one value "
                "when `operator` is 'In' or 'NotIn' for node field selector",
                'status.allocation.nodeSelector.nodeSelectorTerms[0].matchFields[0].key: Invalid value: "a": not a valid field '
                "selector key",
            ],
            None,
            id="node-fields",
        ),
        pytest.param(
            allocation({**RESULT, "request": "x", "device": "D", "tolerations": [{"operator": "Exists", "effect": "Odd"}]}),
            [
                f'status.allocation.devices.results[0].request: Invalid value: "x": {REFERENCE}',
                f'status.allocation.devices.results[0].device: Invalid value: "D": {validation.DNS_LABEL}',
                'status.allocation.devices.results[0].tolerations[0].effect: Unsupported value: "Odd": supported values: '
                '"NoExecute", "NoSchedule", "None"',
            ],
            None,
            id="result",
        ),
        pytest.param(
            allocation({**RESULT, "pool": f"a//{'b' * 252}"}),
            [
                "status.allocation.devices.results[0].pool: Too long: may not be more than 253 bytes",
                f'status.allocation.devices.results[0].pool: Invalid value: "a//{"b" * 252}": segment 1: must not be empty',
            ],
            [
                "status.allocation.devices.results[0].pool: Too long: may not be more than 253 bytes",
                f'status.allocation.devices.results[0].pool: Invalid value: "": {validation.DNS_SUBDOMAIN}',
            ],
            id="pool",
        ),
        pytest.param(
            allocation({**RESULT, "pool": "a/B", "driver": ""}),
            [
                "status.allocation.devices.results[0].driver: Required value",
                f'status.allocation.devices.results[0].pool: Invalid value: "B": segment 1: {validation.DNS_SUBDOMAIN}',
            ],
            [
                "status.allocation.devices.results[0].driver: Required value",
                f'status.allocation.devices.results[0].pool: Invalid value: "B": {validation.DNS_SUBDOMAIN}',
            ],
            id="part-of-a-pool",
        ),
        pytest.param(
            allocation({**RESULT, "pool": ""}),
            ["status.allocation.devices.results[0].pool: Required value"],
            None,
            id="no-pool",
        ),
        pytest.param(
            allocation({**RESULT, "shareID": "x"}),
            ['status.allocation.devices.results[0].shareID: Invalid value: "x": must be a lowercase UUID in 8-4-4-4-12 format'],
            [
                'status.allocation.devices.results[0].shareID: Invalid value: "x": error validating uid: invalid UUID length: 1',
            ],
            id="share",
        ),
        pytest.param(
            {**allocation(), "devices": [report(), report()]},
            ['status.devices[1]: Duplicate value: {"driver":"gpu.example.com","pool":"p","device":"d","conditions":null}'],
            ['status.devices[1]: Duplicate value: {"Driver":"gpu.example.com","Pool":"p","Device":"d","ShareID":""}'],
            id="reported-twice",
        ),
        pytest.param(
            {**allocation({**RESULT, "shareID": UID}), "devices": [report(shareID="x")]},
            [
                "status.devices[0]: Invalid value: "
                '{"Driver":"gpu.example.com","Pool":"p","Device":"d","ShareID":"x"}: must be an '
                "allocated device in the claim",
                'status.devices[0].shareID: Invalid value: "x": must be a lowercase UUID in 8-4-4-4-12 format',
            ],
            [
                'status.devices[0].shareID: Invalid value: "x": error validating uid: invalid UUID length: 1',
                "status.devices[0]: Invalid value: "
                '{"Driver":"gpu.example.com","Pool":"p","Device":"d","ShareID":"x"}: must be an '
                "allocated device in the claim",
            ],
            id="share-of-a-report",
        ),
        pytest.param(
            {**allocation(), "devices": [report(networkData={"ips": ["10.0.0.1/24"] * 17})]},
            ["status.devices[0].networkData.ips: Too many: 17: must have at most 16 items"],
            None,
            id="addresses",
        ),
        pytest.param(
            {
                **allocation(),
                "devices": [report(networkData={"ips": ["10.0.0.1/24", "10.0.0.1/24", "010.0.0.1/8", "1.2.3.4/33"]})],
            },
            [
                'status.devices[0].networkData.ips[2]: Invalid value: "010.0.0.1/8": must be in canonical form ("10.0.0.1/8")',
                'status.devices[0].networkData.ips[3]: Invalid value: "1.2.3.4/33": must be a valid address in CIDR form, '
                "(e.g. 10.9.8.7/24 or 2001:db8::1/64)",
                'status.devices[0].networkData.ips[1]: Duplicate value: "10.0.0.1/24"',
            ],
            None,
            id="address",
        ),
    ],
)
def test_status_of_a_claim(new, newest, before):
    assert status(new) == newest
    assert status(new, engine=BEFORE) == (newest if before is None else before)


def test_conditions_of_devices_are_few():
    names = [f"C{i}" for i in range(9)]
    about = {"status": "True", "reason": "R", "message": "", "lastTransitionTime": "2020-01-01T00:00:00Z"}
    new = {**allocation(), "devices": [report(conditions=[{"type": name, **about} for name in names], data=[])]}
    assert status(new) == [
        "status.devices[0].conditions: Too many: 9: must have at most 8 items",
        'status.devices[0].data: Invalid value: "<value omitted>": must be a valid JSON object',
    ]
    new["devices"][0]["conditions"] = [{"type": "a b", **about}]
    assert status(new)[0] == f'status.devices[0].conditions[0].type: Invalid value: "a b": {validation.NAME_PART}'


def test_a_mapped_address_is_an_address_of_ipv4():
    new = {**allocation(), "devices": [report(networkData={"ips": ["::ffff:1.2.3.4/120"]})]}
    assert status(new) == [
        'status.devices[0].networkData.ips[0]: Invalid value: "::ffff:1.2.3.4/120": must be in canonical form ("1.2.3.4/24")'
    ]


@pytest.mark.parametrize(
    "text, words",
    [
        ("urn:uuid:" + UID, rules.NORMAL_UID),
        ("urn:odd::" + UID, 'error validating uid: invalid urn prefix: "urn:odd::"'),
        ("{" + UID + "}", rules.NORMAL_UID),
        ("(" + UID + ")", "error validating uid: invalid bracketed UUID format"),
        (UID.replace("-", ""), rules.NORMAL_UID),
        ("z" * 32, "error validating uid: invalid UUID format"),
        ("z" * 36, "error validating uid: invalid UUID format"),
        (UID.upper(), rules.NORMAL_UID),
    ],
)
def test_shares_before_1_37(text, words):
    at = "status.allocation.devices.results[0].shareID"
    assert status(allocation({**RESULT, "shareID": text}), engine=BEFORE) == [f'{at}: Invalid value: "{text}": {words}']
    assert status(allocation({**RESULT, "shareID": UID}), engine=BEFORE) == []


def test_nothing_is_reserved_any_more_while_a_claim_is_deleted():
    one, two = ({"resource": "pods", "name": name, "uid": name} for name in "ab")
    gone = {"deletionTimestamp": "2020-01-01T00:00:00Z", "finalizers": ["a.b/c"]}
    before = {**allocation(), "reservedFor": [one]}
    assert status(before, before=before, **gone) == []
    assert status({**allocation(), "reservedFor": [one, two]}, before=before, **gone) == [
        "status.reservedFor: Forbidden: new entries may not be added while `deallocationRequested` or `deletionTimestamp` are set"
    ]


def test_reports_go_with_the_allocation():
    old = {**stored(claim()), "status": {**allocation(), "devices": [report()]}}
    answer, _ = send("update", {**copy.deepcopy(old), "status": {"devices": [report()]}}, old, "status")
    assert (answer.code, answer.body["status"]) == (200, {})


def test_a_write_of_the_status_keeps_the_metadata():
    old = stored(claim())
    new = copy.deepcopy(old)
    new["metadata"]["labels"] = {"a": "-"}
    answer, _ = send("update", {**new, "status": allocation()}, old, "status")
    assert (answer.code, answer.body["metadata"].get("labels")) == (200, None)


def test_operations_that_are_skipped_come_in_pairs():
    engine = Engine("1.37", gates={"DRAOptionalNodeOperations": True})
    words = "NodePrepareResources cannot be skipped unless NodeUnprepareResources is also skipped"
    new = allocation({**RESULT, "skipNodeOperations": ["NodePrepareResources"]})
    assert status(new, engine=engine) == [
        f'status.allocation.devices.results[0].skipNodeOperations: Invalid value: ["NodePrepareResources"]: {words}'
    ]
    for skipped in (["*", "NodePrepareResources"], ["NodePrepareResources", "NodeUnprepareResources"]):
        assert status(allocation({**RESULT, "skipNodeOperations": skipped}), engine=engine) == []


def test_parts_of_devices_in_1_34():
    new = {**allocation(), "devices": [report(), report()]}
    shown = '{"Driver":{},"Pool":{},"Device":{},"ShareID":{}}'
    assert status(new, engine=Engine("1.34")) == [f"status.devices[1].deviceID: Duplicate value: {shown}"]


# ---- device classes --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "spec, newest, before",
    [
        pytest.param(
            {"config": [{"opaque": {"driver": "a.b", "parameters": {}}}] * 33},
            ["spec.config: Too many: 33: must have at most 32 items"],
            None,
            id="configs",
        ),
        pytest.param(
            {"selectors": [{"cel": {"expression": "true"}}] * 33},
            ["spec.selectors: Too many: 33: must have at most 32 items"],
            None,
            id="selectors",
        ),
        pytest.param(
            {"extendedResourceName": "requests.a.b/c"},
            ['spec.extendedResourceName: Invalid value: "requests.a.b/c": must not have "requests." prefix'],
            ['spec.extendedResourceName: Invalid value: "requests.a.b/c": must be a valid extended resource name'],
            id="extended",
        ),
    ],
)
def test_device_classes(spec, newest, before):
    assert lines(device_class(**spec)) == newest
    assert lines(device_class(**spec), BEFORE) == (newest if before is None else before)


def test_the_name_of_a_class_is_judged_by_a_declaration():
    body = device_class(config=[{}])
    body["metadata"]["name"] = "a" * 254
    long = "a" * 254
    assert lines(body) == [
        "spec.config[0].opaque: Required value",
        f'metadata.name: Invalid value: "{long}": must be no more than 253 bytes',
    ]
    assert lines(body, BEFORE) == [
        f'metadata.name: Invalid value: "{long}": must be no more than 253 characters',
        "spec.config[0].opaque: Required value",
    ]


@pytest.mark.parametrize("release", ["1.35", "1.37"])
def test_what_is_stored_in_a_class_is_not_judged_again(release):
    engine = Engine(release)
    old = stored(device_class(), engine)
    old["spec"] = {
        "selectors": [{"cel": {"expression": "no longer"}}],
        "config": [{"opaque": {"driver": "a.b", "parameters": {"a": "b" * 10240}}}],
    }
    new = copy.deepcopy(old)
    new["metadata"]["labels"] = {"a": "b"}
    assert send("update", new, old, engine=engine)[1] == []
    new["spec"]["selectors"] *= 2
    new["spec"]["config"] *= 2
    assert [line.partition(": ")[0] for line in send("update", new, old, engine=engine)[1]] == [
        "spec.selectors[0].cel.expression",
        "spec.selectors[1].cel.expression",
        "spec.config[0].opaque.parameters",
        "spec.config[1].opaque.parameters",
    ]


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
