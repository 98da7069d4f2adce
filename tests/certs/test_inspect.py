"""What certificates say, and who vouches for whom."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from podstrat.certs import inspect
from podstrat.certs.issuing import Authority, Pair

NOW = datetime(2026, 1, 1, tzinfo=UTC)
DAY = timedelta(days=1)
ONE, OTHER = Authority.new("same name", NOW, 100 * DAY), Authority.new("same name", NOW, 100 * DAY)
LEAF = ONE.server(["Hook.ns.svc", "::1"], NOW, 10 * DAY)


def test_facts() -> None:
    facts = inspect.facts(LEAF.certificate)
    assert facts.names == ("Hook.ns.svc", "::1")
    assert (facts.subject, facts.issuer) == ("CN=Hook.ns.svc", "CN=same name")
    assert not facts.is_authority
    assert inspect.facts(ONE.certificate).is_authority
    assert facts.is_valid(NOW)
    assert not facts.is_valid(NOW + 10 * DAY)
    assert not facts.is_valid(NOW - DAY)
    assert 0.49 < facts.left(NOW + 5 * DAY) < 0.51


@pytest.mark.parametrize(
    "bundle, chain, days, trusted",
    [
        pytest.param(ONE.certificate, LEAF.certificate, 0, True, id="its-authority"),
        pytest.param(OTHER.certificate, LEAF.certificate, 0, False, id="another-of-that-name"),
        pytest.param(OTHER.certificate + ONE.certificate, LEAF.certificate, 0, True, id="both"),
        pytest.param(ONE.certificate, LEAF.certificate, 11, False, id="the-leaf-is-over"),
        pytest.param(ONE.certificate, LEAF.certificate, -1, False, id="the-leaf-is-to-come"),
        pytest.param(LEAF.certificate, LEAF.certificate, 0, True, id="trusted-itself"),
        pytest.param(b"", LEAF.certificate, 0, False, id="nobody"),
        pytest.param(LEAF.certificate, OTHER.server(["a"], NOW).certificate, 0, False, id="a-leaf-vouches-for-nobody"),
    ],
)
def test_who_vouches(bundle: bytes, chain: bytes, days: int, trusted: bool) -> None:
    assert inspect.vouches(bundle, chain, NOW + days * DAY) is trusted


def test_keys_and_their_certificates() -> None:
    assert inspect.belong_together(LEAF)
    assert not inspect.belong_together(Pair(LEAF.certificate, ONE.pair.key))
    with pytest.raises(inspect.Unreadable, match="contains no valid key"):
        inspect.belong_together(Pair(LEAF.certificate, b"nonsense"))
    with pytest.raises(inspect.Unreadable, match="contains no valid certificate"):
        inspect.facts(b"nonsense")


def test_names() -> None:
    assert inspect.has_names(LEAF.certificate, ["hook.NS.svc", "0:0:0:0:0:0:0:1"])
    assert not inspect.has_names(LEAF.certificate, ["hook.ns"])
