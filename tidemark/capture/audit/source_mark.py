"""A position in an instance's binlog that is at or after every change in a snapshot of its rows."""

from dataclasses import dataclass
from typing import Self

from tidemark.capture.binlog.position import BinlogFile, Position
from tidemark.capture.commits.read_progress import InstanceProgress


@dataclass(frozen=True)
class SourceMark:
    """The server's time (epoch ms) at the snapshot, and the binlog position if the server reports it."""

    at_ms: int
    base: str | None = None
    position: Position | None = None

    @classmethod
    def of(cls, at_ms: int, file: str | None, position: int) -> Self:
        """The mark for a binlog file by its name on the server."""
        parsed = BinlogFile.parse(file) if file else None
        return cls(at_ms) if parsed is None else cls(at_ms, parsed.base, Position(parsed.number, position))

    def is_passed(self, progress: InstanceProgress) -> bool:
        """Whether capture has merged everything that the snapshot holds.

        It has if it read a record at or after the position. Without a position, it has if it read a record whose
        statement began after the snapshot's time. Records come in the order of their commits.
        """
        binlog = progress.binlog
        if self.position is not None and binlog is not None and binlog.base == self.base:
            return binlog.position[:2] >= self.position[:2]
        return progress.watermark_ms is not None and progress.watermark_ms > self.at_ms
