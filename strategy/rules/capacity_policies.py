"""How much of a device's capacity a request may take: one of some amounts, or any of a range."""

from __future__ import annotations

from podstrat.strategy import errors, field
from podstrat.strategy.context import V1_37, Context, Pod
from podstrat.strategy.field import Errors
from podstrat.strategy.formats import quantity
from podstrat.strategy.formats.quantity import Quantity
from podstrat.strategy.rules import devices

VALUES = 10  # upstream: CapacityRequestPolicyDiscreteMaxOptions
LARGEST = (1 << 63) - 1
FRACTIONS = "DRAFractionalCapacityRange"
BOTH = 'exactly one policy can be specified, cannot specify "validValues" and "validRange" at the same time'
BAD_DEFAULT = "default value is not valid according to the requestPolicy"
UNSORTED = "values must be sorted in ascending order"
NOT_MILLI = "value cannot be represented as a milli value"


def policy(capacity: Pod, at: str, ctx: Context) -> Errors:
    """Upstream: validateRequestPolicy"""
    policy = capacity["requestPolicy"]
    largest = quantity.parse(capacity.get("value", "0"))
    values, limits = policy.get("validValues") or [], policy.get("validRange")
    default = policy.get("default")
    if values and limits is not None:
        yield field.forbidden(at, BOTH)
    elif values:
        if default is None:
            yield field.required(f"{at}.default", "required when validValues is defined")
        else:
            yield from _values([*map(quantity.parse, values)], quantity.parse(default), largest, f"{at}.validValues", ctx)
    elif limits is not None:
        if default is None:
            yield field.required(f"{at}.default", "required when validRange is defined")
        else:
            for error in _range(limits, quantity.parse(default), largest, f"{at}.validRange", ctx):
                wrong = f"{at}.validRange.default"
                yield error._replace(place=field.place_of(f"{at}.default")) if error.field == wrong else error


def _values(values: list[Quantity], default: Quantity, largest: Quantity, at: str, ctx: Context) -> Errors:
    """Upstream: validateRequestPolicyValidValues"""
    for i in range(1, len(values)):
        if values[i - 1] > values[i]:
            yield field.invalid(f"{at}[{i}]", values[i].text, UNSORTED)
    if len(values) > VALUES:
        yield from devices.at_most(values, VALUES, at)
    else:
        for i, value in enumerate(values):
            if value > largest:
                yield field.invalid(f"{at}[{i}]", value.text, f"option is larger than capacity value: {largest.text}")
        keys = [value.canonical if FRACTIONS in ctx.gates else str(value.value()) for value in values]
        yield from devices.unique(values, keys, at, "")
    if default not in values or len(values) > VALUES:
        yield field.invalid(at, default.text, BAD_DEFAULT)


def _range(limits: Pod, default: Quantity, largest: Quantity, at: str, ctx: Context) -> Errors:
    """Upstream: validateRequestPolicyRange"""
    low, high, step = (quantity.parse(limits[name]) if name in limits else None for name in ("min", "max", "step"))
    if low is None:
        yield field.required(f"{at}.min", "required when validRange is defined")
        return
    if low > largest:
        yield field.invalid(f"{at}.min", low.text, f"min is larger than capacity value: {largest.text}")
    if default < low:
        yield field.invalid(f"{at}.default", default.text, f"default is less than min: {low.text}")
    if high is not None:
        if low > high:
            yield field.invalid(f"{at}.max", low.text, f"min is larger than max: {high.text}")
        if high > largest:
            yield field.invalid(f"{at}.max", high.text, f"max is larger than capacity value: {largest.text}")
        if default > high:
            yield field.invalid(f"{at}.default", default.text, f"default is more than max: {high.text}")
    amounts = {"default": default, "min": low, "max": high, "step": step}
    parts = {name: part for name, part in amounts.items() if part is not None}
    milli = FRACTIONS in ctx.gates and not all(part.is_whole for part in parts.values())
    if milli and (odd := {name: part for name, part in parts.items() if not part.is_milli}):
        for name, part in odd.items():
            yield field.invalid(f"{at}.{name}", part.text, NOT_MILLI)
        return
    if step is not None:
        yield from _steps(parts, largest, at, milli, ctx)


def _steps(parts: dict[str, Quantity], largest: Quantity, at: str, milli: bool, ctx: Context) -> Errors:
    """The default and the maximum are whole steps above the minimum. 1.36 divides by a step of zero."""
    low, step = parts["min"], parts["step"]
    if ctx.version >= V1_37 and step.sign <= 0:
        yield field.invalid(f"{at}.step", step.text, "must be greater than zero")
        return
    one = low + step
    if one > largest:
        words = f"one step {one.canonical} is larger than capacity value: {largest.text}"
        yield field.invalid(f"{at}.step", step.text, words)
    if ctx.version >= V1_37 and not milli and (odd := [*_beyond_int64(parts, at)]):
        yield from odd
        return
    size = _number(step, milli)
    if size == 0:
        raise errors.Panic(f"{at}.step of zero; set a step that is greater than zero")
    for name in ("default", "max"):
        if name in parts and (_number(parts[name], milli) - _number(low, milli)) % size:
            words = f"value is not a multiple of a given step ({step.text}) from ({low.text})"
            yield field.invalid(f"{at}.step", parts[name].text, words)


def _beyond_int64(parts: dict[str, Quantity], at: str) -> Errors:
    """Upstream: validateInt64Range"""
    for name in ("default", "min", "max", "step"):
        part = parts.get(name)
        if part is None:
            continue
        if part.sign < 0:
            yield field.invalid(f"{at}.{name}", part.text, "must be greater than or equal to 0")
        elif part > quantity.parse(str(LARGEST)):
            yield field.invalid(f"{at}.{name}", part.text, f"must not be larger than {LARGEST}")


def _number(amount: Quantity, milli: bool) -> int:
    return amount.milli() if milli else amount.value()
