"""Merging tolerations: those that another one covers are left out.

Upstream: k8s.io/kubernetes/pkg/util/tolerations
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

Toleration = dict[str, Any]

EXISTS, EQUAL = "Exists", "Equal"


def merge(first: Sequence[Toleration], second: Sequence[Toleration]) -> list[Toleration]:
    """Both lists in order, without those that an earlier one covers, or a later one that covers more.

    Upstream: MergeTolerations
    """
    every = [*first, *second]
    kept: list[Toleration] = []
    for index, toleration in enumerate(every):
        if any(covers(other, toleration) for other in kept):
            continue
        later = every[index + 1 :]
        if any(covers(other, toleration) and not is_equal(other, toleration) for other in later):
            continue
        kept.append(toleration)
    return kept


def covers(one: Toleration, other: Toleration) -> bool:
    """Whether ``one`` tolerates everything that ``other`` does.

    Upstream: isSuperset
    """
    if is_equal(one, other):
        return True
    key, operator, effect = one.get("key", ""), one.get("operator", ""), one.get("effect", "")
    if other.get("key", "") != key and (key or operator != EXISTS):
        return False
    if other.get("effect", "") != effect and effect:
        return False
    if effect == "NoExecute" and one.get("tolerationSeconds") is not None:
        seconds = other.get("tolerationSeconds")
        if seconds is None or seconds > one["tolerationSeconds"]:
            return False
    if operator in (EQUAL, ""):
        return bool(other.get("operator", "") == EQUAL and one.get("value", "") == other.get("value", ""))
    return bool(operator == EXISTS)


def is_equal(one: Toleration, other: Toleration) -> bool:
    names = ("key", "operator", "value", "effect")
    same = all(one.get(name, "") == other.get(name, "") for name in names)
    return same and one.get("tolerationSeconds") == other.get("tolerationSeconds")
