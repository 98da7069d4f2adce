"""What a first review builds is built before workers are forked, whichever endpoint they serve."""

from __future__ import annotations

from podstrat.webhook import warmup
from podstrat.webhook.chain import Chain
from podstrat.webhook.settings import Settings


def test_every_kind_of_engine_is_warm(monkeypatch):
    reviewed = set()
    review = Chain.review

    def recorded(self, phase, request):
        reviewed.add((phase, request.operation, request.sub_resource))
        return review(self, phase, request)

    monkeypatch.setattr(Chain, "review", recorded)
    warmup.warm(Chain(Settings(server_version="1.37", preflight="on", preflight_version="1.36")))
    parts = (("CREATE", ""), ("UPDATE", ""), ("UPDATE", "status"))
    assert reviewed == {(phase, *part) for phase in ("mutate", "validate", "preflight") for part in parts}
