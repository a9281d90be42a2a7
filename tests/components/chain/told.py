"""What a run of the chain was and what it found."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import asdict, dataclass, field


@dataclass(frozen=True)
class Told:
    """`changes` came out of the binlogs, `sent_again` of the `messages` came once more; no `problems` when all held.

    `silently_wrong` are tagged snapshots that are not what the database answered; `untagged` are slices with the reason
    that capture gave.

    `errors` are steps of the capture that failed and were tried again; `tended` connectors that had failed.
    """

    seed: int
    command: str
    injections: dict[str, int]
    changes: int
    captured: int
    messages: int
    sent_again: int
    rows: int
    snapshots: int
    snapshots_equal: int
    silently_wrong: int
    untagged: dict[str, str]
    rows_compared: int
    lost: int
    doubled: int
    torn: int
    late: int
    sessions_lost: int
    tended: int
    errors: dict[str, int]
    writes_lost: int
    seconds: float
    problems: list[str] = field(default_factory=list)

    def as_json(self) -> str:
        """One line."""
        return json.dumps(asdict(self))

    def __str__(self) -> str:
        kinds = ", ".join(f"{count} {kind}" for kind, count in sorted(self.injections.items()))
        lines = [
            f"{sum(self.injections.values())} injections: {kinds}",
            (
                f"{self.changes:,} changes in {self.messages:,} messages, {self.sent_again:,} of which connectors sent "
                f"again; {self.captured:,} captured, {self.late} late"
            ),
            (
                f"{self.snapshots_equal} of {self.snapshots} snapshots equal to the database's answers "
                f"({self.rows_compared:,} rows compared), the tables at the end ({self.rows:,} rows) too"
            ),
            f"{self.silently_wrong} silently wrong, {len(self.untagged)} not tagged:",
            *(f"  {slice_}: {reason[:200]}" for slice_, reason in self.untagged.items()),
            f"{self.lost} lost, {self.doubled} doubled, {self.torn} torn",
            (
                f"on the way: {self.writes_lost} transactions whose server died, {self.tended} failed connectors "
                f"restarted, {self.sessions_lost} sessions of the distribution begun again, "
                f"failed steps {self.errors or 'none'}"
            ),
            *(f"PROBLEM: {problem}" for problem in self.problems[:40]),
            f"{self.seconds:.0f} s; again with: {self.command}",
        ]
        return "\n".join(lines)


def count_kinds(kinds: list[str]) -> dict[str, int]:
    """How often each kind."""
    return dict(Counter(kinds))
