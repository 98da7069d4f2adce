"""The targets by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from tests.fuzz.patches import Patches
from tests.fuzz.requests import Requests
from tests.fuzz.target import Target
from tests.fuzz.webhook import Reviews
from tests.fuzz.yaml_texts import Texts

TARGETS: Mapping[str, Callable[[], Target]] = {
    "engine": lambda: Requests("create", "replace", "patch", "delete", "bind", "evict"),
    "apply": lambda: Requests("apply"),
    "patches": Patches,
    "goyaml": Texts,
    "webhook": Reviews,
}
