"""What a page of another origin can do to the center, in a real browser: nothing. Its own pages can write."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from tests.api.client import GOOD
from tests.center.test_center import CHAIN, CenterWorld
from tests.ui.foreign_page import page_server
from tidemark.api.options import ApiOptions
from tidemark.api.server import serve_in_thread

if TYPE_CHECKING:
    from pathlib import Path

    from selenium.webdriver.remote.webdriver import WebDriver

pytestmark = [pytest.mark.components, pytest.mark.xdist_group("browser"), pytest.mark.timeout(600)]

POSTED = """
const done = arguments[arguments.length - 1];
fetch(arguments[0], {method: 'POST', mode: arguments[1], headers: {'Content-Type': arguments[2]}, body: arguments[3]})
    .then(response => done(response.type + ' ' + response.status), error => done(error.name));
"""
LOADED = """
const done = arguments[arguments.length - 1], image = new Image();
image.onload = image.onerror = () => done('loaded or not');
image.src = arguments[0];
"""
SUBMITTED = """
const form = document.createElement('form');
Object.assign(form, {method: 'POST', action: arguments[0], enctype: 'text/plain'});
form.appendChild(Object.assign(document.createElement('input'), {name: arguments[1], value: ''}));
document.body.appendChild(form).submit();
"""


def test_another_page_writes_nothing_and_the_own_one_does(tmp_path: Path, browser: WebDriver) -> None:
    world, report = CenterWorld(tmp_path, **CHAIN), json.dumps(GOOD)
    with serve_in_thread(world.center, world.forecast(), ApiOptions()) as url, page_server() as port:
        reports = f"{url}/v1/reports"
        browser.get(f"http://localhost:{port}/")
        assert browser.execute_async_script(POSTED, reports, "no-cors", "text/plain", report) == "opaque 0"
        assert browser.execute_async_script(POSTED, reports, "cors", "text/plain", report) == "TypeError"
        assert browser.execute_async_script(POSTED, reports, "cors", "application/json", report) == "TypeError"
        browser.execute_async_script(LOADED, f"{reports}?query=mutation")
        browser.execute_script(SUBMITTED, reports, report)
        assert world.store.read.last() == 0
        browser.get(f"{url}/openapi.json")
        assert browser.execute_async_script(POSTED, reports, "cors", "text/plain", report) == "basic 415"
        assert browser.execute_async_script(POSTED, reports, "cors", "application/json", report) == "basic 200"
        assert world.ready() == ["dwd@2024-06-02"]
