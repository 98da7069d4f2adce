"""The playground in a real browser: typing, dropping, choosing; hostile texts; keyboards and screen readers."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from email.message import Message

import pytest

from podstrat.play.command import site
from podstrat.web.assets import Asset
from podstrat.web.guard import Admitted, Rejected
from podstrat.web.server import PageServer, Site
from tests.browser.conftest import serious
from tests.play.bad_pods import BAD, POD

pytest.importorskip("playwright", reason="playwright is not installed: make browser")

from playwright.sync_api import Page, expect

Visit = Callable[..., Page]

HOSTILE = "<img src=x onerror=alert(1)>\u202egnp.\u2066"
DROP = """([name, text]) => {
    const data = new DataTransfer();
    data.items.add(new File([text], name, { type: "text/yaml" }));
    for (const type of ["dragover", "drop"])
        document.body.dispatchEvent(new DragEvent(type, { dataTransfer: data, bubbles: true, cancelable: true }));
}"""


@pytest.fixture(scope="module")
def server() -> Iterator[PageServer]:
    with site() as made:
        yield made


@pytest.fixture
def page(server: PageServer, visit: Visit) -> Page:
    made = visit(server.url)
    expect(made.locator("#verdict .badge")).to_be_visible()
    return made


def write(page: Page, text: str) -> None:
    """As a paste does it; Playwright's own fill() inserts line by line."""
    page.locator("#text").evaluate("(area, text) => { area.value = text; area.dispatchEvent(new Event('input')) }", text)


def messages(page: Page) -> list[str]:
    return page.locator("#findings .message").all_text_contents()


def test_a_bad_pod_is_marked_while_it_is_typed_and_the_server_speaks(page: Page) -> None:
    write(page, POD + "  restartPolicy: ")
    page.locator("#text").press("End")
    page.keyboard.type("onfailure")
    words = 'spec.restartPolicy: Unsupported value: "onfailure": supported values: "Always", "OnFailure", "Never"'
    expect(page.locator("#findings .message")).to_have_text([words])
    expect(page.locator(".marks mark.error")).to_have_text(["onfailure"])
    expect(page.locator(".numbers .at.error")).to_have_text(["9\n"])
    expect(page.locator("#verdict")).to_contain_text("refused 1 object checked in 1 file: 0 valid, 1 invalid")
    for _ in "onfailure":
        page.keyboard.press("Backspace")
    page.keyboard.type("Never")
    expect(page.locator("#verdict .badge")).to_have_text("accepted")
    expect(page.locator(".marks mark")).to_have_count(0)


def test_a_finding_leads_to_its_place(page: Page) -> None:
    write(page, BAD["a port out of range"])
    expect(page.locator("#findings .finding")).to_have_count(1)  # those of the example before it are gone
    page.locator("#findings .place").click()
    caret = page.evaluate("() => [document.activeElement.id, document.activeElement.selectionStart]")
    assert caret == ["text", BAD["a port out of range"].index("70000")]


@pytest.mark.long
def test_a_gate_is_turned(page: Page) -> None:
    write(page, POD + "    lifecycle: {stopSignal: SIGNO}\n  os: {name: linux}\n")
    expect(page.locator("#verdict .badge")).to_have_text("accepted")
    page.locator("#gate").fill("ContainerStopSignals")
    page.locator("#gate").press("Enter")
    expect(page.locator("#turned li")).to_contain_text("ContainerStopSignals=true")
    expect(page.locator("#verdict .badge")).to_have_text("refused")
    assert "SIGNO" in messages(page)[0]
    page.get_by_role("button", name="Leave ContainerStopSignals at its default").click()
    expect(page.locator("#verdict .badge")).to_have_text("accepted")


def test_the_release_is_switched(page: Page) -> None:
    write(page, POD + "  schedulingGroup: {podGroupName: g}\n")
    expect(page.locator("#verdict .badge")).to_have_text("accepted")
    page.locator("#release").select_option("1.34")
    words = 'Pod in version "v1" cannot be handled as a Pod: strict decoding error: unknown field "spec.schedulingGroup"'
    expect(page.locator("#findings .message")).to_have_text([words])


@pytest.mark.long
def test_pod_security_and_chosen_plugins(page: Page) -> None:
    write(page, POD)
    page.locator("#level").select_option("restricted")
    expect(page.locator("#findings .badge", has_text="PodSecurity").first).to_be_visible()
    page.locator("#level").select_option("")
    page.locator("#plugins").select_option("some")
    page.get_by_label("Priority", exact=True).check()
    page.get_by_role("tab", name="Stored").click()
    expect(page.locator("#stored .row.added", has_text="priority: 0")).to_contain_text("added by Priority")


def test_a_file_is_dropped(page: Page) -> None:
    page.evaluate(DROP, ["dropped.yaml", BAD["a wrong type"]])
    expect(page.locator("#name")).to_have_text("dropped.yaml")
    expect(page.locator("#findings .finding")).to_have_count(1)
    assert page.locator("#text").input_value() == BAD["a wrong type"]
    expect(page.locator("#drop")).to_be_hidden()


@pytest.mark.long
def test_a_file_that_is_too_large_is_not_read(page: Page) -> None:
    before = page.locator("#text").input_value()
    page.evaluate(DROP, ["huge.yaml", "a" * (512 * 1024 + 1)])
    expect(page.locator("#verdict")).to_have_text("huge.yaml is larger than 512 KiB: use podstrat check")
    assert page.locator("#text").input_value() == before


@pytest.mark.long
def test_releases_and_an_update_with_its_generation(page: Page) -> None:
    write(page, POD)
    page.get_by_role("tab", name="Releases").click()
    expect(page.locator("#releases tbody th")).to_have_text(["1.34", "1.35", "1.36", "1.37"])
    page.get_by_role("tab", name="Update").click()
    page.get_by_role("button", name="Take the manifest").click()
    expect(page.locator("#updated .generation")).to_have_text("generation stays 1")
    write(page, POD.replace("nginx", "nginx:2"))
    expect(page.locator("#updated .generation")).to_contain_text("1 → 2 spec.containers[0].image changed")
    expect(page.locator("#updated .row.added")).to_contain_text(["generation: 2", "image: nginx:2"])


def test_a_link_carries_the_text_and_the_choices(page: Page, server: PageServer) -> None:
    write(page, BAD["markup"] + "# größer 😀\n")
    page.locator("#release").select_option("1.35")
    page.get_by_role("button", name="Copy link").click()
    page.wait_for_url("**/#*")
    other = page.context.new_page()
    other.goto(page.url)
    expect(other.locator("#findings .finding").first).to_be_visible()
    assert other.locator("#text").input_value() == BAD["markup"] + "# größer 😀\n"
    assert other.locator("#release").input_value() == "1.35"


@pytest.mark.long
@pytest.mark.parametrize("said", ["%%%", "x" * 5000])
def test_a_link_that_is_none_shows_the_example(visit: Visit, server: PageServer, said: str) -> None:
    page = visit(f"{server.url}#{said}")
    expect(page.locator("#name")).to_have_text("trainer.yaml")


def test_hostile_texts_are_texts(page: Page) -> None:
    quoted = HOSTILE.replace("\u202e", "\\u202e").replace("\u2066", "\\u2066")
    write(page, POD.replace("name: web\nspec", f'name: "{quoted}"\nspec'))
    expect(page.locator("#findings h3")).to_have_text("Pod/" + quoted)
    write(page, POD + f"    env:\n    - name: A\n      value: '{HOSTILE}'\n")
    expect(page.locator("#hidden")).to_contain_text("11: value: '<img src=x onerror=alert(1)>\\u202egnp.\\u2066'")
    for tab in ("Stored", "Releases", "Update", "Findings"):
        page.get_by_role("tab", name=tab).click()
    page.get_by_role("tab", name="Stored").click()
    expect(page.locator("#stored .row", has_text="<img src=x")).to_have_count(1)
    assert page.locator("main img").count() == 0
    assert "\u202e" not in page.locator("#stored").inner_text() + page.locator("#hidden").inner_text()


@pytest.mark.long
def test_tabs_by_keyboard(page: Page) -> None:
    page.get_by_role("tab", name="Findings").focus()
    page.keyboard.press("ArrowRight")
    expect(page.get_by_role("tab", name="Stored")).to_have_attribute("aria-selected", "true")
    page.keyboard.press("End")
    expect(page.locator("#update")).to_be_visible()
    page.keyboard.press("ArrowRight")
    expect(page.locator("#findings")).to_be_visible()
    page.keyboard.press("Tab")
    assert page.evaluate("() => document.activeElement.id") == "findings"


@pytest.mark.long
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_nothing_serious_for_axe(server: PageServer, visit: Visit, scheme: str) -> None:
    page = visit(server.url, color_scheme=scheme, bypass_csp=True)
    expect(page.locator("#findings .finding").first).to_be_visible()
    assert serious(page) == []
    write(page, POD + "  hostNetwork: maybe\n---\n" + POD)
    page.locator("#plugins").select_option("some")
    for tab in ("Stored", "Releases", "Update"):
        page.get_by_role("tab", name=tab).click()
        if tab == "Update":
            page.get_by_role("button", name="Take the manifest").click()
        expect(page.locator("[role=tabpanel]:visible article").first).to_be_visible()
        assert serious(page) == []


@pytest.mark.long
def test_the_theme_is_turned_and_kept(page: Page) -> None:
    def ground() -> str:
        return str(page.evaluate("() => getComputedStyle(document.body).backgroundColor"))

    light = ground()
    page.get_by_role("button", name="Dark").click()
    dark = ground()
    assert dark != light
    page.reload()
    expect(page.locator("#verdict .badge")).to_be_visible()
    assert ground() == dark


def test_without_the_token_the_browser_gets_nothing(server: PageServer, visit: Visit) -> None:
    page = visit(f"http://127.0.0.1:{server.server_port}/", refused=True)
    assert "no valid token" in page.locator("body").inner_text()


def test_a_name_that_leads_here_gets_nothing_even_with_the_token(server: PageServer, visit: Visit) -> None:
    page = visit(server.url.replace("127.0.0.1", "evil.example"), refused=True)
    assert "answers to its own name alone" in page.locator("body").inner_text()


def test_a_page_of_another_origin_is_not_answered(server: PageServer, visit: Visit, monkeypatch: pytest.MonkeyPatch) -> None:
    """In the same browser, and of the same site, so that the cookie goes along: cookies know no ports."""
    met: list[tuple[str, bool, int]] = []
    admit = server.guard.admit

    def watched(method: str, target: str, headers: Message) -> Admitted:
        try:
            return admit(method, target, headers)
        except Rejected as refused:
            met.append((target, "podstrat-" in headers.get("Cookie", ""), refused.code))
            raise

    monkeypatch.setattr(server.guard, "admit", watched)
    page = visit(server.url, refused=True, bypass_csp=True)
    with PageServer(Site({"/": Asset("text/html", b"<p>evil</p>")})) as evil:
        page.goto(evil.url)
        page.evaluate(
            "(url) => fetch(url, { method: 'POST', body: '{}', mode: 'no-cors', credentials: 'include' }).catch(() => {})",
            f"http://127.0.0.1:{server.server_port}/api/check",
        )
    assert met == [("/api/check", True, 403)]
