"""Chooses how to merge the changes of one partition, by counts alone.

If no file of the partition can hold a key of the batch, rows are appended. If rows are replaced or deleted, their files
are rewritten, or with deletion vectors the rows are only marked. Marking is cheap for the writer and costs every later
reader a little, so it is for few rows of large files. Delta's MERGE does the rest.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

# A smaller file (about 2,000 rows) is rewritten in less time than marking saves.
SMALL_BYTES = 50_000
# A file with a larger share of hidden rows costs its readers more than a rewrite.
HIDDEN_SHARE = 0.2


class Strategy(StrEnum):
    """The treatment of a partition's files."""

    APPEND = "append"
    REWRITE = "rewrite"
    DELETION_VECTORS = "deletion vectors"
    MERGE = "merge"


@dataclass(frozen=True)
class TouchedPartition:
    """The files of a partition with rows that the batch replaces or deletes: their number, bytes and rows.

    `candidates` is the number of files whose bounds admit a key, `matched` the replaced or deleted rows, `hidden` the
    rows hidden before.
    """

    partition: str | None
    candidates: int
    files: int
    size_bytes: int
    rows: int
    matched: int
    hidden: int = 0


@dataclass(frozen=True)
class MergeDecision:
    """The strategy of one partition, with the reason."""

    partition: str | None
    strategy: Strategy
    reason: str


def decide(touched: TouchedPartition, *, has_deletion_vectors: bool) -> MergeDecision:
    """The cheapest strategy for one partition."""
    if not touched.candidates:
        return MergeDecision(touched.partition, Strategy.APPEND, "no file can have a key of the batch")
    if not touched.files:
        return MergeDecision(touched.partition, Strategy.APPEND, f"none of the keys is in {_files(touched.candidates)}")
    if not has_deletion_vectors:
        return MergeDecision(
            touched.partition, Strategy.REWRITE, f"{_goes(touched)}; the table has no deletion vectors"
        )
    if is_small(touched.size_bytes):
        return MergeDecision(
            touched.partition, Strategy.REWRITE, f"{_goes(touched)}; {touched.size_bytes} bytes are little"
        )
    if touched.matched + touched.hidden > HIDDEN_SHARE * touched.rows:
        return MergeDecision(touched.partition, Strategy.REWRITE, f"{_goes(touched)}: too many to hide")
    return MergeDecision(touched.partition, Strategy.DELETION_VECTORS, f"only {_goes(touched)}")


def is_small(size_bytes: int) -> bool:
    """Whether a file of that size should be rewritten rather than kept."""
    return size_bytes < SMALL_BYTES


def summary(decisions: Sequence[MergeDecision]) -> dict[str, list[str]]:
    """Strategy -> lines `partition: reason` for a commit's metadata, at most ten for each strategy."""
    listed: dict[str, list[str]] = {}
    for decision in decisions:
        listed.setdefault(decision.strategy.value, []).append(f"{decision.partition or '-'}: {decision.reason}")
    return {
        name: [*lines[:10], *([f"and {len(lines) - 10} more"] if lines[10:] else [])] for name, lines in listed.items()
    }


def _goes(touched: TouchedPartition) -> str:
    return f"{touched.matched} of {touched.rows} rows go from {_files(touched.files)}"


def _files(count: int) -> str:
    return f"{count} file{'s' * (count != 1)}"
