"""A HyperLogLog sketch of arrays of hashes, in the format of Apache DataSketches."""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, Final

import numpy as np

from tidemark.compute.file_profile.spark_hash import sketch_hashes
from tidemark.dependency_model.profile.sketches import LOG_REGISTERS, distinct_of_few, merge_distinct

if TYPE_CHECKING:
    from numpy.typing import NDArray

_REGISTERS: Final = 1 << LOG_REGISTERS
_EMPTY: Final = np.uint64((1 << 64) - 1)
_MOST_FEW: Final = 192
"""The most hashes that a sketch with 2^11 registers stores unchanged."""
_LOOKED_AT: Final = 1_000
_HEAD: Final = "<8B3dII"
_HLL_8_OUT_OF_ORDER: Final = (10, 1, 7, LOG_REGISTERS, 0, 16, 0, 10)
"""The header: words, version, family, size, unused, flags (no estimate by order), least rank, mode."""
_LOW_RANKS: Final = 32
_BITS: Final = 64


class DistinctSketch:
    """Collects hashes. The serialized sketch equals that of Spark's function for the same hashes."""

    def __init__(self) -> None:
        self._least = np.full(_REGISTERS, _EMPTY)
        self._few: set[int] | None = set()

    def add(self, hashes: NDArray[np.uint64]) -> None:
        """Adds hashes, repeats included."""
        self._add_few(hashes)
        register, rank = sketch_hashes(hashes)
        np.minimum.at(self._least, (register & np.uint64(_REGISTERS - 1)).astype(np.intp), rank)

    def _add_few(self, hashes: NDArray[np.uint64]) -> None:
        """Collects hashes while few are different. The first hashes mostly show whether there are many."""
        for some in (hashes[:_LOOKED_AT], hashes[_LOOKED_AT:]):
            if self._few is not None and len(some):
                self._few.update(np.unique(some).view(np.int64).tolist())
                self._few = self._few if len(self._few) <= _MOST_FEW else None

    def serialized(self) -> bytes:
        """The sketch in the format of `merge_distinct`."""
        if self._few is not None:
            return distinct_of_few(self._few)
        ranks = self._ranks()
        powers = np.ldexp(1.0, -ranks)
        is_low = ranks < _LOW_RANKS
        sums = float(powers[is_low].sum()), float(powers[~is_low].sum())
        zeros = int(np.count_nonzero(ranks == 0))
        head = struct.pack(_HEAD, *_HLL_8_OUT_OF_ORDER, 0.0, *sums, zeros, 0)
        return merge_distinct([head + ranks.astype(np.uint8).tobytes()])

    def _ranks(self) -> NDArray[np.int64]:
        """For each register, the number of leading zeros of its smallest hash plus one; 0 without a hash."""
        lengths = [int(least).bit_length() for least in self._least]
        ranks = np.minimum(_BITS - np.array(lengths, np.int64), _BITS - 2) + 1
        return np.where(self._least == _EMPTY, 0, ranks)
