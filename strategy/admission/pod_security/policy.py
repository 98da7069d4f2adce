"""The Pod Security policy of a namespace, read from its labels."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from podstrat.strategy import field
from podstrat.strategy.admission.pod_security import levels
from podstrat.strategy.admission.pod_security.levels import LevelVersion
from podstrat.strategy.field import FieldError

PREFIX = "pod-security.kubernetes.io/"
MODES = ("enforce", "audit", "warn")


class Policy(NamedTuple):
    """What a namespace asks of its pods."""

    enforce: LevelVersion = LevelVersion()
    audit: LevelVersion = LevelVersion()
    warn: LevelVersion = LevelVersion()

    @property
    def is_privileged(self) -> bool:
        """No mode asks for anything.

        Upstream: Policy.FullyPrivileged
        """
        return self.enforce.level == self.audit.level == self.warn.level == levels.PRIVILEGED


def of_labels(labels: Mapping[str, str], defaults: Policy) -> tuple[Policy, list[FieldError]]:
    """The policy, and what is wrong with the labels, in the server's order.

    A level that cannot be read is restricted when it is enforced and privileged otherwise; a version that cannot be read is the
    latest.

    Upstream: PolicyToEvaluate
    """
    if not any(key.startswith(PREFIX) for key in labels):
        return defaults, []
    errors: list[FieldError] = []
    found = {mode: _mode(labels, mode, getattr(defaults, mode), errors) for mode in MODES}
    policy = Policy(**found)
    enforced = labels.get(PREFIX + "enforce")
    if enforced in levels.LEVELS and PREFIX + "warn" not in labels and levels.is_stricter(enforced, policy.warn.level):
        minor = policy.warn.minor if PREFIX + "warn-version" in labels else policy.enforce.minor
        policy = policy._replace(warn=LevelVersion(enforced, minor))
    return policy, errors


def _mode(labels: Mapping[str, str], mode: str, default: LevelVersion, errors: list[FieldError]) -> LevelVersion:
    level, minor = default
    key = PREFIX + mode
    if (text := labels.get(key)) is not None:
        level = text
        if text not in levels.LEVELS:
            level = levels.RESTRICTED if mode == "enforce" else levels.PRIVILEGED
            errors.append(_invalid(key, text, levels.BAD_LEVEL))
    key += "-version"
    if (text := labels.get(key)) is not None:
        parsed = levels.parse_version(text)
        minor = levels.LATEST if parsed is None else parsed
        if parsed is None:
            errors.append(_invalid(key, text, levels.BAD_VERSION))
    return LevelVersion(level, minor)


def _invalid(key: str, text: str, detail: str) -> FieldError:
    return field.invalid(f"metadata.labels[{key}]", text, detail, where=("metadata", "labels", key))
