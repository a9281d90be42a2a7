"""Events of slices until a real Redis server has refreshed what was made of them, by `tidemark refresh --follow`.

Each slice is a day and region with so many keys, named by a tag. One slice after the other is computed again, tainted,
or good again; after each event all keys of the server are counted, and those of the slice are filled anew.

    events, slices, keys_a_slice
    event_to_refreshed_ms_p50, _p90, _p99   from before the event is recorded until the last key of its slice is gone
    needless            keys of other slices that went
    missed              events whose keys did not all go within ten seconds
    ttl_ms_p90          how long keys of the same events would have stayed with a time-to-live of 60 s, filled at times
                        drawn by the seed
    ttl_needless        keys that would have gone in the time of the run without an event of their slice
    full_ms_p90         what a refresh of all keys takes, measured on the same server
    full_needless       keys of other slices that it takes away, for all events
"""

from __future__ import annotations

import os
import random
import signal
import statistics
import sys
import tempfile
import time
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import redis

from tests.components.redis_server import running_redis
from tests.refresh.world import AGAIN, COMPLETED, RefreshedProject
from tidemark.console.servers.server_process import start
from tidemark.dependency_model.slice import Slice
from tidemark.state_store.slice_deliveries import SliceDeliveries

if TYPE_CHECKING:
    import argparse

_REGIONS: Final = ("eu", "us")
_DECLARED: Final = {
    "project.yaml": "start: 2026-03-01\nowner: o@s.example\n",
    "dwd/sales.yaml": (
        "period: day\nsub_partitions: {region: [eu, us]}\nrefresh: [{target: cache, tags: ['sales-{day}-{region}']}]\n"
    ),
    "dwd/sales.sql": "SELECT 1 AS id, :biz_date AS day\n",
}
_SETTINGS: Final = "time_zone: Europe/Paris\nrefresh_targets: {cache: {kind: redis}}\n"
_LIFE_SECONDS: Final = 60.0
_LONGEST_SECONDS: Final = 10.0
_LONGEST_START: Final = 120.0
_POLL_SECONDS: Final = 0.002
_FULL_ROUNDS: Final = 5


def options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--events", type=int, default=300)
    parser.add_argument("--days", type=int, default=10, help="of two regions each")
    parser.add_argument("--keys", type=int, default=1_000, help="of a slice")
    parser.add_argument("--seed", type=int, default=1)


def measure(arguments: argparse.Namespace) -> dict[str, Any]:
    with tempfile.TemporaryDirectory(prefix="refresh-") as name:
        folder = Path(name)
        project = RefreshedProject.at(folder, _DECLARED, _SETTINGS)
        with running_redis(folder / "redis") as server, redis.Redis.from_url(server.url) as client:
            command = [sys.executable, "-m", "tidemark.console", "refresh", "--follow", "--root", str(project.root)]
            service = start("refresh", command, folder / "service", {"TIDEMARK_TARGET_CACHE": server.url})
            try:
                return _Events(project, client, arguments).measure()
            finally:
                os.kill(service.pid, signal.SIGTERM)
                service.stop()


class _Events:
    """The events of one run."""

    def __init__(self, project: RefreshedProject, client: Any, arguments: argparse.Namespace) -> None:
        self._project, self._client, self._keys = project, client, arguments.keys
        self._count, self._chance = arguments.events, random.Random(arguments.seed)
        days = [f"2026-03-{day:02d}" for day in range(1, arguments.days + 1)]
        self._slices = [Slice("sales", day, (("region", region),)) for day, region in product(days, _REGIONS)]
        self._whole = len(self._slices) * (self._keys + 1)

    def measure(self) -> dict[str, Any]:
        self._begin()
        begun, taken, life, needless, missed = time.perf_counter(), list[float](), list[float](), 0, 0
        for _ in range(self._count):
            slice_ = self._chance.choice(self._slices)
            seconds = self._happen(slice_)
            missed += seconds is None
            taken += [] if seconds is None else [seconds]
            life += [self._chance.uniform(0, _LIFE_SECONDS) for _ in range(10)]
            needless += self._whole - self._keys - 1 - self._client.dbsize()
            self._fill(slice_)
            time.sleep(self._chance.uniform(0, 0.1))
        expired = len(self._slices) * self._keys * (time.perf_counter() - begun) / _LIFE_SECONDS
        full = [self._all_refreshed() for _ in range(_FULL_ROUNDS)]
        return {
            "events": self._count,
            "slices": len(self._slices),
            "keys_a_slice": self._keys,
            "event_to_refreshed_ms_p50": _milliseconds(taken, 50),
            "event_to_refreshed_ms_p90": _milliseconds(taken, 90),
            "event_to_refreshed_ms_p99": _milliseconds(taken, 99),
            "needless": needless,
            "missed": missed,
            "ttl_ms_p90": _milliseconds(life, 90),
            "ttl_needless": round(expired),
            "full_ms_p90": _milliseconds(full, 90),
            "full_needless": self._count * (len(self._slices) - 1) * self._keys,
        }

    def _begin(self) -> None:
        """All slices are there, the service has seen them, and the cache is filled."""
        for slice_ in self._slices:
            self._project.happen(slice_, COMPLETED)
        stored = SliceDeliveries(self._project.store.database, "cache", "sales")
        until = time.monotonic() + _LONGEST_START
        while sum(not delivery.is_open for delivery in stored.all().values()) < len(self._slices):
            if time.monotonic() > until:
                raise TimeoutError("the service does not refresh")
            time.sleep(_POLL_SECONDS)
        for slice_ in self._slices:
            self._fill(slice_)

    def _fill(self, slice_: Slice) -> None:
        keys = self._names(slice_)
        self._client.mset(dict.fromkeys(keys, "x"))
        self._client.sadd(_tag(slice_), *keys)

    def _names(self, slice_: Slice) -> list[str]:
        return [f"{_tag(slice_)}:{number}" for number in range(self._keys)]

    def _happen(self, slice_: Slice) -> float | None:
        """Seconds until its keys are gone; None where they stay."""
        current, keys = self._project.store.read.current(slice_), self._names(slice_)
        if current is None:
            raise LookupError(slice_)
        wrong = "tainted" if self._chance.random() < 1 / 3 else AGAIN
        events = self._chance.choice(("kept", AGAIN)) if current.status.tainted else wrong
        begun = time.perf_counter()
        self._project.happen(slice_, events)
        while self._client.exists(*keys, _tag(slice_)):
            if time.perf_counter() - begun > _LONGEST_SECONDS:
                return None
            time.sleep(_POLL_SECONDS)
        return time.perf_counter() - begun

    def _all_refreshed(self) -> float:
        """As a refresh does that does not know what was hit: all keys, of whatever slice."""
        for slice_ in self._slices:
            self._fill(slice_)
        begun = time.perf_counter()
        for slice_ in self._slices:
            keys = list(self._client.sscan_iter(_tag(slice_), count=1_000))
            self._client.unlink(*keys, _tag(slice_))
        return time.perf_counter() - begun


def _tag(slice_: Slice) -> str:
    return f"sales-{slice_.key}-{slice_.sub[0][1]}"


def _milliseconds(seconds: list[float], percentile: int) -> float | None:
    if len(seconds) < 2:
        return None
    return round(statistics.quantiles(seconds, n=100, method="inclusive")[percentile - 1] * 1_000, 1)
