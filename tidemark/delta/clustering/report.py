"""What a clustering did."""

from dataclasses import dataclass


@dataclass(frozen=True)
class ClusterReport:
    """What was done: one version a batch; files and rows rewritten; `again` are groups that others' commits voided."""

    versions: tuple[int, ...] = ()
    files_before: int = 0
    files_after: int = 0
    bytes_before: int = 0
    rows: int = 0
    again: int = 0
