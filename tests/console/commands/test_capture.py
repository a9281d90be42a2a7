"""`capture` and `dlq`: what people see of the changes that come in, before and after something was wrong."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pyarrow as pa
import pytest
from click.testing import CliRunner
from deltalake import CommitProperties, write_deltalake

from tests.lake_folder import lake_folder
from tidemark.capture.binlog.accepted_findings import JOURNAL, AcceptedFindings
from tidemark.capture.binlog.finding import BinlogFinding, FindingKind
from tidemark.capture.binlog.halted_sources import HaltedSources
from tidemark.capture.commits.commit_state import CommitState
from tidemark.capture.source.dead_letters import DeadLetters
from tidemark.console.main import main
from tidemark.state_store.database import Database
from tidemark.state_store.journal import StoredJournal
from tidemark.system.settings import Settings

if TYPE_CHECKING:
    from pathlib import Path

    from click.testing import Result

REPLAYED_AT = datetime(2026, 3, 24, tzinfo=UTC)
GAP = BinlogFinding("a", 40, FindingKind.FILES_MISSING, "binlog.000008 did not arrive")


@pytest.fixture
def settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Settings:
    monkeypatch.setenv("TIDEMARK_DATA", str(tmp_path))
    return Settings.at(tmp_path)


def run(*arguments: str) -> Result:
    return CliRunner().invoke(main, list(arguments))


def test_status_of_a_warehouse_into_which_nothing_came_but_a_gap_was_found(settings: Settings) -> None:
    HaltedSources(Database.of(settings)).write("a", [GAP])
    status = json.loads(run("capture", "status", "--json").stdout)
    orders = next(table for table in status["tables"] if table["table"] == "ods_orders")
    assert (orders["watermark"], orders["last_snapshot"], status["dead_letters"]) == (None, None, 0)
    assert orders["streams"]["a"]["diagnosis"]["health"] == "unknown"
    assert orders["streams"]["a"]["halted"][0]["offset"] == 40
    shown = run("capture", "status").stdout
    assert "ods_orders\ta\tnothing yet\t?\tunknown: no heartbeat has arrived from a yet\tnone\t0.0" in shown
    assert f"halted: {GAP}; tidemark capture accept a 40 continues, and holds its tables" in shown


def test_late_changes_are_shown_by_the_slices_that_they_are_dated_in(settings: Settings) -> None:
    late = {"ods_orders": {"2026-03-23": 4, "2026-03-25": 1}, "ods_orders_1h": {"2026-03-23T22": 4}}
    told = CommitProperties(custom_metadata={"userMetadata": CommitState(batch=1, late=late).to_json()})
    write_deltalake(lake_folder(settings.warehouse / "ods_orders"), pa.table({"id": [1]}), commit_properties=told)
    status = json.loads(run("capture", "status", "--json").stdout)
    assert next(table for table in status["tables"] if table["table"] == "ods_orders")["late"] == late
    shown = run("capture", "status").stdout
    assert (
        "late: ods_orders, changes that came after the snapshot of their time was tagged: 2026-03-23 4, 2026-03-25 1"
        in shown
    )


def test_only_a_held_finding_can_be_accepted_and_the_answer_is_stored(settings: Settings) -> None:
    refused = run("capture", "accept", "a", "40", "--because", "it was empty")
    assert refused.exit_code == 1
    assert "no capture is halted at this place" in refused.stderr
    HaltedSources(Database.of(settings)).write("a", [GAP])
    assert run("capture", "accept", "a", "40", "--because", "it was empty").exit_code == 0
    assert AcceptedFindings(Database.of(settings)).offsets() == {"a": {40}}
    assert "it was empty" in "".join(StoredJournal(Database.of(settings), JOURNAL).all())


def test_dead_letters_are_listed_with_their_reasons(settings: Settings) -> None:
    assert run("dlq", "list").stdout == "the dead-letter queue is empty\n"
    letter = {
        "topic": "cdc.a", "partition": 0, "offset": 7, "row": 0, "event_time": None, "physical": None,
        "reason": "not a record of Debezium", "raw": "{", "replayed_at": None,
    }  # fmt: skip
    kinds = {"partition": pa.int32(), "offset": pa.int64(), "row": pa.int32()}
    kinds |= dict.fromkeys(["event_time", "replayed_at"], pa.timestamp("us", "UTC"))
    schema = pa.schema([(name, kinds.get(name, pa.string())) for name in letter])
    write_deltalake(lake_folder(settings.warehouse / "_dead_letters"), pa.Table.from_pylist([letter], schema))
    assert [letter_._asdict() for letter_ in DeadLetters(settings.warehouse).all()] == [letter]
    assert json.loads(run("dlq", "list", "--json").stdout) == {"dead_letters": [letter]}
    assert run("dlq", "list").stdout.splitlines()[1:] == ["cdc.a\t7\t\tnot a record of Debezium\t{"]
    assert "dead-letter queue: 1; tidemark dlq list shows the records" in run("capture", "status").stdout
    letters = DeadLetters(settings.warehouse)
    letters.note_replayed(letters.all(), REPLAYED_AT)
    assert run("dlq", "list").stdout == "the dead-letter queue is empty\n"
    (shown,) = json.loads(run("dlq", "list", "--all", "--json").stdout)["dead_letters"]
    assert shown["offset"] == 7
    assert shown["replayed_at"].startswith("2026-03-24")


def test_without_kafka_nothing_is_replayed(settings: Settings) -> None:
    refused = run("dlq", "replay")
    assert refused.exit_code == 1
    assert "TIDEMARK_KAFKA" in refused.stderr
    assert not (settings.data / "spark-warehouse").exists()


def test_a_held_table_is_shown_with_both_solutions(settings: Settings) -> None:
    shard = "a.school.orders_0"
    held = BinlogFinding("a", 70, FindingKind.NO_ROW_EVENTS, "RENAME TABLE orders_0 TO o", shard)
    HaltedSources(Database.of(settings)).write("a", [held])
    shown = run("capture", "status").stdout
    assert f"held, no slice is tagged: shard {shard}: rows changed without row events before offset 70" in shown
    assert (
        "tidemark capture load or reload reads the table again, tidemark capture accept a 70 accepts its rows" in shown
    )


def test_an_audit_without_an_address_or_a_captured_table_names_the_setting(settings: Settings) -> None:
    refused = run("capture", "audit", "--once")
    assert refused.exit_code == 1
    assert "TIDEMARK_DATABASES" in refused.stderr
    assert "unknown captured table" in run("capture", "audit", "ods_nothing").stderr
    assert not (settings.data / "capture" / "audit").exists()
