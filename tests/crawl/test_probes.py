"""Probes of data that other programs wrote: DuckDB, delta-rs, SQLite, a web server."""

from __future__ import annotations

import json
import sqlite3
import string
from contextlib import closing, contextmanager
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import TYPE_CHECKING, ClassVar

import duckdb
import pyarrow as pa
import pytest
from deltalake import write_deltalake
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.crawl.source_world import KnownMaterializations, look
from tidemark.crawl.connection_secrets import ConnectionSecrets
from tidemark.crawl.errors import ProbeError, ProbeSettingError
from tidemark.crawl.probes.kafka_offsets import sight_of
from tidemark.crawl.probes.own_probe import GROUP
from tidemark.quoting.standard import IdentifierError
from tidemark.system.settings import Settings

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.components.s3_server import S3Server

DAY, NEXT = "2026-03-29", "2026-03-30"


def seen(probe: str, **more: object) -> tuple[tuple[bool, int | None], tuple[bool, int | None]]:
    """(is there, rows) of both days."""
    first, second = (look(probe, key, **more) for key in (DAY, NEXT))  # type: ignore[arg-type]
    return (first.is_there, first.rows), (second.is_there, second.rows)


def test_a_delta_table_that_another_program_writes(tmp_path: Path) -> None:
    probe = f"delta: {{table: {tmp_path}/t, partition: {{dt: '{{start:%Y-%m-%d}}'}}}}"
    assert look(probe, DAY).why == "the table does not exist yet"
    rows = pa.table({"dt": [DAY, DAY, "2026-03-31"], "at": [datetime(2026, 3, 29, 23, tzinfo=UTC)] * 3})
    write_deltalake(f"{tmp_path}/t", rows, partition_by=["dt"])
    assert seen(probe) == ((True, 2), (False, None))
    before = look(probe, DAY)
    write_deltalake(f"{tmp_path}/t", rows.slice(0, 1), mode="append")
    after = look(probe, DAY)
    assert (after.rows, after.version, before.version) == (3, "1", "0")
    assert before.content != after.content
    with pytest.raises(ProbeError, match="not partitioned by that column"):
        look(probe.replace("dt:", "day:"), DAY)


@pytest.mark.components
def test_a_delta_table_of_a_lake_in_an_object_store(object_store: S3Server, tmp_path: Path) -> None:
    """It is reached as the lake is; a declaration needs no options for it."""
    lake = object_store.location("probed")
    secrets = ConnectionSecrets.of(Settings.at(tmp_path, warehouse=lake), {})
    probe = "delta: {table: '${TIDEMARK_WAREHOUSE}/t', partition: {dt: '{key}'}}\n  settle_for: 0s"
    assert look(probe, DAY, secrets=secrets).why == "the table does not exist yet"
    rows = pa.table({"dt": [DAY, DAY], "n": [1, None]})
    write_deltalake(f"{lake}/t", rows, partition_by=["dt"], storage_options=lake.storage_options)
    sight = look(probe, DAY, secrets=secrets, more="quality:\n- not_null: [n]\n")
    assert (sight.is_there, sight.rows, len(sight.measured)) == (True, 2, 1)
    assert secrets.lake_options("s3a://other/t") == {}


def test_a_watermark_has_to_pass_the_end_and_not_our_clock(tmp_path: Path) -> None:
    at = "'{start:%Y-%m-%d}'"
    probe = f"delta: {{table: {tmp_path}/t, partition: {{dt: {at}}}, watermark: at}}"

    def write(instant: datetime) -> None:
        write_deltalake(f"{tmp_path}/t", pa.table({"dt": [DAY], "at": [instant]}), partition_by=["dt"], mode="append")

    write(datetime(2026, 3, 29, 23, 59, tzinfo=UTC))
    assert not look(probe, DAY).is_there
    write(datetime(2026, 3, 30, 0, 1, tzinfo=UTC))
    sight = look(probe, DAY)
    assert (sight.is_there, sight.watermark) == (True, "2026-03-30T00:01:00+00:00")
    write(datetime(2099, 1, 1, tzinfo=UTC))
    with pytest.raises(ProbeError, match="later than this machine's clock"):
        look(probe, DAY)


def test_files_with_their_marker_and_a_manifest(tmp_path: Path) -> None:
    folder = tmp_path / DAY
    probe = f"files: {{path: '{tmp_path}/{{start:%Y-%m-%d}}', marker: _SUCCESS, manifest: _FILES, at_least: 1}}"
    assert look(probe, DAY).why == "0 files, no _SUCCESS"
    folder.mkdir()
    (folder / "_SUCCESS").touch()
    assert look(probe, DAY).why == f"0 files of at least 1 in {folder}", "a marker before its files"
    (folder / "a.csv").write_text("1\n")
    assert look(probe, DAY).why == "1 files, no _FILES"
    (folder / "_FILES").write_text("a.csv 2\nb.csv\n")
    assert look(probe, DAY).why == "1 of 2 files of _FILES are missing: b.csv"
    (folder / "b.csv").write_text("2\n")
    (folder / "_temporary").mkdir()
    (folder / "_temporary" / "c").touch()
    assert "_temporary" in look(probe, DAY).why
    (folder / "_temporary" / "c").unlink()
    before = look(probe, DAY)
    assert (before.is_there, before.rows) == (True, None)
    (folder / "b.csv").write_text("23\n")
    assert look(probe, DAY).content != before.content
    assert not look(probe, NEXT).is_there


def test_folders_of_parquet_that_duckdb_writes(tmp_path: Path) -> None:
    query = f"COPY (SELECT DATE '{DAY}' AS dt, 3 AS hour, i FROM range(7) AS r(i)) TO '{tmp_path}/t'"  # noqa: S608
    with duckdb.connect() as database:
        database.execute(f"{query} (FORMAT parquet, PARTITION_BY (dt, hour))")
    probe = f"partitions: {{path: {tmp_path}/t, partition: {{dt: '{{start:%Y-%m-%d}}', hour: '{{start:%H}}'}}}}"
    hours = [look(probe, f"{DAY}T{hour:02}", period="hour") for hour in range(5)]
    assert [(sight.is_there, sight.rows) for sight in hours] == [(False, None)] * 3 + [(True, 7), (False, None)]
    (next((tmp_path / "t").rglob("*.parquet"))).write_bytes(b"half of it")
    with pytest.raises(ProbeError, match="cannot be read yet"):
        look(probe, f"{DAY}T03", period="hour")


@contextmanager
def sqlite_table(file: Path, table: str, column: str, values: list[str]) -> Iterator[str]:
    def name(text: str) -> str:
        return '"' + text.replace('"', '""') + '"'

    with closing(sqlite3.connect(file)) as database, database:
        database.execute(f"CREATE TABLE {name(table)} ({name(column)} TEXT, at TEXT)")
        database.executemany(
            f"INSERT INTO {name(table)} VALUES (?, ?)",  # noqa: S608
            [(value, f"{DAY} 10:00:00") for value in values],
        )
    yield f"sqlite:///{file}"


def test_a_database_by_values_and_by_time(tmp_path: Path) -> None:
    with sqlite_table(tmp_path / "x.db", "clicks", "dt", [DAY, DAY, "o'brien"]) as url:
        env = {"PARTNER": url}
        assert seen("sql: {url: '${PARTNER}', table: clicks, partition: {dt: '{key}'}}", env=env) == (
            (True, 2),
            (False, 0),
        )
        by_time = "sql: {url: '${PARTNER}', table: clicks, time_column: at, watermark: at}"
        assert seen(by_time, env=env) == ((False, 3), (False, 0))
        with closing(sqlite3.connect(tmp_path / "x.db")) as database, database:
            database.execute(f"INSERT INTO clicks VALUES ('x', '{NEXT} 00:00:00')")  # noqa: S608
        assert seen(by_time, env=env) == ((True, 3), (False, 1))
    with pytest.raises(ProbeSettingError, match="environment variable"):
        look(by_time, DAY)


def test_a_session_cannot_write(tmp_path: Path) -> None:
    """Whatever stands in a declaration, the file is open for reading alone."""
    from tidemark.crawl.probes.sql_table import _read_only_file

    with (
        sqlite_table(tmp_path / "x?.db", "clicks", "dt", [DAY]),
        closing(_read_only_file(str(tmp_path / "x?.db"), 5)) as database,
        pytest.raises(sqlite3.OperationalError, match="readonly"),
    ):
        database.execute("DELETE FROM clicks")


NAMES = st.text(st.sampled_from(string.ascii_letters + "\"'`;:%\\-{}()$ .é\n"), min_size=1, max_size=12)


@settings(max_examples=40, deadline=None)
@given(NAMES.filter(lambda name: "." not in name and not name.startswith("sqlite_")), NAMES, NAMES)
def test_any_name_is_one_name(tmp_path_factory: pytest.TempPathFactory, table: str, column: str, value: str) -> None:
    column = column if column.lower() != "at" else "dt"
    value = value.rstrip("$")  # `${key}` would be a variable
    file = tmp_path_factory.mktemp("fuzz") / "x.db"
    with sqlite_table(file, table, column, [f"{value}{DAY}", "another"]) as url:
        if "{" in value or "}" in value:
            value = ""
            with closing(sqlite3.connect(file)) as database, database:
                quoted = column.replace('"', '""'), table.replace('"', '""')
                database.execute(f'UPDATE "{quoted[1]}" SET "{quoted[0]}" = ? WHERE rowid = 1', (DAY,))  # noqa: S608
        source = {"sql": {"url": url, "table": table, "partition": {column: value + "{key}"}}}
        sight = look(json.dumps(source)[1:-1], DAY)
    assert (sight.is_there, sight.rows) == (True, 1)


def test_a_name_that_no_database_holds_is_refused(tmp_path: Path) -> None:
    with sqlite_table(tmp_path / "x.db", "clicks", "dt", [DAY]) as url, pytest.raises(IdentifierError):
        look(json.dumps({"sql": {"url": url, "table": "clicks", "partition": {"a\0b": "{key}"}}})[1:-1], DAY)


class _Partner(BaseHTTPRequestHandler):
    """Answers what the test says, by path."""

    answers: ClassVar[dict[str, tuple[int, bytes]]] = {}
    withheld: ClassVar[int] = 0
    """Bytes that it announces and does not send."""

    def do_GET(self) -> None:
        status, body = self.answers.get(self.path, (404, b""))
        if self.headers.get("Authorization") != "Bearer canary-token":
            status, body = 401, b""
        self.send_response(status)
        self.send_header("Content-Length", str(len(body) + self.withheld))
        if status == 302:
            self.send_header("Location", "/elsewhere")
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def partner() -> Iterator[str]:
    _Partner.answers, _Partner.withheld = {}, 0
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Partner)
    thread = Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()
    server.server_close()


def test_a_web_server(partner: str) -> None:
    probe = (
        f"http: {{url: '{partner}/days/{{start:%Y-%m-%d}}', field: data.state, equals: done, rows: data.rows, "
        "headers: {Authorization: 'Bearer ${PARTNER_TOKEN}'}}"
    )
    env = {"PARTNER_TOKEN": "canary-token"}
    assert seen(probe, env=env) == ((False, None), (False, None))
    _Partner.answers[f"/days/{DAY}"] = (200, b'{"data": {"state": "running", "rows": 1}}')
    assert seen(probe, env=env)[0] == (False, None)
    _Partner.answers[f"/days/{DAY}"] = (200, b'{"data": {"state": "done", "rows": 12}}')
    assert seen(probe, env=env) == ((True, 12), (False, None))
    for status, body, told in (
        (200, b"[]", "lacks a field"),
        (200, b"<html>", "not JSON"),
        (200, b'{"data": {"state": "done", "rows": -1}}', "has no number of rows"),
        (200, b" " * (1 << 20) + b"1" * 9, "too long"),
        (302, b"", "status 302"),
        (503, b"", "status 503"),
    ):
        _Partner.answers[f"/days/{DAY}"] = (status, body)
        with pytest.raises(ProbeError, match=told):
            look(probe, DAY, env=env)
    _Partner.answers[f"/days/{DAY}"] = (200, b'{"data": {"state": "done", "rows": 12}}')
    _Partner.withheld = 9
    with pytest.raises(ProbeError, match="cut off"):
        look(probe, DAY, env=env)


def test_an_asset_of_another_code_location() -> None:
    assets = KnownMaterializations({(("team", "clicks"), "2026-03-29-03:00"): (7, 10)})
    hourly = "dagster: {asset: team/clicks, partition: '{start:%Y-%m-%d-%H:%M}'}"
    sight = look(hourly, f"{DAY}T03", period="hour", assets=assets)
    assert (sight.is_there, sight.rows, sight.version) == (True, 10, "7")
    assert not look(hourly, f"{DAY}T04", period="hour", assets=assets).is_there
    by_hour = hourly.replace("}'", "}', each: hour")
    assert look(by_hour, DAY, assets=assets).why.startswith("team/clicks lacks 23 of 24 partitions: 2026-03-29-00:00")
    for hour in range(24):
        assets.events[("team", "clicks"), f"{DAY}-{hour:02}:00"] = (hour, 10)
    whole = look(by_hour, DAY, assets=assets)
    assert (whole.is_there, whole.rows) == (True, 240)
    assert not look(by_hour, NEXT, assets=assets).is_there


def test_a_topic_by_its_offsets() -> None:
    nobody = 1 << 62
    assert not sight_of([0, 0], [5, nobody], [nobody, nobody], [9, 9]).is_there
    there = sight_of([0, 2], [5, 4], [nobody, nobody], [9, 9])
    assert (there.is_there, there.rows) == (True, 7)
    assert not sight_of([0], [5], [5], [6]).is_there, "its only later record is from a clock that is ahead"
    assert not sight_of([nobody], [nobody], [nobody], [0]).is_there, "an empty topic"


def test_a_probe_of_the_projects_own_is_named_where_it_is_not_there() -> None:
    with pytest.raises(ProbeSettingError, match=f"entry point of {GROUP}"):
        look("own: {entry_point: nobody_has_it}", DAY)


def test_no_secret_is_in_the_messages_of_drivers() -> None:
    env = {"DB": "postgresql://me:canary-pa%2Fss@127.0.0.1:1/db?sslpassword=canary-two"}
    with pytest.raises(ProbeError) as raised:
        look("sql: {url: '${DB}', table: t, time_column: at}", DAY, env=env)
    everything = f"{raised.value} {raised.value!r} {raised.value.__dict__} {raised.value.__cause__}"
    assert "canary" not in everything
    with pytest.raises(ProbeError) as raised:
        look("files: {path: '${DB}/{key}'}", DAY, env={"DB": "canary://user:canary-pass@x"})
    assert "canary" not in f"{raised.value} {raised.value.__dict__}"


def test_a_slice_is_named_on_its_own_clock(tmp_path: Path) -> None:
    """An hour of Shanghai is in the folder of Shanghai's day."""
    (tmp_path / "cn" / "20260330").mkdir(parents=True)
    (tmp_path / "cn" / "20260330" / "x").touch()
    more = "sub_partitions: {region: {cn: {time_zone: Asia/Shanghai}, eu: {}}}"
    probe = f"files: {{path: '{tmp_path}/{{region}}/{{start:%Y%m%d}}'}}"
    assert look(probe, f"{NEXT}/region=cn", more=more).is_there
    assert not look(probe, f"{NEXT}/region=eu", more=more).is_there
