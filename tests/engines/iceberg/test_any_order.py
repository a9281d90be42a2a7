"""Runs, rewrites, VACUUM, and writes of the metadata that die: no reader of a tag meets torn or missing rows."""

from __future__ import annotations

from collections import defaultdict
from datetime import timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

import pytest
from deltalake import DeltaTable
from hypothesis import given
from hypothesis import strategies as st

from tests.engines.iceberg.iceberg_rows import tags
from tests.engines.iceberg.test_iceberg_tables import Daily, day_rows
from tests.engines.small_lake import MONDAY
from tests.examples import examples
from tidemark.delta import iceberg_metadata
from tidemark.delta.iceberg_metadata import FOLDER, ICEBERG_FOLDER
from tidemark.engines.iceberg import manifests
from tidemark.engines.iceberg.iceberg_tables import IcebergTables

_DAYS: Final = tuple(MONDAY + timedelta(days=day) for day in range(3))
_STEPS: Final = st.lists(
    st.one_of(
        st.tuples(st.just("run"), st.sampled_from(_DAYS)),
        st.tuples(st.just("overwrite"), st.sampled_from(_DAYS)),
        st.tuples(st.sampled_from(["tell", "keep", "vacuum", "compact", "restart"])),
        st.tuples(st.just("die"), st.integers(1, 8)),
    ),
    min_size=4,
    max_size=16,
)


class _Died(BaseException):
    """Stands for a process that is killed at a named point."""


class _World:
    """`told` is what runs reported last, `there` what the partition has now, `read` what readers of tags got last.

    A version of the metadata whose writer died before its hint is read once the next writer has corrected the hint.
    """

    def __init__(self, folder: Path) -> None:
        self.daily = Daily(folder)
        self.first = 0
        self.told, self.there, self.read = dict[str, list[int]](), dict[str, list[int]](), dict[str, list[int]]()
        self.untold, self.ever = dict[str, int](), defaultdict[str, list[list[int]]](list)
        self.restart()

    def restart(self) -> None:
        self.tables = IcebergTables(self.daily.runtime.warehouse, self.daily.runtime.database)

    def overwrite(self, day: object, *, is_told: bool) -> None:
        self.first += 10
        (date_,) = [known for known in _DAYS if known == day]
        version = self.daily.overwrite(date_, day_rows(date_, self.first))
        self.there[str(day)] = [self.first, self.first + 1, self.first + 2]
        self.untold[str(day)] = version
        if is_told:
            self.tell()

    def tell(self) -> None:
        for day in _DAYS:
            version = self.untold.pop(str(day), None)
            if version is not None:
                self.daily.tell(day, version)
                self.told[str(day)] = self.there[str(day)]
                self.ever[str(day)].append(self.told[str(day)])

    def compact(self) -> None:
        DeltaTable(str(self.daily.path)).optimize.compact()

    def die(self, at: int) -> None:
        passed = 0

        def crash(_: str) -> None:
            nonlocal passed
            passed += 1
            if passed == at:
                raise _Died

        with pytest.MonkeyPatch.context() as patch:
            for module in (iceberg_metadata, manifests):
                patch.setattr(module, "crash_point", crash)
            try:
                self.tables.keep()
            except _Died:
                self.restart()

    def check(self, *, is_written: bool) -> None:
        """Between two writes of the metadata the readers get what they got before."""
        lake = Path(str(self.daily.runtime.warehouse.settings.warehouse))
        is_there = (lake / ICEBERG_FOLDER / "daily" / FOLDER / "version-hint.text").exists()
        now = {tag: self.daily.ids(tag) for tag in tags(self.daily.runtime, "daily")} if is_there else {}
        for tag, ids in now.items():
            allowed = [self.read.get(tag), *([*self.ever[tag], self.there.get(tag)] if is_written else [])]
            assert ids in allowed, tag
        if not is_written:
            assert now == self.read
        self.read = now


@pytest.mark.long
@examples(150)
@given(steps=_STEPS)
def test_each_tag_stays_readable(steps: list[tuple[object, ...]]) -> None:
    with TemporaryDirectory() as folder:
        world = _World(Path(folder))
        world.overwrite(MONDAY, is_told=True)
        for step, *given_ in steps:
            match step:
                case "run" | "overwrite":
                    world.overwrite(given_[0], is_told=step == "run")
                case "tell":
                    world.tell()
                case "keep":
                    world.tables.keep()
                case "vacuum":
                    world.daily.vacuum()
                case "compact":
                    world.compact()
                case "restart":
                    world.restart()
                case _:
                    world.die(int(str(given_[0])))
            world.check(is_written=step in {"keep", "die"})
        world.tell()
        world.tables.keep()
        world.check(is_written=True)
        assert world.read == world.told
