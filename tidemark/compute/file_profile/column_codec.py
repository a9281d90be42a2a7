"""Hashes, orders and writes values of one Spark type, from Arrow arrays without NULL."""

from __future__ import annotations

from decimal import Decimal
from functools import partial
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import types

from tidemark.compute.file_profile.spark_hash import hash_bytes, hash_integers, hash_longs
from tidemark.compute.time_text import dated, time_text

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

_MICROS_A_DAY: Final = 86_400_000_000.0
_DIGITS_OF_A_LONG: Final = 18
_PLAIN: Final = (1e-3, 1e7)


class ColumnCodec(NamedTuple):
    """`native` converts an Arrow array to the input of the other functions; `numbers` are doubles (times:

    microseconds).

    `ends` are the least and the greatest value, with NaN as the greatest of all. `text` writes a value as Spark's CAST
    does.
    """

    native: Callable[[pa.Array], Any]
    hashes: Callable[[Any], NDArray[np.uint64]]
    numbers: Callable[[Any], NDArray[np.float64]]
    ends: Callable[[Any], tuple[Any, Any]]
    text: Callable[[Any], str]


def codec_of(data_type: types.DataType) -> ColumnCodec:
    """The codec of a number or time type."""
    if isinstance(data_type, types.DecimalType):
        return _long_decimal(data_type.scale) if data_type.precision > _DIGITS_OF_A_LONG else _decimal(data_type.scale)
    if isinstance(data_type, (types.FloatType, types.DoubleType)):
        return _FLOATS[type(data_type)]
    if isinstance(data_type, types.DateType):
        return ColumnCodec(_integers, _hashes, lambda days: days * _MICROS_A_DAY, _ends, _date_text)
    if isinstance(data_type, (types.TimestampType, types.TimestampNTZType)):
        return ColumnCodec(_micros, _hashes, _doubles, _ends, time_text)
    return ColumnCodec(_longs if isinstance(data_type, types.LongType) else _integers, _hashes, _doubles, _ends, str)


def _integers(values: pa.Array) -> NDArray[np.int32]:
    return np.asarray(values.cast(pa.int32()).to_numpy(zero_copy_only=False))


def _longs(values: pa.Array) -> NDArray[np.int64]:
    return np.asarray(values.cast(pa.int64()).to_numpy(zero_copy_only=False))


def _micros(values: pa.Array) -> NDArray[np.int64]:
    return _longs(values.cast(pa.timestamp("us", values.type.tz)))


def _hashes(values: NDArray[Any]) -> NDArray[np.uint64]:
    if values.dtype.itemsize == 4:
        return hash_integers(values.view(np.uint32))
    return hash_longs(values.view(np.uint64))


def _doubles(values: NDArray[Any]) -> NDArray[np.float64]:
    return values.astype(np.float64)


def _ends(values: NDArray[Any]) -> tuple[int, int]:
    return int(values.min()), int(values.max())


def _floats(arrow: pa.DataType, values: pa.Array) -> NDArray[Any]:
    """The values with 0.0 for -0.0 and one form of NaN, as in Spark."""
    native = np.asarray(values.cast(arrow).to_numpy(zero_copy_only=False)) + 0
    native[np.isnan(native)] = np.nan
    return native


def _float_ends(values: NDArray[Any]) -> tuple[float, float]:
    is_none = np.isnan(values)
    return float("nan") if is_none.all() else np.nanmin(values), float("nan") if is_none.any() else values.max()


def _float_text(value: np.floating[Any] | float) -> str:
    """A number as Java writes it."""
    number = float(value)
    if not np.isfinite(number):
        return "NaN" if np.isnan(number) else "Infinity" if number > 0 else "-Infinity"
    if number == 0 or _PLAIN[0] <= abs(number) < _PLAIN[1]:
        return np.format_float_positional(value, unique=True, trim="0")
    mantissa, _, exponent = np.format_float_scientific(value, unique=True, trim="0", exp_digits=1).partition("e")
    return f"{mantissa}E{int(exponent)}"


_FLOATS: Final = {
    spark: ColumnCodec(partial(_floats, arrow), _hashes, _doubles, _float_ends, _float_text)
    for spark, arrow in ((types.FloatType, pa.float32()), (types.DoubleType, pa.float64()))
}


def _date_text(days: int) -> str:
    return dated(str(np.datetime64(days, "D")))


def _words(values: pa.Array) -> NDArray[np.int64]:
    """One row for each decimal: its low and its high eight bytes."""
    buffer = np.frombuffer(values.buffers()[1], "<i8")
    return buffer[2 * values.offset : 2 * (values.offset + len(values))].reshape(-1, 2)


def _decimal_text(value: Decimal) -> str:
    return format(value, "f")


def _decimal(scale: int) -> ColumnCodec:
    """Decimals with up to 18 digits: a whole number of the smallest unit, which fits a long."""
    return ColumnCodec(
        lambda values: np.ascontiguousarray(_words(values)[:, 0]),
        _hashes,
        lambda units: units / 10.0**scale,
        _ends,
        lambda units: _decimal_text(Decimal(units).scaleb(-scale)),
    )


def _long_decimal(scale: int) -> ColumnCodec:
    """Decimals with more digits: 16 bytes each."""
    return ColumnCodec(
        lambda values: values,
        lambda values: hash_bytes(*_fewest_bytes(_words(values))),
        lambda values: _long_units(_words(values)) / 10.0**scale,
        lambda values: tuple(end.as_py() for end in pc.min_max(values).values()),
        _decimal_text,
    )


def _long_units(words: NDArray[np.int64]) -> NDArray[np.float64]:
    """The units as doubles; numbers that fit eight bytes are as exact as a double can be."""
    low, high = words[:, 0], words[:, 1]
    return np.where(
        high == low >> 63, low.astype(np.float64), np.ascontiguousarray(low).view(np.uint64) + high * 2.0**64
    )


def _fewest_bytes(words: NDArray[np.int64]) -> tuple[NDArray[np.uint8], NDArray[np.int64], NDArray[np.int64]]:
    """The fewest big-endian bytes of each number with its sign: all bytes, the starts and the lengths."""
    data = np.ascontiguousarray(words[:, ::-1].astype(">i8")).view(np.uint8).reshape(-1, 16)
    sign = np.where(words[:, 1] < 0, 0xFF, 0).astype(np.uint8)
    is_sign = data[:, :-1] == sign[:, None]
    keeps_sign = (data[:, 1:] & 0x80) == (sign[:, None] & 0x80)
    spare = np.logical_and.accumulate(is_sign & keeps_sign, axis=1).sum(axis=1)
    return data.reshape(-1), np.arange(len(words)) * 16 + spare, 16 - spare
