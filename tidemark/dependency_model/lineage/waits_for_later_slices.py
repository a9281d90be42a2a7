"""A correct read that may surprise: a day that reads its whole month waits for the month's end."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tidemark.dependency_model.offset.offset import OffsetKind
from tidemark.errors import QueryError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from tidemark.dependency_model.lineage.inferred_read import Read
    from tidemark.dependency_model.offset.offset import Offset
    from tidemark.dependency_model.time.period import Period

_TO_THE_END: Final = frozenset([OffsetKind.ALL, OffsetKind.LAST, OffsetKind.LAST_WORKDAY])


def waits_for_later_slices(period: Period | None, reads: Iterable[Read]) -> Iterator[QueryError]:
    """A notice for each inferred offset that goes to the end of a longer period than the entity's."""
    for read in reads:
        for offset in read.offsets:
            if period is not None and offset.within and _goes_on(offset, period):
                message = (
                    f"{read.table}: the query reads '{offset}', so a {period} waits for the end of its {offset.within}"
                    "; where only what is there by then is meant, add: dt <= :biz_date"
                )
                yield QueryError(message, where=read.where)


def _goes_on(offset: Offset, period: Period) -> bool:
    """Whether it reads the window's period to its end, or a later one."""
    is_read = not offset.periods or offset.periods[-1][1] >= 0
    return offset.kind in _TO_THE_END and offset.within is not period and is_read
