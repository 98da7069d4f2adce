from __future__ import annotations

import pytest

from podstrat.apiserver.kinds import BY_PATH, NAMESPACE, POD
from podstrat.apiserver.listing import selectors

NODE = BY_PATH["", "v1", "nodes"]
EVENT = BY_PATH["", "v1", "events"]
SECRET = BY_PATH["", "v1", "secrets"]
CONFIG_MAP = BY_PATH["", "v1", "configmaps"]
SLICE = BY_PATH["resource.k8s.io", "v1", "resourceslices"]

LABELS = {"app": "web", "tier": "1", "in": "x", "empty": ""}
LABEL_VALUE = (
    "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', "
    "and must start and end with an alphanumeric character "
    "(e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is "
    "'(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')"
)
OPERATORS = "in, notin, =, ==, !=, gt, lt"


@pytest.mark.parametrize(
    "text, expected",
    [
        pytest.param("", True, id="nothing-asked"),
        pytest.param("  \t\n", True, id="only-blanks"),
        pytest.param("app=web", True, id="equal"),
        pytest.param("app==web", True, id="double-equal"),
        pytest.param("app = web", True, id="blanks-around"),
        pytest.param("app=api", False, id="other-value"),
        pytest.param("gone=web", False, id="equal-needs-the-label"),
        pytest.param("app!=api", True, id="not-equal"),
        pytest.param("gone!=api", True, id="not-equal-takes-absent"),
        pytest.param("app!=web", False, id="not-equal-fails"),
        pytest.param("app in (api,web)", True, id="in"),
        pytest.param("app in(api)", False, id="in-other"),
        pytest.param("gone in (web)", False, id="in-needs-the-label"),
        pytest.param("app notin (api)", True, id="notin"),
        pytest.param("app notin (web)", False, id="notin-fails"),
        pytest.param("gone notin (web)", True, id="notin-takes-absent"),
        pytest.param("app", True, id="exists"),
        pytest.param("gone", False, id="does-not-exist"),
        pytest.param("!gone", True, id="absent"),
        pytest.param("!app", False, id="absent-fails"),
        pytest.param("tier>0", True, id="greater"),
        pytest.param("tier<1", False, id="less"),
        pytest.param("app>0", False, id="greater-than-no-number"),
        pytest.param("gone<5", False, id="less-needs-the-label"),
        pytest.param("empty=", True, id="empty-value"),
        pytest.param("empty=,app", True, id="empty-value-before-comma"),
        pytest.param("empty in ()", True, id="in-nothing-is-the-empty-value"),
        pytest.param("empty in (,x)", True, id="in-leading-comma"),
        pytest.param("empty in (x,)", True, id="in-trailing-comma"),
        pytest.param("empty in (x,,y)", True, id="in-double-comma"),
        pytest.param("app in (,)", False, id="in-only-comma"),
        pytest.param("in in (x)", True, id="a-label-called-in"),
        pytest.param("in=x,app=web,!gone", True, id="all-hold"),
        pytest.param("in=x,app=api", False, id="one-does-not"),
        pytest.param("app=web\0,gone", False, id="zero-byte-ends-a-token"),
        pytest.param("app=web \0,gone", True, id="zero-byte-ends-the-text"),
    ],
)
def test_labels(text: str, expected: bool) -> None:
    assert selectors.parse_labels(text).matches(LABELS) is expected


@pytest.mark.parametrize(
    "text, message",
    [
        pytest.param(",", "found ',', expected: !, identifier, or 'end of string'", id="comma-first"),
        pytest.param("=a", "found '=', expected: !, identifier, or 'end of string'", id="operator-first"),
        pytest.param("a,", "found '', expected: identifier after ','", id="comma-last"),
        pytest.param("a,,b", "found ',', expected: identifier after ','", id="two-commas"),
        pytest.param("a=b=c", "found '=', expected: ',' or 'end of string'", id="two-operators"),
        pytest.param("!a=b", "found '=', expected: ',' or 'end of string'", id="negated-with-value"),
        pytest.param("a=b c", "found 'c', expected: ',' or 'end of string'", id="two-values"),
        pytest.param("a in (b) c", "found 'c', expected: ',' or 'end of string'", id="after-bracket"),
        pytest.param("!", "unable to parse requirement: found '', expected: identifier", id="only-not"),
        pytest.param("!=a", "found '!=', expected: !, identifier, or 'end of string'", id="not-equal-first"),
        pytest.param("! =a", "unable to parse requirement: found '=', expected: identifier", id="not-before-operator"),
        pytest.param("a b", f"unable to parse requirement: found 'b', expected: {OPERATORS}", id="no-operator"),
        pytest.param("a!b", f"unable to parse requirement: found '!', expected: {OPERATORS}", id="not-as-operator"),
        pytest.param("a==!", "unable to parse requirement: found '!', expected: identifier", id="no-value"),
        pytest.param("a=(b)", "unable to parse requirement: found '(', expected: identifier", id="bracket-as-value"),
        pytest.param("a in", "unable to parse requirement: found '' expected: '('", id="in-nothing"),
        pytest.param("a in b", "unable to parse requirement: found 'b' expected: '('", id="in-without-bracket"),
        pytest.param("a in (", "unable to parse requirement: found '', expected: ',', ')' or identifier", id="in-open"),
        pytest.param("a in (=", "unable to parse requirement: found '=', expected: ',', ')' or identifier", id="in-operator"),
        pytest.param("a in (b", "unable to parse requirement: found '', expected: ',' or ')'", id="in-not-closed"),
        pytest.param("a in (b c)", "unable to parse requirement: found 'c', expected: ',' or ')'", id="in-without-comma"),
        pytest.param("a in (b,", "unable to parse requirement: found '', expected: ',', or identifier", id="in-comma-end"),
        pytest.param(
            "a in (b,=)", "unable to parse requirement: found '=', expected: ',', or identifier", id="in-comma-operator"
        ),
        pytest.param(
            "a/b/c=d",
            'unable to parse requirement: <nil>: Invalid value: "a/b/c": a valid label key must consist of '
            "alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character "
            "(e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is "
            "'([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]') with an optional DNS subdomain prefix and "
            "'/' (e.g. 'example.com/MyName')",
            id="bad-key",
        ),
        pytest.param(
            "a=b$",
            f'unable to parse requirement: values[0][a]: Invalid value: "b$": {LABEL_VALUE}',
            id="bad-value",
        ),
        pytest.param(
            "a in (ok,x$,b$)",
            f'unable to parse requirement: [values[0][a]: Invalid value: "b$": {LABEL_VALUE}, '
            f'values[2][a]: Invalid value: "x$": {LABEL_VALUE}]',
            id="two-bad-values",
        ),
        pytest.param(
            "a>b",
            'unable to parse requirement: values[0]: Invalid value: "b": '
            "for 'Gt', 'Lt' operators, the value must be an integer",
            id="greater-than-no-number",
        ),
    ],
)
def test_malformed_labels(text: str, message: str) -> None:
    with pytest.raises(selectors.Malformed) as error:
        selectors.parse_labels(text)
    assert str(error.value) == message


def test_length_of_a_key_is_worded_by_release() -> None:
    with pytest.raises(selectors.Malformed) as error:
        selectors.parse_labels("k" * 64, unit="characters")
    assert str(error.value).endswith("name part must be no more than 63 characters")


@pytest.mark.parametrize(
    "selector, expected",
    [
        pytest.param(None, False, id="none-finds-nothing"),
        pytest.param({}, True, id="empty-finds-all"),
        pytest.param({"matchLabels": {"app": "web"}}, True, id="labels"),
        pytest.param({"matchLabels": {"app": "web", "tier": "2"}}, False, id="one-label-differs"),
        pytest.param({"matchExpressions": [{"key": "app", "operator": "In", "values": ["api", "web"]}]}, True, id="in"),
        pytest.param({"matchExpressions": [{"key": "app", "operator": "NotIn", "values": ["web"]}]}, False, id="not-in"),
        pytest.param({"matchExpressions": [{"key": "app", "operator": "Exists"}]}, True, id="exists"),
        pytest.param({"matchExpressions": [{"key": "gone", "operator": "DoesNotExist"}]}, True, id="does-not-exist"),
        pytest.param({"matchExpressions": [{"key": "gone", "operator": "Like"}]}, False, id="unknown-operator"),
        pytest.param(
            {"matchLabels": {"app": "web"}, "matchExpressions": [{"key": "tier", "operator": "DoesNotExist"}]}, False, id="both"
        ),
    ],
)
def test_selector_in_an_object(selector: dict[str, object] | None, expected: bool) -> None:
    assert selectors.label_selector_of(selector)(LABELS) is expected


def test_field_terms_are_sorted_and_unescaped() -> None:
    assert selectors.parse_fields(r"b==x\,y\=z\\,,a!=1,c=") == (
        selectors.Term("a", False, "1"),
        selectors.Term("b", True, r"x,y=z" + "\\"),
        selectors.Term("c", True, ""),
    )


@pytest.mark.parametrize(
    "text, message",
    [
        pytest.param("a", "invalid selector: 'a'; can't understand 'a'", id="no-operator"),
        pytest.param("b=1,a", "invalid selector: 'b=1,a'; can't understand 'a'", id="one-without-operator"),
        pytest.param(r"a=\x", r"invalid field selector: invalid escape sequence: \x", id="unknown-escape"),
        pytest.param("a=b\\", "invalid field selector: invalid escape sequence: \\", id="escape-at-the-end"),
        pytest.param("a=b=c", "invalid field selector: unescaped character in value: 61", id="unescaped"),
    ],
)
def test_malformed_fields(text: str, message: str) -> None:
    with pytest.raises(selectors.Malformed) as error:
        selectors.parse_fields(text)
    assert str(error.value) == message


@pytest.mark.parametrize(
    "kind, name, message",
    [
        pytest.param(POD, "spec.image", "field label not supported: spec.image", id="pod"),
        pytest.param(NAMESPACE, "metadata.namespace", "field label not supported: metadata.namespace", id="namespace"),
        pytest.param(NODE, "status.phase", "field label not supported: status.phase", id="node"),
        pytest.param(SECRET, "data", "field label not supported: data", id="secret"),
        pytest.param(EVENT, "message", "field label not supported: message", id="event"),
        pytest.param(
            SLICE,
            "spec.pool",
            "field label not supported for resource.k8s.io/v1, Kind=ResourceSlice: spec.pool",
            id="resource-slice",
        ),
        pytest.param(
            CONFIG_MAP,
            "data",
            '"data" is not a known field selector: only "metadata.name", "metadata.namespace"',
            id="kind-without-fields-of-its-own",
        ),
    ],
)
def test_unsupported_field(kind: selectors.Kind, name: str, message: str) -> None:
    with pytest.raises(selectors.Malformed) as error:
        selectors.fields_of(kind, selectors.parse_fields(f"metadata.name=x,{name}=y"))
    assert str(error.value) == message


THE_POD = {
    "metadata": {"name": "p", "namespace": "default"},
    "spec": {"nodeName": "n1", "restartPolicy": "Always", "schedulerName": "s", "serviceAccountName": "sa"},
    "status": {"phase": "Running", "podIP": "10.0.0.1", "podIPs": [{"ip": "10.0.0.1"}, {"ip": "::1"}], "nominatedNodeName": "n2"},
}


@pytest.mark.parametrize(
    "text, expected",
    [
        pytest.param("", True, id="nothing-asked"),
        pytest.param("metadata.name=p", True, id="name"),
        pytest.param("metadata.name!=p", False, id="other-name"),
        pytest.param("metadata.namespace=default,status.phase!=Pending", True, id="two-terms"),
        pytest.param("spec.nodeName=n1", True, id="node"),
        pytest.param("spec.host=n1", True, id="node-by-its-old-name"),
        pytest.param("spec.nodeName=", False, id="node-empty"),
        pytest.param("spec.restartPolicy=Always", True, id="restart-policy"),
        pytest.param("spec.schedulerName=s", True, id="scheduler"),
        pytest.param("spec.serviceAccountName=sa", True, id="service-account"),
        pytest.param("spec.hostNetwork=false", True, id="host-network-absent-is-false"),
        pytest.param("status.phase=Running", True, id="phase"),
        pytest.param("status.podIP=10.0.0.1", True, id="first-address"),
        pytest.param("status.podIP=::1", False, id="second-address"),
        pytest.param("status.podIPs=10.0.0.1", False, id="addresses-never-equal"),
        pytest.param("status.nominatedNodeName=n2", True, id="nominated-node"),
    ],
)
def test_pod_fields(text: str, expected: bool) -> None:
    assert selectors.fields_of(POD, selectors.parse_fields(text)).matches(THE_POD) is expected


@pytest.mark.parametrize(
    "kind, text, obj, expected",
    [
        pytest.param(POD, "spec.hostNetwork=true", {"spec": {"hostNetwork": True}}, True, id="host-network"),
        pytest.param(POD, "status.podIP=1.2.3.4", {"status": {"podIP": "1.2.3.4"}}, True, id="address-without-list"),
        pytest.param(NODE, "spec.unschedulable=false", {"spec": {}}, True, id="schedulable"),
        pytest.param(NODE, "spec.unschedulable=true", {"spec": {"unschedulable": True}}, True, id="unschedulable"),
        pytest.param(NAMESPACE, "status.phase=Active", {"status": {"phase": "Active"}}, True, id="namespace-phase"),
        pytest.param(SECRET, "type=Opaque", {"type": "Opaque"}, True, id="secret-type"),
        pytest.param(EVENT, "involvedObject.name=p", {"involvedObject": {"name": "p"}}, True, id="event-about"),
        pytest.param(EVENT, "source=kubelet", {"source": {"component": "kubelet"}}, True, id="event-source"),
        pytest.param(EVENT, "source=c", {"source": {}, "reportingComponent": "c"}, True, id="event-source-reporting"),
        pytest.param(SLICE, "spec.driver=d,spec.nodeName=n", {"spec": {"driver": "d", "nodeName": "n"}}, True, id="slice"),
    ],
)
def test_fields_of_other_kinds(kind: selectors.Kind, text: str, obj: dict[str, object], expected: bool) -> None:
    assert selectors.fields_of(kind, selectors.parse_fields(text)).matches(obj) is expected


def test_the_one_value_that_a_field_must_have() -> None:
    found = selectors.fields_of(POD, selectors.parse_fields("metadata.name=p,spec.nodeName!=n"))
    assert found.exact("metadata.name") == "p"
    assert found.exact("spec.nodeName") is None
