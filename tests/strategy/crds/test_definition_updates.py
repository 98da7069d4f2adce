"""Changes of definitions: what may not change, and what is judged again, each with its exact text."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from podstrat import Engine
from podstrat.strategy.crds import controllers
from podstrat.strategy.request import Request
from tests.strategy.crds.definitions import DNS_1035, TEXT, causes, create, definition, obj

LABEL = (
    "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with "
    "an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is "
    "'(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')"
)
ACCEPTED = f'status.acceptedNames.plural: Invalid value: "X": {DNS_1035}'


def updated(change: Any, subresource: str = "", stored: Any = None) -> list[str]:
    """The errors of a change of an established definition; ``stored`` changes what is there before."""
    engine = Engine()
    made = create(definition("Thing", obj(f=TEXT)), engine).body
    made["metadata"]["resourceVersion"] = "1"
    made = controllers.settled(made, [], "2026-01-01T00:00:00Z")
    if stored is not None:
        stored(made)
    changed = copy.deepcopy(made)
    change(changed)
    resource = "customresourcedefinitions.apiextensions.k8s.io"
    request = Request("update", subresource, changed, name="things.example.com", namespace="", resource=resource)
    return causes(engine.answer(request, made))


def rename_version(crd: dict[str, Any]) -> None:
    crd["spec"]["versions"][0]["name"] = "v2"


def change_scope_and_kind(crd: dict[str, Any]) -> None:
    crd["spec"]["scope"] = "Cluster"
    crd["spec"]["names"]["kind"] = "Thung"


def misname(crd: dict[str, Any]) -> None:
    crd["status"]["acceptedNames"]["plural"] = "X"


def mislabel(crd: dict[str, Any]) -> None:
    crd["metadata"]["labels"] = {"a": "-"}


@pytest.mark.parametrize(
    "change, want",
    [
        pytest.param(
            change_scope_and_kind,
            [
                'spec.scope: Invalid value: "Cluster": field is immutable',
                'spec.names.kind: Invalid value: "Thung": field is immutable',
            ],
            id="scope-and-kind",
        ),
        pytest.param(
            rename_version,
            [
                'status.storedVersions[0]: Invalid value: "v1": missing from spec.versions; v1 was previously a storage version, '
                "and must remain in spec.versions until a storage migration ensures no data remains persisted in v1 and removes "
                "v1 from status.storedVersions"
            ],
            id="stored-version",
        ),
        pytest.param(mislabel, [f'metadata.labels: Invalid value: "-": {LABEL}'] * 3, id="label"),
    ],
)
def test_updates(change: Any, want: list[str]) -> None:
    assert updated(change) == want


def test_names_that_a_controller_accepts_are_labels() -> None:
    assert updated(misname, "status") == [ACCEPTED]


def test_what_is_stored_is_judged_again() -> None:
    """Of what a request cannot change, too."""
    assert updated(lambda crd: None, "", stored=misname) == [ACCEPTED]
    assert updated(lambda crd: None, "status", stored=mislabel) == [f'metadata.labels: Invalid value: "-": {LABEL}'] * 3
