"""A place in an instance's binlog at or behind everything that a snapshot of its rows holds."""

from dataclasses import dataclass
from typing import Self

from tidemark.capture.binlog.position import BinlogFile, Position
from tidemark.capture.commits.read_progress import InstanceProgress


@dataclass(frozen=True)
class SourceMark:
    """The server's time (epoch ms) at the snapshot; `base` and `position` where the server told them."""

    at_ms: int
    base: str | None = None
    position: Position | None = None

    @classmethod
    def of(cls, at_ms: int, file: str | None, position: int) -> Self:
        """Of the binlog's file as the server calls it."""
        parsed = BinlogFile.parse(file) if file else None
        return cls(at_ms) if parsed is None else cls(at_ms, parsed.base, Position(parsed.number, position))

    def is_passed(self, progress: InstanceProgress) -> bool:
        """Whether capture has merged everything that the snapshot holds.

        A record that begins there or behind it has been read; or one whose statement began after the snapshot's time,
        which was committed behind it. Records come in the order of their commits.
        """
        binlog = progress.binlog
        if self.position is not None and binlog is not None and binlog.base == self.base:
            return binlog.position[:2] >= self.position[:2]
        return progress.watermark_ms is not None and progress.watermark_ms > self.at_ms
