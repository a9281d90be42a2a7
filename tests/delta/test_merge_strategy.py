"""Which strategy a partition gets, and that a commit's metadata stays short."""

import pytest

from tidemark.delta.merge_strategy import MergeDecision, Strategy, TouchedPartition, decide, summary


def touched_partition(
    candidates: int = 4, files: int = 2, size: int = 5_000_000, rows: int = 1_000, matched: int = 10, hidden: int = 0
) -> TouchedPartition:
    return TouchedPartition("2026-03-29", candidates, files, size, rows, matched, hidden)


@pytest.mark.parametrize(
    ("partition", "has_vectors", "expected"),
    [
        (touched_partition(candidates=0, files=0), True, Strategy.APPEND),
        (touched_partition(files=0), False, Strategy.APPEND),
        (touched_partition(), False, Strategy.REWRITE),
        (touched_partition(), True, Strategy.DELETION_VECTORS),
        (touched_partition(size=49_999), True, Strategy.REWRITE),
        (touched_partition(matched=200), True, Strategy.DELETION_VECTORS),
        (touched_partition(matched=201), True, Strategy.REWRITE),
        (touched_partition(matched=101, hidden=100), True, Strategy.REWRITE),
    ],
)
def test_the_choice(partition: TouchedPartition, expected: Strategy, *, has_vectors: bool) -> None:
    assert decide(partition, has_deletion_vectors=has_vectors).strategy is expected


def test_the_reason_holds_the_figures() -> None:
    decision = decide(touched_partition(), has_deletion_vectors=True)
    assert decision.reason == "only 10 of 1000 rows go from 2 files"


def test_a_summary_of_many_partitions_is_short() -> None:
    many = [MergeDecision(f"p{number:02}", Strategy.APPEND, "new") for number in range(12)]
    decision = summary([*many, MergeDecision(None, Strategy.REWRITE, "old")])
    assert decision["append"] == [*(f"p{number:02}: new" for number in range(10)), "and 2 more"]
    assert decision["rewrite"] == ["-: old"]
