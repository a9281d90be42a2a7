"""A table of some days and others that read it, all computed by runs with manifests, and the taint of these days."""

from __future__ import annotations

import tempfile
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from tidemark.center.taint import Taint, carry_out
from tidemark.dependency_model.entity import Dependency, Entity, EntityState
from tidemark.dependency_model.graph import DependencyGraph
from tidemark.dependency_model.readiness.release import Reason
from tidemark.dependency_model.readiness.slice_manifest import ManifestClause, SliceManifest, UsedSlice
from tidemark.dependency_model.slice import Slice
from tidemark.dependency_model.status import Event, SliceStatus, apply
from tidemark.dependency_model.time import Period
from tidemark.state_store.database import Database
from tidemark.state_store.store import StateStore
from tidemark.state_store.transition import NOTHING_TOLD, Facts, Transition

if TYPE_CHECKING:
    from collections.abc import Iterator

_NOW: Final = datetime(2024, 7, 1, tzinfo=UTC)
_EVENTS: Final = (Event.RELEASED, Event.LAUNCHED, Event.STARTED, Event.COMPLETED, Event.QUALITY_PASSED)
_TABLE: Final = "table"


def measure_taint(days: int, users: int) -> dict[str, Any]:
    graph = DependencyGraph.build([_entity(_TABLE), *(_entity(f"user_{number}", _TABLE) for number in range(users))])
    causes = tuple(graph.slices(_TABLE, _NOW))[-days:]
    slices = [*causes, *(Slice(f"user_{number}", cause.key) for number in range(users) for cause in causes)]
    with tempfile.TemporaryDirectory() as folder:
        store = StateStore(Database.at(Path(folder) / "state.db"))
        transitions = [step for number, slice_ in enumerate(slices) for step in _computed(slice_, number)]
        store.write.append(transitions, after=0)
        begun, cpu_begun = time.perf_counter(), time.process_time()
        plan = carry_out(graph, store, Taint(causes, "benchmark", "to be measured", _NOW))
        seconds, cpu_seconds = time.perf_counter() - begun, time.process_time() - cpu_begun
        store.close()
    return {
        "taint_10k_s": round(seconds, 3),
        "taint_10k_cpu_s": round(cpu_seconds, 3),
        "tainted": len(plan.marked) - len(causes),
    }


def _entity(name: str, *needs: str) -> Entity:
    depends_on = tuple(Dependency(entity=need) for need in needs)
    return Entity(name=name, period=Period.DAY, start="2024-01-01", states=(EntityState("completed", depends_on),))


def _computed(slice_: Slice, number: int) -> Iterator[Transition]:
    """The transitions of a slice that is there, the launch with what its run read."""
    read = (UsedSlice(Slice(_TABLE, slice_.key), 1, "7"),) if slice_.entity != _TABLE else ()
    manifest = SliceManifest(slice_, "completed", (ManifestClause(_TABLE, Reason.ALL, read),) if read else ())
    status = SliceStatus()
    for seq, event in enumerate(_EVENTS, start=number * len(_EVENTS) + 1):
        status = apply(status, event, cause=slice_)
        facts = Facts(run_id="run", manifest=manifest) if event is Event.LAUNCHED else NOTHING_TOLD
        yield Transition(seq, f"{seq}", slice_, event, status, "benchmark", "", _NOW, _NOW, facts)
