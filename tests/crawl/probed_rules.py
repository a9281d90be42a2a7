"""One small table with every rule that a source counts, and what each source has to say of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tests.dependency_model.world import entity
from tidemark.center.detectors.slice_rules import judge

if TYPE_CHECKING:
    from tidemark.dependency_model.arrival.sighting import Sight

DAY: Final = "2026-03-29"
ROWS: Final = (
    # day, id, shop, amount, status, at
    (DAY, 1, "a", 5, "new", "2026-03-29 10:00:00"),
    (DAY, 1, "a", -1, "paid", "2026-03-29 23:30:00"),
    (DAY, 1, "A", 50, "Paid", "2026-03-29 12:00:00"),
    (DAY, 2, None, 101, "lost", "2026-03-29 12:00:00"),
    (DAY, 2, None, None, None, "2026-03-29 12:00:00"),
    ("2026-03-30", 9, None, 999, "lost", "2026-03-30 23:59:59"),
)
RULES: Final = """quality:
- row_count: {min: 1}
- not_null: [shop]
- not_null: [id]
- unique: [id, shop]
- accepted_values: {column: status, values: [new, paid]}
- accepted_values: {column: id, values: [1, 2], severity: warn}
- range: {column: amount, min: 0, max: 100}
- freshness: {column: at, within: 45m}
- freshness: {column: at, within: 15m}
"""
EXPECTED: Final = {
    "row_count": (True, "5 rows, expected at least 1"),
    "not_null": (False, "2 rows with NULL in shop"),
    "not_null_2": (True, "0 rows with NULL in id"),
    "unique": (False, "2 rows with a key (id, shop) seen before"),
    "accepted_values": (False, "2 rows with status outside of new, paid"),
    "accepted_values_2": (True, "0 rows with id outside of 1, 2"),
    "range": (False, "2 rows with amount outside of 0 to 100"),
    "freshness": (True, "the newest at is 0:30:00 before the slice's end, expected at most 0:45:00"),
    "freshness_2": (False, "the newest at is 0:30:00 before the slice's end, expected at most 0:15:00"),
}


def verdicts(probe: str, sight: Sight) -> dict[str, tuple[bool, str]]:
    """Each rule of `RULES` on what a probe saw."""
    declared = entity("outside", f"kind: Virtual\nperiod: day\ntime_zone: UTC\nprobe:\n  {probe}\n{RULES}")
    return {verdict.name: (verdict.passed, verdict.reason) for verdict in judge(declared, sight)}
