"""Counting by itself: a database that another program fills, a Delta table that anybody may spoil, windows on both."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import dagster as dg
import pyarrow as pa
import pytest
from deltalake import DeltaTable, write_deltalake
from hypothesis import given
from hypothesis import strategies as st

from tests.center.detectors.test_outside import OutsideWorld
from tidemark.center.detectors.counted_tables import CountedTables
from tidemark.center.detectors.late_counts import LateCountsDetector
from tidemark.crawl.connection_secrets import ConnectionSecrets
from tidemark.crawl.errors import ProbeError
from tidemark.crawl.lake_counts import lake_counts
from tidemark.crawl.source_counts import count_statement, offset_counts, source_counts
from tidemark.dependency_model.entity.completeness import Completeness, CountQuery
from tidemark.dependency_model.status import RunState
from tidemark.dependency_model.time.zone import Zone
from tidemark.state_store.record_counts import RecordCounts

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

BEGIN = datetime(2024, 6, 2, 22, tzinfo=UTC)
WINDOWS = {"five": "5min", "ten": "10min", "hour": "hour"}
START = "start: 2024-06-03T00\nend: 2024-06-03T02\ntime_zone: Europe/Paris\n"
"""Two hours, from BEGIN on."""


class Shop(OutsideWorld):
    """A source with two records a minute, the lake's table of them, windows that wait, and a report on the hours."""

    def __init__(self, folder: Path, instance: dg.DagsterInstance) -> None:
        self.source, self.table = folder / "shop.db", folder / "orders"
        declared = "{time_column: at, sql: [{url: '${SHOP}', table: 'or ders'}]}"
        texts = {
            name: f"kind: Virtual\nperiod: {period}\n{START}probe: {{counts: {{of: orders}}, settle_for: 1m}}\n"
            for name, period in WINDOWS.items()
        }
        orders = f"period: hour\n{START}completeness: {declared}"
        super().__init__(folder, instance, orders=orders, report=f"period: hour\n{START}depends_on: [hour]", **texts)
        self.counts = RecordCounts(self.store.database)
        secrets = ConnectionSecrets({"SHOP": f"sqlite:///{self.source}"})
        entities = [self.graph.entity("orders")]
        self.counting = CountedTables(lambda: entities, lambda _: self.table, self.counts, secrets, lambda: self.now)
        self.late = LateCountsDetector(self.counts, self.center, self.store.read, self.look)
        self.now = BEGIN + timedelta(hours=2, minutes=10)
        rows = [(2 * minute + half, BEGIN + timedelta(minutes=minute)) for minute in range(120) for half in (0, 1)]
        with closing(sqlite3.connect(self.source)) as database, database:
            database.execute('CREATE TABLE "or ders" (id INTEGER, at TEXT)')
            told = [(number, at.replace(tzinfo=None).isoformat(" ")) for number, at in rows]
            database.executemany('INSERT INTO "or ders" VALUES (?, ?)', told)
        self.write(*rows[:100])
        self.write(*rows[100:])

    def write(self, *rows: tuple[int, datetime]) -> None:
        columns = {"id": [number for number, _ in rows], "at": [at for _, at in rows]}
        write_deltalake(self.table, pa.table(columns), mode="append")

    def count(self) -> None:
        entity = self.graph.entity("orders")
        assert entity.completeness is not None
        self.counting.count(entity, entity.completeness)
        self.late.poll()

    def complete(self) -> set[str]:
        """Windows that are complete; those that are asked for again are not."""
        every = (str(slice_) for name in WINDOWS for slice_ in self.graph.slices(name, self.now))
        return {text for text in every if self.status(text)[0] is RunState.COMPLETED}


@pytest.fixture
def shop(tmp_path: Path) -> Iterator[Shop]:
    with dg.DagsterInstance.ephemeral() as instance:
        yield Shop(tmp_path, instance)


LOST = {"five@2024-06-03T00:05", "ten@2024-06-03T00:00", "hour@2024-06-03T00"}
"""The windows of minute 7."""


def test_windows_complete_by_counts_and_open_again_for_what_anybody_deletes_or_doubles(shop: Shop) -> None:
    shop.count()
    shop.go_on(5)
    every = shop.complete()
    assert len(every) == 24 + 12 + 2
    assert {"report@2024-06-03T00", "report@2024-06-03T01"} <= set(shop.ready())
    (plotted, *_) = shop.instance.fetch_observations(dg.AssetKey(["hour"]), limit=1).records
    assert plotted.asset_observation is not None
    figures = {name: plotted.asset_observation.metadata[name].value for name in ("source_records", "percent")}
    assert figures == {"source_records": 120, "percent": 100.0}
    DeltaTable(shop.table).delete("id = 14")
    shop.count()
    assert every - shop.complete() == LOST
    shop.go_on(15)
    assert every - shop.complete() == LOST, "nobody believes it while a row is missing"
    assert "report@2024-06-03T00" not in shop.ready()
    shop.write((14, BEGIN + timedelta(minutes=7)))
    shop.count()
    shop.go_on(30)
    assert shop.complete() == every
    whole = DeltaTable(shop.table).version()
    shop.write((14, BEGIN + timedelta(minutes=7)))
    shop.count()
    assert every - shop.complete() == LOST, "twice is as wrong"
    DeltaTable(shop.table).restore(whole)
    shop.count()
    shop.go_on(60)
    assert shop.complete() == every


def test_files_written_anew_change_nothing(shop: Shop) -> None:
    shop.count()
    shop.go_on(5)
    every, before = shop.complete(), len(list(shop.store.read.after(0)))
    DeltaTable(shop.table).optimize.compact()
    shop.count()
    assert (shop.complete(), len(list(shop.store.read.after(0)))) == (every, before)


@pytest.mark.slow
def test_a_table_that_is_made_anew_is_counted_anew(shop: Shop, tmp_path: Path) -> None:
    shop.count()
    shop.go_on(5)
    every = shop.complete()
    shop.table.rename(tmp_path / "gone")
    shop.count()
    assert shop.complete() == set()
    (tmp_path / "gone").rename(shop.table)
    shop.count()
    shop.go_on(60)
    assert shop.complete() == every


@pytest.mark.slow
def test_a_source_that_is_down_makes_nothing_final_and_comes_back_by_itself(shop: Shop, tmp_path: Path) -> None:
    shop.source.rename(tmp_path / "away")
    with pytest.raises(ProbeError, match="database did not answer"):
        shop.count()
    shop.go_on(15)
    assert shop.complete() == set()
    (tmp_path / "away").rename(shop.source)
    shop.count()
    shop.go_on(60)
    assert len(shop.complete()) == 24 + 12 + 2


def test_records_that_the_source_gets_late_open_their_windows(shop: Shop) -> None:
    shop.now = BEGIN + timedelta(hours=1, minutes=10)
    shop.count()
    shop.go_on(5)
    assert shop.complete() >= LOST
    with closing(sqlite3.connect(shop.source)) as database, database:
        database.execute("""INSERT INTO "or ders" VALUES (9999, '2024-06-02 22:57:30')""")
    shop.count()
    assert "hour@2024-06-03T00" not in shop.complete()
    assert "five@2024-06-03T00:05" in shop.complete()


def test_a_source_whose_counts_go_backwards_is_not_believed(shop: Shop) -> None:
    shop.now = BEGIN + timedelta(hours=1, minutes=10)
    shop.count()
    shop.go_on(5)
    every = shop.complete()
    with closing(sqlite3.connect(shop.source)) as database, database:
        database.execute('DELETE FROM "or ders" WHERE id = 114')
    shop.count()
    assert every - shop.complete() == {"five@2024-06-03T00:55", "ten@2024-06-03T00:50", "hour@2024-06-03T00"}
    with closing(sqlite3.connect(shop.source)) as database, database:
        database.execute("""INSERT INTO "or ders" VALUES (114, '2024-06-02 22:57:00')""")
    shop.count()
    shop.go_on(40)
    assert shop.complete() >= every


def test_a_deletion_vector_hides_rows_from_the_count_too(shop: Shop) -> None:
    shop.count()
    shop.go_on(5)
    name = min(shop.table.glob("*.parquet")).name
    log = shop.table / "_delta_log" / f"{DeltaTable(shop.table).version() + 1:020}.json"
    vector = (
        '{"storageType": "i", "pathOrInlineDv": "wi5b=000010000siXQKl0rr91000f55c8Xg0@@D72lkbi5=-{L",'
        ' "sizeInBytes": 40, "cardinality": 6}'
    )
    log.write_text(
        f'{{"remove": {{"path": "{name}", "dataChange": true}}}}\n'
        f'{{"add": {{"path": "{name}", "size": 1, "partitionValues": {{}}, "dataChange": true, "modificationTime": 1,'
        f' "deletionVector": {vector}}}}}\n'
    )
    before = shop.complete()
    shop.count()
    assert shop.complete() < before


def test_offsets_by_minute_are_final_once_each_partition_goes_on() -> None:
    counts, final = offset_counts("clicks", 100, [(0, 5), (3, 5), (3, 9), (1 << 62, 9), (1 << 62, 1 << 62)], (4, 10))
    assert {key: records for key, records in counts.items() if records} == {
        (100, "clicks-0"): 3,
        (101, "clicks-1"): 4,
        (102, "clicks-0"): 1,
        (103, "clicks-1"): 1,
    }
    assert final == 102


@given(table=st.text(min_size=1, max_size=40), column=st.text(min_size=1, max_size=40))
def test_any_name_is_one_name(table: str, column: str) -> None:
    names = [text.replace("\0", "_").replace(".", "_") for text in (table, column)]
    quoted = ['"' + name.replace('"', '""') + '"' for name in names]
    with closing(sqlite3.connect(":memory:")) as database:
        database.execute(f"CREATE TABLE {quoted[0]} ({quoted[1]} TEXT)")
        database.execute(f"INSERT INTO {quoted[0]} VALUES ('2024-06-02 22:57:30')")  # noqa: S608
        text = count_statement(names[0], names[1], "sqlite")
        assert database.execute(text, ("2024", "2025")).fetchall() == [("2024-06-02 22:57", 1)]


@pytest.mark.parametrize(("zone", "hours"), [("UTC+8", 8), ("Europe/Paris", 2), (None, 0)])
def test_a_column_without_a_zone_is_read_on_its_clock(tmp_path: Path, zone: str | None, hours: int) -> None:
    local = (BEGIN + timedelta(hours=hours)).replace(tzinfo=None)
    write_deltalake(tmp_path / "t", pa.table({"at": [local, local + timedelta(seconds=61)]}))
    (minutes,) = lake_counts(tmp_path / "t", None, "at", Zone.load(zone) if zone else None).added.values()
    first = int(BEGIN.timestamp()) // 60
    assert minutes == {first: 1, first + 1: 1}
    with closing(sqlite3.connect(tmp_path / "x.db")) as database, database:
        database.execute("CREATE TABLE t (at TEXT)")
        database.execute("INSERT INTO t VALUES (?)", (local.isoformat(" "),))
    query = CountQuery(url=f"sqlite:///{tmp_path}/x.db", table="t")
    declared = Completeness(time_column="at", time_zone=zone, sql=(query,))
    assert source_counts(declared, first, first + 1, ConnectionSecrets({})) == ({(first, "t"): 1}, first + 1)
