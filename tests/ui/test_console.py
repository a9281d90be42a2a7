"""The console in a real browser, on a small lake without runs: what a person sees, live, and what nobody can do."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Final
from urllib.parse import quote

import pytest
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import WebDriverWait

from tests.api.console_world import TOKEN, ConsoleWorld, console_world
from tests.console.commands.slices_there import DONE, THEN, report
from tidemark.dependency_model.backfill import SliceProgress
from tidemark.dependency_model.status import Event
from tidemark.state_store.backfills import Backfills

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from selenium.webdriver.remote.webdriver import WebDriver
    from selenium.webdriver.remote.webelement import WebElement

pytestmark = [pytest.mark.components, pytest.mark.timeout(900)]

WAITING: Final = "ads_gmv_course@2026-03-29"
CAUSE: Final = "ods_courses@2026-03-28"
SCRIPT: Final = "<script>window.taken=1</script>"
HOSTILE: Final = SCRIPT + "<img src=x onerror=window.taken=1> \u202egnp.txt \u2066"
SECONDS: Final = 60


@pytest.fixture(scope="module")
def lake(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ConsoleWorld]:
    with console_world(tmp_path_factory.mktemp("console")) as world:
        yield world


class Pages:
    """The browser on the console's pages."""

    def __init__(self, browser: WebDriver, url: str) -> None:
        self.browser, self.url = browser, url

    def open(self, path: str = "/console/") -> None:
        self.browser.get(self.url + path)

    def open_slice(self, name: str) -> None:
        self.open(f"/console/slice?slice={quote(name, safe='')}")

    def find(self, css: str) -> WebElement:
        """The first such element, once it is there."""
        return WebDriverWait(self.browser, SECONDS).until(lambda page: page.find_element(By.CSS_SELECTOR, css))

    def says(self, css: str, text: str) -> None:
        """Wait until an element holds a text."""

        def has_text(page: WebDriver) -> bool:
            script = "return [...document.querySelectorAll(arguments[0])].map(each => each.innerText).join('\\n')"
            return text in str(page.execute_script(script, css))

        WebDriverWait(self.browser, SECONDS).until(has_text, f"{css} never says {text!r}")

    def press(self, label: str) -> None:
        """Click the button with this text, once it is there."""
        button = (By.XPATH, f"//button[normalize-space()={label!r}]")
        WebDriverWait(self.browser, SECONDS).until(lambda page: page.find_element(*button)).click()

    def log_in(self, token: str = TOKEN) -> None:
        self.find("input[name=token]").clear()
        self.find("input[name=token]").send_keys(token + "\n")

    @property
    def is_wider_than_the_window(self) -> bool:
        script = "return document.documentElement.scrollWidth > document.documentElement.clientWidth"
        return bool(self.browser.execute_script(script))


@pytest.fixture
def pages(lake: ConsoleWorld, browser: WebDriver) -> Iterator[Pages]:
    """Logged in, on what needs a person today."""
    opened = Pages(browser, lake.url)
    opened.open()
    browser.delete_all_cookies()
    opened.open()
    opened.log_in()
    opened.find(".today")
    yield opened
    browser.get("about:blank")


def test_who_has_no_token_sees_nothing(lake: ConsoleWorld, browser: WebDriver) -> None:
    pages = Pages(browser, lake.url)
    pages.open()
    browser.delete_all_cookies()
    pages.open_slice(WAITING)
    pages.log_in("a wrong token of some length")
    pages.says(".problem", "This token is not known here.")
    assert "ads_gmv_course" not in browser.page_source
    pages.log_in()
    pages.says("h1", "ads_gmv_course")
    assert browser.execute_script("return document.cookie") == ""


def test_an_entity_is_found_and_its_newest_slice_opened_by_the_keyboard(pages: Pages) -> None:
    pages.open("/console/entities")
    field = pages.find(".filter input")
    field.send_keys("ods orders")
    pages.says(".page-head .note", "2 of ")
    assert "search=ods" in pages.browser.current_url
    field.send_keys("\n")
    pages.says("h1", "ods_orders")
    pages.says(".title", "completed")
    pages.says(".life", "by test")


@pytest.mark.long
def test_slices_of_many_entities_are_seen_by_time_and_opened(pages: Pages, lake: ConsoleWorld) -> None:
    pages.open("/console/slices?until=2026-03-31")
    pages.says(".page-head .note", "41 entities")
    cell = 'a[data-entity="ods_lessons"][title^="ods_lessons@2026-03-30"]'
    assert "waiting, late" in str(pages.find(cell).get_attribute("title"))
    report(lake.settings, ["ods_lessons@2026-03-30"])
    pages.find(f"{cell}.is-completed")
    pages.find(".filter input").send_keys("ods lessons")
    pages.says(".page-head .note", "1 entity")
    pages.find(cell).click()
    pages.says("h1", "ods_lessons")
    pages.browser.back()
    pages.find(".matrix")
    assert not pages.is_wider_than_the_window


@pytest.mark.long
def test_the_graph_is_opened_by_groups_coloured_by_day_and_searched_for_ways(pages: Pages, lake: ConsoleWorld) -> None:
    pages.open("/console/graph?at=2026-03-28")
    pages.says(".page-head .note", "41 entities, 42 dependencies")
    pages.find('section[aria-label="dws"] .head').click()
    entity = 'section[aria-label="dws"] .entity[title^="dws_course_orders_mtd:"]'
    assert "waiting" in str(pages.find(entity).get_attribute("title"))
    report(lake.settings, ["dws_course_orders_mtd@2026-03-28"], [Event.STARTED, Event.FAILED], HOSTILE)
    pages.find(f'{entity}[title$="failed"]')
    pages.find(entity).click()
    pages.says(".panel h2", "dws_course_orders_mtd")
    slider = pages.find(".slide input")
    slider.send_keys(Keys.ARROW_RIGHT)
    pages.find(f'{entity}[title$="waiting"]')
    assert "at=2026-03-29" in pages.browser.current_url
    pages.open("/console/graph?at=2026-03-29&entity=ods_courses&to=ads_gmv_course&whole=1")
    pages.find(".whole[data-drawn]")
    pages.says(".way", "4 entities on the ways")
    pages.find("input[name=to]").clear()
    pages.find("input[name=to]").send_keys("no_such_entity\n")
    pages.says(".panel .problem", "nknown entity")
    pages.open("/console/graph?as_of=2026-01-01T00:00")
    pages.says(".graph-page .empty", "No entity had been computed by then.")
    pages.open(f"/console/graph?search={quote(HOSTILE)}&entity={quote(HOSTILE + 'x' * 2_000)}")
    pages.says(".panel .problem", "no such entity")
    assert pages.browser.execute_script("return window.taken === undefined")
    assert not pages.is_wider_than_the_window


@pytest.mark.long
def test_what_slices_touch_is_seen_and_a_backfill_is_planned_begun_rested_decided_and_cancelled(
    pages: Pages, lake: ConsoleWorld
) -> None:
    stored = Backfills(lake.store.database)
    pages.open("/console/slices?until=2026-03-29&search=ods_orders&by=day")
    pages.find('.matrix th a[href*="ods_orders%26%26"]').click()
    pages.says("section p", "slices are computed from them")
    pages.find(".backfills-page .filter input").clear()
    pages.find(".backfills-page .filter input").send_keys("ods_orders@2026-03-29\n")
    pages.says("section p", "1 slice: ods_orders")
    pages.says("section table", "dwd_orders@2026-03-29")
    pages.find("button.again").click()
    pages.says("dialog", "in one of ten cases")
    pages.find("dialog input").send_keys(HOSTILE)
    pages.find("dialog .choices button:nth-child(2)").click()
    pages.find("dialog .done a").click()
    number = stored.rows()[0].number
    pages.says(f"#card-backfill-{number}", f"Backfill {number}")
    for button, phase in (("Begin", "running"), ("Pause", "paused"), ("Resume", "running")):
        pages.press(button)
        pages.says("section header .flag", phase)
        assert stored.row(number).phase.value == phase
    stored.note(number, [(0, SliceProgress.ASKING, "its policy is to ask a person")])
    pages.browser.refresh()
    pages.press("Keep them")
    pages.says(".progress", "decided")
    pages.press("Cancel the backfill")
    pages.says("section header .flag", "cancelling")
    assert pages.browser.execute_script("return window.taken === undefined")
    assert not pages.is_wider_than_the_window
    pages.open("/console/backfills?subject=no_such@2026-03-29&number=4711")
    pages.says(".trouble", "nknown entity")
    pages.says(".trouble", "he backfill does not exist")


def test_a_waiting_slice_is_followed_to_its_cause_and_the_page_follows_what_happens(
    pages: Pages, lake: ConsoleWorld
) -> None:
    pages.open_slice(WAITING)
    pages.says(".verdict", f"The cause is {CAUSE}")
    steps = [step.text.split()[0] for step in pages.browser.find_elements(By.CSS_SELECTOR, ".chain > li")]
    assert steps == ["this", "dws_course_orders_1d@2026-03-28", "dwd_orders@2026-03-28", CAUSE]
    pages.says(".chain .is-cause", "no heartbeat has arrived from a yet")
    pages.says(".live", "Live")
    pages.browser.execute_script("window.isSamePage = true")
    report(lake.settings, [CAUSE])
    pages.says(".verdict", "The cause is dwd_orders@2026-03-28")
    report(lake.settings, [WAITING], [Event.STARTED], at=THEN + timedelta(minutes=1))
    pages.says(".title", "running")
    assert pages.browser.execute_script("return window.isSamePage") is True


def test_a_slice_is_computed_again_after_a_look_at_what_that_touches(pages: Pages, lake: ConsoleWorld) -> None:
    backfills = Backfills(lake.store.database)
    before = backfills.rows()
    pages.open_slice("dws_course_orders_1d@2026-03-29")
    pages.find("button.again").click()
    pages.says("dialog", "in one of ten cases")
    pages.says("dialog .touched", "dws_course_orders_1d@2026-03-29")
    assert backfills.rows() == before
    pages.find("dialog input").send_keys("the feed repeated itself")
    pages.find("dialog .choices button:nth-child(2)").click()
    pages.says("dialog .done", "is planned")
    row, *others = backfills.rows()
    assert others == before
    assert (row.request.who, row.request.why) == ("console, by token:TIDEMARK_TOKEN", "the feed repeated itself")


def test_texts_of_others_are_texts(pages: Pages, lake: ConsoleWorld) -> None:
    """Markup runs nowhere, marks of direction end where the text does, and long words widen no page."""
    failed = "dws_course_orders_1d@2026-03-27"
    report(lake.settings, [failed], [Event.STARTED, Event.FAILED], HOSTILE + "x" * 10_000)
    for name in (failed, f"{HOSTILE}@2026-03-29", "x" * 10_000):
        pages.open_slice(name)
        pages.find(".verdict, .trouble")
        assert pages.browser.execute_script("return window.taken === undefined")
        assert not pages.is_wider_than_the_window
    pages.open_slice(failed)
    pages.says(".verdict bdi", SCRIPT)


def test_what_needs_a_person_comes_worst_first_with_what_helps(pages: Pages, lake: ConsoleWorld) -> None:
    failed = "dws_ad_spend_1d@2026-03-25/region=reunion"
    report(lake.settings, [failed], [Event.STARTED, Event.FAILED], "the partner's file has no column `spend`")
    pages.open()
    pages.says(".pressing .is-late", "is the cause of")
    pages.says(".pressing .is-failed", "the partner's file has no column spend")
    kinds = [line.text for line in pages.browser.find_elements(By.CSS_SELECTOR, ".pressing .what .flag")]
    order = ["late", "failed", "invalid", "foreign", "absent", "tainted"]
    assert kinds == sorted(kinds, key=order.index)
    report(lake.settings, ["ods_courses@2026-03-27"], [*DONE, Event.TAINTED], "a person found it wrong")
    pages.says(".pressing .is-tainted", "ods_courses@2026-03-27")
    assert not pages.is_wider_than_the_window


def test_a_session_that_has_ended_asks_for_a_login(pages: Pages, lake: ConsoleWorld) -> None:
    pages.open_slice("ods_orders@2026-03-27")
    pages.says(".live", "Live")
    pages.browser.delete_all_cookies()
    report(lake.settings, ["ods_orders@2026-03-27"], DONE)
    pages.says(".problem", "The session has ended. Log in again.")
    assert "ods_orders" not in pages.find("body").text
    pages.log_in()
    pages.says(".title", "completed")


def test_a_server_that_is_gone_is_said_and_its_return_is_seen(tmp_path: Path, browser: WebDriver) -> None:
    with console_world(tmp_path, token=None) as world:
        pages = Pages(browser, world.url)
        pages.open_slice("ods_orders@2026-03-28")
        pages.says(".live", "Live")
    pages.says(".lost", "The connection to the server is lost.")
    report(world.settings, ["ods_orders@2026-03-28"], [Event.TAINTED], "a person found it wrong")
    with console_world(tmp_path, token=None, port=world.port):
        pages.says(".title", "tainted")
        pages.says(".live", "Live")
        browser.get("about:blank")
