from dataclasses import dataclass

from tidemark.delta.merge_strategy import MergeDecision, summary


@dataclass(frozen=True)
class MergeReport:
    """The result of a merge. `version` is the commit's, or the table's if the batch was already merged (`replayed`).

    `stale` changes were not newer than the table's rows. `rows_copied` were rewritten only because their file had
    changed rows. `files_read` and `bytes_read` are the files that were searched for keys. `decisions` are by partition.
    """

    version: int
    replayed: bool = False
    inserted: int = 0
    updated: int = 0
    deleted: int = 0
    stale: int = 0
    rows_copied: int = 0
    files_read: int = 0
    bytes_read: int = 0
    files_removed: int = 0
    bytes_removed: int = 0
    files_added: int = 0
    bytes_added: int = 0
    retries: int = 0
    decisions: tuple[MergeDecision, ...] = ()

    def as_metadata(self) -> dict[str, object]:
        """The entries for the commit's metadata."""
        counts = {
            name: getattr(self, name)
            for name in ("inserted", "updated", "deleted", "stale", "rows_copied", "files_read", "files_removed")
        }
        return {**counts, "strategy": summary(self.decisions)}

    def as_operation_metrics(self, source_rows: int) -> dict[str, int]:
        """The counts under the names that Delta's history uses for a MERGE."""
        return {
            "operationNumSourceRows": source_rows,
            "numTargetRowsInserted": self.inserted,
            "numTargetRowsUpdated": self.updated,
            "numTargetRowsDeleted": self.deleted,
            "numTargetRowsCopied": self.rows_copied,
            "numTargetFilesAdded": self.files_added,
            "numTargetFilesRemoved": self.files_removed,
            "numTargetBytesAdded": self.bytes_added,
            "numTargetBytesRemoved": self.bytes_removed,
        }
