"""A broker with messages, and a process that captures them: what it took, in time and in memory."""

from __future__ import annotations

import threading
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

import psutil

from tidemark.capture.operations.ingestion import Ingestion
from tidemark.capture.source.kafka.intake import KafkaIntake
from tidemark.spark.session import spark_session
from tidemark.state_store.snapshot_registry import SnapshotRegistry
from tidemark.system.settings import Settings

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from tidemark.capture.source_table import SourceTable

_MEGABYTE: Final = 1_000_000


@dataclass
class MemoryUse:
    """What this process and its JVM hold, in MB, each second."""

    held: list[int] = field(default_factory=list)

    def figures(self) -> dict[str, int]:
        """`rss_mb_start`, the most in the second tenth of the time (the first one fills caches), and `rss_mb_end`."""
        tenth = max(1, len(self.held) // 10)
        return {"rss_mb_start": max(self.held[tenth : 2 * tenth] or self.held), "rss_mb_end": max(self.held[-tenth:])}


@contextmanager
def memory() -> Iterator[MemoryUse]:
    """Look while the block runs."""
    use, ended, process = MemoryUse(), threading.Event(), psutil.Process()

    def look() -> None:
        while True:
            mine = [process, *(child for child in process.children() if _is_own_jvm(child))]
            use.held.append(sum(process.memory_info().rss for process in mine) // _MEGABYTE)
            if ended.wait(1):
                return

    watcher = threading.Thread(target=look, daemon=True)
    watcher.start()
    try:
        yield use
    finally:
        ended.set()
        watcher.join()


def _is_own_jvm(child: psutil.Process) -> bool:
    """The broker of a figure is a child, too, and who fills its topics."""
    return child.name() == "java" and "kafka.Kafka" not in child.cmdline()


@dataclass(frozen=True)
class CapturedWarehouse:
    """A warehouse that takes in what the broker's topics hold."""

    settings: Settings
    ingestion: Ingestion
    registry: SnapshotRegistry

    @classmethod
    def at(cls, folder: Path, servers: str, tables: Sequence[SourceTable]) -> CapturedWarehouse:
        settings = Settings.at(folder, kafka=servers, spark_tuning="throughput")
        registry = SnapshotRegistry.at(settings.state_db)
        ingestion = Ingestion(spark_session(settings), settings, tables, registry, KafkaIntake.of(settings))
        return cls(settings, ingestion, registry)
