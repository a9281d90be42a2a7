"""A writer of random good and bad slices, to be killed, and a reader that looks at every version it makes.

`python -m tests.delta.published_writes write|read FOLDER SEED COUNT`; the same seed writes the same again.
"""

from __future__ import annotations

import random
import sys
import time
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final
from unittest.mock import Mock

from deltalake import DeltaTable
from pyspark.sql import functions as sf

from tidemark.compute.quality_checks import audit
from tidemark.compute.rule_surroundings import Surroundings
from tidemark.delta.delta_rs_table import current_version, read_rows
from tidemark.delta.replace_partition import replace_partitions
from tidemark.dependency_model.entity.quality_rules import AcceptedValues, NotNull, RowCount, Unique
from tidemark.dependency_model.slice import Slice
from tidemark.spark.session import spark_session
from tidemark.system.settings import Settings

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pyspark.sql import DataFrame, SparkSession

    from tidemark.delta.partition_overwrite import WrittenRows


RULES: Final = (NotNull(("id",)), Unique(("id",)), AcceptedValues("kind", ("a", "b")), RowCount(min=2))
DAYS: Final = tuple(date(2026, 3, day) for day in range(23, 27))
POINTS: Final = ("delta.before_replace", "delta.files_written", "delta.audited", "delta.after_replace")
DONE: Final = "done"
NUMBER: Final = "number"
"""How many writes are through."""
Row = tuple[int | None, str]


@dataclass(frozen=True)
class Write:
    """One write: the rows of each day, and which of the days keep the rules."""

    rows: Mapping[date, Sequence[Row]]
    good: Mapping[date, bool]


def random_write(seed: int, number: int) -> Write:
    """Write `number` of a seed; half of its days break a rule."""
    chance = random.Random(f"{seed}:{number}")
    days = chance.sample(DAYS, chance.choice([1, 1, 2, 3]))
    good = {day: chance.random() < 0.5 for day in days}
    return Write({day: _rows(chance, number, is_good=good[day]) for day in days}, good)


def _rows(chance: random.Random, number: int, *, is_good: bool) -> list[Row]:
    rows: list[Row] = [(1000 * number + at, chance.choice("ab")) for at in range(chance.randrange(2, 6))]
    broken: list[list[Row]] = [[(None, "a"), *rows], [rows[0], *rows], [(-1, "c"), *rows], rows[:1]]
    return rows if is_good else chance.choice(broken)


def keeps_rules(rows: Sequence[Mapping[str, Any]]) -> bool:
    """The rules said a second time, in plain words, of one day's rows."""
    ids = [row["id"] for row in rows]
    return (
        None not in ids and len(set(ids)) == len(ids) >= RULES[-1].min and {row["kind"] for row in rows} <= {"a", "b"}
    )


def write(spark: SparkSession, path: Path, told: Write) -> tuple[bool, ...]:
    """As slices are written: rules of the engine, over files that no version has."""
    slices = {(day,): Slice("t", day.isoformat()) for day in told.rows}

    def release(written: WrittenRows) -> list[bool]:
        audits = audit(RULES, written.rows, slices, Mock(Surroundings))
        return [not audits[slice_].blocks for slice_ in slices.values()]

    parts = [({"dt": day}, _frame(spark, rows)) for day, rows in told.rows.items()]
    return replace_partitions(parts, path, release).published


def _frame(spark: SparkSession, rows: Sequence[Row]) -> DataFrame:
    values = ", ".join(f"(CAST({'NULL' if id_ is None else id_} AS BIGINT), '{kind}')" for id_, kind in rows)
    return spark.sql(f"SELECT * FROM VALUES {values} AS t(id, kind)").select(sf.col("id"), "kind")  # noqa: S608


def write_all(spark: SparkSession, folder: Path, seed: int, count: int) -> None:
    """Those writes that are not through yet; each must be published exactly where it keeps the rules."""
    progress = folder / NUMBER
    for number in range(int(progress.read_text()) if progress.exists() else 0, count):
        told = random_write(seed, number)
        assert write(spark, folder / "t", told) == tuple(told.good.values()), (seed, number)
        progress.write_text(str(number + 1))


def expected_rows(seed: int, count: int) -> set[tuple[date, int | None, str]]:
    """What the table holds after so many writes."""
    days: dict[date, Sequence[Row]] = {}
    for number in range(count):
        told = random_write(seed, number)
        days.update({day: rows for day, rows in told.rows.items() if told.good[day]})
    return {(day, *row) for day, rows in days.items() for row in rows}


def read_all(folder: Path) -> int:
    """Look at the newest version again and again, and at those that came between two looks; how many there were."""
    path, seen = folder / "t", -1
    while True:
        is_last = (folder / DONE).exists()
        newest = current_version(path)
        if newest is not None and newest > seen:
            for version in (newest, *range(seen + 1, newest)):
                require_good(path, version)
            seen = newest
        elif is_last:
            return seen + 1
        else:
            time.sleep(0.002)


def require_good(path: Path, version: int) -> None:
    """Every day of a version keeps the rules; days without rows were never written."""
    by_day: dict[date, list[Mapping[str, Any]]] = {}
    for row in read_rows(path, version).to_pylist():
        by_day.setdefault(row["dt"], []).append(row)
    broken = {day: rows for day, rows in by_day.items() if not keeps_rules(rows)}
    if broken:
        raise AssertionError(f"version {version} shows {broken}")


def main(command: str, folder: Path, seed: int, count: int) -> None:
    """Write, or read and print how many versions there were."""
    if command == "write":
        write_all(spark_session(Settings.at(folder / "data")), folder, seed, count)
    else:
        print(read_all(folder), DeltaTable(str(folder / "t")).version() + 1)


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4]))
