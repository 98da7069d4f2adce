"""ResourceSlices, where no recorded answer says it."""

from __future__ import annotations

import copy
from datetime import UTC, datetime

import pytest

from podstrat.strategy.engine import Engine
from podstrat.strategy.formats import validation
from podstrat.strategy.rules import devices as rules
from tests.strategy.devices import BEFORE, NEWEST, lines, resource_slice, send, stored

DEVICE = "spec.devices[0]"
TAINT = {"key": "a", "effect": "NoSchedule"}
PER_DEVICE = {"perDeviceNodeSelection": True, "nodeName": None}
NODES = {"nodeSelectorTerms": [{"matchExpressions": [{"key": "a", "operator": "Exists"}]}]}
ONE_PLACE = (
    "exactly one of `nodeName`, `nodeSelector`, or `allNodes` is required when `perDeviceNodeSelection` is set to true in the "
    "ResourceSlice spec"
)


def device(**rest):
    return {"name": "d", **rest}


def published(*devices, **spec):
    body = resource_slice(*devices, **spec)
    body["spec"] = {name: value for name, value in body["spec"].items() if value is not None}
    return body


@pytest.mark.parametrize(
    "body, newest, before",
    [
        pytest.param(published(driver="d" * 64), ["spec.driver: Too long: may not be more than 63 bytes"], None, id="driver"),
        pytest.param(
            published(pool={"name": f"a/{'b' * 252}", "resourceSliceCount": 1}),
            ["spec.pool.name: Too long: may not be more than 253 bytes"],
            None,
            id="pool",
        ),
        pytest.param(
            published(perDeviceNodeSelection=False),
            ["spec.perDeviceNodeSelection: Invalid value: false: must be either unset or set to true"],
            None,
            id="per-device",
        ),
        pytest.param(
            published(*({"name": f"d{i}"} for i in range(129))),
            ["spec.devices: Too many: 129: must have at most 128 items"],
            None,
            id="devices",
        ),
        pytest.param(
            published(*({"name": f"d{i}", "taints": [TAINT]} for i in range(65))),
            ["spec.devices: Too many: 65: must have at most 64 items"],
            None,
            id="devices-with-taints",
        ),
        pytest.param(
            published(*({"name": f"d{i}", "consumesCounters": [{"counterSet": "c"}]} for i in range(65))),
            ["spec.devices: Too many: 65: must have at most 64 items"],
            None,
            id="devices-with-counters",
        ),
        pytest.param(
            published(device(attributes={"a": {"string": "x" * 65}, "b": {"version": f"1.0.0-{'y' * 60}"}})),
            [
                f"{DEVICE}.attributes[a].string: Too long: may not be more than 64 bytes",
                f"{DEVICE}.attributes[b].version: Too long: may not be more than 64 bytes",
            ],
            None,
            id="long-values",
        ),
        pytest.param(
            published(device(attributes={"/": {"int": 1}, "A_/b": {"int": 1}, "a.b/c": {"int": 1}, "c" * 33: {"int": 1}})),
            [
                f'{DEVICE}.attributes: Invalid value: "": the domain must not be empty',
                f'{DEVICE}.attributes: Invalid value: "": the name must not be empty',
                f'{DEVICE}.attributes: Invalid value: "A_": {validation.DNS_SUBDOMAIN}',
                f"{DEVICE}.attributes: Too long: may not be more than 32 bytes",
            ],
            None,
            id="names-of-attributes",
        ),
        pytest.param(
            published(device(taints=[TAINT] * 17)),
            [f"{DEVICE}.taints: Too many: 17: must have at most 16 items"],
            None,
            id="taints",
        ),
        pytest.param(
            published(device(consumesCounters=[{"counterSet": name, "counters": {"m": {"value": "1"}}} for name in "abc"])),
            [f"{DEVICE}.consumesCounters: Too many: 3: must have at most 2 items"],
            None,
            id="consumptions",
        ),
        pytest.param(
            published(device(consumesCounters=[{"counterSet": "a", "counters": {"m": {"value": "1"}}}] * 2)),
            [f'{DEVICE}.consumesCounters[1]: Duplicate value: {{"counterSet":"a","counters":{{"m":{{"value":"1"}}}}}}'],
            [f'{DEVICE}.consumesCounters[1]: Duplicate value: "a"'],
            id="same-consumptions",
        ),
        pytest.param(
            published(device(consumesCounters=[{"counterSet": "A", "counters": {f"m{i}": {"value": "1"} for i in range(33)}}])),
            [
                f"{DEVICE}.consumesCounters[0].counters: Too many: 33: must have at most 32 items",
                f'{DEVICE}.consumesCounters[0].counterSet: Invalid value: "A": {validation.DNS_LABEL}',
            ],
            [
                f'{DEVICE}.consumesCounters[0].counterSet: Invalid value: "A": {validation.DNS_LABEL}',
                f"{DEVICE}.consumesCounters[0].counters: Too many: 33: must have at most 32 items",
            ],
            id="counters",
        ),
        pytest.param(
            published(devices=None, sharedCounters=[{"name": f"c{i}", "counters": {"m": {"value": "1"}}} for i in range(9)]),
            ["spec.sharedCounters: Too many: 9: must have at most 8 items"],
            None,
            id="counter-sets",
        ),
        pytest.param(
            published(devices=None, sharedCounters=[{"name": "c", "counters": {"M": {"value": "1"}}}] * 2),
            [
                'spec.sharedCounters[1]: Duplicate value: {"name":"c","counters":{"M":{"value":"1"}}}',
                f'spec.sharedCounters[0].counters: Invalid value: "M": {validation.DNS_LABEL}',
                f'spec.sharedCounters[1].counters: Invalid value: "M": {validation.DNS_LABEL}',
            ],
            [
                f'spec.sharedCounters[0].counters: Invalid value: "M": {validation.DNS_LABEL}',
                f'spec.sharedCounters[1].counters: Invalid value: "M": {validation.DNS_LABEL}',
                'spec.sharedCounters[1]: Duplicate value: "c"',
            ],
            id="counter-set",
        ),
        pytest.param(published(device(), **PER_DEVICE), [f"{DEVICE}: Required value: {ONE_PLACE}"], None, id="nowhere"),
        pytest.param(
            published(device(nodeName="N", nodeSelector={}, allNodes=True), **PER_DEVICE),
            [
                f'{DEVICE}.nodeName: Invalid value: "N": {validation.DNS_SUBDOMAIN}',
                f"{DEVICE}.nodeSelector.nodeSelectorTerms: Required value: must have at least one node selector term",
                f'{DEVICE}: Invalid value: "{{`nodeName`, `nodeSelector`, `allNodes`}}": {ONE_PLACE}',
            ],
            None,
            id="everywhere",
        ),
        pytest.param(
            published(device(nodeName="", allNodes=False, nodeSelector=NODES), **PER_DEVICE),
            [
                f'{DEVICE}.nodeName: Invalid value: "": must not be empty',
                f"{DEVICE}.allNodes: Invalid value: false: must be either unset or set to true",
            ],
            None,
            id="places-that-say-nothing",
        ),
        pytest.param(
            published(device(bindingConditions=list("abcde"), bindingFailureConditions=list("fghij"))),
            [
                f"{DEVICE}.bindingConditions: Too many: 5: must have at most 4 items",
                f"{DEVICE}.bindingFailureConditions: Too many: 5: must have at most 4 items",
            ],
            None,
            id="many-conditions",
        ),
        pytest.param(
            published(device(bindingConditions=["a", "a"], bindingFailureConditions=["b", "b", "a"])),
            [
                f'{DEVICE}.bindingConditions[1]: Duplicate value: "a"',
                f'{DEVICE}.bindingFailureConditions[1]: Duplicate value: "b"',
                f'{DEVICE}.bindingFailureConditions[2]: Invalid value: "a": bindingFailureConditions must not overlap with '
                "bindingConditions",
            ],
            None,
            id="same-conditions",
        ),
        pytest.param(
            published(device(bindingFailureConditions=["b"])),
            [f"{DEVICE}.bindingConditions: Invalid value: null: bindingConditions are required to use bindingFailureConditions"],
            None,
            id="only-failures",
        ),
    ],
)
def test_slices(body, newest, before):
    assert lines(body) == newest
    assert lines(body, BEFORE) == (newest if before is None else before)


# ---- capacities ------------------------------------------------------------------------------------


def capacity(value="10", **policy):
    return published(device(allowMultipleAllocations=True, capacity={"m": {"value": value, "requestPolicy": policy}}))


POLICY = f"{DEVICE}.capacity[m].requestPolicy"


@pytest.mark.parametrize(
    "policy, found",
    [
        pytest.param({"default": "1"}, [], id="only-a-default"),
        pytest.param(
            {"validValues": ["1"], "validRange": {"min": "1"}},
            [
                f'{POLICY}: Forbidden: exactly one policy can be specified, cannot specify "validValues" and "validRange" at the '
                "same time"
            ],
            id="both",
        ),
        pytest.param(
            {"validValues": ["1"]}, [f"{POLICY}.default: Required value: required when validValues is defined"], id="values"
        ),
        pytest.param(
            {"validRange": {"min": "1"}}, [f"{POLICY}.default: Required value: required when validRange is defined"], id="range"
        ),
        pytest.param(
            {"default": "1", "validRange": {}},
            [f"{POLICY}.validRange.min: Required value: required when validRange is defined"],
            id="no-minimum",
        ),
        pytest.param(
            {"default": "3", "validValues": ["2", "1", "1", "20"]},
            [
                f'{POLICY}.validValues[1]: Invalid value: "1": values must be sorted in ascending order',
                f'{POLICY}.validValues[3]: Invalid value: "20": option is larger than capacity value: 10',
                f'{POLICY}.validValues[2]: Duplicate value: "1"',
                f'{POLICY}.validValues: Invalid value: "3": default value is not valid according to the requestPolicy',
            ],
            id="odd-values",
        ),
        pytest.param(
            {"default": "1", "validValues": [str(i) for i in range(1, 12)]},
            [
                f"{POLICY}.validValues: Too many: 11: must have at most 10 items",
                f'{POLICY}.validValues: Invalid value: "1": default value is not valid according to the requestPolicy',
            ],
            id="many-values",
        ),
        pytest.param(
            {"default": "1", "validRange": {"min": "2", "max": "20"}},
            [
                f'{POLICY}.validRange.default: Invalid value: "1": default is less than min: 2',
                f'{POLICY}.validRange.max: Invalid value: "20": max is larger than capacity value: 10',
            ],
            id="beyond-the-range",
        ),
        pytest.param(
            {"default": "2", "validRange": {"min": "1", "max": "9", "step": "10"}},
            [
                f'{POLICY}.validRange.step: Invalid value: "10": one step 11 is larger than capacity value: 10',
                f'{POLICY}.validRange.step: Invalid value: "2": value is not a multiple of a given step (10) from (1)',
                f'{POLICY}.validRange.step: Invalid value: "9": value is not a multiple of a given step (10) from (1)',
            ],
            id="steps",
        ),
    ],
)
def test_policies(policy, found):
    assert lines(capacity(**policy)) == found
    assert lines(capacity(**policy), BEFORE) == found


def test_steps_are_counted_within_int64():
    large = "20E"
    policy = {"default": large, "validRange": {"min": "-1", "max": large, "step": "1"}}
    assert lines(capacity("30E", **policy)) == [
        f'{POLICY}.validRange.default: Invalid value: "20E": must not be larger than 9223372036854775807',
        f'{POLICY}.validRange.min: Invalid value: "-1": must be greater than or equal to 0',
        f'{POLICY}.validRange.max: Invalid value: "20E": must not be larger than 9223372036854775807',
    ]


def test_fractions_of_steps():
    fractions = Engine("1.37", gates={"DRAFractionalCapacityRange": True})
    policy = {"default": "1500m", "validRange": {"min": "1", "step": "500m"}}
    assert lines(capacity(**policy), fractions) == []
    policy["validRange"]["step"] = "1u"
    assert lines(capacity(**policy), fractions) == [
        f'{POLICY}.validRange.step: Invalid value: "1u": value cannot be represented as a milli value'
    ]
    same = {"default": "1500m", "validValues": ["1500m", "1600m"]}
    assert lines(capacity(**same), fractions) == []
    assert lines(capacity(**same)) == [f'{POLICY}.validValues[1]: Duplicate value: "2"']


def test_a_step_of_zero_makes_1_36_panic():
    answer, _ = send("create", capacity(default="1", validRange={"min": "1", "step": "0"}), engine=BEFORE)
    assert answer.code == 500
    assert answer.body["message"] == (
        f"kube-apiserver closes the connection without an answer, because of {POLICY}.validRange.step of zero; "
        "set a step that is greater than zero"
    )


# ---- updates, gates, time --------------------------------------------------------------------------


def test_what_a_device_had_before_is_not_judged_again():
    old = stored(published())
    old["spec"]["devices"][0] |= {
        "taints": [{"key": "", "effect": "", "timeAdded": "2020-01-01T00:00:00Z"}],
        "capacity": {"m": {"value": "1", "requestPolicy": {}}},
    }
    assert send("update", copy.deepcopy(old), old)[1] == []
    new = copy.deepcopy(old)
    new["spec"]["devices"][0]["taints"] *= 2
    assert send("update", new, old)[1] != []


def test_a_driver_in_upper_case_is_warned_about():
    answer, _ = send("create", published(driver="GPU.example.com"))
    words = 'spec.driver: driver names should be lowercase; "GPU.example.com" contains uppercase characters'
    assert (answer.code, answer.warnings) == (201, (words,))
    old = {**answer.body, "metadata": {**answer.body["metadata"], "resourceVersion": "1"}}
    assert send("update", copy.deepcopy(old), old)[0].warnings == (words,)
    assert send("create", published(driver="GPU.example.com"), engine=Engine("1.34"))[0].warnings == ()


def test_a_taint_says_since_when():
    now = datetime(2026, 11, 17, tzinfo=UTC)
    old = stored(published(device(taints=[TAINT])), now=now)
    assert old["spec"]["devices"][0]["taints"] == [{**TAINT, "timeAdded": "2026-11-17T00:00:00Z"}]
    new = copy.deepcopy(old)
    new["spec"]["devices"][0]["taints"].append({"key": "b", "effect": "None"})
    answer, _ = send("update", new, old, now=datetime(2026, 11, 18, tzinfo=UTC))
    assert [taint["timeAdded"] for taint in answer.body["spec"]["devices"][0]["taints"]] == [
        "2026-11-17T00:00:00Z",
        "2026-11-18T00:00:00Z",
    ]


def test_the_lists_of_attributes():
    engine = Engine("1.37", gates={"DRAListTypeAttributes": True})
    body = published(device(attributes={"a": {"strings": ["x" * 65]}, "b": {"versions": ["1"]}, "c": {"ints": []}}))
    assert lines(body, engine) == [
        f'{DEVICE}.attributes[b].versions[0]: Invalid value: "1": must be a string compatible with semver.org spec 2.0.0',
        f"{DEVICE}.attributes[c].ints: Invalid value: []: must not be empty if specified",
        f"{DEVICE}.attributes[a].strings[0]: Too long: may not be more than 64 bytes",
    ]
    many = published(device(attributes={"a": {"ints": list(range(49))}}))
    assert lines(many, engine) == [f"{DEVICE}: Invalid value: 49: the total number of attribute values must not exceed 48"]


def test_two_values_of_an_attribute():
    body = published(device(attributes={"a": {"int": 1, "bool": True}}))
    every = "`int`, `bool`, `string`, `version`, `ints`, `bools`, `strings`, `versions`"
    assert lines(body) == [f'{DEVICE}.attributes[a]: Invalid value: "{{`int`, `bool`}}": must specify exactly one of: {every}']


def test_long_keys_are_shortened_in_paths():
    key = "k" * 120
    body = published(device(capacity={key: {"value": "1", "requestPolicy": {}}}))
    shown = f"{'k' * 47}...{'k' * 46}"
    assert lines(body)[-1] == f"{DEVICE}.capacity[{shown}].requestPolicy: Forbidden: allowMultipleAllocations must be true"
    assert lines(body, Engine("1.35")) == [
        f"{DEVICE}.capacity[{shown}]: Too long: may not be more than 32 bytes",
    ]
    assert rules.shortened("short") == "short"


def test_the_place_of_a_fault_in_a_map():
    outcome = NEWEST.create_object(
        published(device(attributes={"a b": {"int": 1}}, capacity={"m": {"value": "1", "requestPolicy": {}}}))
    )
    assert [error.where for error in outcome.errors] == [
        ("spec", "devices", 0, "attributes", "a b"),
        ("spec", "devices", 0, "capacity", "m", "requestPolicy"),
    ]


def test_resources_of_the_node():
    engine = Engine("1.37", gates={"DRANodeAllocatableResources": True})
    mapped = {
        "odd": {},
        "cpu": {"mapping": {"capacityKey": "x", "deviceMultiplier": "-1"}, "overhead": {}},
        "memory": {"mapping": {"capacityKey": "", "capacityMultiplier": "0"}, "overhead": {"perPod": "-1", "perContainer": "-2"}},
        "hugepages-2Mi": {"mapping": {"capacityMultiplier": "1"}},
    }
    at = f"{DEVICE}.nodeAllocatableResources"
    assert lines(published(device(nodeAllocatableResources=mapped)), engine) == [
        f'{at}[odd]: Invalid value: "odd": must be a node allocatable resource name',
        f"{at}[odd]: Required value: at least one of mapping or overhead must be set",
        f'{at}[cpu].mapping.capacityKey: Not found: "x"',
        f'{at}[cpu].mapping.deviceMultiplier: Invalid value: "-1": must be positive',
        f'{at}[cpu].overhead: Invalid value: "": at least one of perPod or perContainer must be set',
        f'{at}[memory].mapping.capacityKey: Invalid value: "": capacityKey must not be an empty string',
        f'{at}[memory].mapping.capacityMultiplier: Invalid value: "0": must be positive',
        f'{at}[memory].overhead.perPod: Invalid value: "-1": must be non-negative',
        f'{at}[memory].overhead.perContainer: Invalid value: "-2": must be non-negative',
        f"{at}[cpu].mapping.capacityMultiplier: Required value: capacityMultiplier is required when capacityKey is set",
        f"{at}[hugepages-2Mi].mapping.capacityKey: Required value: capacityKey is required when capacityMultiplier is set",
    ]


def test_the_attribute_that_tells_partitions_apart():
    gates = dict.fromkeys(("DRAPartitionableDevicesType", "DRAResourcePoolStatus", "DRAOptionalNodeOperations"), True)
    engine = Engine("1.37", gates=gates)
    uses = {"consumesCounters": [{"counterSet": "c", "counters": {"m": {"value": "1"}}}]}
    about = {"partitionTypeAttribute": "gpu.example.com/kind", "skipNodeOperations": ["NodePrepareResources"]}
    body = published(
        {"name": "a", **uses},
        {"name": "b", **uses, "attributes": {"kind": {"int": 1}}},
        {"name": "c", **uses, "attributes": {"gpu.example.com/kind": {"string": "x"}}},
        **about,
    )
    named = "attributes[gpu.example.com/kind]"
    assert lines(body, engine) == [
        f"spec.devices[0].{named}: Required value: device consumes counters and `partitionTypeAttribute` names "
        f"this attribute, so "
        "it must be set",
        f'spec.devices[1].{named}: Invalid value: {{"IntValue":1,"BoolValue":null,"StringValue":null,"VersionValue":null,'
        '"IntValues":null,"BoolValues":null,"StringValues":null,"VersionValues":null}: must be a string value because '
        "`partitionTypeAttribute` names this attribute",
        'spec.skipNodeOperations: Invalid value: ["NodePrepareResources"]: NodePrepareResources cannot be skipped unless '
        "NodeUnprepareResources is also skipped",
    ]
    assert lines(published(device(), partitionTypeAttribute="kind"), engine) == [
        'spec.partitionTypeAttribute: Invalid value: "kind": may only be set on a slice which declares devices '
        "that consume counters",
        'spec.partitionTypeAttribute: Invalid value: "kind": a fully qualified name must be a domain and a '
        "name separated by a slash",
    ]


@pytest.mark.parametrize("release, kept", [("1.34", {"name"}), ("1.37", {"name", "taints", "bindingConditions"})])
def test_gated_fields_of_a_device(release, kept):
    given = {"taints": [TAINT], "bindingConditions": ["a"], "bindingFailureConditions": ["b"], "attributes": {"a": {"int": 1}}}
    found = stored(published(device(**given)), Engine(release))["spec"]["devices"][0].keys()
    assert found - {"attributes", "bindingFailureConditions"} == kept
