"""The names of podstrat.strategy that docs/unit-testing.md promises: these, each where the page says."""

from __future__ import annotations

import importlib
import re
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[2] / "docs" / "unit-testing.md"
SUPPORTED = {
    "engine": "Engine",
    "request": "Request Answer Store Remove StoreBudget",
    "outcome": "Outcome",
    "context": "Context",
    "field": "FieldError invalid required forbidden duplicate place_of",
    "errors": "ApiError BadRequest Forbidden NotFound AlreadyExists Conflict Invalid",
    "changes": "Change",
    "defaults": "pod pod_spec",
    "qos": "of",
    "semantic": "equal",
    "workloads": "KINDS",
    "formats.quantity": "parse compare printed QuantityError",
    "gates.history": "RELEASES enabled known parse_flag parse_version GateError VersionError",
    "gates.fields": "drop_disabled",
    "verbs.create": "run",
    "verbs.update": "run",
    "verbs.prepare": "for_create for_update for_status_update for_resize for_ephemeral_containers generation"
    " keep_observed_generation",
    "verbs.deletion": "pod",
    "verbs.binding": "bind",
    "verbs.eviction": "evict",
    "rules.pod": "create update update_status resized ephemeral_containers",
    "rules.ports": "each conflicts host_network",
    "rules.health": "statuses none_in of_pod",
    "warn": "on_create on_status_update",
    "patch": "apply result",
}


def test_the_page_lists_what_is_supported() -> None:
    section = PAGE.read_text().partition("## Strategy functions in unit tests")[2].partition("\n## ")[0]
    rows = re.findall(r"^\| `([\w.]+)` \| (.+) \|$", section, re.MULTILINE)
    assert {module: re.findall(r"`(\w+)`", names) for module, names in rows} == {
        module: names.split() for module, names in SUPPORTED.items()
    }


@pytest.mark.parametrize("module", SUPPORTED)
def test_each_name_is_at_home_in_its_module(module: str) -> None:
    found = importlib.import_module(f"podstrat.strategy.{module}")
    for name in SUPPORTED[module].split():
        value = getattr(found, name)
        home = getattr(value, "__module__", found.__name__)
        assert home == found.__name__ or home.startswith(f"{found.__name__}."), f"{name} comes from {home}"
