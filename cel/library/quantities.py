"""The quantity library: quantity('1Gi'), comparison and arithmetic of amounts."""

from __future__ import annotations

from typing import Any

from podstrat.cel import values
from podstrat.cel.errors import EvaluationError, no_such_overload
from podstrat.strategy.formats import quantity as formats

SIGNATURES = """
quantity(string) -> kubernetes.Quantity
isQuantity(string) -> bool
sign(kubernetes.Quantity) -> int
(kubernetes.Quantity).isInteger() -> bool
(kubernetes.Quantity).asInteger() -> int
(kubernetes.Quantity).asApproximateFloat() -> double
(kubernetes.Quantity).add(kubernetes.Quantity) -> kubernetes.Quantity
(kubernetes.Quantity).add(int) -> kubernetes.Quantity
(kubernetes.Quantity).sub(kubernetes.Quantity) -> kubernetes.Quantity
(kubernetes.Quantity).sub(int) -> kubernetes.Quantity
(kubernetes.Quantity).compareTo(kubernetes.Quantity) -> int
(kubernetes.Quantity).isGreaterThan(kubernetes.Quantity) -> bool
(kubernetes.Quantity).isLessThan(kubernetes.Quantity) -> bool
"""


class Quantity(values.Opaque):
    """An amount."""

    type_name = "kubernetes.Quantity"
    __slots__ = ("amount",)

    def __init__(self, amount: formats.Quantity) -> None:
        self.amount = amount

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Quantity) and self.compare(other) == 0

    def __hash__(self) -> int:
        return hash(self.amount)

    def compare(self, other: Quantity) -> int:
        return int(self.amount > other.amount) - int(self.amount < other.amount)


def parse(text: Any) -> Quantity:
    if not isinstance(text, str):
        raise no_such_overload()
    try:
        return Quantity(formats.parse(text))
    except formats.QuantityError as error:
        raise EvaluationError(error.message) from None


def _is_quantity(text: Any) -> bool:
    try:
        parse(text)
    except EvaluationError:
        return False
    return True


def _amount(value: Any) -> formats.Quantity:
    if isinstance(value, Quantity):
        return value.amount
    if isinstance(value, int) and not isinstance(value, bool):
        return formats.parse(str(value))
    raise no_such_overload()


def _as_integer(value: Quantity) -> int:
    if not _is_integer(value):
        raise EvaluationError("cannot convert value to integer")
    return _amount(value).value()


def _is_integer(value: Quantity) -> bool:
    """Whether the amount is a whole number that an int64 holds."""
    amount = _amount(value)
    return formats.parse(str(amount.value())) == amount


def _compare(value: Any, other: Any) -> int:
    """compareTo of quantities and of semantic versions: both values have to be of one kind."""
    if not isinstance(value, values.Opaque) or type(value) is not type(other) or not hasattr(value, "compare"):
        raise no_such_overload()
    return int(value.compare(other))


FUNCTIONS: dict[str, Any] = {
    "quantity": parse,
    "isQuantity": _is_quantity,
    "sign": lambda value: _amount(value).sign,
    "isInteger": _is_integer,
    "asInteger": _as_integer,
    "asApproximateFloat": lambda value: _amount(value).approximate(),
    "add": lambda value, other: Quantity(_amount(value) + _amount(other)),
    "sub": lambda value, other: Quantity(_amount(value) - _amount(other)),
    "compareTo": _compare,
    "isGreaterThan": lambda value, other: _compare(value, other) > 0,
    "isLessThan": lambda value, other: _compare(value, other) < 0,
}
