"""An instance without heartbeats: a failed check of the tables that it holds, reported once; later a passed one."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import dagster as dg
import pytest
from pydantic import SecretStr

from tests.compute.small_warehouse import small_warehouse
from tidemark.capture.heartbeat.liveness import note_look
from tidemark.capture.heartbeat.newest_heartbeats import NOTES
from tidemark.dagster.definitions import build_definitions
from tidemark.dagster.heartbeat_checks import NAME, heartbeat_checks
from tidemark.dagster.sensors.write_and_watch_heartbeats import heartbeat_sensor
from tidemark.state_store.database import Database
from tidemark.state_store.notes import Notes

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from tidemark.warehouse.warehouse import Warehouse

SOURCE = "kind: Snapshot\nperiod: day\nkey: [id]\nsource: {table: school.%s, instances: [%s]%s}\n"
HOURS = "kind: Snapshot\nperiod: hour\nsnapshot_of: orders\n"
CAPTURED = {
    "orders": (SOURCE % ("orders", "a, b", ""), ""),
    "orders_1h": (HOURS, ""),
    "users": (SOURCE % ("users", "a", ""), ""),
    "patient": (SOURCE % ("patient", "b", ", broken_after: 3h"), ""),
}
MINUTE = timedelta(minutes=1)


@pytest.fixture
def warehouse(tmp_path: Path) -> Warehouse:
    return small_warehouse(tmp_path, CAPTURED)


class Sensor:
    """Ticks of one sensor, each in a process of its own: only its cursor is remembered."""

    def __init__(self, warehouse: Warehouse, instance: dg.DagsterInstance) -> None:
        self.warehouse, self.instance = warehouse, instance
        self.cursor: str | None = None

    def tick(self, **ages: timedelta) -> dict[str, bool]:
        """A tick with heartbeats of these ages; the checks that it reports."""
        now = datetime.now(UTC)
        hear(self.warehouse, now, **{instance: now - age for instance, age in ages.items()})
        return self.tick_as_it_is()

    def tick_as_it_is(self) -> dict[str, bool]:
        with dg.build_sensor_context(instance=self.instance, cursor=self.cursor) as context:
            result = heartbeat_sensor([], self.warehouse)(context)
        assert isinstance(result, dg.SensorResult)
        self.cursor = result.cursor
        checks = [event for event in result.asset_events or () if isinstance(event, dg.AssetCheckEvaluation)]
        for check in checks:
            self.instance.report_runless_asset_event(check)
        assert {check.check_name for check in checks} <= {NAME}
        self.last = {check.asset_key.to_user_string(): check for check in checks}
        return {entity: check.passed for entity, check in self.last.items()}

    def in_the_log(self, entity: str) -> list[bool]:
        key = dg.AssetCheckKey(dg.AssetKey([entity]), NAME)
        records = self.instance.event_log_storage.get_asset_check_execution_history(key, limit=99)
        return [record.evaluation.passed for record in reversed(records) if record.evaluation]


def test_a_check_fails_without_heartbeats_of_an_instance_and_passes_with_them(
    warehouse: Warehouse, capfd: pytest.CaptureFixture[str]
) -> None:
    with dg.instance_for_test() as instance:
        sensor = Sensor(warehouse, instance)
        everything = dict.fromkeys(CAPTURED, True)
        assert sensor.tick(a=MINUTE, b=MINUTE) == everything
        assert sensor.tick(a=MINUTE, b=4 * MINUTE) == {}

        assert sensor.tick(a=MINUTE, b=6 * MINUTE) == {"orders": False, "orders_1h": False}
        since = f"{datetime.now(UTC) - 6 * MINUTE:%Y-%m-%d %H:%M}"
        told = sensor.last["orders"]
        assert str(told.description).startswith(f"instance b is broken since {since}")
        assert since in str(told.metadata["b broken since"].value)
        assert "orders is held back: instance b is broken since" in capfd.readouterr().err
        for minutes in (7, 8, 60):
            assert sensor.tick(a=MINUTE, b=minutes * MINUTE) == {}

        assert sensor.tick(a=9 * MINUTE, b=61 * MINUTE) == {"orders": False, "orders_1h": False, "users": False}
        assert sensor.tick(a=MINUTE, b=MINUTE) == {"orders": True, "orders_1h": True, "users": True}
        assert "users continues: a is live again" in capfd.readouterr().err
        assert sensor.in_the_log("orders") == [True, False, False, True]
        assert sensor.in_the_log("patient") == [True]


def test_a_stopped_capture_makes_instances_broken(warehouse: Warehouse) -> None:
    with dg.instance_for_test() as instance:
        sensor = Sensor(warehouse, instance)
        assert sensor.tick_as_it_is() == dict.fromkeys(CAPTURED, True)
        now = datetime.now(UTC)
        hear(warehouse, now - 20 * MINUTE, a=now - 20 * MINUTE, b=now)
        assert sensor.tick_as_it_is() == dict.fromkeys(CAPTURED, False)
        assert "the capture last looked" in str(sensor.last["users"].description)


@pytest.mark.parametrize(
    ("ages", "passed"), [({"a": MINUTE, "b": MINUTE}, True), ({"a": MINUTE, "b": 9 * MINUTE}, False)]
)
def test_the_button_in_the_ui_asks_for_the_same(
    warehouse: Warehouse,
    ages: Mapping[str, timedelta],
    passed: bool,
) -> None:
    now = datetime.now(UTC)
    hear(warehouse, now, **{instance: now - age for instance, age in ages.items()})
    watched = with_databases(warehouse)
    checks = {next(iter(check.check_keys)).asset_key.to_user_string(): check for check in heartbeat_checks(watched)}
    assert set(checks) == set(CAPTURED)
    result = checks["orders"]()
    assert isinstance(result, dg.AssetCheckResult)
    assert result.passed is passed
    keys = {check for definition in build_definitions(watched).asset_checks or () for check in definition.check_keys}
    assert {key.asset_key.to_user_string() for key in keys} == set(CAPTURED)


def test_without_addresses_nothing_is_checked(warehouse: Warehouse) -> None:
    assert heartbeat_checks(warehouse) == []


def hear(warehouse: Warehouse, looked: datetime, **beats: datetime) -> None:
    """What a step of the capture leaves; heartbeats may grow older here."""
    database = Database.of(warehouse.settings)
    Notes(database, NOTES).put({instance: str(int(beat.timestamp() * 1000)) for instance, beat in beats.items()})
    note_look(database, beats, looked)


def with_databases(warehouse: Warehouse) -> Warehouse:
    address = SecretStr("a=mysql://tidemark:secret@127.0.0.1:3306/school")
    return replace(warehouse, settings=warehouse.settings.model_copy(update={"databases": address}))
