"""docs/rules.md is what `make rules` makes, and finds rules by the names that people look for."""

from __future__ import annotations

import pytest

from tools import make_rules

RULES = make_rules.rules()


def test_the_page_is_current() -> None:
    assert make_rules.FILE.read_text() == make_rules.page(), "run `make rules`"


@pytest.mark.parametrize(
    "field, module, name",
    [
        ("containerPort", "strategy/rules/ports.py", "each"),
        ("hostPort", "strategy/rules/ports.py", "host_network"),
        ("schedulingGates", "strategy/rules/scheduling.py", "gates"),
        ("failureThreshold", "strategy/rules/probes.py", "_probe"),
        ("creationTimestamp", "strategy/rules/meta.py", "on_update"),
    ],
)
def test_a_field_leads_to_its_rule(field: str, module: str, name: str) -> None:
    assert (module, name) in {(rule.module, rule.name) for rule in RULES if field in rule.fields}


def test_a_variable_of_two_loops_is_that_of_the_nearer_one() -> None:
    assert not [rule.name for rule in RULES if "excludeResourceRules" in rule.fields and rule.name == "label_selector"]


def test_an_upstream_function_leads_to_its_rule() -> None:
    assert {rule.name for rule in RULES if rule.upstream == "validateSchedulingGates"} == {"gates"}


def test_every_reference_is_there() -> None:
    written = sum(path.read_text().count("Upstream: ") for path in (make_rules.ROOT / "strategy").rglob("*.py"))
    assert len(RULES) > 0.97 * written, "docstrings of inner functions and comments are the rest"
