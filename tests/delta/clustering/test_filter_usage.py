"""The log of filters: counted, bounded, safe beside other writers and after a kill."""

import logging
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tidemark.delta.clustering import filter_usage, usage_recorder
from tidemark.delta.clustering.filter_usage import ScanUsage, record, recorded_scans, usage_log
from tidemark.delta.clustering.usage_recorder import UsageRecorder

TABLE = Path("/warehouse/orders")
BY_USER = ScanUsage(str(TABLE), frozenset({"user_id"}))


def test_writers_do_not_lose_each_others_lines(tmp_path: Path) -> None:
    log = usage_log(tmp_path / "new")
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda _: record([BY_USER, ScanUsage("/else", frozenset())], log), range(100)))
    assert recorded_scans(log, TABLE) == {frozenset({"user_id"}): 100}


def test_the_newest_use_is_kept_in_bounded_space(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(filter_usage, "_LARGEST_LOG", 1_000)
    log = usage_log(tmp_path)
    for number in range(200):
        record([ScanUsage(str(TABLE), frozenset({f"c{number}"}), number)], log)
    usages = recorded_scans(log, TABLE)
    assert usages[frozenset({"c199"})] == 199
    assert 10 < len(usages) < 50
    assert sum(path.stat().st_size for path in tmp_path.iterdir()) < 2_400


def test_half_a_line_is_no_line(tmp_path: Path) -> None:
    log = usage_log(tmp_path)
    record([BY_USER], log)
    with log.open("a") as file:
        file.write('{"table": "/wareh')
    assert recorded_scans(log, TABLE).total() == 1
    assert recorded_scans(usage_log(tmp_path / "nowhere"), TABLE).total() == 0


def test_like_queries_are_planned_once_and_counted_each_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    planned: list[Any] = []

    def usages_of(frame: Any) -> list[ScanUsage]:
        planned.append(frame)
        return [BY_USER]

    monkeypatch.setattr(usage_recorder, "usages_of", usages_of)
    recorder, frame = UsageRecorder(usage_log(tmp_path)), SimpleNamespace()
    for query, times in (("a", 3), ("a", 1), ("b", 1)):
        recorder.ran(query, frame, times)  # type: ignore[arg-type]
    assert len(planned) == 2
    assert recorded_scans(usage_log(tmp_path), TABLE) == {frozenset({"user_id"}): 5}


def test_a_log_that_cannot_be_written_fails_no_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setattr(usage_recorder, "usages_of", lambda _: [BY_USER])
    with caplog.at_level(logging.WARNING):
        UsageRecorder(usage_log(tmp_path / "file")).ran("a", SimpleNamespace())  # type: ignore[arg-type]
    assert "filters are not recorded" in caplog.text
