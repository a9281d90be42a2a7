"""The text of a compared value in messages."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable


@dataclass(frozen=True, slots=True)
class Scale:
    """`shown` formats a value on the scale."""

    shown: Callable[[float], str]


log = Scale(lambda value: f"{math.expm1(value):,.0f}")
share = Scale(lambda value: f"{math.sin(min(max(value, 0.0), math.pi) / 2) ** 2:.2%}")


@cache
def numbers(back: Callable[[float], float], digits: int) -> Scale:
    """A scale whose values `back` converts to numbers, shown with `digits` significant digits."""

    def shown(value: float) -> str:
        try:
            return f"{back(value):.{digits}g}"
        except OverflowError:
            return "out of range"

    return Scale(shown)
