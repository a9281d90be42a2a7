"""`taint`: the preview, the marks with reason and author, and what is refused."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner, Result

from tests.console.commands.slices_there import report
from tidemark.console.main import main
from tidemark.system.settings import Settings

if TYPE_CHECKING:
    from pathlib import Path

ASKED = ("taint", "ods_orders", "2026-03-29", "--reason", "the feed repeated itself", "--author", "ann")
MARKED = {"ods_orders@2026-03-29", "dws_course_orders_1d@2026-03-29"}


@pytest.fixture
def settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Settings:
    monkeypatch.setenv("TIDEMARK_DATA", str(tmp_path))
    return Settings.at(tmp_path)


def run(*arguments: str) -> Result:
    return CliRunner().invoke(main, arguments)


def marked(*arguments: str) -> set[str]:
    told = json.loads(run(*arguments, "--json").stdout)
    return {mark["slice"] for mark in told["marked"]}


def test_a_preview_changes_nothing_and_a_second_call_marks_nothing_more(settings: Settings) -> None:
    report(settings)
    report(settings, ["dwd_orders@2026-03-29"])
    whole = MARKED | {"dwd_orders@2026-03-29"}
    assert marked(*ASKED, "--dry-run") == whole
    assert "3 slices would be tainted: this was a dry run" in run(*ASKED, "--dry-run").stdout
    assert marked(*ASKED) == whole
    again = run(*ASKED)
    assert again.exit_code == 0
    assert "0 slices are tainted now" in again.stdout


def test_the_author_and_reason_are_shown_with_the_slice(settings: Settings) -> None:
    report(settings)
    report(settings, ["dwd_orders@2026-03-29"])
    run(*ASKED)
    told = json.loads(run("explain", "dws_course_orders_1d", "2026-03-29", "--json").stdout)
    assert told["status"]["tainted"]
    assert (told["taint"]["who"], told["taint"]["why"].partition(" (")[0]) == ("ann", "the feed repeated itself")
    assert "tainted      the feed repeated itself" in run("explain", "ods_orders", "2026-03-29").stdout
    assert json.loads(run("explain", "ods_orders", "2026-03-28", "--json").stdout)["taint"] is None


def test_without_computed_slices_there_is_nothing_to_mark(settings: Settings) -> None:
    refused = run(*ASKED)
    assert refused.exit_code == 1
    assert "nothing is computed yet" in refused.output
    assert not settings.state_db.exists()


def test_a_taint_needs_a_reason(settings: Settings) -> None:
    assert run(*ASKED[:3]).exit_code == 2
