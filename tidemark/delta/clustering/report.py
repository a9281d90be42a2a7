from dataclasses import dataclass


@dataclass(frozen=True)
class ClusterReport:
    """The result of clustering: a version for each batch, and counts. `again` counts groups that were read again."""

    versions: tuple[int, ...] = ()
    files_before: int = 0
    files_after: int = 0
    bytes_before: int = 0
    rows: int = 0
    again: int = 0
