"""Rules of the names in a definition: DNS-1035 labels, and kinds in mixed case."""

from __future__ import annotations

import re
from typing import Any

from podstrat.strategy import field
from podstrat.strategy.field import Errors
from podstrat.strategy.formats import validation

_PATTERN = "[a-z]([-a-z0-9]*[a-z0-9])?"
_LABEL = re.compile(_PATTERN)
DNS_1035 = validation.pattern_text(
    "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end "
    "with an alphanumeric character",
    _PATTERN,
    "my-name",
    "abc-123",
)
MIXED_CASE = "may have mixed case, but should otherwise match: "
LONGEST = 63  # a DNS label


def faults(text: str) -> list[str]:
    """Upstream: IsDNS1035Label"""
    texts = [validation.no_longer_than(LONGEST)] if len(text.encode()) > LONGEST else []
    return texts if _LABEL.fullmatch(text) else [*texts, DNS_1035]


def label(text: str, at: str) -> Errors:
    if texts := faults(text):
        yield field.invalid(at, text, ",".join(texts))


def mixed_case(text: str, at: str) -> Errors:
    if texts := faults(text.lower()):
        yield field.invalid(at, text, MIXED_CASE + ",".join(texts))


def rules(names: dict[str, Any], at: str) -> Errors:
    """What names are made of; those that are empty are not looked at.

    Upstream: ValidateCustomResourceDefinitionNames
    """
    for key in ("plural", "singular"):
        if names.get(key):
            yield from label(names[key], f"{at}.{key}")
    for key in ("kind", "listKind"):
        if names.get(key):
            yield from mixed_case(names[key], f"{at}.{key}")
    for i, name in enumerate(names.get("shortNames") or ()):
        yield from label(name, f"{at}.shortNames[{i}]")
    if names.get("listKind") and names["listKind"] == names.get("kind"):
        yield field.invalid(f"{at}.listKind", names["listKind"], "kind and listKind may not be the same")
    for i, name in enumerate(names.get("categories") or ()):
        yield from label(name, f"{at}.categories[{i}]")
