"""`Set 2 once`: only the first of the hours that a clock shows twice in autumn.

The text `hour` of the second is `02+01:00`. So `hour = '02'` reads only the first, while `Set 2` names both.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tidemark.dependency_model.offset.mapping_protocol import Mapping
    from tidemark.dependency_model.time.clock_grid import ClockGrid


class Once:
    """`inner` without the slices whose key has an offset to UTC."""

    def __init__(self, inner: Mapping, up: ClockGrid) -> None:
        self._inner, self._up = inner, up

    def expand(self, down: int) -> Sequence[int]:
        slices = self._inner.expand(down)
        if not slices or self._up.is_plain(self._up.place(slices[0])[0], self._up.place(slices[-1])[0] + 1):
            return slices
        return [slice_ for slice_ in slices if not self._up.is_repeat(slice_)]

    def inverse(self, up: int) -> Sequence[int]:
        return () if self._up.is_repeat(up) else self._inner.inverse(up)
