"""The lake's table of slices says what the state store says, whatever happened and whoever kept it in between."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Final

import duckdb
from deltalake import DeltaTable
from hypothesis import given
from hypothesis import strategies as st

from tests.compute.small_warehouse import small_warehouse
from tests.engines.canonical_rows import canonical_rows
from tests.engines.small_lake import TAG, small_lake
from tests.examples import examples
from tidemark.compute.table_version_tags import BY_HAND
from tidemark.delta.delta_rs_table import read_rows
from tidemark.dependency_model.entity.dependency import COMPLETED
from tidemark.dependency_model.slice import Slice
from tidemark.dependency_model.status import Event, Quality, RunState, SliceStatus
from tidemark.engines.slices_table import SlicesTable
from tidemark.state_store.snapshot_registry import SnapshotRegistry, TaggedSnapshot
from tidemark.state_store.store import StateStore
from tidemark.state_store.transition import Facts, Transition
from tidemark.warehouse.reserved_names import SLICES_TABLE

if TYPE_CHECKING:
    from tidemark.warehouse.warehouse import Warehouse

NOW: Final = datetime(2026, 3, 30, tzinfo=UTC)
_ENTITIES: Final = ("sales", "totals")
_DAYS: Final = ("2026-03-23", "2026-03-24", "2026-03-25")
_STATES: Final = (RunState.WAITING, RunState.RUNNING, RunState.COMPLETED, RunState.FAILED)
_STEPS: Final = st.lists(
    st.one_of(
        st.tuples(st.just("tell"), st.sampled_from(_ENTITIES), st.sampled_from(_DAYS), st.sampled_from(_STATES)),
        st.tuples(st.just("tag"), st.sampled_from(_ENTITIES), st.sampled_from(["a", "it's"])),
        st.tuples(st.just("drop"), st.sampled_from(_ENTITIES), st.sampled_from(["a", "it's"])),
        st.tuples(st.sampled_from(["keep", "begin anew", "spoil"])),
    ),
    max_size=12,
)


class Kept:
    """A store that things happen to, and the table that is kept beside it."""

    def __init__(self, folder: Path) -> None:
        self.warehouse: Warehouse = small_warehouse(folder)
        self.store = StateStore.of(self.warehouse.settings)
        self.registry = SnapshotRegistry(self.store.database)
        self.table = SlicesTable(self.warehouse, self.store.database)
        self.told: dict[Slice, tuple[SliceStatus, int]] = {}
        self.tags: dict[tuple[str, str], int] = {}
        self.number = 0

    def do(self, step: tuple[Any, ...]) -> None:
        self.number += 1
        match step:
            case "tell", entity, day, state:
                self.tell(Slice(entity, day), state)
            case "tag", entity, name if (entity, name) not in self.tags:
                self.registry.tag([TaggedSnapshot(entity, BY_HAND, name, self.number, 7, NOW)])
                self.tags[entity, name] = self.number
            case "drop", entity, name:
                self.registry.drop(entity, BY_HAND, name)
                self.tags.pop((entity, name), None)
            case ("keep",):
                self.table.keep()
            case ("begin anew",):
                self.table = SlicesTable(self.warehouse, self.store.database)
            case ("spoil",):
                DeltaTable(str(self.table.path)).delete("entity = 'totals'")

    def tell(self, slice_: Slice, state: RunState) -> None:
        states = frozenset({COMPLETED} if state is RunState.COMPLETED else ())
        quality = Quality.PASSED if states else Quality.UNKNOWN
        status = SliceStatus(state, states, quality, generation=self.number)
        seq = self.store.read.last()
        facts = Facts(snapshot_id=str(self.number))
        told = Transition(seq + 1, str(seq + 1), slice_, Event.COMPLETED, status, "test", "", NOW, NOW, facts)
        self.store.write.append([told], after=seq, cursors={})
        self.told[slice_] = status, self.number

    def expected(self) -> list[tuple[Any, ...]]:
        """Entity, slice, tag, version, generation, state, quality, valid."""
        shown = {slice_: told for slice_, told in self.told.items() if told[0].run_state is not RunState.WAITING}
        slices: list[tuple[Any, ...]] = [
            (name, key, None, version, status.generation, status.run_state.value, status.quality.value, status.valid)
            for (name, key, _), (status, version) in shown.items()
        ]
        tags = [(name, None, tag, version, None, None, None, None) for (name, tag), version in self.tags.items()]
        return sorted(slices + tags, key=str)

    def rows(self) -> list[tuple[Any, ...]]:
        columns = ("entity", "slice", "tag", "version", "generation", "state", "quality", "valid")
        rows = read_rows(self.table.path).to_pylist()
        return sorted((tuple(row[name] for name in columns) for row in rows), key=str)


@examples(5)
@given(steps=_STEPS)
def test_the_table_says_what_the_store_says(steps: list[tuple[Any, ...]]) -> None:
    with TemporaryDirectory() as folder:
        kept = Kept(Path(folder))
        kept.table.publish()
        for step in steps:
            kept.do(step)
        kept.table.keep()
        assert kept.rows() == kept.expected()
        version = DeltaTable(str(kept.table.path)).version()
        kept.table.keep()
        assert DeltaTable(str(kept.table.path)).version() == version
        kept.store.close()


def test_nobody_has_the_table_who_did_not_ask_for_it(tmp_path: Path) -> None:
    kept = Kept(tmp_path)
    kept.tell(Slice("sales", _DAYS[0]), RunState.COMPLETED)
    kept.table.keep()
    assert not (kept.warehouse.settings.warehouse / SLICES_TABLE).exists()  # type: ignore[union-attr]
    assert kept.table.publish() == 1
    kept.store.close()


def test_an_engine_joins_it(tmp_path: Path) -> None:
    runtime = small_lake(tmp_path)
    table = SlicesTable(runtime.warehouse, runtime.database)
    assert table.publish() == 4
    connection = duckdb.connect()
    connection.register("slices", read_rows(table.path))
    connection.register("clicks", read_rows(runtime.warehouse.table_path("clicks")))
    query = """
        SELECT slice, count(*) AS n FROM clicks JOIN slices ON slice = concat(dt, 'T', hour)
        WHERE entity = 'clicks' AND valid GROUP BY slice"""
    rows = [{"slice": slice_, "n": count} for slice_, count in connection.execute(query).fetchall()]
    keys = ("2026-03-23T07", "2026-03-23T08", "2026-03-24T07")
    assert canonical_rows(rows) == canonical_rows({"slice": key, "n": 5} for key in keys)
    tags = connection.execute("SELECT slice, tag, version FROM slices WHERE entity = 'ods_orders' AND slice IS NULL")
    assert tags.fetchall() == [(None, TAG, 0)]


def test_the_page_has_its_columns(tmp_path: Path) -> None:
    kept = Kept(tmp_path)
    kept.table.publish()
    names = read_rows(kept.table.path).column_names
    page = (Path(__file__).parents[2] / "docs" / "engines.md").read_text(encoding="utf-8")
    assert [name for name in names if f"| `{name}` |" not in page] == []
    kept.store.close()
