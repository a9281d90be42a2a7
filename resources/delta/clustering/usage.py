"""Which columns queries really filter by: read from Spark's plans, one line of a file a scan."""

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlparse

from pyspark.sql import DataFrame

# Conditions by which bounds can exclude a file, as Spark prints them for data sources.
_SKIPPING = ("EqualTo", "EqualNullSafe", "In", "GreaterThan", "GreaterThanOrEqual", "LessThan", "LessThanOrEqual")
_CONDITION = re.compile(rf"\b(?:{'|'.join((*_SKIPPING, 'StringStartsWith'))})\((`(?:[^`]|``)+`|[^,()]+),")
_LARGEST_LOG = 10_000_000


@dataclass(frozen=True)
class ScanUsage:
    """One scan of a table in a query: the columns that its filters can skip files by."""

    table: str
    columns: frozenset[str]


def usages_of(frame: DataFrame) -> list[ScanUsage]:
    """The scans of a query, from its physical plan; nothing is run."""
    plan: Any = frame._jdf.queryExecution().sparkPlan()  # noqa: SLF001 - plans have no public name in Python
    return [usage for scan in _leaves(plan) if (usage := _usage(scan)) is not None]


def _leaves(plan: Any) -> Iterator[Any]:
    found = plan.collectLeaves()
    return (found.apply(at) for at in range(int(found.size())))


def _usage(scan: Any) -> ScanUsage | None:
    metadata = scan.metadata() if "metadata" in dir(scan) else None
    if metadata is None or not metadata.contains("PushedFilters"):
        return None
    location = re.search(r"\[(?P<uri>[^\],]+)", str(metadata.apply("Location")))
    columns = frozenset(name.strip("`") for name in _CONDITION.findall(str(metadata.apply("PushedFilters"))))
    return ScanUsage(unquote(urlparse(location["uri"]).path), columns) if location else None


def record(usages: Iterable[ScanUsage], log: Path) -> None:
    """Append them to a log; past its largest size nothing is added: the past says enough."""
    if log.exists() and log.stat().st_size > _LARGEST_LOG:
        return
    lines = [json.dumps({"table": one.table, "columns": sorted(one.columns)}) + "\n" for one in usages]
    log.parent.mkdir(parents=True, exist_ok=True)
    with log.open("a") as file:
        file.write("".join(lines))


def recorded(log: Path, table: Path) -> Counter[frozenset[str]]:
    """How many scans of a table filtered by which columns together."""
    if not log.exists():
        return Counter()
    lines = (json.loads(line) for line in log.read_text().splitlines())
    return Counter(frozenset(line["columns"]) for line in lines if Path(line["table"]) == table)
