from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack

import pytest

from podstrat.testing.admission import Tls
from tests.apiserver.admission import hooks
from tests.apiserver.admission.hooks import Behaviour, Webhook
from tests.apiserver.admission.scene import Scene

Start = Callable[..., Webhook]


@pytest.fixture
def scene() -> Iterator[Scene]:
    with Scene() as made:
        yield made


@pytest.fixture
def start(podstrat_tls: Tls) -> Iterator[Start]:
    """Starts a webhook that ends with the test."""
    with ExitStack() as stack:

        def started(behave: Behaviour = hooks.allow) -> Webhook:
            webhook = stack.enter_context(hooks.running(podstrat_tls))
            webhook.behave = behave
            return webhook

        yield started
