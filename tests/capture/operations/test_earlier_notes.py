"""Files of an earlier version: what people said and asked for there is not lost."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from tidemark.capture.audit.findings import AuditFindings
from tidemark.capture.audit.hold_entries import HoldEntries
from tidemark.capture.binlog.accepted_findings import AcceptedFindings
from tidemark.capture.commits.capture_lease import CaptureLease
from tidemark.capture.initial_load.reload_requests import ReloadRequests
from tidemark.capture.operations.earlier_notes import take_in_earlier_notes
from tidemark.state_store.database import Database
from tidemark.system.settings import Settings

if TYPE_CHECKING:
    from pathlib import Path

NOW = datetime(2026, 3, 24, 0, 1, tzinfo=UTC)
LEASE = {"fencing_token": 3, "holder": "here", "host": "h", "taken_at": "2026-03-01T00:00:00+00:00"}
ACCEPTED = {"instance": "a", "offset": 40, "at": "2026-03-01T00:00:00+00:00", "who": "me", "why": "it was empty"}
RELOAD = {"id": "r1", "table": "ods_t", "who": "me", "at": "now", "shards": ["a.s.t_0"], "starts": {"a": 3}}
HOLD = {"id": "h1", "table": "ods_t", "shard": "a.s.t_0", "what": "differs", "detail": "é"}
FINDING = {
    "id": "f1",
    "table": "ods_t",
    "shard": "a.s.t_0",
    "range": {"low": None, "high": None},
    "buckets": [],
    "at": "2026-03-01T00:00:00+00:00",
    "rows": {"1": "missing in the lake"},
    "count": 1,
    "columns": [],
    "span": None,
}


def test_each_is_taken_in_once(tmp_path: Path) -> None:
    settings = Settings.at(tmp_path / "data")
    settings.data.mkdir()
    database = Database.of(settings)
    take_in_earlier_notes(settings, database)
    folder = settings.data / "capture"
    (folder / "audit").mkdir(parents=True)
    (folder / "lease.json").write_text(json.dumps(LEASE))
    (folder / "audit" / "findings.json").write_text(json.dumps([FINDING]))
    for name, entry in (("accepted.jsonl", ACCEPTED), ("reloads.jsonl", RELOAD), ("audit/holds.jsonl", HOLD)):
        (folder / name).write_text(json.dumps(entry) + "\n")
    for _ in range(2):
        take_in_earlier_notes(settings, database)
        assert AcceptedFindings(database).offsets() == {"a": {40}}
        assert [request.id for request in ReloadRequests(database).after("ods_t", ())] == ["r1"]
        assert [(entry.id, entry.detail) for entry in HoldEntries(database).after("ods_t", ())] == [("h1", "é")]
        assert [finding.id for finding in AuditFindings(database).open()] == ["f1"]
    assert CaptureLease.obtain(settings, database, NOW) == CaptureLease(**LEASE)  # type: ignore[arg-type]
    assert not [path for path in folder.rglob("*") if path.suffix in {".json", ".jsonl"}]
