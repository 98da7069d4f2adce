"""Lenient readers: values of the wrong type count as absent."""

from __future__ import annotations

from typing import Any

Object = dict[str, Any]


def mapping(value: Any) -> Object:
    return value if isinstance(value, dict) else {}


def sequence(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def mappings(value: Any) -> list[Object]:
    """The maps of a list, by index; an empty map for items of another type."""
    return [mapping(each) for each in sequence(value)]


def texts(value: Any) -> list[str]:
    return [each for each in sequence(value) if isinstance(each, str)]


def text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def number(value: Any, otherwise: int) -> int:
    return value if type(value) is int else otherwise


def labels(value: Any) -> dict[str, str]:
    return {key: each for key, each in mapping(value).items() if isinstance(each, str)}


def selects(selector: Any, pairs: dict[str, str]) -> bool:
    """Whether a label selector takes labels. An empty one takes all; what cannot be understood takes none."""
    selector = mapping(selector)
    if any(pairs.get(key) != value for key, value in mapping(selector.get("matchLabels")).items()):
        return False
    return all(_holds(each, pairs) for each in mappings(selector.get("matchExpressions")))


def _holds(requirement: Object, pairs: dict[str, str]) -> bool:
    key, values = text(requirement.get("key")), texts(requirement.get("values"))
    operator = requirement.get("operator")
    if operator == "In":
        return pairs.get(key) in values
    if operator == "NotIn":
        return pairs.get(key) not in values
    if operator == "Exists":
        return key in pairs
    return operator == "DoesNotExist" and key not in pairs
