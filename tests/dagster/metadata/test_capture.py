"""What Dagster is shown of a table's capture."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import pyarrow as pa
import pytest
from deltalake import CommitProperties, write_deltalake

from tests.compute.small_warehouse import small_warehouse
from tests.lake_folder import lake_folder
from tidemark.capture.commits.commit_state import CommitState
from tidemark.capture.commits.slice_end import SliceEnd
from tidemark.capture.source.kafka.broker_offsets import Bounds, Broker
from tidemark.compute.runtime import Runtime
from tidemark.dagster.metadata.capture import CaptureMetadata
from tidemark.dependency_model.slice import Slice
from tidemark.errors import TransientError
from tidemark.state_store.snapshot_registry import TaggedSnapshot

if TYPE_CHECKING:
    from pathlib import Path

    from tidemark.dagster.metadata.capture import Metadata

CAPTURED = "kind: Snapshot\nperiod: day\nsource: {table: school.sales_*, instances: [a, b]}\nkey: [id]\n"
DAY = Slice("sales", "2026-03-23")
NOW = datetime.now(UTC)


@pytest.fixture
def runtime(tmp_path: Path) -> Runtime:
    hourly = "kind: Snapshot\nperiod: hour\nsnapshot_of: sales\n"
    return Runtime(small_warehouse(tmp_path, {"sales": (CAPTURED, ""), "sales_1h": (hourly, "")}))


@pytest.fixture
def live(runtime: Runtime, monkeypatch: pytest.MonkeyPatch) -> Runtime:
    """The same, captured from Kafka."""
    monkeypatch.setattr(Broker, "bounds", lambda _, topics: dict.fromkeys(topics, Bounds(0, 45)))
    settings = runtime.warehouse.settings.model_copy(update={"kafka": "127.0.0.1:1"})
    return Runtime(replace(runtime.warehouse, settings=settings))


def capture_metadata(runtime: Runtime, slice_: Slice, now: datetime) -> Metadata:
    shown = CaptureMetadata(runtime, slice_.entity, now)
    return {**shown.of_table(), **shown.of_slice(slice_)}


def ms(moment: datetime) -> int:
    return int(moment.timestamp() * 1000)


def commit(runtime: Runtime, state: CommitState) -> None:
    told = CommitProperties(custom_metadata={"userMetadata": state.to_json()})
    path = runtime.warehouse.table_path("sales")
    write_deltalake(lake_folder(path), pa.table({"id": [state.batch]}), mode="append", commit_properties=told)


def texts(metadata: Metadata) -> dict[str, str]:
    return {name: str(value.value) for name, value in metadata.items()}


def test_before_the_first_commit_there_is_little_to_show(runtime: Runtime) -> None:
    shown = texts(capture_metadata(runtime, DAY, NOW))
    assert (shown["generation"], shown["late_changes"], shown["changes_per_second"]) == ("1", "0", "0.0")
    assert "no heartbeat has arrived from b yet" in shown["instances"]
    assert not {"capture", "watermark", "last_snapshot", "lag", "late_changes_by_slice"} & set(shown)


def test_it_equals_the_status_command_with_a_picture(runtime: Runtime, live: Runtime) -> None:
    first = CommitState(
        batch=1,
        offsets={"cdc.a": 40, "cdc.b": 7},
        watermarks={"a": ms(NOW), "b": ms(NOW - timedelta(hours=1)), "a.school.sales_0": ms(NOW)},
        counts={"changes": 3600, "a.school.sales_0": 3600},
        closes=(SliceEnd(1, "sales", "day", DAY.key),),
    )
    commit(runtime, first)
    late = {"sales": {DAY.key: 4}, "sales_1h": {"2026-03-23T22": 4}}
    commit(runtime, replace(first, batch=2, closes=(), late=late, counts={"changes": 0}))
    runtime.registry.tag([TaggedSnapshot("sales", "day", DAY.key, 0, 2, NOW)])
    runtime.registry.restate([("sales", "day", DAY.key)], 2)

    recorded = texts(capture_metadata(runtime, DAY, datetime.now(UTC)))
    shown = texts(capture_metadata(live, DAY, datetime.now(UTC)))
    assert set(shown) - set(recorded) == {"capture", "lag"}
    assert shown["lag"] == "38"
    assert (shown["generation"], shown["late_changes"], shown["last_snapshot"]) == ("2", "4", DAY.key)
    assert shown["changes_per_second"] == "1.0"
    assert float(shown["watermark"]) == pytest.approx((NOW - timedelta(hours=1)).timestamp(), abs=0.01)
    assert f"| {DAY.key} | 4 |" in shown["late_changes_by_slice"]
    assert f"| a.school.sales_0 | {NOW:%Y-%m-%d %H:%M:%S} | 1.00 |" in shown["physical_tables"]
    assert "| a | 40 | 5 | unknown: no heartbeat has arrived from a yet |  |" in shown["instances"]
    assert shown["capture"].startswith("![the last 2 commits of sales](data:image/png;base64,iVBOR")
    hourly = texts(capture_metadata(live, Slice("sales_1h", "2026-03-23T22"), NOW))
    assert (hourly["late_changes"], "capture" in hourly) == ("4", False)


def test_a_broker_that_is_away_hides_the_lag_alone(live: Runtime, monkeypatch: pytest.MonkeyPatch) -> None:
    def away(*_: object) -> None:
        raise TransientError("the broker does not answer")

    monkeypatch.setattr(Broker, "bounds", away)
    shown = texts(capture_metadata(live, DAY, NOW))
    assert "| a | 0 | ? |" in shown["instances"]
    assert "lag" not in shown


def test_a_table_of_sql_has_none(runtime: Runtime) -> None:
    assert capture_metadata(runtime, Slice("totals", DAY.key), NOW) == {}
