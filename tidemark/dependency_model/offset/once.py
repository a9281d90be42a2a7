"""`Set 2 once`: of the hours that a clock shows twice in autumn, the first alone.

The text `hour` of the second is `02+01:00`, so that `hour = '02'` reads the first, where `Set 2` names both.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tidemark.dependency_model.offset.mapping_protocol import Mapping
    from tidemark.dependency_model.time.clock_grid import ClockGrid


class Once:
    """`inner`, without the slices whose key names an offset to UTC."""

    def __init__(self, inner: Mapping, up: ClockGrid) -> None:
        self._inner, self._up = inner, up

    def expand(self, down: int) -> Sequence[int]:
        slices = self._inner.expand(down)
        if not slices or self._up.is_plain(self._up.place(slices[0])[0], self._up.place(slices[-1])[0] + 1):
            return slices
        return [slice_ for slice_ in slices if not self._up.is_repeat(slice_)]

    def inverse(self, up: int) -> Sequence[int]:
        return () if self._up.is_repeat(up) else self._inner.inverse(up)
