"""A real browser, if this machine has one: `make browser` installs it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import pytest

from tools import browser as browsers

MISSING = "no Chromium on this machine: make browser"

if TYPE_CHECKING:
    from playwright.sync_api import Browser, ConsoleMessage, Page, Request


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Not for the whole session: Playwright keeps an event loop running, beside which no other test could run one."""
    if browsers.executable() is None:
        pytest.skip(MISSING)
    with browsers.launched() as made:
        yield made


class Seen:
    """What a page has asked for and complained about."""

    def __init__(self) -> None:
        self.complaints: list[str] = []
        self.requests: list[str] = []

    def console(self, message: ConsoleMessage) -> None:
        if message.type in ("error", "warning"):
            self.complaints.append(message.text)

    def requested(self, request: Request) -> None:
        self.requests.append(request.url)


@pytest.fixture
def visit(browser: Browser) -> Iterator[Callable[..., Page]]:
    """Opens an address in a profile of its own. No page, but one that is ``refused``, may complain or ask another server."""
    contexts: list[Any] = []
    seen: list[tuple[str, Seen]] = []

    def opened(url: str, *, refused: bool = False, **options: Any) -> Page:
        options.setdefault("viewport", {"width": 1360, "height": 860})
        context = browser.new_context(**options)
        context.set_default_timeout(60_000)
        contexts.append(context)
        page, watched = context.new_page(), Seen()
        page.on("console", watched.console)
        page.on("pageerror", lambda error: watched.complaints.append(str(error)))
        page.on("request", watched.requested)
        page.on("dialog", lambda dialog: (watched.complaints.append(dialog.message), dialog.dismiss()))
        if not refused:
            seen.append((url, watched))
        page.goto(url)
        return page

    yield opened
    for context in contexts:
        context.close()
    for url, watched in seen:
        assert watched.complaints == []
        origin = url.partition("/?")[0]
        assert [each for each in watched.requests if not each.startswith(origin)] == []


def serious(page: Page) -> list[str]:
    """What axe-core finds that keeps people from using a page."""
    from axe_playwright_python.sync_playwright import Axe

    found = Axe().run(page).response["violations"]
    return [
        f"{each['id']}: {node['html']}: {node['failureSummary']}"
        for each in found
        if each["impact"] in ("serious", "critical")
        for node in each["nodes"]
    ]
