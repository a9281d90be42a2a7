"""Compares looks with the lake in a thread, while further ranges are read at the source."""

from __future__ import annotations

from concurrent.futures import Future, ThreadPoolExecutor
from itertools import groupby
from typing import TYPE_CHECKING, NamedTuple

from tidemark.capture.audit.look import PendingLook

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tidemark.capture.audit.lake_side import LakeAt, LakeSide
    from tidemark.capture.audit.row_comparison import RowLook


class ComparedLook(NamedTuple):
    """The buckets that differ, or both sides of the rows, or the reason why the look cannot be compared."""

    look: PendingLook
    outcome: tuple[int, ...] | RowLook | str


class Comparisons:
    """Compares one batch of looks at a time; `sides` is by table.

    The looks at one shard need one Spark job for groups and one for rows. Looks that arrive during a batch form the
    next one.
    """

    def __init__(self, sides: Mapping[str, LakeSide]) -> None:
        self._sides = sides
        self._pool = ThreadPoolExecutor(1, thread_name_prefix="audit")
        self._under_way: Future[list[ComparedLook]] | None = None

    def close(self) -> None:
        """Wait for the current batch."""
        self._pool.shutdown()

    @property
    def is_idle(self) -> bool:
        """Whether the next batch may begin: the last one has ended and its results were taken."""
        return self._under_way is None

    def begin(self, looks: Sequence[PendingLook]) -> None:
        """Start to compare these looks. Call it only if `is_idle`."""
        self._under_way = self._pool.submit(self._compared, looks)

    def ended(self) -> Sequence[ComparedLook]:
        """The results of the batch, once it has ended. Raises the error of the batch."""
        if self._under_way is None or not self._under_way.done():
            return ()
        ended, self._under_way = self._under_way, None
        return ended.result()

    def _compared(self, looks: Sequence[PendingLook]) -> list[ComparedLook]:
        by_shard = groupby(sorted(looks, key=_shard_of), key=_shard_of)
        return [compared for (table, _), of in by_shard for compared in _of_shard(self._sides[table], list(of))]


def _of_shard(side: LakeSide, looks: Sequence[PendingLook]) -> list[ComparedLook]:
    at = side.now(looks[0].task.patch.instance)
    at_groups, at_rows, compared = list[PendingLook](), list[PendingLook](), list[ComparedLook]()
    for look in looks:
        if at is None or not _is_comparable(look, at):
            compared.append(ComparedLook(look, "its columns changed, or its rows are being loaded"))
        else:
            (at_rows if look.task.number else at_groups).append(look)
    if at is not None and at_groups:
        compared += map(ComparedLook, at_groups, side.differing_buckets(at_groups, at))
    if at is not None and at_rows:
        compared += map(ComparedLook, at_rows, side.rows(at_rows, at))
    return compared


def _shard_of(look: PendingLook) -> tuple[str, str]:
    return look.task.patch.table, look.task.patch.shard


def _is_comparable(look: PendingLook, at: LakeAt) -> bool:
    """Whether the shard's columns are unchanged since the look was prepared, and its initial load is not pending."""
    shard = look.task.shard
    return shard.columns.lake == at.state.columns.lake and shard.name not in at.state.initial_load_pending
