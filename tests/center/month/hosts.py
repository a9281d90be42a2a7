"""The center in both of its hosts, and workers that compute what it asks for: Dagster's log has it, Spark has no part.

A play is a generator: each of its steps lies before a tick of the host. `RESTART` lets another process take its place.
"""

from __future__ import annotations

import http.client
import json
from contextlib import contextmanager
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, Final, cast
from uuid import uuid4

import dagster as dg
from dagster._core.events import AssetMaterializationPlannedData, StepMaterializationData

from tidemark.api.options import ApiOptions
from tidemark.api.server import serve_in_thread
from tidemark.center import service as service_module
from tidemark.center.baseline import CenterForecast
from tidemark.center.launchers.run_tags import run_state
from tidemark.center.pools import Pools
from tidemark.center.sensor_host import SensorHost
from tidemark.center.service import Service
from tidemark.system.utc_clock import utc_now
from tidemark.warm_runs.run_identity import RUN_TAG

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from tidemark.center.center import DependencyCenter
    from tidemark.center.center_tick import CenterTick
    from tidemark.center.dispatch import DagsterRunState
    from tidemark.dependency_model.slice import Slice
    from tidemark.warehouse.warehouse import Warehouse

RESTART: Final = "restart"
TOKEN: Final = "0123456789abcdef"
_JOB: Final = "job"
_STARTED: Final = dg.DagsterRunStatus.STARTED


class DagsterRuns:
    """Runs as Dagster's storage has them, without a process: `begun` are slices that a run has still to compute."""

    def __init__(self, instance: dg.DagsterInstance) -> None:
        self.instance = instance
        self.begun: dict[Slice, str] = {}
        self._known: set[str] = set()

    def begin(self, asked: str, slices: Sequence[Slice]) -> None:
        if asked in self._known:
            return
        self._known.add(asked)
        run = dg.DagsterRun(job_name=_JOB, run_id=str(uuid4()), tags={RUN_TAG: asked}, status=_STARTED)
        self.instance.add_run(run)
        for slice_ in slices:
            planned = AssetMaterializationPlannedData(dg.AssetKey([slice_.entity]), partition=partition(slice_))
            self._log(run.run_id, dg.DagsterEventType.ASSET_MATERIALIZATION_PLANNED, planned)
            self.begun[slice_] = run.run_id

    def end(self, slice_: Slice) -> None:
        """The slice is written; with its last one the run is over."""
        run = self.begun.pop(slice_)
        told = dg.AssetMaterialization([slice_.entity], partition=partition(slice_))
        self._log(run, dg.DagsterEventType.ASSET_MATERIALIZATION, StepMaterializationData(told))
        if run not in self.begun.values():
            self._log(run, dg.DagsterEventType.RUN_SUCCESS, None)

    def fail(self, slice_: Slice) -> list[Slice]:
        """The run fails with all that it had still to do."""
        run = self.begun[slice_]
        lost = [other for other, its in self.begun.items() if its == run]
        for other in lost:
            del self.begun[other]
        self._log(run, dg.DagsterEventType.RUN_FAILURE, None)
        return lost

    def state(self, asked: str) -> DagsterRunState:
        return run_state(self.instance, asked)

    def _log(self, run: str, kind: dg.DagsterEventType, data: Any) -> None:
        self.instance.report_dagster_event(dg.DagsterEvent(kind.value, _JOB, event_specific_data=data), run_id=run)


def partition(slice_: Slice) -> str:
    """As Dagster calls it: an hour has its minutes."""
    day, _, hour = slice_.key.partition("T")
    return f"{day}-{hour}:00" if hour else day


class Host:
    """What a play needs of the process that runs now."""

    center: DependencyCenter
    intake: CenterTick
    url: str = ""

    def post(self, path: str, body: Any) -> int:
        """The answer's status; a body that is refused changes nothing."""
        connection = http.client.HTTPConnection(self.url.removeprefix("http://"), timeout=60)
        headers = {"Authorization": f"Bearer {TOKEN}", "Content-Type": "application/json"}
        connection.request("POST", path, json.dumps(body), headers)
        status = connection.getresponse().status
        connection.close()
        return status


def in_sensor(warehouse: Warehouse, runs: DagsterRuns, play: Iterator[str | None], host: Host) -> None:
    """Ticks of the sensor; the daemon begins what it asks for before the next one."""
    step: str | None = RESTART
    while step == RESTART:
        sensor = SensorHost(warehouse)
        with _served(host, sensor, sensor.center, sensor._intake):
            while (step := next(play, "over")) is None:
                for request in sensor.tick(runs.instance):
                    asked = str(request.run_key)
                    launched = sensor.center.launched_slices().items()
                    runs.begin(asked, [slice_ for slice_, (run, _) in launched if run == asked])
            sensor.store.close()


def in_service(warehouse: Warehouse, runs: DagsterRuns, play: Iterator[str | None], host: Host) -> None:
    """The service's own loop; it hands runs to the workers itself."""
    steps: list[str | None] = [None]
    launcher = SimpleNamespace(launch=lambda run, slices, *_: runs.begin(run, slices), state=runs.state)
    while steps[-1] in (None, RESTART):
        steps.append(None)
        with _instead(service_module, DirectRuns=lambda *_: launcher, _RECONCILE_SECONDS=0.0):
            made = Service(warehouse, runs.instance, cast("Any", None), lambda *_, **__: None)
            with _served(host, made, made.center, made._intake):
                made.serve(lambda: steps[-1] is not None, lambda: steps.append(next(play, "over")))


@contextmanager
def _served(host: Host, process: Any, center: DependencyCenter, intake: CenterTick) -> Iterator[None]:
    options = ApiOptions(token=TOKEN, writes_per_second=1e9)
    forecast = CenterForecast(center, Pools({"default": 8}), utc_now)
    with serve_in_thread(center, forecast, options) as url:
        host.center, host.intake, host.url = center, intake, url
        yield


@contextmanager
def _instead(module: Any, **values: Any) -> Iterator[None]:
    before = {name: getattr(module, name) for name in values}
    for name, value in values.items():
        setattr(module, name, value)
    try:
        yield
    finally:
        for name, value in before.items():
            setattr(module, name, value)


HOSTS: Final[dict[str, Callable[..., None]]] = {"sensor": in_sensor, "service": in_service}
