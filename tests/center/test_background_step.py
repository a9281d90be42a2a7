"""A step in the background is not done twice at once, and what it raises is raised by the next look at it."""

from __future__ import annotations

from threading import Event
from typing import TYPE_CHECKING

from tests.engines.iceberg.test_iceberg_tables import Daily, day_rows
from tests.engines.small_lake import MONDAY
from tests.engines.test_slices_table import Kept
from tests.until import until
from tidemark.center.center_tick import BackgroundStep, CenterTick
from tidemark.delta.delta_rs_table import read_rows
from tidemark.delta.iceberg_metadata import IcebergMetadata
from tidemark.dependency_model.slice import Slice
from tidemark.dependency_model.status import RunState

if TYPE_CHECKING:
    from pathlib import Path


def test_it_is_not_done_twice_at_once() -> None:
    begun, go_on = list[int](), Event()

    def step() -> None:
        begun.append(1)
        assert go_on.wait(60)

    background = BackgroundStep("step", step)
    background.poll()
    until(lambda: begun == [1])
    background.poll()
    go_on.set()

    def is_begun_again() -> bool:
        background.poll()
        return len(begun) > 1

    until(is_begun_again)


def test_what_it_raises_is_raised_once_and_it_goes_on() -> None:
    done = list[int]()

    def step() -> None:
        done.append(1)
        if len(done) == 1:
            raise OSError("the lake is away")

    background = BackgroundStep("step", step)
    raised = list[str]()

    def is_done_again() -> bool:
        try:
            background.poll()
        except OSError as error:
            raised.append(str(error))
        return len(done) > 2

    until(is_done_again)
    assert raised == ["the lake is away"]


def test_the_center_keeps_the_table_of_slices(tmp_path: Path) -> None:
    kept = Kept(tmp_path)
    kept.table.publish()
    kept.tell(Slice("sales", "2026-03-23"), RunState.COMPLETED)
    tick = CenterTick(kept.warehouse, "test")
    tick.upkeep()
    until(lambda: read_rows(kept.table.path).num_rows == 1)
    tick.store.close()
    kept.store.close()


def test_the_center_keeps_iceberg_metadata(tmp_path: Path) -> None:
    daily = Daily(tmp_path)
    daily.run(MONDAY, day_rows(MONDAY, 0))
    tick = CenterTick(daily.runtime.warehouse, "test")
    tick.upkeep()
    metadata = IcebergMetadata.of(daily.runtime.warehouse.settings.warehouse, "daily")
    until(lambda: metadata.newest() is not None)
    assert daily.ids(str(MONDAY)) == [0, 1, 2]
    tick.store.close()
