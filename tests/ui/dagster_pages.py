"""Dagster's pages as a person uses them: by the words on buttons and headings, which change less than class names."""

from __future__ import annotations

import re
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeVar
from urllib.parse import urlencode

from selenium.common.exceptions import (
    ElementClickInterceptedException,
    NoAlertPresentException,
    NoSuchElementException,
    StaleElementReferenceException,
    TimeoutException,
    UnexpectedAlertPresentException,
)
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import WebDriverWait

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from selenium.webdriver.remote.webdriver import WebDriver
    from selenium.webdriver.remote.webelement import WebElement

    T = TypeVar("T")

PAGE_SECONDS = 60.0
_POLL_SECONDS = 0.25
_NOT_YET = (
    NoSuchElementException,
    StaleElementReferenceException,
    ElementClickInterceptedException,
    UnexpectedAlertPresentException,
)
_SHOW_ALL = "Show all partitions"
_DIALOG = '[role="dialog"]'
_TAGS = "//button[@aria-label='View tags and config' or starts-with(normalize-space(), 'View tags')]"
_COUNT = re.compile(r"^(Failed|Materialized|Materializing|Missing) \((\d+)\)$", re.MULTILINE)


class PageError(AssertionError):
    """Something did not come up on a page in time; a screenshot is beside the others."""


@dataclass
class DagsterPages:
    """The UI at `url` in one browser; `shot` numbers its screenshots in the order of the story they tell."""

    driver: WebDriver
    url: str
    screenshots: Path
    taken: list[Path] = field(default_factory=list)

    def shot(self, name: str) -> Path:
        """Keep what the page looks like now."""
        self.screenshots.mkdir(parents=True, exist_ok=True)
        path = self.screenshots / f"{len(self.taken) + 1:02}-{name}.png"
        self.driver.save_screenshot(str(path))
        self.taken.append(path)
        return path

    def open_lineage(self) -> None:
        self._open("/asset-groups")

    def groups(self, expected: set[str]) -> set[str]:
        """The asset groups that the lineage page shows, as soon as the expected ones are among them."""
        self.until(f"groups {sorted(expected)}", lambda: expected <= set(self.text().splitlines()))
        return expected & set(self.text().splitlines())

    def show_assets(self, *names: str) -> None:
        """The catalog, with these assets alone."""
        selection = " or ".join(f'key:"{name}"' for name in names)
        self._open("/assets?" + urlencode({"asset-selection": selection}))
        self.until(f"assets {names} in the catalog", lambda: all(name in self.text() for name in names))

    def materialize_from_catalog(self, partitions: str, *names: str) -> None:
        """Tick assets in the catalog and launch their partitions, e.g. `[2026-03-23...2026-03-25]`."""
        self.show_assets(*names)
        for name in names:
            self._tick(f'[data-testid="checkbox-{name}"]')
        self._press(f"Materialize selected ({len(names)})")
        self._launch(partitions)

    def open_partition(self, asset: str, partition: str) -> None:
        """An asset's page of partitions with one of them selected."""
        self._open(f"/assets/{asset}?" + urlencode({"view": "partitions", "partition": partition}))
        self.until(f"the partitions of {asset}", lambda: bool(_COUNT.search(self.text())))

    def drawings(self) -> int:
        """How many drawings are to be seen."""
        images = self.driver.find_elements(By.CSS_SELECTOR, 'img[src^="data:image/svg"]')
        return sum(image.is_displayed() for image in images)

    def partition_counts(self) -> dict[str, int]:
        """How many partitions are `Materialized`, `Missing`, ... on the open page of partitions."""
        return {state: int(count) for state, count in _COUNT.findall(self.text())}

    def materialize(self, asset: str, partitions: str) -> None:
        """Launch partitions from the asset's own page, e.g. `2026-03-24`."""
        self.open_partition(asset, partitions)
        self._press("Materialize")
        self._launch(partitions)

    def materialize_whole(self, asset: str) -> None:
        """Launch an asset that has no partitions: its page asks nothing."""
        self._open(f"/assets/{asset}")
        self._press("Materialize")

    def open_run(self, run_id: str) -> None:
        self._open(f"/runs/{run_id}")

    def terminate(self) -> None:
        """Stop the run whose page is open, and say that it is meant."""
        self._press("Terminate")
        self.until("question", lambda: self.driver.find_element(By.CSS_SELECTOR, _DIALOG))
        self.shot("terminate")
        self._press("Terminate", _DIALOG)
        self.until("end of the dialog", self._dialog_is_over)

    def repeat(self) -> None:
        """Execute the run whose page is open again, with all its steps; a question that may come is answered."""
        here = self.driver.current_url
        self._press("Re-execute all")

        def begun() -> bool:
            self._confirm()
            return self.driver.current_url != here

        self.until("page of the new run", begun)

    def delete(self) -> None:
        """Delete the run whose page is open, although it goes on."""
        self.until("entry 'Delete'", self._delete_entry).click()
        self.until("question", lambda: self.driver.find_element(By.CSS_SELECTOR, _DIALOG))
        self.shot("delete")
        self._press("Yes, delete", _DIALOG)
        self.until("end of the deletion", self._deletion_is_over)

    def open_backfills(self) -> None:
        self._open("/runs?view=backfills")

    def text(self) -> str:
        """All words on the page."""
        return self.driver.find_element(By.TAG_NAME, "body").text

    def until(self, what: str, condition: Callable[[], T], seconds: float = PAGE_SECONDS) -> T:
        """Wait for a true value of the condition; raise PageError with a screenshot when it does not come."""
        wait: WebDriverWait[WebDriver] = WebDriverWait(self.driver, seconds, _POLL_SECONDS, _NOT_YET)
        try:
            return wait.until(lambda _: condition())
        except TimeoutException:
            shot = self.shot("gave-up")
            raise PageError(f"no {what} within {seconds:g} s; the page ({shot}) says:\n{self.text()}") from None

    def _open(self, path: str) -> None:
        self.driver.get(self.url + path)

    def _launch(self, partitions: str) -> None:
        """Choose partitions in the dialog, look at it, and launch."""
        box = self.until("box for partitions", self._partition_box)
        self._show_all_partitions()
        # The partition that the page shows is filled in already.
        box.send_keys(Keys.CONTROL, "a", Keys.NULL, partitions, Keys.TAB)
        self.until("button that launches", lambda: self._button("Launch", _DIALOG).is_enabled())
        self.shot("dialog")
        self._press("Launch", _DIALOG)
        self.until("end of the dialog", lambda: not self.driver.find_elements(By.CSS_SELECTOR, _DIALOG))

    def _partition_box(self) -> WebElement:
        """The dialog's text box; a question that may come first (upstream not materialized) is answered with yes."""
        self._confirm()
        return self.driver.find_element(By.CSS_SELECTOR, f'{_DIALOG} input[type="text"]')

    def _confirm(self) -> None:
        for question in self.driver.find_elements(By.XPATH, '//*[@role="dialog"]//button[normalize-space()="Confirm"]'):
            question.click()

    def _delete_entry(self) -> WebElement:
        """The entry of the menu that the last button of a run's page opens."""
        entry = "//*[self::a or self::button][normalize-space()='Delete']"
        if not self.driver.find_elements(By.XPATH, entry):
            self.driver.find_element(By.XPATH, f"({_TAGS}/parent::div//button)[last()]").click()
        return self.driver.find_element(By.XPATH, entry)

    def _show_all_partitions(self) -> None:
        """Where there are many, the dialog begins with those of the last days only, and says so."""

        def shown() -> bool:
            for link in self.driver.find_elements(By.XPATH, f"//*[@role='dialog']//*[text()='{_SHOW_ALL}']"):
                link.click()
            return _SHOW_ALL not in self.driver.find_element(By.CSS_SELECTOR, _DIALOG).text

        self.until("all partitions", shown)

    def _press(self, words: str, within: str = "body") -> None:
        def pressed() -> bool:
            button = self._button(words, within)
            if button.is_enabled():
                button.click()
                return True
            return False

        self.until(f"button '{words}'", pressed)

    def _button(self, words: str, within: str = "body") -> WebElement:
        """The first button below the last element that matches `within` whose label begins with the words."""
        places = self.driver.find_elements(By.CSS_SELECTOR, within)
        for place in reversed(places):
            for button in place.find_elements(By.TAG_NAME, "button"):
                if button.text.strip().startswith(words):
                    return button
        raise NoSuchElementException(words)

    def _dialog_is_over(self) -> bool:
        """It says what it did until one presses Done, or is gone by itself with the button that it came from."""
        for button in self.driver.find_elements(By.XPATH, '//*[@role="dialog"]//button[normalize-space()="Done"]'):
            button.click()
        return not self.driver.find_elements(By.CSS_SELECTOR, _DIALOG)

    def _deletion_is_over(self) -> bool:
        """The page leaves the deleted run, and its browser may ask whether that is meant."""
        with suppress(NoAlertPresentException):
            self.driver.switch_to.alert.accept()
        return self._dialog_is_over()

    def _tick(self, selector: str) -> None:
        """Tick a checkbox; Dagster draws its own over the real one, which no pointer can hit."""

        def ticked() -> bool:
            box = self.driver.find_element(By.CSS_SELECTOR, selector)
            if not box.is_selected():
                self.driver.execute_script("arguments[0].click()", box)
            return box.is_selected()

        self.until(f"checkbox {selector}", ticked)
