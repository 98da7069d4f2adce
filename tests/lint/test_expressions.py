"""Which match conditions go through a list of the request for each item of another."""

from __future__ import annotations

import pytest

from podstrat.lint import expressions
from tests.manifests.test_rendered import pick

QUADRATIC = """oldObject.?status.?conditions.orValue([]).exists(old, old.?observedGeneration.orValue(0) != 0
  && object.?status.?conditions.orValue([]).exists(new, new.type == old.type && new.?observedGeneration.orValue(0) == 0))"""


CASES = [
    pytest.param(QUADRATIC, "object.?status.?conditions.orValue([])", id="as-it-was-shipped"),
    pytest.param("object.a.all(x, object.b.exists(y, x == y))", "object.b", id="both-of-the-object"),
    pytest.param("(object.a + object.b).exists(x, oldObject.c.exists(y, y == x))", "oldObject.c", id="in-brackets"),
    pytest.param("size(object.a.filter(x, params.b['c'].exists(y, y == x))) > 0", "params.b['c']", id="an-index"),
    pytest.param("object.a.all(x, x.b.all(y, object.c.all(z, z == y)))", "object.c", id="two-levels-down"),
    pytest.param("object.a.all(x, x.items.exists(y, y.z))", None, id="of-the-item-itself"),
    pytest.param("object.a.all(x, x.b) && object.c.exists(y, y.d)", None, id="one-after-the-other"),
    pytest.param("size([object, oldObject].map(pod, pod.a.filter(x, x.b))) > 0", None, id="a-list-that-is-written-out"),
    pytest.param("[object.a.map(x, x.n)].exists(names, oldObject.a.exists(y, y.n in names))", None, id="collected-once"),
    pytest.param("size(object.a.map(x, 'object.b.exists(y, y)')) > 0", None, id="in-a-text"),
    pytest.param("request.userInfo.groups.exists(g, g == object.metadata.name)", None, id="no-loop-inside"),
    pytest.param("object.a.all(", None, id="half"),
]


@pytest.mark.parametrize("expression, inner", CASES)
def test_scanned(expression: str, inner: str | None) -> None:
    assert expressions.scanned(expression) == inner


@pytest.mark.parametrize("expression, inner", CASES)
def test_nested(expression: str, inner: str | None) -> None:
    """By the syntax tree; `params` is not declared in match conditions of webhooks, so that there the scan is left."""
    shown = inner and inner.replace("?", "").removesuffix(".orValue([])")
    assert expressions.nested(expression) == shown


def test_a_name_for_a_list_is_seen_through() -> None:
    expression = "[object.a].exists(items, oldObject.b.exists(x, items.exists(y, x == y)))"
    assert expressions.scanned(expression) is None
    assert expressions.nested(expression) == "object.a"


@pytest.mark.parametrize("kind", ["MutatingWebhookConfiguration", "ValidatingWebhookConfiguration"])
def test_ours(kind: str) -> None:
    found = [each["expression"] for hook in pick("complete", kind)["webhooks"] for each in hook["matchConditions"]]
    assert found
    assert [expressions.nested(each) for each in found] == [None] * len(found)
