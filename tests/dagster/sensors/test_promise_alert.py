"""A real Dagster instance, its sensor and a webhook: an alert about a delayed slice comes before its promised time."""

from __future__ import annotations

import dataclasses
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import dagster as dg
import pytest
from dagster._core.event_api import PartitionKeyFilter

from tests.alerts.receiver import receiving
from tests.compute.small_warehouse import DECLARED, small_warehouse
from tests.dagster.sensors.test_readiness import run
from tests.until import until
from tidemark.center.fact import Fact
from tidemark.center.sensor_host import SensorHost
from tidemark.dagster.sensors.readiness import readiness_sensor
from tidemark.dependency_model.baseline.promise import BASELINE_CHECK
from tidemark.dependency_model.slice import Slice
from tidemark.dependency_model.status import Event
from tidemark.state_store.transition import Facts

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from tidemark.warehouse.warehouse import Warehouse

_PROMISED_IN = timedelta(minutes=10)
_DAYS = 8


@pytest.fixture
def instance(tmp_path: Path) -> Iterator[dg.DagsterInstance]:
    with dg.instance_for_test(temp_dir=str(tmp_path)) as opened:
        yield opened


def _noon() -> tuple[str, datetime]:
    """A time zone in which it is about noon, and the present there: no promise is beyond midnight."""
    ahead = 12 - datetime.now(UTC).hour
    local = datetime.now(UTC) + timedelta(hours=ahead)
    return f"Etc/GMT{-ahead:+d}" if ahead else "UTC", local


def _company(folder: Path, zone: str, promised: datetime) -> Warehouse:
    """Sales of somebody else, and two promised tables that are computed of them."""
    start = f"time_zone: {zone}\nstart: {promised - timedelta(days=_DAYS + 1):%Y-%m-%d}\n"
    promise = f'{start}period: day\nready_by: "{promised:%H:%M}"\nnotify: [hook]\ndepends_on: [{{entity: sales}}]\n'
    query = "SELECT region, sum(amount) AS amount FROM sales WHERE dt = :biz_date GROUP BY region\n"
    declared = {
        "sales": (f"{start}period: day\nkind: Virtual\n", DECLARED["sales"][1]),
        "totals": (promise, query),
        "running": (promise, query),
    }
    warehouse = small_warehouse(folder, declared)
    changed = {"forecast_seconds": 0.1, "channels": ("hook",), "time_zone": zone}
    return dataclasses.replace(warehouse, settings=warehouse.settings.model_copy(update=changed))


def _usual_days(warehouse: Warehouse, noon: datetime) -> str:
    """A week in which sales came a minute after midnight and each table took five; the day that lacks them."""
    host, today = SensorHost(warehouse), noon.replace(hour=0, minute=0)
    facts = []
    for day in range(_DAYS, 1, -1):
        key = f"{today - timedelta(days=day):%Y-%m-%d}"
        came = datetime.now(UTC) - (noon - (today - timedelta(days=day - 1))) + timedelta(minutes=1)
        facts.append(Fact(f"sales {key}", Slice("sales", key), Event.OBSERVED, came, "test"))
        for name in ("totals", "running"):
            data = Facts(run_id=f"{name} {key}")
            started = Fact(f"{name} {key} start", Slice(name, key), Event.STARTED, came, "test", data=data)
            ended = came + timedelta(minutes=5)
            facts += [started, Fact(f"{name} {key} end", Slice(name, key), Event.COMPLETED, ended, "test", data=data)]
    assert host.center.report(facts).refused == []
    host.store.close()
    return f"{today - timedelta(days=1):%Y-%m-%d}"


@dataclasses.dataclass
class Daemon:
    """Evaluates the sensor as Dagster's daemon does; `asked` are the runs that it asked for so far."""

    warehouse: Warehouse
    instance: dg.DagsterInstance
    asked: dict[str, dg.RunRequest] = dataclasses.field(default_factory=dict)

    def __post_init__(self) -> None:
        self._sensor = readiness_sensor(self.warehouse)

    def tick_until(self, holds: Callable[[], bool]) -> None:
        def holds_after_a_tick() -> bool:
            self._tick()
            return holds()

        if not holds():
            until(holds_after_a_tick)

    def _tick(self) -> None:
        result = self._sensor(dg.build_sensor_context(instance=self.instance))
        requests = result.run_requests if isinstance(result, dg.SensorResult) else ()
        self.asked |= {
            key.to_user_string(): request for request in requests or () for key in request.asset_selection or ()
        }

    def checks(self, name: str, day: str) -> list[str]:
        """What the check of a partition told, the newest first."""
        key, of_day = dg.AssetCheckKey(dg.AssetKey([name]), BASELINE_CHECK), PartitionKeyFilter(key=day)
        log = self.instance.event_log_storage
        history = log.get_asset_check_execution_history(key, limit=9, partition_filter=of_day)
        return [record.status.value for record in history]


@pytest.mark.slow
def test_an_alert_about_a_delayed_slice_comes_early_and_ends_with_its_recovery(
    tmp_path: Path, instance: dg.DagsterInstance, monkeypatch: pytest.MonkeyPatch
) -> None:
    zone, noon = _noon()
    promised = datetime.now(UTC) + _PROMISED_IN
    warehouse = _company(tmp_path, zone, noon + _PROMISED_IN)
    day = _usual_days(warehouse, noon)
    daemon = Daemon(warehouse, instance)
    with receiving() as receiver:
        monkeypatch.setenv("TIDEMARK_CHANNEL_HOOK", receiver.url)
        daemon.tick_until(lambda: len(receiver.got) > 0 and daemon.checks("totals", day) == ["FAILED"])
        (raised,) = receiver.got
        assert datetime.fromisoformat(raised["raised_at"]) < promised - timedelta(minutes=1)
        assert raised["cause"] == f"sales@{day} has not arrived in its usual time"
        assert sorted(raised["slices"]) == [f"running@{day}", f"totals@{day}"]
        instance.report_runless_asset_event(dg.AssetMaterialization("sales", partition=day))
        daemon.tick_until(lambda: len(daemon.asked) == 2)
        for name, request in daemon.asked.items():
            run(warehouse, instance, name, day, request.tags)
        daemon.tick_until(lambda: len(receiver.got) > 1 and daemon.checks("totals", day)[0] == "SUCCEEDED")
    assert [(message["event"], message["cause"]) for message in receiver.got] == [
        ("raised", raised["cause"]),
        ("recovered", raised["cause"]),
    ]
    assert daemon.checks("totals", day) == daemon.checks("running", day) == ["SUCCEEDED", "FAILED"]
