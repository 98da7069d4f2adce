"""The screenshots of docs/images, of the real pages in a real browser: `make images`."""

from __future__ import annotations

from pathlib import Path

from playwright.sync_api import Browser, Page, expect

from podstrat.play.command import site
from podstrat.up import scene, story
from podstrat.up.scheduler import Scheduler
from podstrat.up.system import Settings, System
from podstrat.up.view import View
from tools import browser as browsers

IMAGES = Path(__file__).resolve().parent.parent / "docs" / "images"
SIZE = {"width": 1360, "height": 820}
POD = """\
apiVersion: v1
kind: Pod
metadata:
  name: trainer
spec:
  restartPolicy: OnFailure
  containers:
  - name: main
    image: example.com/train:1
    lifecycle:
      stopSignal: SIGUSR1
    ports:
    - containerPort: 7000
"""


def opened(browser: Browser, url: str, scheme: str = "light") -> Page:
    page = browser.new_context(viewport=SIZE, color_scheme=scheme).new_page()  # type: ignore[arg-type]
    page.goto(url)
    return page


def shoot(page: Page, name: str) -> None:
    file = IMAGES / f"{name}.png"
    page.screenshot(path=file, animations="disabled")
    print(file.relative_to(IMAGES.parent.parent))


def playground(browser: Browser) -> None:
    with site() as server:
        page = opened(browser, server.url)
        expect(page.locator(".finding")).to_have_count(3)
        shoot(page, "playground")
        page = opened(browser, server.url, "dark")
        page.locator("#text").evaluate("(area, text) => { area.value = text; area.dispatchEvent(new Event('input')) }", POD)
        page.locator("#plugins").select_option("default")
        page.get_by_role("tab", name="Stored").click()
        expect(page.locator("#stored .row.added", has_text="priority: 0")).to_be_visible()
        shoot(page, "playground-stored")


def live(browser: Browser) -> None:
    """After the driver has broken two GPUs and somebody has lied about one."""
    with System(Settings(web=True)) as system, Scheduler(system.api(), scene.NODE):
        page = opened(browser, system.page)
        stage = story.Stage(system, View(live=False))
        scene.apply(stage.api, system.credentials.webhook_bundle)
        for step in story.STEPS[:6]:
            step.play(stage)
        expect(page.locator("#pods tr", has_text="PermanentDriverFailure")).to_be_visible()
        expect(page.locator("#timeline .decision", has_text="denied").first).to_be_visible()
        page.wait_for_timeout(2000)
        shoot(page, "live")


def main() -> None:
    with browsers.launched() as browser:
        playground(browser)
        live(browser)


if __name__ == "__main__":
    main()
