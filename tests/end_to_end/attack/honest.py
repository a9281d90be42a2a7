"""The honest traffic meanwhile: days that are reported and computed, and who looks whether the servers answer."""

from __future__ import annotations

import threading
import time
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from typing import TYPE_CHECKING, Any, Final, Self

import psutil

from tests.end_to_end.attack.servers import FEED, NOISE, TOTALS
from tidemark.dependency_model.status import Event
from tidemark.state_store.store import StateStore
from tidemark.system.settings import Settings

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.end_to_end.attack.servers import AttackedProject, AttackedServer

_FIRST_DAY: Final = date(2024, 1, 1)
_DAY_SECONDS: Final = 8.0
_LOOK_SECONDS: Final = 2.0
_MATERIALIZED: Final = f"""{{assetOrError(assetKey: {{path: ["{TOTALS}"]}}) {{... on Asset {{
  assetMaterializations(limit: 1000) {{partition}}}}}}}}"""
_ASSETS: Final = "{assetsOrError {... on AssetConnection {nodes {key {path}}}}}"


@dataclass
class HonestCaller:
    """Reports a day every few seconds, and measures; `refused` and `slow` are empty when all is well."""

    target: AttackedProject
    days: list[str] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)
    seconds: dict[str, list[float]] = field(default_factory=lambda: {"center": [], "up": []})
    sizes: dict[str, list[tuple[int, int]]] = field(default_factory=lambda: {"center": [], "up": []})
    _stopped: threading.Event = field(default_factory=threading.Event)
    _threads: list[threading.Thread] = field(default_factory=list)

    def __enter__(self) -> Self:
        for work, pause in ((self._report, _DAY_SECONDS), (self._look, _LOOK_SECONDS)):
            self._threads.append(threading.Thread(target=self._again, args=(work, pause), daemon=True))
            self._threads[-1].start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stopped.set()
        for thread in self._threads:
            thread.join(120)

    def _again(self, work: Callable[[], None], pause: float) -> None:
        while not self._stopped.wait(pause):
            try:
                work()
            except OSError as error:
                self.refused.append(f"{work.__name__}: {error!r}")

    def _report(self) -> None:
        day = (_FIRST_DAY + timedelta(days=len(self.days))).isoformat()
        event = {"event": "completed", "event_id": f"honest-{day}", "event_time": datetime.now(UTC).isoformat()}
        status, answer = self.target.center.ask("POST", "/v1/reports", {"subject": f"{FEED}@{day}", **event})
        if status == 200:
            self.days.append(day)
        elif status != 503:  # that says to try again
            self.refused.append(f"report of {day}: {status} {answer}")

    def _look(self) -> None:
        for server, path in ((self.target.center, "/health"), (self.target.dagster, "/server_info")):
            begun = time.monotonic()
            status, answer = server.ask("GET", path)
            self.seconds[server.name].append(time.monotonic() - begun)
            if status != 200:
                self.refused.append(f"{server.name}: {status} {answer}")
            with suppress(psutil.Error):
                self.sizes[server.name].append(size_of(server))


def size_of(server: AttackedServer) -> tuple[int, int]:
    """Resident bytes and open files of the process that listens."""
    process = server.web_server()
    return process.memory_info().rss, process.num_fds()


def wait_until_computed(target: AttackedProject, days: list[str], seconds: float) -> None:
    """The days that were reported are computed, or the time is over."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline and len(_materialized(target)) < len(days):
        time.sleep(2)


def differences(target: AttackedProject, days: list[str]) -> list[str]:
    """Where the state store or Dagster say anything else than what honest traffic did."""
    problems = []
    materialized = _materialized(target)
    if materialized != Counter(days):
        problems.append(f"materialized {materialized - Counter(days)}, missing {Counter(days) - materialized}")
    assets = {"/".join(node["key"]["path"]) for node in _graphql(target, _ASSETS)["assetsOrError"]["nodes"]}
    problems += [f"an asset {name}" for name in assets if "forged" in name]
    store = StateStore.of(Settings.at(target.root / "data", root=target.root))
    try:
        transitions = store.read.after(0)
    finally:
        store.close()
    problems += [f"{t.event} of {t.slice}" for t in transitions if t.slice.entity not in (FEED, TOTALS, NOISE)]
    # The store's id of a report is the caller's, with where it came from before it and which slice of it behind.
    told = Counter(
        t.event_id.removeprefix("api:").partition("#")[0]
        for t in transitions
        if t.slice.entity == FEED and t.event == Event.COMPLETED
    )
    if told != Counter(f"honest-{day}" for day in days):
        problems.append(f"reports in the store: {told}")
    for event in (Event.LAUNCHED, Event.COMPLETED):
        count = sum(t.event == event for t in transitions if t.slice.entity == TOTALS)
        if count != len(days):
            problems.append(f"{count} x {event} of {TOTALS}, not {len(days)}")
    return problems


def _materialized(target: AttackedProject) -> Counter[str]:
    answer = _graphql(target, _MATERIALIZED)["assetOrError"]
    return Counter(event["partition"] for event in answer.get("assetMaterializations", []))


def _graphql(target: AttackedProject, query: str) -> dict[str, Any]:
    status, answer = target.dagster.ask("POST", "/graphql", {"query": query})
    assert status == 200, answer
    data: dict[str, Any] = answer["data"]
    return data
