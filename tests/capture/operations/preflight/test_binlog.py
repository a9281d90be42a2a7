"""What a server's settings make of its binlog."""

from __future__ import annotations

from datetime import timedelta

import pytest

from tidemark.capture.operations.preflight.binlog import binlog, kept_for

GOOD = {"log_bin": "ON", "binlog_format": "ROW", "binlog_row_image": "FULL", "expire_logs_days": "0.000000"}


def test_full_rows_that_are_never_removed_are_good() -> None:
    (finding_of,) = binlog("a", GOOD)
    assert (finding_of.subject, finding_of.verdict, finding_of.found) == (
        "database a: binlog",
        "ok",
        "full rows, never removed by the server",
    )


@pytest.mark.parametrize(
    ("name", "value", "to_do"),
    [
        ("log_bin", "OFF", "start the server with log_bin"),
        ("binlog_format", "STATEMENT", "SET GLOBAL binlog_format = ROW"),
        ("binlog_format", "MIXED", "SET GLOBAL binlog_format = ROW"),
        ("binlog_row_image", "MINIMAL", "SET GLOBAL binlog_row_image = FULL"),
        ("binlog_row_image", "NOBLOB", "SET GLOBAL binlog_row_image = FULL"),
        ("binlog_row_value_options", "PARTIAL_JSON", "SET GLOBAL binlog_row_value_options = ''"),
    ],
)
def test_each_wrong_setting_is_named_with_its_fix(name: str, value: str, to_do: str) -> None:
    (finding_of,) = binlog("a", {**GOOD, name: value})
    assert (finding_of.subject, finding_of.verdict) == (f"database a: {name}", "problem")
    assert finding_of.found.startswith(f"{value}, not ")
    assert finding_of.to_do.startswith(to_do)


def test_all_wrong_settings_are_said_at_once() -> None:
    finding_of = binlog("a", {**GOOD, "log_bin": "OFF", "binlog_format": "MIXED", "binlog_row_image": "MINIMAL"})
    assert [entry.subject.rpartition(" ")[2] for entry in finding_of] == [
        "log_bin",
        "binlog_format",
        "binlog_row_image",
    ]


@pytest.mark.parametrize(
    ("settings", "kept"),
    [
        ({}, None),
        ({"binlog_expire_logs_seconds": "0", "expire_logs_days": "0"}, None),
        ({"binlog_expire_logs_seconds": "2592000", "expire_logs_days": "0"}, timedelta(days=30)),
        ({"binlog_expire_logs_seconds": "3600", "expire_logs_days": "0.041667"}, timedelta(hours=1)),
        ({"expire_logs_days": "0.5"}, timedelta(hours=12)),
    ],
)
def test_how_long_it_is_kept(settings: dict[str, str], kept: timedelta | None) -> None:
    assert kept_for(settings) == kept


@pytest.mark.parametrize(("seconds", "verdict"), [(259_199, "warning"), (259_200, "ok"), (0, "ok")])
def test_less_than_a_weekend_is_a_warning(seconds: int, verdict: str) -> None:
    (finding_of,) = binlog("a", {**GOOD, "binlog_expire_logs_seconds": str(seconds)})
    assert finding_of.verdict == verdict
    assert bool(finding_of.to_do) == (verdict == "warning")
