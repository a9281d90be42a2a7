"""Findings that a person said to go on after: a file of lines, one an answer, only ever added to."""

import json
from collections import defaultdict
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path

from tidemark.system.files import private_directory
from tidemark.system.settings import Settings


class AcceptedFindings:
    """Which finding (instance and offset) was accepted, when, by whom and why."""

    def __init__(self, path: Path) -> None:
        self._path = path

    @classmethod
    def of(cls, settings: Settings) -> "AcceptedFindings":
        """Those of a warehouse."""
        return cls(settings.data / "capture" / "accepted.jsonl")

    def offsets(self) -> Mapping[str, frozenset[int]]:
        """Per instance the offsets at which reading goes on."""
        by_instance: dict[str, set[int]] = defaultdict(set)
        if self._path.exists():
            for line in self._path.read_text(encoding="utf-8").splitlines():
                answer = json.loads(line)
                by_instance[answer["instance"]].add(answer["offset"])
        return {instance: frozenset(offsets) for instance, offsets in by_instance.items()}

    def add(self, instance: str, offset: int, at: datetime, who: str, why: str) -> None:
        """Go on at the offset of a finding."""
        private_directory(self._path.parent)
        answer = {"instance": instance, "offset": offset, "at": at.isoformat(), "who": who, "why": why}
        with self._path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(answer, ensure_ascii=False) + "\n")
