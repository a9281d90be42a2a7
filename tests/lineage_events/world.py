"""A small warehouse whose runs are reported to a receiver in memory."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime
from threading import Event as Signal
from typing import TYPE_CHECKING, Any, Self

from openlineage.client import OpenLineageClient
from openlineage.client.serde import Serde

from tests.center.launchers import MemoryLauncher
from tidemark.center.center import DependencyCenter
from tidemark.center.dispatch import Dispatch
from tidemark.center.fact import Fact
from tidemark.center.launch_policy import LaunchPolicy
from tidemark.center.pools import Pools
from tidemark.dependency_model.slice import Slice
from tidemark.dependency_model.status import Event
from tidemark.lineage_events.emitter import LineageEmitter
from tidemark.state_store.store import StateStore
from tidemark.state_store.transition import Facts
from tidemark.system.settings import Settings
from tidemark.warehouse.warehouse import load_warehouse

if TYPE_CHECKING:
    from pathlib import Path

    from tidemark.warehouse.warehouse import Warehouse

NOW = datetime(2024, 6, 2, 12, tzinfo=UTC)
DAY = "2024-06-01"
RUN = "0190a0b0-0000-4000-8000-0123456789ab"
FILES = {
    "clicks.yaml": "kind: Virtual\nperiod: day\ntime_zone: UTC\nstart: 2024-06-01\ncolumns: [id, shop, cents]\n",
    "sales.yaml": (
        "period: day\ntime_zone: UTC\nstart: 2024-06-01\nowner: data@example.com\ndescription: What was sold.\n"
        "depends_on: [clicks]\nquality:\n- not_null: [shop]\n- row_count: {min: 1, severity: warn}\n"
    ),
    "sales.sql": "SELECT shop, sum(cents) / 100 AS amount FROM clicks WHERE dt = :biz_date AND id > 0 GROUP BY shop\n",
}


class ReceiverDownError(Exception):
    """Its text holds a password."""

    def __init__(self) -> None:
        super().__init__("no answer from https://me:canary@receiver")


@dataclass
class Receiver:
    """Takes events as a transport hands them over; refuses them while `is_down`."""

    events: list[dict[str, Any]] = field(default_factory=list)
    is_down: bool = False
    asked: Signal = field(default_factory=Signal)

    def emit(self, event: Any) -> None:
        self.asked.set()
        if self.is_down:
            raise ReceiverDownError
        self.events.append(Serde.to_dict(event))

    @property
    def told(self) -> list[tuple[str, str]]:
        """Type and job of each."""
        return [(event["eventType"], event["job"]["name"]) for event in self.events]


class LineageWorld:
    """A center on the store of a folder, and an emitter."""

    def __init__(self, folder: Path) -> None:
        declared = folder / "declared"
        declared.mkdir(exist_ok=True)
        for name, text in FILES.items():
            (declared / name).write_text(text)
        self.warehouse: Warehouse = load_warehouse(Settings.at(folder / "data"), declared)
        self.store = StateStore.of(self.warehouse.settings)
        self.center = DependencyCenter(
            self.warehouse.graph, self.store, since=NOW.replace(day=1, hour=0), clock=lambda: NOW
        )
        self.receiver, self.launcher = Receiver(), MemoryLauncher()
        self.emitter = self.open_emitter()

    def open_emitter(self) -> LineageEmitter:
        client: Any = self.receiver
        return LineageEmitter(self.warehouse, self.store, {}, lambda: client)

    def launch(self) -> Self:
        """The input is there, and what reads it is launched with its manifest."""
        self.tell(f"clicks@{DAY}", Event.OBSERVED)
        self.center.tick()
        policy = LaunchPolicy()
        Dispatch(self.center, self.launcher, Pools.parse("default=9"), policy=policy, clock=lambda: NOW).step()
        return self

    def tell(self, text: str, event: Event, why: str = f"run {RUN}", event_id: str = "", **told: Any) -> None:
        """A fact of Dagster's event log."""
        fact = Fact(event_id or f"{text} {event}", Slice.parse(text), event, NOW, "dagster", why, data=Facts(**told))
        assert self.center.report([fact], strict=True).new == 1


def client_with(config: dict[str, Any]) -> OpenLineageClient:
    """OpenLineage's own client."""
    return OpenLineageClient(config=config)
