"""The profile of a column from Arrow arrays, batch by batch:

exact counts and ends, and sketches as Spark makes them.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql.types import BooleanType

from tidemark.compute.file_profile.column_codec import codec_of
from tidemark.compute.file_profile.distinct_sketch import DistinctSketch
from tidemark.compute.file_profile.spark_hash import hash_bytes, hash_integers
from tidemark.compute.profile_aggregates import TEXT_LENGTH, kind_of
from tidemark.dependency_model.profile.sketches import FrequentSketch, QuantileSketch
from tidemark.dependency_model.profile.slice_profile import ColumnKind, ColumnProfile

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from pyspark.sql import types

_MOST_FREQUENT: Final = 1_000
"""The most frequent texts of a batch that are counted. Any other text has at most a thousandth of its rows."""


class CountedColumn:
    """A column of which only values are counted. Raises errors of Arrow."""

    def __init__(self, field: types.StructField) -> None:
        self._name, self._kind, self._values = field.name, kind_of(field.dataType), 0

    def add(self, values: pa.Array) -> None:
        """Adds a batch; NULL does not count."""
        there = values.drop_null()
        self._values += len(there)
        if len(there):
            self._take(there)

    def profile(self) -> ColumnProfile:
        """The profile of all added values."""
        if not self._values:
            return ColumnProfile(self._name, self._kind, 0)
        return ColumnProfile(self._name, self._kind, self._values, *self._told())

    def _take(self, values: pa.Array) -> None:
        """Adds at least one value."""

    def _told(self) -> tuple[Any, ...]:
        return ()


class NumberColumn(CountedColumn):
    """Numbers or times."""

    def __init__(self, field: types.StructField) -> None:
        super().__init__(field)
        self._codec = codec_of(field.dataType)
        self._distinct, self._quantiles = DistinctSketch(), QuantileSketch()
        self._ends: list[Any] = []

    def _take(self, values: pa.Array) -> None:
        native = self._codec.native(values)
        self._distinct.add(self._codec.hashes(native))
        self._quantiles.add(self._codec.numbers(native))
        ends = [*self._ends, *self._codec.ends(native)]
        self._ends = [min(ends, key=_order), max(ends, key=_order)]

    def _told(self) -> tuple[Any, ...]:
        return *map(self._codec.text, self._ends), self._distinct.serialized(), self._quantiles.serialized(), None


def _order(value: Any) -> tuple[bool, Any]:
    """NaN is greater than all numbers."""
    return (True, 0) if isinstance(value, float) and math.isnan(value) else (False, value)


class TextColumn(CountedColumn):
    """Texts."""

    def __init__(self, field: types.StructField) -> None:
        super().__init__(field)
        self._distinct, self._frequent = DistinctSketch(), FrequentSketch()
        self._ends: list[str] = []

    def _take(self, values: pa.Array) -> None:
        encoded = values if pa.types.is_dictionary(values.type) else values.dictionary_encode()
        counts = np.bincount(encoded.indices.to_numpy(), minlength=len(encoded.dictionary))
        (present,) = np.nonzero(counts)
        texts = encoded.dictionary.take(pa.array(present)).cast(pa.string())
        self._distinct.add(self._hashes(texts))
        self._ends = _text_ends([*self._ends, *(end.as_py() for end in pc.min_max(texts).values())])
        self._count(texts, counts[present])

    def _hashes(self, texts: pa.StringArray) -> NDArray[np.uint64]:
        offsets = np.frombuffer(texts.buffers()[1], np.int32)[texts.offset :][: len(texts) + 1].astype(np.int64)
        data = np.frombuffer(texts.buffers()[2] or b"", np.uint8)
        return hash_bytes(data, offsets[:-1], np.diff(offsets))

    def _count(self, texts: pa.StringArray, counts: NDArray[np.int64]) -> None:
        if len(counts) > _MOST_FREQUENT:
            chosen = np.argpartition(-counts, _MOST_FREQUENT)[:_MOST_FREQUENT]
            texts, counts = texts.take(pa.array(chosen)), counts[chosen]
        shortened = pc.utf8_slice_codeunits(texts, 0, TEXT_LENGTH).to_pylist()
        self._frequent.add(zip(shortened, counts.tolist(), strict=True))

    def _told(self) -> tuple[Any, ...]:
        low, high = (end[:TEXT_LENGTH] for end in self._ends)
        return low, high, self._distinct.serialized(), None, self._frequent.serialized()


def _text_ends(texts: list[str]) -> list[str]:
    return [min(texts), max(texts)]


class FlagColumn(TextColumn):
    """True and false, as texts."""

    def _take(self, values: pa.Array) -> None:
        true = values.true_count
        counts = {"false": len(values) - true, "true": true}
        told = [text for text, count in counts.items() if count]
        self._distinct.add(hash_integers(np.array([text == "true" for text in told], np.uint32)))
        self._ends = _text_ends([*self._ends, *told])
        self._frequent.add((text, counts[text]) for text in told)


def column_of(field: types.StructField) -> CountedColumn:
    """The collector for the values of a column."""
    kind = kind_of(field.dataType)
    if kind is ColumnKind.OTHER:
        return CountedColumn(field)
    if kind is ColumnKind.TEXT:
        return FlagColumn(field) if isinstance(field.dataType, BooleanType) else TextColumn(field)
    return NumberColumn(field)
