"""Filters of queries: planned once, counted each time, and no reason for a run to fail."""

import logging
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tidemark.delta.clustering import usage_recorder
from tidemark.delta.clustering.usage_recorder import ScanUsage, UsageRecorder
from tidemark.state_store.database import Database
from tidemark.state_store.scan_counts import ScanCounts

TABLE = "/warehouse/orders"
BY_USER = ScanUsage(TABLE, frozenset({"user_id"}))


def test_like_queries_are_planned_once_and_counted_each_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    planned: list[Any] = []

    def usages_of(frame: Any) -> list[ScanUsage]:
        planned.append(frame)
        return [BY_USER]

    monkeypatch.setattr(usage_recorder, "usages_of", usages_of)
    counts = ScanCounts(Database.at(tmp_path / "state.db"))
    recorder, frame = UsageRecorder(counts), SimpleNamespace()
    for query, times in (("a", 3), ("a", 1), ("b", 1)):
        recorder.ran(query, frame, times)  # type: ignore[arg-type]
    assert len(planned) == 2
    assert counts.of(TABLE) == {frozenset({"user_id"}): 5}


def test_counts_that_cannot_be_written_fail_no_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    database = Database.at(tmp_path / "state.db")
    (tmp_path / "state.db").unlink()
    (tmp_path / "state.db").mkdir()
    database.close()
    monkeypatch.setattr(usage_recorder, "usages_of", lambda _: [BY_USER])
    with caplog.at_level(logging.WARNING):
        UsageRecorder(ScanCounts(database)).ran("a", SimpleNamespace())  # type: ignore[arg-type]
    assert "filters are not recorded" in caplog.text
