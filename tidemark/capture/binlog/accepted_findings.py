"""Findings that a person said to go on after: entries in the state store, an answer an entry, only ever added to."""

import json
from collections import defaultdict
from collections.abc import Mapping
from datetime import datetime
from typing import Final

from tidemark.state_store.database import Database
from tidemark.state_store.journal import StoredJournal
from tidemark.strict_json import json_text

JOURNAL: Final = "capture accepted"
"""The kind of the entries; their subjects are instances."""


class AcceptedFindings:
    """Which finding (instance and offset) was accepted, when, by whom and why."""

    def __init__(self, database: Database) -> None:
        self._entries = StoredJournal(database, JOURNAL)

    def offsets(self) -> Mapping[str, frozenset[int]]:
        """Per instance the offsets at which reading goes on."""
        by_instance: dict[str, set[int]] = defaultdict(set)
        for content in self._entries.all():
            answer = json.loads(content)
            by_instance[answer["instance"]].add(answer["offset"])
        return {instance: frozenset(offsets) for instance, offsets in by_instance.items()}

    def add(self, instance: str, offset: int, at: datetime, who: str, why: str) -> None:
        """Go on at the offset of a finding."""
        answer = {"instance": instance, "offset": offset, "at": at.isoformat(), "who": who, "why": why}
        self._entries.add(instance, json_text(answer, ensure_ascii=False))
