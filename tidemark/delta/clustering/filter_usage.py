"""Which columns queries really filter by: read from Spark's plans, kept in a bounded log beside the warehouse."""

import fcntl
import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlparse

from pyspark.sql import DataFrame

from tidemark.delta.internals.probe import has_private_interfaces
from tidemark.delta.internals.query_plan import FileScan, file_scans
from tidemark.system.files import private_directory
from tidemark.system.table_location import TableLocation

# Conditions by which bounds can exclude a file, as Spark prints them for data sources.
_SKIPPING = ("EqualTo", "EqualNullSafe", "In", "GreaterThan", "GreaterThanOrEqual", "LessThan", "LessThanOrEqual")
_CONDITION = re.compile(rf"\b(?:{'|'.join((*_SKIPPING, 'StringStartsWith'))})\((`(?:[^`]|``)+`|[^,()]+),")
_LARGEST_LOG = 1_000_000


@dataclass(frozen=True)
class ScanUsage:
    """Scans of a table in a query: the columns that their filters can skip files by, and how often it was run."""

    table: str
    columns: frozenset[str]
    scans: int = 1


def usage_log(data: Path) -> Path:
    """Where the filters of queries are recorded, in the data folder of a warehouse."""
    return data / "scans.jsonl"


def usages_of(frame: DataFrame) -> list[ScanUsage]:
    """The scans of a query, from its physical plan; nothing is run. Empty where there is no way to a plan."""
    if not has_private_interfaces(frame.sparkSession):
        return []
    return [usage for scan in file_scans(frame) if (usage := _usage(scan)) is not None]


def _usage(scan: FileScan) -> ScanUsage | None:
    location = re.search(r"\[(?P<uri>[^\],]+)", scan.location)
    columns = frozenset(name.strip("`") for name in _CONDITION.findall(scan.pushed_filters))
    return ScanUsage(unquote(urlparse(location["uri"]).path), columns) if location else None


def record(usages: Iterable[ScanUsage], log: Path) -> None:
    """Append them to a log, from any number of processes.

    A log past its largest size becomes the former one, in the place of the one before: the newest million bytes of use
    are always there, and never more than two.
    """
    lines = [json.dumps({**asdict(usage), "columns": sorted(usage.columns)}) + "\n" for usage in usages]
    if not lines:
        return
    private_directory(log.parent)
    with _alone(log):
        if log.exists() and log.stat().st_size > _LARGEST_LOG:
            log.replace(_former(log))
        with log.open("a", encoding="utf-8") as file:
            file.write("".join(lines))


def recorded_scans(log: Path, table: TableLocation) -> Counter[frozenset[str]]:
    """How many scans of a table filtered by which columns together."""
    scans: Counter[frozenset[str]] = Counter()
    for line in _lines(log):
        if line["table"].rstrip("/") == str(table):
            scans[frozenset(line["columns"])] += int(line["scans"])
    return scans


def _lines(log: Path) -> Iterator[dict[str, Any]]:
    if not log.exists():
        return
    with _alone(log):
        texts = [path.read_text(encoding="utf-8") for path in (_former(log), log) if path.exists()]
    for line in "".join(texts).splitlines():
        try:
            yield json.loads(line)
        except json.JSONDecodeError:  # Its writer was killed in the middle of it.
            continue


def _former(log: Path) -> Path:
    return log.with_suffix(f".former{log.suffix}")


@contextmanager
def _alone(log: Path) -> Iterator[None]:
    with log.with_suffix(".lock").open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
