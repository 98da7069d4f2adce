"""Services: addresses and node ports, two IP families, changes of type, and rules that the recorded answers do not reach."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from podstrat.strategy.engine import Engine
from podstrat.strategy.ranges import DEFAULT, Ranges, parse
from podstrat.strategy.request import Answer, Claim, Release, Remove, Request, Store

ENGINE = Engine("1.37")
DUAL = Ranges(networks=("10.0.0.0/24", "fd00::/112"))
SMALL = Ranges(networks=("10.0.0.0/28",))


def service(*ports: dict[str, Any], **spec: Any) -> dict[str, Any]:
    given = {"ports": list(ports) or [{"port": 80}], **spec}
    return {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "w"}, "spec": given}


def send(verb: str, body: Any, old: Any = None, ranges: Ranges = DEFAULT, engine: Engine = ENGINE, **rest: Any) -> Answer:
    request = Request(verb, body=body, name="w", resource="services", uid="u", ranges=ranges, **rest)
    return engine.answer(request, old)


def lines(answer: Answer) -> list[str]:
    causes = (answer.body.get("details") or {}).get("causes") or []
    return [f"{cause['field']}: {cause['message']}" for cause in causes]


def refused(body: Any, **rest: Any) -> list[str]:
    answer = send("create", body, **rest)
    assert answer.code == 422
    return lines(answer)


def stored(body: Any, ranges: Ranges = DEFAULT) -> dict[str, Any]:
    answer = send("create", body, ranges=ranges)
    assert (answer.code, lines(answer)) == (201, [])
    return {**answer.body, "metadata": {**answer.body["metadata"], "resourceVersion": "1"}}


def changed(old: dict[str, Any], ranges: Ranges = DEFAULT, **spec: Any) -> Answer:
    """An update with these fields of the spec; None takes one out."""
    body = copy.deepcopy(old)
    body["spec"] = {key: value for key, value in (body["spec"] | spec).items() if value is not None}
    return send("update", body, old, ranges)


# ---- addresses -------------------------------------------------------------------------------------------


def test_a_service_gets_an_address_and_holds_it() -> None:
    answer = send("create", service())
    spec = answer.body["spec"]
    assert spec["clusterIPs"] == [spec["clusterIP"]]
    assert spec["clusterIP"].startswith("10.0.0.")
    assert (spec["ipFamilies"], spec["ipFamilyPolicy"]) == (["IPv4"], "SingleStack")
    assert answer.effects == (Store(answer.body), Claim(spec["clusterIP"]))
    assert send("create", service()).body == answer.body


def test_addresses_that_are_taken_are_passed_over_until_the_range_is_full() -> None:
    taken = set[str]()
    for _ in range(14):
        taken.add(send("create", service(), ranges=SMALL._replace(taken=taken)).body["spec"]["clusterIP"])
    assert taken == {f"10.0.0.{i}" for i in range(1, 15)}
    answer = send("create", service(), ranges=SMALL._replace(taken=taken))
    message = 'failed to allocate a serviceIP for Service "w": range is full'
    assert (answer.code, answer.body["message"]) == (500, f"Internal error occurred: {message}")
    assert answer.body["reason"] == "InternalError"
    assert answer.body["details"] == {"causes": [{"message": message}]}
    dry = send("create", service(), ranges=SMALL._replace(taken=taken), options={"dryRun": "All"})
    assert (dry.code, dry.body["spec"]["clusterIP"], dry.effects) == (201, "10.0.0.0", ())


def test_the_beginning_of_a_range_is_left_to_those_who_ask_for_it() -> None:
    for uid in ("a", "b", "c", "d", "e", "f"):
        request = Request("create", body=service(), name="w", resource="services", uid=uid)
        assert int(ENGINE.answer(request, None).body["spec"]["clusterIP"].rpartition(".")[2]) > 16


@pytest.mark.parametrize(
    "spec, line",
    [
        (
            {"clusterIP": "10.0.0.2"},
            'spec.clusterIPs: Invalid value: ["10.0.0.2"]: failed to allocate IP 10.0.0.2: provided IP is already allocated',
        ),
        *(
            (
                {"clusterIP": text},
                f'spec.clusterIPs: Invalid value: ["{text}"]: failed to allocate IP {text}: '
                "the provided network does not match the current range",
            )
            for text in ("10.9.9.9", "10.0.0.0", "10.0.0.15")
        ),
        (
            {"clusterIP": "x"},
            'spec.clusterIPs[0]: Invalid value: "x": must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)',
        ),
        ({"ipFamilies": ["IPv6"]}, 'spec.ipFamilies[0]: Invalid value: "IPv6": not configured on this cluster'),
        (
            {"ipFamilyPolicy": "RequireDualStack"},
            'spec.ipFamilyPolicy: Invalid value: "RequireDualStack": this cluster is not configured for dual-stack services',
        ),
        (
            {"clusterIP": "fd00::1"},
            'spec.clusterIPs[0]: Invalid value: ["fd00::1"]: IPv6 is not configured on this cluster',
        ),
        (
            {"ipFamilyPolicy": "Odd"},
            'spec.ipFamilyPolicy: Unsupported value: "Odd": '
            'supported values: "PreferDualStack", "RequireDualStack", "SingleStack"',
        ),
        ({"ipFamilies": ["IPv4", "IPv4"]}, 'spec.ipFamilies[1]: Duplicate value: "IPv4"'),
        (
            {"clusterIP": "10.0.0.3", "clusterIPs": ["10.0.0.4"]},
            'spec.clusterIPs: Invalid value: ["10.0.0.4"]: first value must match `clusterIP`',
        ),
        (
            {"clusterIPs": ["10.0.0.4"]},
            'spec.clusterIPs: Invalid value: ["10.0.0.4"]: must be empty when `clusterIP` is not specified',
        ),
        (
            {"clusterIP": "None", "clusterIPs": ["None", "10.0.0.4"]},
            'spec.clusterIPs: Invalid value: ["None","10.0.0.4"]: \'None\' must be the first and only value',
        ),
        (
            {"clusterIP": "10.0.0.3", "ipFamilies": ["IPv6"]},
            'spec.clusterIPs[0]: Invalid value: "10.0.0.3": expected an IPv6 value as indicated by `ipFamilies[0]`',
        ),
        (
            {"clusterIP": "10.0.0.3", "clusterIPs": ["10.0.0.3", "10.0.0.4"], "ipFamilyPolicy": "PreferDualStack"},
            'spec.clusterIPs: Invalid value: ["10.0.0.3","10.0.0.4"]: may specify no more than one IP for each IP family',
        ),
        (
            {"clusterIP": "10.0.0.3", "clusterIPs": ["10.0.0.3", "fd00::3", "10.0.0.4"]},
            'spec.clusterIPs: Invalid value: ["10.0.0.3","fd00::3","10.0.0.4"]: may only hold up to 2 values',
        ),
        (
            {"clusterIP": "10.0.0.3", "clusterIPs": ["10.0.0.3", "fd00::3"]},
            "spec.ipFamilyPolicy: Invalid value: \"SingleStack\": must be 'RequireDualStack' or 'PreferDualStack' "
            "when multiple cluster IPs are specified",
        ),
        (
            {"ipFamilies": ["IPv4", "IPv6"]},
            "spec.ipFamilyPolicy: Invalid value: \"SingleStack\": must be 'RequireDualStack' or 'PreferDualStack' "
            "when multiple IP families are specified",
        ),
        ({"clusterIP": "010.0.0.3"}, 'spec.clusterIPs[0]: Invalid value: "010.0.0.3": must not have leading 0s'),
    ],
)
def test_addresses_that_cannot_be_had(spec: dict[str, Any], line: str) -> None:
    assert line in refused(service(**spec), ranges=SMALL._replace(taken={"10.0.0.2"}))


def test_an_address_is_given_back() -> None:
    old = stored(service(clusterIP="10.0.0.9"))
    deleted = send("delete", None, old)
    assert (deleted.body["kind"], deleted.effects) == ("Service", (Remove(), Release("10.0.0.9")))
    named = changed(old, type="ExternalName", externalName="a.b", ports=None, selector=None)
    assert named.effects[1:] == (Release("10.0.0.9"),)
    assert "clusterIP" not in named.body["spec"]
    back = changed({**named.body, "metadata": old["metadata"]}, type="ClusterIP", externalName=None, ports=[{"port": 80}])
    assert back.effects[1:] == (Claim(back.body["spec"]["clusterIP"]),)


def test_an_address_stays() -> None:
    old = stored(service(clusterIP="10.0.0.9"))
    kept = changed(old, clusterIP=None, clusterIPs=None, ipFamilies=None, ipFamilyPolicy=None)
    assert (kept.code, kept.body["spec"]["clusterIPs"], kept.effects) == (200, ["10.0.0.9"], ())
    assert lines(changed(old, clusterIP="10.0.0.8")) == [
        'spec.clusterIPs[0]: Invalid value: ["10.0.0.8"]: may not change once set'
    ]
    assert lines(changed(old, clusterIP="None")) == ['spec.clusterIPs[0]: Invalid value: ["None"]: may not change once set']


def test_a_headless_service_without_selector_has_both_families() -> None:
    spec = stored(service(clusterIP="None"))["spec"]
    assert (spec["ipFamilies"], spec["ipFamilyPolicy"]) == (["IPv4", "IPv6"], "RequireDualStack")
    spec = stored(service(clusterIP="None", ipFamilies=["IPv6"]))["spec"]
    assert spec["ipFamilies"] == ["IPv6", "IPv4"]


# ---- two families ----------------------------------------------------------------------------------------


def test_a_dual_stack_service_has_two_addresses() -> None:
    spec = stored(service(ipFamilyPolicy="RequireDualStack"), DUAL)["spec"]
    assert spec["ipFamilies"] == ["IPv4", "IPv6"]
    assert [text[:4] for text in spec["clusterIPs"]] == ["10.0", "fd00"]
    spec = stored(service(ipFamilyPolicy="PreferDualStack", clusterIP="fd00::5"), DUAL)["spec"]
    assert (spec["ipFamilies"], spec["clusterIPs"][0]) == (["IPv6", "IPv4"], "fd00::5")
    assert len(stored(service(ipFamilyPolicy="PreferDualStack"))["spec"]["clusterIPs"]) == 1


def test_a_second_family_comes_and_goes() -> None:
    single = stored(service(), DUAL)
    both = changed(single, DUAL, ipFamilyPolicy="PreferDualStack")
    second = both.body["spec"]["clusterIPs"][1]
    assert both.effects[1:] == (Claim(second),)
    old = {**both.body, "metadata": single["metadata"]}
    assert changed(old, DUAL, ipFamilyPolicy="SingleStack").effects[1:] == (Release(second),)
    assert changed(old, ports=[{"port": 81}]).body["spec"]["clusterIPs"] == old["spec"]["clusterIPs"]


@pytest.mark.parametrize(
    "spec, found",
    [
        (
            {"clusterIPs": ["10.0.0.9"], "ipFamilyPolicy": "RequireDualStack"},
            [
                'spec.ipFamilyPolicy: Invalid value: "RequireDualStack": '
                "must be 'SingleStack' to release the secondary cluster IP",
            ],
        ),
        (
            {"ipFamilies": ["IPv4"], "ipFamilyPolicy": "RequireDualStack"},
            [
                'spec.ipFamilyPolicy: Invalid value: "RequireDualStack": '
                "must be 'SingleStack' to release the secondary IP family",
            ],
        ),
        (
            {"clusterIP": "fd00::9", "clusterIPs": ["fd00::9", "10.0.0.9"], "ipFamilies": ["IPv6", "IPv4"]},
            [
                'spec.clusterIPs[0]: Invalid value: ["fd00::9","10.0.0.9"]: may not change once set',
                'spec.clusterIPs[1]: Invalid value: ["fd00::9","10.0.0.9"]: may not change once set',
                'spec.ipFamilies[0]: Invalid value: ["IPv6","IPv4"]: may not change once set',
            ],
        ),
        (
            {"clusterIP": "fd00::9", "clusterIPs": ["fd00::9"], "ipFamilies": ["IPv6"], "ipFamilyPolicy": "SingleStack"},
            [
                'spec.clusterIPs[0]: Invalid value: ["fd00::9"]: may not change once set',
                'spec.ipFamilies[0]: Invalid value: ["fd00::9"]: may not change once set',
            ],
        ),
    ],
)
def test_what_may_not_change_about_two_families(spec: dict[str, Any], found: list[str]) -> None:
    old = stored(service(clusterIP="10.0.0.9", clusterIPs=["10.0.0.9", "fd00::9"], ipFamilyPolicy="PreferDualStack"), DUAL)
    assert lines(changed(old, DUAL, **spec)) == found


# ---- node ports ------------------------------------------------------------------------------------------


def test_node_ports_are_given_held_and_given_back() -> None:
    answer = send("create", service({"port": 53, "protocol": "UDP", "name": "u"}, {"port": 53, "name": "t"}, type="NodePort"))
    first, second = (port["nodePort"] for port in answer.body["spec"]["ports"])
    assert first == second
    assert 30086 <= first <= 32767
    assert answer.body["spec"]["externalTrafficPolicy"] == "Cluster"
    assert Claim(str(first)) in answer.effects
    old = {**answer.body, "metadata": {**answer.body["metadata"], "resourceVersion": "1"}}
    plain = changed(old, type="ClusterIP")
    assert plain.effects[1:] == (Release(str(first)),)
    assert "externalTrafficPolicy" not in plain.body["spec"]
    assert all("nodePort" not in port for port in plain.body["spec"]["ports"])


def test_a_node_port_stays_where_the_port_keeps_its_name() -> None:
    old = stored(service({"port": 80, "name": "a", "nodePort": 30001}, type="NodePort"))
    answer = changed(old, ports=[{"port": 81, "name": "a"}, {"port": 82, "name": "b"}])
    first, second = (port["nodePort"] for port in answer.body["spec"]["ports"])
    assert (first, second != first) == (30001, True)
    assert answer.effects[1:] == (Claim(str(second)),)
    moved = changed(old, ports=[{"port": 81, "name": "a"}, {"port": 82, "name": "b", "nodePort": 30001}])
    assert [port["nodePort"] for port in moved.body["spec"]["ports"]][1] == 30001


@pytest.mark.parametrize(
    "port, text",
    [
        (30001, "provided port is already allocated"),
        (80, "provided port is not in the valid range. The range of valid ports is 30000-32767"),
    ],
)
def test_node_ports_that_cannot_be_had(port: int, text: str) -> None:
    ranges = Ranges(taken={"30001"})
    line = f"spec.ports[0].nodePort: Invalid value: {port}: {text}"
    assert refused(service({"port": 80, "nodePort": port}, type="NodePort"), ranges=ranges) == [line]
    old = stored(service(type="NodePort"))
    assert lines(changed(old, ranges, ports=[{"port": 80, "nodePort": port}])) == [line]


def test_a_node_port_twice_in_one_service() -> None:
    ports = {"port": 80, "name": "a", "nodePort": 30001}, {"port": 81, "name": "b", "nodePort": 30001}
    assert refused(service(*ports, type="NodePort")) == [
        "spec.ports[1].nodePort: Invalid value: 30001: provided port is already allocated"
    ]
    answer = changed(stored(service(type="NodePort")), ports=list(ports))
    assert (answer.code, answer.body["message"]) == (500, "duplicate nodePort: {TCP 30001}")
    shared = {"port": 80, "name": "a", "nodePort": 30001}, {"port": 80, "name": "b", "nodePort": 30001, "protocol": "UDP"}
    assert len(stored(service(*shared, type="NodePort"))["spec"]["ports"]) == 2


def test_a_node_port_twice_for_one_protocol() -> None:
    ports = {"port": 80, "name": "a", "nodePort": 30001}, {"port": 80, "name": "b", "nodePort": 30001}
    found = refused(service(*ports, type="NodePort"))
    assert found[0] == "spec.ports[1].nodePort: Duplicate value: 30001"
    assert found[1].startswith("spec.ports[1]: Duplicate value: ")


def test_a_dry_run_shows_ports_that_nothing_was_allocated_for() -> None:
    body = service({"port": 80, "name": "a"}, {"port": 81, "name": "b"}, type="NodePort")
    answer = send("create", body, options={"dryRun": "All"})
    assert [port["nodePort"] for port in answer.body["spec"]["ports"]] == [32769, 32770]
    assert answer.effects == ()


def test_no_node_port_is_left() -> None:
    ranges = Ranges(node_ports=(30000, 30001), taken={"30000", "30001"})
    answer = send("create", service(type="NodePort"), ranges=ranges)
    assert answer.body["message"] == "Internal error occurred: failed to allocate a nodePort: range is full"


# ---- load balancers --------------------------------------------------------------------------------------


def test_a_load_balancer() -> None:
    spec = stored(service(type="LoadBalancer"))["spec"]
    assert spec["allocateLoadBalancerNodePorts"] is True
    assert spec["ports"][0]["nodePort"] > 30000
    none = stored(service(type="LoadBalancer", allocateLoadBalancerNodePorts=False))["spec"]
    assert "nodePort" not in none["ports"][0]


def test_a_local_load_balancer_has_a_port_for_health_checks() -> None:
    old = stored(service(type="LoadBalancer", externalTrafficPolicy="Local"))
    port = old["spec"]["healthCheckNodePort"]
    assert lines(changed(old, healthCheckNodePort=port + 1)) == ["spec.healthCheckNodePort: Forbidden: field is immutable"]
    kept = changed(old, healthCheckNodePort=None, ports=[{"port": 81}])
    assert kept.body["spec"]["healthCheckNodePort"] == port
    gone = changed(old, externalTrafficPolicy="Cluster")
    assert ("healthCheckNodePort" in gone.body["spec"], Release(str(port)) in gone.effects) == (False, True)
    asked = service(type="LoadBalancer", externalTrafficPolicy="Local", healthCheckNodePort=30005)
    assert stored(asked)["spec"]["healthCheckNodePort"] == 30005
    answer = send("create", asked, ranges=Ranges(taken={"30005"}))
    text = "failed to allocate requested HealthCheck NodePort 30005: provided port is already allocated"
    assert answer.body["message"] == f"Internal error occurred: {text}"
    no_more = Ranges(node_ports=(30000, 30000))
    answer = send("create", service(type="LoadBalancer", externalTrafficPolicy="Local"), ranges=no_more)
    assert answer.body["message"].endswith("failed to allocate a HealthCheck NodePort 0: range is full")


def test_the_class_of_a_load_balancer_stays() -> None:
    old = stored(service(type="LoadBalancer", loadBalancerClass="a.b/c"))
    assert lines(changed(old, loadBalancerClass="a.b/d")) == [
        'spec.loadBalancerClass: Invalid value: "a.b/d": may not change once set'
    ]
    assert "loadBalancerClass" not in changed(old, type="ClusterIP").body["spec"]
    assert changed(old, loadBalancerClass=None).body["details"]["causes"][0]["message"].startswith("Invalid value: null: may not")
    assert refused(service(type="LoadBalancer", loadBalancerClass="a b"))[0].startswith(
        'spec.loadBalancerClass: Invalid value: "a b": name part must consist of'
    )


RANGES = "service.beta.kubernetes.io/load-balancer-source-ranges"


@pytest.mark.parametrize(
    "text, fault",
    [
        ("1.2.3.0/24", None),
        (" fd00::/8 ", None),
        ("nope", "must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)"),
        ("1.2.3.0/33", "must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)"),
        ("1.2.3.0/x", "must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)"),
        ("01.2.3.0/24", "must not have leading 0s in IP or prefix length"),
        ("1.2.3.0/024", "must not have leading 0s in IP or prefix length"),
        ("::ffff:1.2.3.0/120", "must not have an IPv4-mapped IPv6 address"),
        ("1.2.3.4/24", "must not have bits set beyond the prefix length"),
    ],
)
def test_source_ranges(text: str, fault: str | None) -> None:
    field = send("create", service(type="LoadBalancer", loadBalancerSourceRanges=[text]))
    noted = service(type="LoadBalancer")
    noted["metadata"]["annotations"] = {RANGES: f"1.2.3.0/24,{text}"}
    annotation = send("create", noted)
    if fault is None:
        assert (lines(field), lines(annotation)) == ([], [])
        return
    assert lines(field) == [f'spec.LoadBalancerSourceRanges[0]: Invalid value: "{text}": {fault}']
    assert lines(annotation) == [f'metadata.annotations[{RANGES}]: Invalid value: "{text}": {fault}']


def test_an_annotation_with_source_ranges_is_for_load_balancers() -> None:
    noted = service()
    noted["metadata"]["annotations"] = {RANGES: ""}
    assert refused(noted) == [f"metadata.annotations[{RANGES}]: Forbidden: may only be used when `type` is 'LoadBalancer'"]


INGRESS = "status.loadBalancer.ingress"


@pytest.mark.parametrize(
    "point, found",
    [
        ({"ip": "1.2.3.4"}, []),
        ({"hostname": "a.b"}, []),
        (
            {"ip": "nope"},
            [f'{INGRESS}[0].ip: Invalid value: "nope": must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)'],
        ),
        (
            {"ip": "1.2.3.4", "ipMode": "Odd"},
            [f'{INGRESS}[0].ipMode: Unsupported value: "Odd": supported values: "Proxy", "VIP"'],
        ),
        (
            {"hostname": "a.b", "ipMode": "VIP"},
            [f"{INGRESS}[0].ipMode: Forbidden: may not be specified when `ip` is not set"],
        ),
        ({"hostname": "1.2.3.4"}, [f'{INGRESS}[0].hostname: Invalid value: "1.2.3.4": must be a DNS name, not an IP address']),
    ],
)
def test_the_status_of_a_load_balancer(point: dict[str, str], found: list[str]) -> None:
    old = stored(service(type="LoadBalancer"))
    answer = send("update", {**old, "status": {"loadBalancer": {"ingress": [point]}}}, old, subresource="status")
    assert lines(answer) == found
    if "ip" in point and not found:
        assert answer.body["status"]["loadBalancer"]["ingress"] == [{"ip": "1.2.3.4", "ipMode": "VIP"}]
        plain = changed({**answer.body, "metadata": old["metadata"]}, type="ClusterIP")
        assert plain.body["status"] == {"loadBalancer": {}}


def test_the_metadata_of_a_status_write() -> None:
    old = stored(service())
    body = {**old, "metadata": {**old["metadata"], "labels": {"a": "-bad-"}}}
    (line,) = lines(send("update", body, old, subresource="status"))
    assert line.startswith('metadata.labels: Invalid value: "-bad-": a valid label')


def test_a_bad_host_name_in_the_status() -> None:
    old = stored(service(type="LoadBalancer"))
    body = {**old, "status": {"loadBalancer": {"ingress": [{"hostname": "Bad_"}]}}}
    assert lines(send("update", body, old, subresource="status"))[0].startswith(
        f'{INGRESS}[0].hostname: Invalid value: "Bad_": a lowercase RFC 1123 subdomain'
    )


def test_a_dry_run_leaves_the_range_of_health_checks_to_validation() -> None:
    body = service(type="LoadBalancer", externalTrafficPolicy="Local", healthCheckNodePort=70000)
    answer = send("create", body, options={"dryRun": "All"})
    assert lines(answer) == ["spec.healthCheckNodePort: Invalid value: 70000: must be between 1 and 65535, inclusive"]


# ---- the rest --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "body, line",
    [
        (service({"port": 10250}, type="LoadBalancer"), "may not expose port 10250 externally since it is used by kubelet"),
        (service(type="NodePort", clusterIP="None"), "may not be set to 'None' for NodePort services"),
        (service(type="ExternalName", externalName="a.b", clusterIP="10.0.0.3"), "may not be set for ExternalName services"),
        (service(type="ExternalName", externalName="a.b", ipFamilies=["IPv4"]), "may not be set for ExternalName services"),
        (
            service(type="ExternalName", externalName="a.b", ipFamilyPolicy="SingleStack"),
            "may not be set for ExternalName services",
        ),
        (service(type="ExternalName", externalName="A_b"), "a lowercase RFC 1123 subdomain must consist of"),
        (service(type="NodePort", externalTrafficPolicy="Odd"), 'Unsupported value: "Odd": supported values: "Cluster", "Local"'),
        (
            service(type="LoadBalancer", externalTrafficPolicy="Local", healthCheckNodePort=70000),
            "provided port is not in the valid range",
        ),
        (service(externalIPs=["169.254.1.1"]), "may not be in the link-local range (169.254.0.0/16, fe80::/10)"),
        (service(externalIPs=["224.0.0.5"]), "may not be in the link-local multicast range (224.0.0.0/24, ff02::/10)"),
        (service(externalIPs=["::"]), "may not be unspecified (::)"),
    ],
)
def test_what_is_refused(body: dict[str, Any], line: str) -> None:
    answer = send("create", body)
    assert answer.code in (422, 500)
    assert line in answer.body["message"]


def test_a_name_at_its_end_may_have_a_dot() -> None:
    assert send("create", service(type="ExternalName", externalName="a.b.")).code == 201


def test_topology_annotations_agree() -> None:
    body = service()
    hints, mode = "service.kubernetes.io/topology-aware-hints", "service.kubernetes.io/topology-mode"
    body["metadata"]["annotations"] = {hints: "auto", mode: "auto"}
    answer = send("create", body)
    assert (answer.code, answer.warnings) == (201, (f"annotation {hints} is deprecated, please use {mode} instead",))
    body["metadata"]["annotations"][mode] = "Disabled"
    assert refused(body) == [
        f'metadata.annotations[{mode}]: Invalid value: "Disabled": must match annotations[{hints}] when both are specified'
    ]


@pytest.mark.parametrize(
    "spec, warnings",
    [
        (
            {"type": "ExternalName", "externalName": "a.b", "externalIPs": ["1.2.3.4"]},
            ['spec.externalIPs is ignored when spec.type is "ExternalName"'],
        ),
        ({"externalName": "a.b"}, ['spec.externalName is ignored when spec.type is not "ExternalName"']),
        (
            {"externalIPs": ["FD00::1"]},
            ['spec.externalIPs[0]: IPv6 address "FD00::1" should be in RFC 5952 canonical format ("fd00::1")'],
        ),
        (
            {"type": "LoadBalancer", "loadBalancerIP": "01.2.3.4"},
            ['spec.loadBalancerIP: non-standard IP address "01.2.3.4" is invalid: use "1.2.3.4"'],
        ),
        (
            {"type": "LoadBalancer", "loadBalancerSourceRanges": ["FD00::/8"]},
            ['spec.loadBalancerSourceRanges[0]: IPv6 CIDR value "FD00::/8" should be in RFC 5952 canonical format ("fd00::/8")'],
        ),
        (
            {"clusterIP": "FD00::9"},
            ['spec.clusterIPs[0]: IPv6 address "FD00::9" should be in RFC 5952 canonical format ("fd00::9")'],
        ),
    ],
)
def test_warnings(spec: dict[str, Any], warnings: list[str]) -> None:
    assert list(send("create", service(**spec), ranges=DUAL).warnings) == warnings


def test_warnings_about_ranges_that_1_35_still_takes() -> None:
    body = service(type="LoadBalancer", loadBalancerSourceRanges=["1.2.3.4/24", "1.2.3.0/024"])
    at, later = "spec.loadBalancerSourceRanges", "will be considered invalid in a future Kubernetes release"
    assert send("create", body, engine=Engine("1.35")).warnings == (
        f'{at}[0]: CIDR value "1.2.3.4/24" is ambiguous in this context (should be "1.2.3.0/24" or "1.2.3.4/32"?)',
        f'{at}[1]: non-standard CIDR value "1.2.3.0/024" {later}: use "1.2.3.0/24"',
    )


def test_traffic_distribution_is_gated_in_1_34() -> None:
    body = service(trafficDistribution="PreferSameNode")
    assert send("create", body, engine=Engine("1.34")).code == 201
    off = Engine("1.34", {"PreferSameTrafficDistribution": False})
    assert refused(body, engine=off) == [
        'spec.trafficDistribution: Unsupported value: "PreferSameNode": supported values: "PreferClose"'
    ]


def test_names_are_gated_in_1_36() -> None:
    body = service()
    body["metadata"]["name"] = "1a"
    assert send("create", body, engine=Engine("1.36")).code == 201
    off = Engine("1.36", {"RelaxedServiceNameValidation": False})
    assert refused(body, engine=off)[0].startswith('metadata.name: Invalid value: "1a": a DNS-1035 label')


def test_an_external_name_keeps_no_internal_traffic_policy() -> None:
    body = service(type="ExternalName", externalName="a.b", internalTrafficPolicy="Local")
    assert "internalTrafficPolicy" not in stored(body)["spec"]


@pytest.mark.parametrize(
    "spec, families, policy",
    [
        ({"clusterIP": "10.0.0.3"}, ["IPv4"], "SingleStack"),
        ({"clusterIP": "fd00::3", "clusterIPs": ["fd00::3", "10.0.0.3"]}, ["IPv6", "IPv4"], "RequireDualStack"),
        ({"clusterIP": "None"}, ["IPv4", "IPv6"], "RequireDualStack"),
        ({"clusterIP": "None", "selector": {"a": "b"}}, ["IPv4"], "SingleStack"),
    ],
)
def test_a_service_from_an_old_store(spec: dict[str, Any], families: list[str], policy: str) -> None:
    found = ENGINE.stored(service(**spec), "services")["spec"]
    assert (found["clusterIPs"][0], found["ipFamilies"], found["ipFamilyPolicy"]) == (spec["clusterIP"], families, policy)


@pytest.mark.parametrize(
    "networks, ports",
    [("10.0.0.0/24,10.1.0.0/24", "30000-32767"), ("10.0.0.0/30", "30000-32767"), ("x", "1-2"), ("10.0.0.0/24", "2-1")],
)
def test_flags_that_are_no_ranges(networks: str, ports: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        parse(networks, ports)


def test_flags() -> None:
    assert parse("10.0.0.0/24, fd00::/112", "30000-30100") == Ranges(("10.0.0.0/24", "fd00::/112"), (30000, 30100))
