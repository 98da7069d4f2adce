"""The strategy and the rules of LimitRanges."""

from __future__ import annotations

import uuid
from collections.abc import Mapping

from podstrat.strategy import field
from podstrat.strategy.context import Context, Pod
from podstrat.strategy.decoding.codec import Seen
from podstrat.strategy.field import Errors
from podstrat.strategy.formats import quantity, validation
from podstrat.strategy.formats.quantity import Quantity
from podstrat.strategy.kinds import plain
from podstrat.strategy.kinds.kind import Create, Dropped, Strategy, Update
from podstrat.strategy.request import Request
from podstrat.strategy.rules import meta, resources
from podstrat.strategy.verbs import deletion

TYPES = ("Pod", "Container", "PersistentVolumeClaim")
NO_STORAGE = "either minimum or maximum storage value is required, but neither was provided"
NOT_FOR_PODS = "may not be specified when `type` is 'Pod'"
MAX_MILLI = (2**63 - 1) // 1000  # beyond it thousandths overflow an int64
LISTS = ("max", "min", "default", "defaultRequest", "maxLimitRequestRatio")


def default(obj: Pod, ctx: Context, filled: bool) -> None:
    """What a container gets where it says nothing: the maximum as its limit, the limit or else the minimum as its request.

    Upstream: SetDefaults_LimitRangeItem
    """
    for limit in obj["spec"].get("limits") or ():
        if limit.get("type") != "Container":
            continue
        limits = limit["default"] = {**(limit.get("max") or {}), **(limit.get("default") or {})}
        limit["defaultRequest"] = {**(limit.get("min") or {}), **limits, **(limit.get("defaultRequest") or {})}
        for key in ("default", "defaultRequest"):
            if not limit[key]:
                del limit[key]


def for_create(obj: Pod, request: Request, ctx: Context, seen: Seen) -> tuple[Dropped, list[str]]:
    """One without a name gets a UUID for one. It is made from the object's own: nothing here is random.

    Upstream: limitrangeStrategy.PrepareForCreate
    """
    if not obj["metadata"].get("name") and request.uid:
        obj["metadata"]["name"] = str(uuid.uuid5(uuid.NAMESPACE_OID, request.uid))
    return [], []


def rules(obj: Pod, ctx: Context, label_errors: meta.LabelErrors | None = None) -> Errors:
    """Upstream: ValidateLimitRange"""
    yield from meta.on_create(obj["metadata"], ctx, label_errors=label_errors)
    seen = set[str]()
    for i, limit in enumerate(obj["spec"].get("limits") or ()):
        at, kind = f"spec.limits[{i}]", limit.get("type", "")
        yield from _type(kind, f"{at}.type", ctx)
        if kind in seen:
            yield field.duplicate(f"{at}.type", kind)
        seen.add(kind)
        yield from _names(limit, kind, at, ctx)
        keys = [key for key in LISTS if not (kind == "Pod" and key in ("default", "defaultRequest"))]
        amounts = {key: {name: quantity.parse(text) for name, text in (limit.get(key) or {}).items()} for key in keys}
        for name in dict.fromkeys(name for key in keys for name in amounts[key]):
            yield from _resource(name, {key: amounts[key].get(name) for key in keys}, at)


def _type(kind: str, at: str, ctx: Context) -> Errors:
    """Upstream: validateLimitRangeTypeName"""
    if faults := validation.label_key(kind, ctx.name_unit):
        yield from validation.each(at, kind, faults)
    elif "/" not in kind and kind not in TYPES:
        yield field.invalid(at, kind, "must be a standard limit type or fully qualified")


def _names(limit: Pod, kind: str, at: str, ctx: Context) -> Errors:
    """Resources have names, and each type of limit its own of these."""
    rule = resources.container_name if kind in ("Pod", "Container") else resources.qualified_name
    for key in ("max", "min"):
        for name in limit.get(key) or ():
            yield from rule(name, f"{at}.{key}[{name}]", ctx)
    for key in ("default", "defaultRequest"):
        if kind == "Pod":
            if limit.get(key):
                yield field.forbidden(f"{at}.{key}", NOT_FOR_PODS)
            continue
        for name in limit.get(key) or ():
            yield from rule(name, f"{at}.{key}[{name}]", ctx)
    if kind == "PersistentVolumeClaim" and not any("storage" in (limit.get(key) or ()) for key in ("min", "max")):
        yield field.required(f"{at}.limits", NO_STORAGE, field.place_of(at))
    for name in limit.get("maxLimitRequestRatio") or ():
        yield from rule(name, f"{at}.maxLimitRequestRatio[{name}]", ctx)


def _resource(name: str, amounts: Mapping[str, Quantity | None], at: str) -> Errors:
    """What the limits of one resource have to do with each other."""
    least, most = amounts.get("min"), amounts.get("max")
    limit, request = amounts.get("default"), amounts.get("defaultRequest")

    def order(low: Quantity | None, high: Quantity | None, path: str, value: Quantity | None, words: str) -> Errors:
        if low is not None and high is not None and low > high and value is not None:
            low_word, high_word = words.split(" > ")
            text = f"{low_word} value {low.text} is greater than {high_word} value {high.text}"
            yield field.invalid(f"{at}.{path}[{name}]", value.text, text)

    yield from order(least, most, "min", least, "min > max")
    yield from order(least, request, "defaultRequest", request, "min > default request")
    yield from order(request, most, "defaultRequest", request, "default request > max")
    yield from order(request, limit, "defaultRequest", request, "default request > default limit")
    # The value that is shown is not the one that the path names.
    yield from order(least, limit, "default", least, "min > default")
    yield from order(limit, most, "default", most, "default > max")
    yield from _ratio(amounts.get("maxLimitRequestRatio"), least, most, f"{at}.maxLimitRequestRatio[{name}]")
    if not resources.traits(name).overcommit and limit is not None and request is not None and limit != request:
        text = f"default value {limit.text} must equal to defaultRequest value {request.text} in {name}"
        yield field.invalid(f"{at}.defaultRequest[{name}]", request.text, text)


def _ratio(ratio: Quantity | None, least: Quantity | None, most: Quantity | None, at: str) -> Errors:
    if ratio is None:
        return
    if ratio < quantity.parse("1"):
        yield field.invalid(at, ratio.text, f"ratio {ratio.text} is less than 1")
    if least is None or most is None:
        return
    value, low, high = float(ratio.value()), least.value(), most.value()
    if ratio.value() < MAX_MILLI and low < MAX_MILLI and high < MAX_MILLI:
        value, low, high = ratio.milli() / 1000, least.milli(), most.milli()
    largest = high / low if low else float("inf") if high > 0 else float("nan")
    if value > largest:
        yield field.invalid(at, ratio.text, f"ratio {ratio.text} is greater than max/min = {largest:.6f}")


def update_rules(obj: Pod, old: Pod, ctx: Context) -> Errors:
    """Upstream: limitrangeStrategy.ValidateUpdate"""
    yield from plain.generic(obj, old, ctx)
    yield from rules(obj, ctx, list(meta.labels_and_owners(obj["metadata"], ctx)))


STRATEGY = Strategy(
    default=default,
    create=Create(for_create, rules, plain.silent),
    updates={"": Update(plain.keep_metadata, update_rules, plain.no_warnings)},
    delete=deletion.background,
    creates_on_update=True,
)
