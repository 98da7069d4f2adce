"""The status of ResourceClaims: allocations, reservations and reports of drivers, where no recorded answer says it."""

from __future__ import annotations

import copy

import pytest

from podstrat.strategy.engine import Engine
from podstrat.strategy.formats import validation
from podstrat.strategy.rules import devices as rules
from tests.strategy.devices import BEFORE, REFERENCE, RESULT, allocation, claim, send, status, stored

UID = "0123abcd-0123-0123-0123-0123456789ab"


def report(**rest):
    return {"driver": "gpu.example.com", "pool": "p", "device": "d", **rest}


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
