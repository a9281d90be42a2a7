"""VACUUM beside checkpoints of all kinds: what is live stays, and what cannot be read for certain is refused."""

import json
import uuid
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from delta import DeltaTable
from deltalake import write_deltalake
from pyspark.sql import SparkSession

from tests.lake_folder import lake_folder
from tidemark.delta.delta_rs_table import read_rows
from tidemark.delta.errors import TableFeatureError, UnreadableLogError
from tidemark.delta.internals.log_files import LogFiles
from tidemark.delta.open_table import delta_rs_options
from tidemark.delta.retention import Retention
from tidemark.delta.vacuum import VacuumPlan, vacuum
from tidemark.quoting.spark import path_table
from tidemark.state_store.database import Database
from tidemark.system.table_location import TableLocation

Vacuums = Callable[[TableLocation], VacuumPlan]
NEWEST_ONLY = Retention(versions=1, age=timedelta(0))
NOW = datetime(2100, 1, 1, tzinfo=UTC)


@pytest.fixture
def run_vacuum(tmp_path: Path) -> Vacuums:
    """Vacuum a table with a state store of its own."""
    return lambda table: vacuum(table, NEWEST_ONLY, [], Database.at(tmp_path / "state.db"), NOW)


def log_folder(table: TableLocation) -> Path:
    return lake_folder(table) / "_delta_log"


def data_files(table: TableLocation) -> set[Path]:
    return set(lake_folder(table).glob("*.parquet"))


@pytest.fixture
def table(lake: TableLocation) -> TableLocation:
    """Versions 0 to 4, a row each; nothing was removed."""
    for number in range(5):
        rows = pa.table({"id": [number]})
        write_deltalake(str(lake), rows, mode="append", storage_options=delta_rs_options(lake))
    return lake


def log_of(table: TableLocation, *versions: int) -> list[dict[str, Any]]:
    texts = [(log_folder(table) / f"{version:020}.json").read_text() for version in versions]
    return [json.loads(line) for text in texts for line in text.splitlines()]


def adds_of(actions: list[dict[str, Any]]) -> pa.Table:
    """The `add` actions as a checkpoint has them."""
    fields = [("path", pa.string()), ("partitionValues", pa.map_(pa.string(), pa.string())), ("size", pa.int64())]
    kind = pa.struct([*fields, ("modificationTime", pa.int64()), ("dataChange", pa.bool_())])
    adds = [{**add, "partitionValues": []} for action in actions if (add := action.get("add"))]
    return pa.table({"add": pa.array(adds, kind)})


def with_v2_checkpoint(table: TableLocation, version: int) -> Path:
    """The commits up to `version` become a V2 checkpoint with one sidecar, and are gone; returns the sidecar."""
    log = log_folder(table)
    actions = log_of(table, *range(version + 1))
    sidecar = log / "_sidecars" / f"{uuid.uuid4()}.parquet"
    sidecar.parent.mkdir()
    pq.write_table(adds_of(actions), sidecar)
    listed = {"path": sidecar.name, "sizeInBytes": sidecar.stat().st_size, "modificationTime": 1}
    protocol: dict[str, Any] = {"minReaderVersion": 3, "minWriterVersion": 7, "readerFeatures": ["v2Checkpoint"]}
    protocol["writerFeatures"] = protocol["readerFeatures"]
    kept: list[dict[str, Any]] = [{"checkpointMetadata": {"version": version}}, {"protocol": protocol}]
    kept += [action for action in actions if "metaData" in action]
    text = "\n".join(json.dumps(action) for action in [*kept, {"sidecar": listed}])
    (log / f"{version:020}.checkpoint.{uuid.uuid4()}.json").write_text(text)
    for old in range(version + 1):
        (log / f"{old:020}.json").unlink()
    return sidecar


def test_live_files_of_a_sidecar_stay(table: TableLocation, run_vacuum: Vacuums) -> None:
    before = data_files(table)
    with_v2_checkpoint(table, 3)
    assert run_vacuum(table).needless == {}
    assert data_files(table) == before
    assert sorted(read_rows(table)["id"].to_pylist()) == [0, 1, 2, 3, 4]


def test_a_sidecar_that_is_gone_is_refused_before_anything_is_deleted(
    table: TableLocation, run_vacuum: Vacuums
) -> None:
    before = data_files(table)
    sidecar = with_v2_checkpoint(table, 3)
    sidecar.unlink()
    with pytest.raises(UnreadableLogError, match=rf"nothing was changed: .* no sidecar {sidecar.name}"):
        run_vacuum(table)
    assert data_files(table) == before


@pytest.mark.long
@pytest.mark.spark
def test_spark_s_v2_checkpoints_are_read(spark: SparkSession, lake: TableLocation, run_vacuum: Vacuums) -> None:
    path = lake
    properties = "'delta.checkpointPolicy' = 'v2', 'delta.checkpointInterval' = '4'"
    spark.sql(f"CREATE TABLE {path_table(path)} (id BIGINT) USING delta TBLPROPERTIES ({properties})")
    for number in range(6):
        spark.range(number, number + 1, 1, 1).write.format("delta").mode("append").save(str(path))
    before = data_files(path)
    log = log_folder(path)
    assert list(log.glob("*.checkpoint.*-*"))
    assert list((log / "_sidecars").iterdir())
    for version in range(4):
        (log / f"{version:020}.json").unlink()
    assert run_vacuum(path).needless == {}
    assert data_files(path) == before
    DeltaTable.forPath(spark, str(path)).delete("id < 3")
    assert run_vacuum(path).needless_bytes > 0
    assert sorted(row.id for row in spark.read.format("delta").load(str(path)).collect()) == [3, 4, 5]


@pytest.mark.parametrize(
    ("protocol", "unknown"),
    [
        ({"minReaderVersion": 3, "minWriterVersion": 7, "writerFeatures": ["futureFiles"]}, "futureFiles"),
        ({"minReaderVersion": 3, "minWriterVersion": 7, "readerFeatures": ["futureFiles-preview"]}, "futureFiles-prev"),
        ({"minReaderVersion": 1, "minWriterVersion": 8}, "minWriterVersion 8"),
    ],
)
def test_a_feature_that_is_not_known_is_refused(
    table: TableLocation, run_vacuum: Vacuums, protocol: dict[str, Any], unknown: str
) -> None:
    before = data_files(table)
    (log_folder(table) / f"{5:020}.json").write_text(json.dumps({"protocol": protocol}))
    with pytest.raises(TableFeatureError, match=f"nothing was changed: found {unknown}"):
        run_vacuum(table)
    assert data_files(table) == before


def test_a_gap_in_the_log_is_refused(table: TableLocation, run_vacuum: Vacuums) -> None:
    (log_folder(table) / f"{2:020}.json").unlink()
    with pytest.raises(UnreadableLogError, match="found no commit 2"):
        run_vacuum(table)
    (log_folder(table) / f"{0:020}.json").unlink()
    with pytest.raises(UnreadableLogError, match="neither version 0 nor a checkpoint before 1"):
        run_vacuum(table)


@pytest.mark.parametrize(("parts", "is_read"), [(2, True), (1, False)])
def test_a_checkpoint_in_parts_is_read_when_all_are_there(table: TableLocation, parts: int, *, is_read: bool) -> None:
    adds = adds_of(log_of(table, 0, 1, 2, 3))
    for number in range(1, parts + 1):
        file = log_folder(table) / f"{3:020}.checkpoint.{number:010}.{2:010}.parquet"
        pq.write_table(adds.slice((number - 1) * 2, 2), file)
    files = LogFiles.of(table)
    assert (3 in files.checkpoints) == is_read
    if is_read:
        assert [action["add"]["path"] for action in files.checkpoint_actions(3)] == adds["add"].combine_chunks().field(
            "path"
        ).to_pylist()
