from __future__ import annotations

import base64
import json
import threading
from typing import Any

import pytest

from podstrat.apiserver.kinds import NAMESPACE, POD
from podstrat.apiserver.listing import list_options, lists
from podstrat.apiserver.listing.continue_token import LATEST, Continue
from podstrat.apiserver.storage.store import Store, Write
from podstrat.strategy import errors

Object = dict[str, Any]
MATCH = "resourceVersionMatch"


def pod(name: str, namespace: str = "default", **labels: str) -> Object:
    return {"kind": "Pod", "apiVersion": "v1", "metadata": {"name": name, "namespace": namespace, "labels": labels}}


def put(store: Store, name: str, namespace: str = "default", **labels: str) -> None:
    store.commit([Write(POD, namespace, name, pod(name, namespace, **labels), None)])


@pytest.fixture
def store() -> Store:
    """Five pods, at versions 1 to 5; b and d are blue."""
    store = Store.open()
    for name in "abcde":
        put(store, name, **({"color": "blue"} if name in "bd" else {}))
    return store


def page(store: Store, namespace: str | None = None, **query: str) -> Object:
    named = {name.rstrip("_"): value for name, value in query.items()}
    return lists.page(lists.entries(store, POD, namespace, list_options.decode(named, POD), patience=0.01), POD)


def names(found: Object) -> str:
    return "".join(item["metadata"]["name"] for item in found["items"])


def refusal(store: Store, **query: str) -> Object:
    with pytest.raises(errors.ApiError) as error:
        page(store, **query)
    return lists.failure(error.value)


# ---- options ---------------------------------------------------------------------------------------------


def test_options_of_a_list() -> None:
    query = {"limit": ["7", "8"], "continue": ["x"], "resourceVersion": ["0"], "labelSelector": ["a=b"], "timeoutSeconds": ["5"]}
    found = list_options.decode(query, POD)
    assert (found.limit, found.token, found.resource_version, found.timeout, found.watch) == (7, "x", "0", 5, False)
    assert found.selection.labels.matches({"a": "b"})
    assert not found.selection.everything


def test_no_options() -> None:
    assert list_options.decode({}, POD) == list_options.Options()
    assert list_options.decode({"limit": []}, POD) == list_options.Options()


@pytest.mark.parametrize(
    "value, expected",
    [("", True), ("1", True), ("true", True), ("no", True), ("0", False), ("false", False), ("False", False)],
)
def test_flags(value: str, expected: bool) -> None:
    assert list_options.decode({"watch": value}, POD).watch is expected
    assert list_options.decode({"allowWatchBookmarks": value}, POD).bookmarks is expected


@pytest.mark.parametrize("version, expected", [("", True), ("0", True), ("5", None)])
def test_a_watch_from_no_version_begins_with_what_is_there(version: str, expected: bool | None) -> None:
    query = {"watch": "1", "resourceVersion": version}
    assert list_options.decode(query, POD).initial_events is expected
    assert list_options.decode(query, POD, watch_list=False).initial_events is None


@pytest.mark.parametrize(
    "query, message",
    [
        pytest.param({"limit": "many"}, 'strconv.ParseInt: parsing "many": invalid syntax', id="limit"),
        pytest.param({"limit": ""}, 'strconv.ParseInt: parsing "": invalid syntax', id="limit-empty"),
        pytest.param({"limit": "1_0"}, 'strconv.ParseInt: parsing "1_0": invalid syntax', id="limit-underscore"),
        pytest.param({"limit": "٣"}, 'strconv.ParseInt: parsing "٣": invalid syntax', id="limit-other-digits"),
        pytest.param(
            {"limit": "9223372036854775808"},
            'strconv.ParseInt: parsing "9223372036854775808": value out of range',
            id="limit-too-large",
        ),
        pytest.param(
            {"limit": "9" * 5000}, f'strconv.ParseInt: parsing "{"9" * 5000}": value out of range', id="limit-very-large"
        ),
        pytest.param({"timeoutSeconds": "1.5"}, 'strconv.ParseInt: parsing "1.5": invalid syntax', id="timeout"),
        pytest.param({"labelSelector": "a=b=c"}, "found '=', expected: ',' or 'end of string'", id="labels"),
        pytest.param({"fieldSelector": "a"}, "invalid selector: 'a'; can't understand 'a'", id="fields"),
        pytest.param({"fieldSelector": "a=b"}, "field label not supported: a", id="unknown-field"),
        pytest.param(
            {"labelSelector": "=", "fieldSelector": "a", "limit": "x"},
            'strconv.ParseInt: parsing "x": invalid syntax',
            id="numbers-come-first",
        ),
        pytest.param(
            {"labelSelector": "=", "fieldSelector": "a"},
            "found '=', expected: !, identifier, or 'end of string'",
            id="labels-before-fields",
        ),
    ],
)
def test_queries_that_cannot_be_read(query: dict[str, str], message: str) -> None:
    with pytest.raises(errors.BadRequest) as error:
        list_options.decode(query, POD)
    assert error.value.message == message


ONLY_KNOWN = 'resourceVersionMatch: Unsupported value: "Near": supported values: "Exact", "NotOlderThan", ""'


@pytest.mark.parametrize(
    "query, message",
    [
        pytest.param(
            {MATCH: "Exact"},
            "resourceVersionMatch: Forbidden: resourceVersionMatch is forbidden unless resourceVersion is provided",
            id="match-without-version",
        ),
        pytest.param(
            {MATCH: "NotOlderThan", "resourceVersion": "1", "continue": "x"},
            "resourceVersionMatch: Forbidden: resourceVersionMatch is forbidden when continue is provided",
            id="match-with-continue",
        ),
        pytest.param({MATCH: "Near", "resourceVersion": "1"}, ONLY_KNOWN, id="unknown-match"),
        pytest.param(
            {MATCH: "Exact", "resourceVersion": "0"},
            'resourceVersionMatch: Forbidden: resourceVersionMatch "exact" is forbidden for resourceVersion "0"',
            id="exactly-zero",
        ),
        pytest.param(
            {"sendInitialEvents": "true"},
            "sendInitialEvents: Forbidden: sendInitialEvents is forbidden for list",
            id="initial-events-of-a-list",
        ),
        pytest.param(
            {MATCH: "Near"},
            "[resourceVersionMatch: Forbidden: resourceVersionMatch is forbidden unless resourceVersion is provided, "
            f"{ONLY_KNOWN}]",
            id="two-faults",
        ),
        pytest.param(
            {"watch": "1", "sendInitialEvents": "true"},
            "resourceVersionMatch: Forbidden: sendInitialEvents requires setting resourceVersionMatch to NotOlderThan",
            id="initial-events-without-match",
        ),
        pytest.param(
            {"watch": "1", MATCH: "NotOlderThan", "resourceVersion": "1"},
            "resourceVersionMatch: Forbidden: resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided",
            id="match-without-initial-events",
        ),
        pytest.param(
            {"watch": "1", MATCH: "Exact", "sendInitialEvents": "false"},
            "[resourceVersionMatch: Forbidden: sendInitialEvents requires setting resourceVersionMatch to NotOlderThan, "
            'resourceVersionMatch: Unsupported value: "Exact": supported values: "NotOlderThan"]',
            id="exact-watch",
        ),
        pytest.param(
            {"watch": "1", MATCH: "NotOlderThan", "sendInitialEvents": "true", "continue": "x"},
            "resourceVersionMatch: Forbidden: resourceVersionMatch is forbidden when continue is provided",
            id="watch-with-continue",
        ),
    ],
)
def test_options_that_do_not_go_together(query: dict[str, str], message: str) -> None:
    with pytest.raises(errors.Invalid) as error:
        list_options.decode(query, POD)
    assert error.value.message == f'ListOptions.meta.k8s.io "" is invalid: {message}'


def test_initial_events_without_the_gate() -> None:
    query = {"watch": "1", "sendInitialEvents": "true", MATCH: "NotOlderThan"}
    with pytest.raises(errors.Invalid) as error:
        list_options.decode(query, POD, watch_list=False)
    text = "sendInitialEvents is forbidden for watch unless the WatchList feature gate is enabled"
    assert lists.failure(error.value) == {
        "kind": "Status",
        "apiVersion": "v1",
        "metadata": {},
        "status": "Failure",
        "message": f'ListOptions.meta.k8s.io "" is invalid: sendInitialEvents: Forbidden: {text}',
        "reason": "Invalid",
        "details": {
            "group": "meta.k8s.io",
            "kind": "ListOptions",
            "causes": [{"reason": "FieldValueForbidden", "message": f"Forbidden: {text}", "field": "sendInitialEvents"}],
        },
        "code": 422,
    }


# ---- pages -----------------------------------------------------------------------------------------------


def test_a_whole_list(store: Store) -> None:
    found = page(store)
    assert {**found, "items": []} == {"kind": "PodList", "apiVersion": "v1", "metadata": {"resourceVersion": "5"}, "items": []}
    assert names(found) == "abcde"
    assert found["items"][0] == {"metadata": {"name": "a", "namespace": "default", "labels": {}, "resourceVersion": "1"}}


@pytest.mark.parametrize("query", [{}, {"limit": "2"}, {"labelSelector": "color=blue"}, {"labelSelector": "color=none"}])
def test_a_list_of_kept_texts_is_the_same(store: Store, query: dict[str, str]) -> None:
    store.commit([Write(POD, "default", "odd", {"metadata": {"name": "odd", "namespace": "default"}, "kind": "Pod"}, None)])
    found = lists.entries(store, POD, None, list_options.decode(query, POD))
    assert lists.encoded(found, POD).decode() == json.dumps(lists.page(found, POD), separators=(",", ":"))


def test_an_empty_list() -> None:
    found = lists.page(lists.entries(Store.open(), NAMESPACE, None, list_options.Options()), NAMESPACE)
    assert found == {"kind": "NamespaceList", "apiVersion": "v1", "metadata": {"resourceVersion": "0"}, "items": []}


@pytest.mark.parametrize(
    "query, expected",
    [
        pytest.param({"labelSelector": "color=blue"}, "bd", id="labels"),
        pytest.param({"labelSelector": "color!=blue"}, "ace", id="not-labels"),
        pytest.param({"fieldSelector": "metadata.name=c"}, "c", id="name"),
        pytest.param({"labelSelector": "color", "fieldSelector": "metadata.name!=b"}, "d", id="both"),
        pytest.param({"labelSelector": "none"}, "", id="nothing"),
    ],
)
def test_selected(store: Store, query: dict[str, str], expected: str) -> None:
    assert names(page(store, **query)) == expected


@pytest.mark.parametrize("namespace", [None, "default"])
def test_page_after_page_in_the_state_of_the_first(store: Store, namespace: str | None) -> None:
    first = page(store, namespace, limit="2")
    assert (names(first), first["metadata"]["remainingItemCount"]) == ("ab", 3)
    put(store, "bb")
    put(store, "d", color="red")
    store.commit([Write(POD, "default", "c", None, None), Write(POD, "default", "e", None, None)])
    second = page(store, namespace, limit="2", continue_=first["metadata"]["continue"])
    assert (names(second), second["metadata"]["remainingItemCount"]) == ("cd", 1)
    assert second["items"][1]["metadata"]["labels"] == {"color": "blue"}
    last = page(store, namespace, limit="2", continue_=second["metadata"]["continue"])
    assert (names(last), last["metadata"]) == ("e", {"resourceVersion": "5"})
    assert names(page(store, namespace)) == "abbbd"


def test_pages_over_namespaces_in_the_order_of_keys() -> None:
    store = Store.open()
    for namespace, name in [("a", "x"), ("a-b", "y"), ("b", "w"), ("a", "z")]:
        put(store, name, namespace)
    token, seen = "", ""
    while True:
        found = page(store, limit="1", continue_=token)
        seen += names(found)
        token = found["metadata"].get("continue", "")
        if not token:
            break
    assert seen == "yxzw"


def test_a_page_of_selected_objects_may_be_followed_by_nothing(store: Store) -> None:
    """The server does not look ahead for one more object that is selected, nor count them."""
    first = page(store, limit="2", labelSelector="color=blue")
    assert names(first) == "bd"
    assert sorted(first["metadata"]) == ["continue", "resourceVersion"]
    last = page(store, limit="2", labelSelector="color=blue", continue_=first["metadata"]["continue"])
    assert (names(last), last["metadata"]) == ("", {"resourceVersion": "5"})


def test_exactly_as_many_as_wanted(store: Store) -> None:
    assert page(store, limit="5")["metadata"] == {"resourceVersion": "5"}


def test_the_token_is_what_the_server_s_is(store: Store) -> None:
    token = page(store, limit="2")["metadata"]["continue"]
    text = base64.urlsafe_b64decode(token + "=" * (-len(token) % 4))
    assert text == b'{"v":"meta.k8s.io/v1","rv":5,"start":"default/b\\u0000"}'


def test_an_expired_token_says_how_to_go_on(store: Store) -> None:
    token = page(store, limit="2")["metadata"]["continue"]
    put(store, "bb")
    store.compact()
    found = refusal(store, limit="2", continue_=token)
    again = found.pop("metadata")["continue"]
    assert found == {
        "kind": "Status",
        "apiVersion": "v1",
        "status": "Failure",
        "message": "The provided continue parameter is too old to display a consistent list result. You can start a new list "
        "without the continue parameter, or use the continue token in this response to retrieve the remainder of the results. "
        "Continuing with the provided token results in an inconsistent list - objects that were created, modified, or deleted "
        "between the time the first chunk was returned and now may show up in the list.",
        "reason": "Expired",
        "code": 410,
    }
    rest = page(store, limit="2", continue_=again)
    assert (names(rest), rest["metadata"]["resourceVersion"]) == ("bbc", "6")


# ---- versions --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "query, expected, version",
    [
        pytest.param({"resourceVersion": "0"}, "abcde", "5", id="any"),
        pytest.param({"resourceVersion": "0", "limit": "2"}, "abcde", "5", id="any-has-no-pages"),
        pytest.param({"resourceVersion": "3"}, "abcde", "5", id="not-older"),
        pytest.param({"resourceVersion": "3", MATCH: "NotOlderThan", "limit": "2"}, "ab", "5", id="not-older-in-pages"),
        pytest.param({"resourceVersion": "3", MATCH: "Exact"}, "abc", "3", id="exact"),
        pytest.param({"resourceVersion": "3", "limit": "2"}, "ab", "3", id="with-a-limit-exact"),
        pytest.param({"resourceVersion": "5", MATCH: "Exact"}, "abcde", "5", id="exactly-the-newest"),
        pytest.param({"resourceVersion": "", "limit": "4"}, "abcd", "5", id="newest"),
    ],
)
def test_the_state_that_is_shown(store: Store, query: dict[str, str], expected: str, version: str) -> None:
    found = page(store, **query)
    assert (names(found), found["metadata"]["resourceVersion"]) == (expected, version)


def test_a_state_that_is_forgotten(store: Store) -> None:
    store.compact()
    assert refusal(store, resourceVersion="3", resourceVersionMatch="Exact") == {
        "kind": "Status",
        "apiVersion": "v1",
        "metadata": {},
        "status": "Failure",
        "message": "The resourceVersion for the provided list is too old.",
        "reason": "Expired",
        "code": 410,
    }
    assert names(page(store, resourceVersion="3")) == "abcde"


@pytest.mark.parametrize("query", [{}, {MATCH: "NotOlderThan"}, {MATCH: "Exact"}, {"limit": "1"}])
def test_a_version_that_does_not_come(store: Store, query: dict[str, str]) -> None:
    assert refusal(store, resourceVersion="9", **query) == {
        "kind": "Status",
        "apiVersion": "v1",
        "metadata": {},
        "status": "Failure",
        "message": "Timeout: Too large resource version: 9, current: 5",
        "reason": "Timeout",
        "details": {
            "causes": [{"reason": "ResourceVersionTooLarge", "message": "Too large resource version"}],
            "retryAfterSeconds": 1,
        },
        "code": 504,
    }


def test_a_version_that_does_come(store: Store) -> None:
    writer = threading.Thread(target=put, args=(store, "f"))
    writer.start()
    found = lists.entries(store, POD, None, list_options.decode({"resourceVersion": "6"}, POD), patience=10)
    writer.join()
    assert found.version == 6


@pytest.mark.parametrize(
    "text, detail",
    [
        pytest.param("abc", "invalid syntax", id="text"),
        pytest.param("-1", "invalid syntax", id="negative"),
        pytest.param("18446744073709551616", "value out of range", id="too-large"),
        pytest.param("9" * 5000, "value out of range", id="very-large"),
    ],
)
def test_a_version_that_is_no_number(store: Store, text: str, detail: str) -> None:
    found = refusal(store, resourceVersion=text)
    problem = f'resourceVersion: Invalid value: "{text}": strconv.ParseUint: parsing "{text}": {detail}'
    assert (found["code"], found["message"]) == (400, f"invalid resource version: {problem}")


# ---- continue tokens -------------------------------------------------------------------------------------


def token_of(text: str) -> str:
    return base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")


def token(**fields: Any) -> str:
    return token_of(json.dumps({"v": "meta.k8s.io/v1", "rv": 5, "start": "a", **fields}))


@pytest.mark.parametrize(
    "text, message",
    [
        pytest.param("a.b", ": illegal base64 data at input byte 1", id="not-base64"),
        pytest.param("YWE=", ": illegal base64 data at input byte 3", id="padded"),
        pytest.param("abcde", ": illegal base64 data at input byte 4", id="cut-short"),
        pytest.param(token_of("hello"), ": invalid character 'h' looking for beginning of value", id="not-json"),
        pytest.param(token_of("{"), ": unexpected end of JSON input", id="half-json"),
        pytest.param(
            token_of("[]"), ": json: cannot unmarshal array into Go value of type storage.continueToken", id="no-object"
        ),
        pytest.param(
            token(rv="5"),
            ": json: cannot unmarshal string into Go struct field continueToken.rv of type int64",
            id="version-as-text",
        ),
        pytest.param(
            token(rv=2**63),
            ": json: cannot unmarshal number 9223372036854775808 into Go struct field continueToken.rv of type int64",
            id="version-too-large",
        ),
        pytest.param(
            token(start=7),
            ": json: cannot unmarshal number into Go struct field continueToken.start of type string",
            id="start-as-number",
        ),
        pytest.param(token(v="v9"), ": server does not recognize this encoded version v9", id="other-form"),
        pytest.param(token_of("null"), ": server does not recognize this encoded version ", id="null"),
        pytest.param(token(rv=0), ": incorrect encoded start resourceVersion (version meta.k8s.io/v1)", id="no-version"),
        pytest.param(token(start=""), ": encoded start key empty (version meta.k8s.io/v1)", id="no-start"),
        pytest.param(token(start="../secrets"), ": ../secrets", id="leads-out"),
        pytest.param(token(start="a//b"), ": a//b", id="empty-step"),
    ],
)
def test_tokens_that_are_refused(store: Store, text: str, message: str) -> None:
    found = refusal(store, continue_=text)
    assert (found["code"], found["message"]) == (400, f"invalid continue token: continue key is not valid{message}")


@pytest.mark.parametrize("at", [Continue(7, "x\0"), Continue(LATEST, "a/ü\0")])
def test_tokens_come_back_as_they_were(at: Continue) -> None:
    assert Continue.decode(at.encode()) == at


def test_a_token_from_the_beginning() -> None:
    assert Continue.decode(token(start="/")) == Continue(5, "")


def test_a_token_goes_without_a_version(store: Store) -> None:
    found = refusal(store, continue_=token(), resourceVersion="3")
    assert (found["code"], found["message"]) == (400, "specifying resource version is not allowed when using continue")
    assert names(page(store, "default", continue_=token(start="c"), resourceVersion="0")) == "cde"


def test_a_token_from_the_future(store: Store) -> None:
    assert refusal(store, continue_=token(rv=6))["message"] == "Timeout: Too large resource version: 6, current: 5"
