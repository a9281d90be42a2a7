"""Random CSV files and broken ones: probes, rules and queries read the same, and the same as Spark itself."""

from __future__ import annotations

import re
from random import Random
from typing import TYPE_CHECKING, Any, Final

import duckdb
import pyarrow as pa
import pytest

from tidemark.compute.outside_frames import frame_of
from tidemark.crawl.errors import ProbeError
from tidemark.crawl.folders import Folder
from tidemark.crawl.outside_rows import OutsideRows

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

FEW, MANY = 25, 2_000
HEADERS: Final = ("n,a,b", '"n",a,"b"')
VALUES: Final = (
    *(
        "",
        '""',
        "x",
        " x ",
        '"a,b"',
        '"say ""x"""',
        '"l\nm"',
        '"l\rm"',
        '"l\r\nm"',
        '"""x"',
        '"x"""',
        '""""',
        '""""""',
        '" "',
    ),
    *(
        "NA",
        "null",
        "\\N",
        "00501",
        "é",
        "#x",
        "\t",
        "\\",
        '"\\"',
        'x"y',
        'x"y"z',
        ' "x"',
        "x" * 300,
        "😀",
        "\xa0",
        "'",
    ),
)
NO_CSV: Final = ('"x"y', '"x\\"y"', '"x" ', '"x', "1,2", '"a,"b', '"x""')
Row = tuple[Any, ...]


def random_text(chance: Random, number: int) -> tuple[str, bool]:
    """The content of a file, and whether it is CSV."""
    end, is_csv = chance.choice(("\n", "\n", "\r\n", "\r")), True
    blank, mark = [""] * (chance.random() < 0.1), "\ufeff" * (chance.random() < 0.2)
    rows = []
    for line in range(chance.randint(0, 5)):
        values = chance.choices(VALUES, k=2)
        if chance.random() < 0.06:
            values[chance.randrange(2)] = chance.choice(NO_CSV)
            is_csv = False
        rows += [",".join([f"{number}.{line}", *values]), *[""] * (chance.random() < 0.1)]
    last = end if not rows or chance.random() < 0.7 else ""
    ends_unseen = not last and bool(rows) and rows[-1].endswith(",") and '"' in rows[-1]
    return mark + end.join([*blank, chance.choice(HEADERS), *rows]) + last, is_csv and not ends_unseen


def opened(folder: Path) -> OutsideRows:
    place = Folder.at(str(folder))
    return OutsideRows(place, sorted(place.data(place.files()), key=lambda info: str(info.path)))


def seen_by_probe(rows: OutsideRows) -> list[Row] | None:
    """The rows; None if the file is refused."""
    try:
        assert rows.schema.names == ["n", "a", "b"]
        rows.require_quotes()
        with duckdb.connect() as session:
            session.register("outside", rows.arrow)
            read = session.sql("SELECT n, a, b FROM outside").fetchall()
        assert rows.count() == len(read) == rows.table().num_rows
    except (ProbeError, duckdb.Error, pa.ArrowException):
        return None
    return [tuple(row) for row in read]


def in_spark(row: Row) -> Row:
    """Spark reads the line end of a file as LF, also inside of a value."""
    return tuple(value and re.sub(r"[\r\n]+", "\n", value) for value in row)


def by_spark_alone(row: Row) -> Row:
    """Spark's own default takes an empty value in quotes for NULL, too."""
    return tuple(value or None for value in in_spark(row))


@pytest.mark.parametrize("files", [FEW, pytest.param(MANY, marks=pytest.mark.long)])
def test_random_files_are_read_alike(spark: SparkSession, tmp_path: Path, files: int) -> None:
    taken, expected = tmp_path / "taken", list[Row]()
    taken.mkdir()
    for seed in range(files):
        text, is_csv = random_text(Random(seed), seed)
        folder = tmp_path / str(seed)
        folder.mkdir()
        (folder / f"{seed}.csv").write_bytes(text.encode())
        read = seen_by_probe(opened(folder))
        assert (read is not None) == is_csv, (seed, text)
        if read is not None:
            (folder / f"{seed}.csv").rename(taken / f"{seed}.csv")
            expected += read
    rows = opened(taken)
    queried = [tuple(row) for row in frame_of(spark, rows, Folder.at(str(taken))).select("n", "a", "b").collect()]
    assert sorted(repr(in_spark(row)) for row in queried) == sorted(repr(in_spark(row)) for row in expected)
    own = spark.read.options(header=True, multiLine=True, escape='"', mode="FAILFAST").schema(
        "n STRING, a STRING, b STRING"
    )
    spark_alone = [tuple(row) for row in own.csv(str(taken)).collect()]
    assert sorted(repr(in_spark(row)) for row in spark_alone) == sorted(repr(by_spark_alone(row)) for row in expected)
    assert len(rows.paths) > files / 2
