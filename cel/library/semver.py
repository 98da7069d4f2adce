"""The semver library: semantic versions, their parts and their order."""

from __future__ import annotations

import re
from typing import Any

from podstrat.cel import values
from podstrat.cel.errors import EvaluationError, no_such_overload

SIGNATURES = """
semver(string) -> kubernetes.Semver
semver(string, bool) -> kubernetes.Semver
isSemver(string) -> bool
isSemver(string, bool) -> bool
(kubernetes.Semver).major() -> int
(kubernetes.Semver).minor() -> int
(kubernetes.Semver).patch() -> int
(kubernetes.Semver).compareTo(kubernetes.Semver) -> int
(kubernetes.Semver).isGreaterThan(kubernetes.Semver) -> bool
(kubernetes.Semver).isLessThan(kubernetes.Semver) -> bool
"""

_NUMBER = r"(?:0|[1-9][0-9]{0,18})"
_NAMES = r"[0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*"
_VERSION = re.compile(rf"({_NUMBER})\.({_NUMBER})\.({_NUMBER})(?:-({_NAMES}))?(?:\+({_NAMES}))?")


class Semver(values.Opaque):
    """A semantic version; the build part does not count in comparisons."""

    type_name = "kubernetes.Semver"
    __slots__ = ("numbers", "prerelease")

    def __init__(self, numbers: tuple[int, int, int], prerelease: tuple[str, ...]) -> None:
        self.numbers = numbers
        self.prerelease = prerelease

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Semver) and self.compare(other) == 0

    def __hash__(self) -> int:
        return hash((self.numbers, self.prerelease))

    def compare(self, other: Semver) -> int:
        one, two = self._key(), other._key()
        return (one > two) - (one < two)

    def _key(self) -> tuple[Any, ...]:
        """A version before its release comes first; numbers among the names of a prerelease come before texts."""
        names = tuple((0, int(name), "") if name.isdigit() else (1, 0, name) for name in self.prerelease)
        return (*self.numbers, not self.prerelease, names)


def parse(text: Any, normalize: bool = False) -> Semver:
    """A version; with `normalize`, a leading v, missing parts and leading zeros are allowed."""
    if not isinstance(text, str):
        raise no_such_overload()
    match = _VERSION.fullmatch(_normalized(text) if normalize else text)
    names = tuple(match[4].split(".")) if match and match[4] else ()
    if not match or any(name.isdigit() and len(name) > 1 and name[0] == "0" for name in names):
        raise EvaluationError("No Major.Minor.Patch elements found" if text.count(".") < 2 else f"invalid semver: {text}")
    return Semver((int(match[1]), int(match[2]), int(match[3])), names)


def _normalized(text: str) -> str:
    text = text.removeprefix("v")
    core = re.split(r"[-+]", text, maxsplit=1)[0]
    parts = [part.lstrip("0") or "0" if part.isdigit() else part for part in core.split(".")]
    return ".".join([*parts, "0", "0"][: max(3, len(parts))]) + text[len(core) :]


def _is_semver(text: Any, normalize: bool = False) -> bool:
    try:
        parse(text, normalize)
    except EvaluationError:
        return False
    return True


def _number(index: int) -> Any:
    def get(value: Any) -> int:
        if not isinstance(value, Semver):
            raise no_such_overload()
        return value.numbers[index]

    return get


FUNCTIONS: dict[str, Any] = {
    "semver": parse,
    "isSemver": _is_semver,
    "major": _number(0),
    "minor": _number(1),
    "patch": _number(2),
}
