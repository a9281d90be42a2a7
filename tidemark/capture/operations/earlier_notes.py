"""Imports the notes that earlier versions kept in files of the data folder into the state store, once.

A step writes the other earlier files (progress, heartbeats, halted sources) from the start.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final

from tidemark.capture.audit.findings import NOTES as FINDINGS
from tidemark.capture.audit.hold_entries import JOURNAL as HOLDS
from tidemark.capture.binlog.accepted_findings import JOURNAL as ACCEPTED
from tidemark.capture.commits.capture_lease import remember_lease
from tidemark.capture.initial_load.reload_requests import JOURNAL as RELOADS
from tidemark.state_store.journal import StoredJournal
from tidemark.state_store.notes import Notes
from tidemark.strict_json import json_text

if TYPE_CHECKING:
    from pathlib import Path

    from tidemark.state_store.database import Database
    from tidemark.system.settings import Settings

_ENTRIES: Final = {
    "accepted.jsonl": (ACCEPTED, "instance"),
    "reloads.jsonl": (RELOADS, "table"),
    "audit/holds.jsonl": (HOLDS, "table"),
}
"""Files with one entry in each line: the kind of the entries, and the field with their subject."""


def take_in_earlier_notes(settings: Settings, database: Database) -> None:
    """Import the files that exist. Each is renamed (`.imported`) once its content is in the state store.

    If the process dies in between, the next one imports again, which changes nothing: entries have ids, or are the same
    answer. Raises StateStoreDownError.
    """
    folder = settings.data / "capture"
    if not folder.is_dir():
        return
    lease = folder / "lease.json"
    if lease.exists():
        remember_lease(settings, database, json.loads(lease.read_text(encoding="utf-8")))
        _done(lease)
    for name, (kind, subject) in _ENTRIES.items():
        file = folder / name
        if file.exists():
            for line in file.read_text(encoding="utf-8").splitlines():
                StoredJournal(database, kind).add(json.loads(line)[subject], line)
            _done(file)
    findings = folder / "audit" / "findings.json"
    if findings.exists():
        entries = json.loads(findings.read_text(encoding="utf-8"))
        Notes(database, FINDINGS).put({entry["id"]: json_text(entry, ensure_ascii=False) for entry in entries})
        _done(findings)


def _done(file: Path) -> None:
    file.rename(file.with_name(f"{file.name}.imported"))
