"""A floating-point number as text that MariaDB, MySQL and Spark print alike, exact in all 64 bits.

The three print the same number in different ways (0.1 and 1.0E-1; a FLOAT with six digits). But all of them multiply by
a power of two, take the integer part, and subtract it without rounding (IEEE 754). So a number is scaled into 1 ..
2**52 by its band's power of two. Its text has the number of the band, the integer part, and the other 52 bits. For
example, -0.75 is `-20:3377699720527872:0`, and band 0 is printed as 21.
"""

from typing import Final

_BITS: Final = 52
_LOWEST, _HIGHEST = -21, 19
_BANDS: Final = sorted(range(_LOWEST, _HIGHEST + 1), key=abs)
"""Band 0 has the numbers from 1 to 2**52, band 1 the next ones to 2**104. The usual bands are tested first."""


def floating_text(number: str, integer: str) -> str:
    """SQL of the text of `number`, an SQL expression; `integer` is the dialect's 64-bit type for CAST."""
    size = f"ABS({number})"
    cases = " ".join(f"WHEN {_is_in(size, band)} THEN {_parts(size, band, integer)}" for band in _BANDS)
    return f"CONCAT(IF({number} < 0, '-', ''), CASE WHEN {size} = 0 THEN '0' {cases} END)"


def _is_in(size: str, band: int) -> str:
    bounds = []
    if band > _LOWEST:
        bounds.append(f"{size} >= {_power(band * _BITS)}")
    if band < _HIGHEST:
        bounds.append(f"{size} < {_power((band + 1) * _BITS)}")
    return " AND ".join(bounds)


def _parts(size: str, band: int, integer: str) -> str:
    # Multiply in two steps: a single power for numbers close to 0 would overflow a DOUBLE.
    half = -band * _BITS // 2
    scaled = f"{size} * {_power(half)} * {_power(half)}" if band else size
    rest = f"({scaled} - FLOOR({scaled})) * {_power(_BITS)}"
    return f"CONCAT('{band - _LOWEST}:', CAST(FLOOR({scaled}) AS {integer}), ':', CAST({rest} AS {integer}))"


def _power(exponent: int) -> str:
    """2**exponent as a literal that each dialect reads as an exact DOUBLE."""
    return f"{2.0**exponent:.17e}"
