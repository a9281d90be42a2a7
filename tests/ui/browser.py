"""Chromium without a window, driven through its own driver."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from selenium import webdriver
from selenium.webdriver.chrome.service import Service

from tidemark.console.servers.required_programs import RequiredProgram
from tidemark.system.installed_programs import find_program

if TYPE_CHECKING:
    from collections.abc import Iterator

    from selenium.webdriver.remote.webdriver import WebDriver

_BROWSERS = ("chromium", "chromium-browser", "google-chrome")
_DRIVER = "chromedriver"
_ARGUMENTS = (
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    # Nothing but the page under test is talked to.
    "--disable-quic",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
    "--no-proxy-server",
    "--window-size=1600,1200",
)
_PAGE_LOAD_SECONDS = 60

CHROMIUM = RequiredProgram("Chromium", (_BROWSERS, (_DRIVER,)), "install the packages chromium and chromium-driver")


@contextmanager
def chromium() -> Iterator[WebDriver]:
    """A browser with an empty profile; closed in the end."""
    options = webdriver.ChromeOptions()
    options.binary_location = next(path for name in _BROWSERS if (path := find_program(name)))
    for argument in _ARGUMENTS:
        options.add_argument(argument)
    driver = webdriver.Chrome(options=options, service=Service(find_program(_DRIVER)))
    try:
        driver.set_page_load_timeout(_PAGE_LOAD_SECONDS)
        yield driver
    finally:
        driver.quit()
