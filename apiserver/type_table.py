"""The types of every served kind: the engine's table and those it lacks.

Types of kinds without rules are read from apiserver/others when the first object of such a kind comes.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Final, NamedTuple

from podstrat.apiserver import cluster_types
from podstrat.strategy.api.types import Field, Types

_HEAD: Final = {"apiVersion": "string omitempty in=TypeMeta", "kind": "string omitempty in=TypeMeta"}
_META: Final = {**_HEAD, "metadata": "ObjectMeta omitempty wire=bytes,1"}
_WEBHOOK: Final = {
    "name": "string wire=bytes,1",
    "clientConfig": "admissionregistration.WebhookClientConfig wire=bytes,2",
    "rules": "[]admissionregistration.RuleWithOperations omitempty wire=bytes,3",
    "failurePolicy": "string * omitempty wire=bytes,4",
    "namespaceSelector": "LabelSelector * omitempty wire=bytes,5",
    "sideEffects": "string * wire=bytes,6",
    "timeoutSeconds": "int32 * omitempty wire=varint,7",
    "admissionReviewVersions": "[]string wire=bytes,8",
    "matchPolicy": "string * omitempty wire=bytes,9",
}
_CONDITIONS: Final = "[]admissionregistration.MatchCondition omitempty patch=merge key=name"

# In the words of the engine's tables; the same in every release.
WEBHOOKS: Final[dict[str, dict[str, str]]] = {
    "admissionregistration.MutatingWebhookConfiguration": {
        **_META,
        "webhooks": "[]admissionregistration.MutatingWebhook omitempty patch=merge key=name wire=bytes,2",
    },
    "admissionregistration.ValidatingWebhookConfiguration": {
        **_META,
        "webhooks": "[]admissionregistration.ValidatingWebhook omitempty patch=merge key=name wire=bytes,2",
    },
    "admissionregistration.MutatingWebhook": {
        **_WEBHOOK,
        "reinvocationPolicy": "string * omitempty wire=bytes,10",
        "objectSelector": "LabelSelector * omitempty wire=bytes,11",
        "matchConditions": f"{_CONDITIONS} wire=bytes,12",
    },
    "admissionregistration.ValidatingWebhook": {
        **_WEBHOOK,
        "objectSelector": "LabelSelector * omitempty wire=bytes,10",
        "matchConditions": f"{_CONDITIONS} wire=bytes,11",
    },
    "admissionregistration.WebhookClientConfig": {
        "service": "admissionregistration.ServiceReference * omitempty wire=bytes,1",
        "caBundle": "bytes omitempty wire=bytes,2",
        "url": "string * omitempty wire=bytes,3",
    },
    "admissionregistration.ServiceReference": {
        "namespace": "string wire=bytes,1",
        "name": "string wire=bytes,2",
        "path": "string * omitempty wire=bytes,3",
        "port": "int32 * omitempty wire=varint,4",
    },
    "admissionregistration.RuleWithOperations": {
        "operations": "[]string omitempty wire=bytes,1",
        "apiGroups": "[]string omitempty in=Rule wire=bytes,1",
        "apiVersions": "[]string omitempty in=Rule wire=bytes,2",
        "resources": "[]string omitempty in=Rule wire=bytes,3",
        "scope": "string * omitempty in=Rule wire=bytes,4",
    },
}

OTHERS: Final[dict[str, dict[str, str]]] = {**WEBHOOKS, **cluster_types.TYPES}
"""Those that the engine's table does not have, and whose field numbers are known."""
FOLDER: Final = Path(__file__).with_name("others")


class Published(NamedTuple):
    """The types of the kinds that are kept by their published schema, of one release."""

    types: Mapping[str, dict[str, str]]
    lists: Mapping[str, dict[str, str]]
    """How their lists merge."""


@cache
def published(release: str) -> Published:
    """Every caller gets the same tables."""
    table = json.loads((FOLDER / f"types-{release}.json").read_bytes())
    return Published(table["types"], table["lists"])


def complete(types: Types) -> Types:
    """The engine's types with all others of their release."""
    others = published(types.release)
    # Of reviews the fields are those of the release; the table has the numbers of those that every release has.
    reviews = {name: others.types[name] for name in cluster_types.REVIEWS if name in others.types}
    return types.with_types({**others.types, **OTHERS, **reviews}, others.lists)


def fields(types: Types, type_name: str) -> dict[str, Field]:
    """The fields of a type by JSON name; KeyError if there is no such type."""
    return types.fields(type_name) if type_name in types else _others().fields(type_name)


def has(types: Types, type_name: str) -> bool:
    return type_name in types or type_name in OTHERS


@cache
def _others() -> Types:
    return Types("1.37", OTHERS)
