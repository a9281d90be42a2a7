"""The capture as a process of its own, that can be killed for real: it takes in what is there, again and again.

    python -m tests.components.chain.capture FOLDER SERVERS WAREHOUSE DECLARED

A line of JSON a step goes to FOLDER/steps.jsonl. What fails is said there and tried again, as its schedule does.
"""

from __future__ import annotations

import json
import pickle
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from tests.components.chain.tables import ChainTable, sources
from tests.project import CHECKOUT
from tidemark.capture.operations.ingestion import Ingestion
from tidemark.capture.source.kafka.intake import KafkaIntake
from tidemark.spark.session import spark_session
from tidemark.state_store.snapshot_registry import SnapshotRegistry
from tidemark.system.settings import Settings

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tidemark.capture.operations.ingestion_report import IngestReport

_PAUSE_SECONDS: Final = 1.0


def settings_of(folder: Path, servers: str, warehouse: Path | None = None) -> Settings:
    """Of the process, and of who looks at what it made."""
    at = str(warehouse or folder / "data" / "warehouse")
    return Settings.at(folder / "data", root=CHECKOUT, kafka=servers, time_zone="UTC", warehouse=at)


def declare_tables(path: Path, tables: Sequence[ChainTable]) -> None:
    """What the next capture that is started there captures."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(pickle.dumps(tuple(tables)))


def declared_tables(path: Path) -> Sequence[ChainTable]:
    tables: Sequence[ChainTable] = pickle.loads(path.read_bytes())  # noqa: S301 - our own file
    return tables


def said(report: IngestReport) -> dict[str, Any]:
    """What is worth a line."""
    return {
        "changes": sum(report.changes.values()),
        "late": sum(report.late.values()),
        "commits": report.commits,
        "closed": [f"{snapshot.entity} {snapshot.slice}" for snapshot in report.closed],
        "halted": [str(instance) for instance in report.halted],
        "warnings": [*report.warnings],
        "seconds": round(report.seconds, 1),
    }


def run(folder: Path, servers: str, warehouse: Path | None, declared: Path) -> None:
    """Until somebody ends it."""
    settings = settings_of(folder, servers, warehouse)
    tables = sources(declared_tables(declared))
    registry = SnapshotRegistry.at(settings.state_db)
    ingestion = Ingestion(spark_session(settings), settings, tables, registry, KafkaIntake.of(settings))
    with (folder / "steps.jsonl").open("a", buffering=1) as lines:
        lines.write('{"started": true}\n')
        while True:
            try:
                line = said(ingestion.step())
            except Exception as error:  # noqa: BLE001 - whatever it is, the next step has to make it good
                line = {"error": type(error).__name__, "text": str(error)[:2000]}
            lines.write(json.dumps(line) + "\n")
            time.sleep(_PAUSE_SECONDS)


if __name__ == "__main__":
    run(Path(sys.argv[1]), sys.argv[2], Path(sys.argv[3]), Path(sys.argv[4]))
