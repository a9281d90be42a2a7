"""Findings that a person accepted, so that reading goes on. The state store has one entry for each, and keeps all."""

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
    """The accepted findings (instance and offset), with time, person and reason."""

    def __init__(self, database: Database) -> None:
        self._entries = StoredJournal(database, JOURNAL)

    def offsets(self) -> Mapping[str, frozenset[int]]:
        """The accepted offsets of each instance."""
        by_instance: dict[str, set[int]] = defaultdict(set)
        for content in self._entries.all():
            answer = json.loads(content)
            by_instance[answer["instance"]].add(answer["offset"])
        return {instance: frozenset(offsets) for instance, offsets in by_instance.items()}

    def add(self, instance: str, offset: int, at: datetime, who: str, why: str) -> None:
        """Accept the finding at this offset."""
        answer = {"instance": instance, "offset": offset, "at": at.isoformat(), "who": who, "why": why}
        self._entries.add(instance, json_text(answer, ensure_ascii=False))
