"""`xxhash64` as in Spark 4.2, and the register and rank of such a hash in DataSketches, for whole arrays.

Sketches of distinct values from Spark and from here can only be merged if every value has the same hash in both.
Arithmetic is modulo 2^64: arrays of unsigned numbers wrap around without a warning.

Sources: XXH64 of the xxHash specification, with Spark's seed 42; MurmurHash3_x64_128 with DataSketches' seed 9001.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

_P1: Final = np.uint64(0x9E3779B185EBCA87)
_P2: Final = np.uint64(0xC2B2AE3D27D4EB4F)
_P3: Final = np.uint64(0x165667B19E3779F9)
_P4: Final = np.uint64(0x85EBCA77C2B2AE63)
_P5: Final = np.uint64(0x27D4EB2F165667C5)
_SEED: Final = 42
_WORD, _STRIPE = 8, 32
_MASK: Final = (1 << 64) - 1
_C1: Final = np.uint64(0x87C37B91114253D5)
_C2: Final = np.uint64(0x4CF5AD432745937F)
_MIX1: Final = np.uint64(0xFF51AFD7ED558CCD)
_MIX2: Final = np.uint64(0xC4CEB9FE1A85EC53)
_SKETCH_SEED: Final = 9001


def hash_integers(values: NDArray[np.uint32]) -> NDArray[np.uint64]:
    """Hashes of values of four bytes, as bits: integers, floats, days, flags as 0 and 1."""
    hashed = _start(4) ^ (values.astype(np.uint64) * _P1)
    return _mixed(_rotated(hashed, 23) * _P2 + _P3)


def hash_longs(values: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Hashes of values of eight bytes, as bits: longs, doubles, microseconds, decimals of up to 18 digits."""
    return _mixed(_with_word(np.full(len(values), _start(8)), values))


def hash_bytes(data: NDArray[np.uint8], starts: NDArray[np.int64], lengths: NDArray[np.int64]) -> NDArray[np.uint64]:
    """Hashes of `lengths` bytes at each of `starts` in `data`:

    texts in UTF-8, decimals as their fewest big-endian bytes.
    """
    if not len(starts):
        return np.empty(0, np.uint64)
    order = np.argsort(-lengths, kind="stable")
    starts, lengths = starts[order], lengths[order]
    padded = np.concatenate([data, np.zeros(_WORD, np.uint8)])
    words = np.ndarray((len(padded) - _WORD + 1,), "<u8", padded, strides=(1,))
    hashed = np.full(len(starts), _start(0))
    stripes = lengths // _STRIPE
    if stripes[0]:
        at_least = int(np.count_nonzero(stripes))
        hashed[:at_least] = _striped(words, starts[:at_least], stripes[:at_least])
    hashed += lengths.astype(np.uint64)
    ordered = _with_rest(hashed, padded, words, starts + stripes * _STRIPE, lengths % _STRIPE)
    result = np.empty_like(ordered)
    result[order] = _mixed(ordered)
    return result


def _striped(words: NDArray[np.uint64], starts: NDArray[np.int64], stripes: NDArray[np.int64]) -> NDArray[np.uint64]:
    """Four lanes of eight bytes. The longest values come first, so each round covers a prefix of the values."""
    seeds = (_SEED + int(_P1) + int(_P2), _SEED + int(_P2), _SEED, _SEED - int(_P1))
    lanes = [np.full(len(starts), np.uint64(seed & _MASK)) for seed in seeds]
    for stripe in range(int(stripes[0])):
        left = int(np.searchsorted(-stripes, -stripe, side="left"))
        for number, lane in enumerate(lanes):
            word = words[starts[:left] + (stripe * _STRIPE + number * _WORD)]
            lane[:left] = _rotated(lane[:left] + word * _P2, 31) * _P1
    first, second, third, fourth = lanes
    hashed = _rotated(first, 1) + _rotated(second, 7) + _rotated(third, 12) + _rotated(fourth, 18)
    for lane in lanes:
        hashed = (hashed ^ (_rotated(lane * _P2, 31) * _P1)) * _P1 + _P4
    return hashed


def _with_rest(
    hashed: NDArray[np.uint64],
    data: NDArray[np.uint8],
    words: NDArray[np.uint64],
    at: NDArray[np.int64],
    left: NDArray[np.int64],
) -> NDArray[np.uint64]:
    """The bytes after the last stripe: words of eight bytes, one of four, single bytes."""
    for _ in range(_STRIPE // _WORD - 1):
        (now,) = np.nonzero(left >= _WORD)
        hashed[now] = _with_word(hashed[now], words[at[now]])
        at[now] += _WORD
        left[now] -= _WORD
    (now,) = np.nonzero(left >= 4)
    half = words[at[now]] & np.uint64(0xFFFFFFFF)
    hashed[now] = _rotated(hashed[now] ^ (half * _P1), 23) * _P2 + _P3
    at[now] += 4
    left[now] -= 4
    for _ in range(3):
        (now,) = np.nonzero(left > 0)
        hashed[now] = _rotated(hashed[now] ^ (data[at[now]].astype(np.uint64) * _P5), 11) * _P1
        at[now] += 1
        left[now] -= 1
    return hashed


def _start(length: int) -> np.uint64:
    return np.uint64((_SEED + int(_P5) + length) & _MASK)


def _with_word(hashed: NDArray[np.uint64], word: NDArray[np.uint64]) -> NDArray[np.uint64]:
    return _rotated(hashed ^ (_rotated(word * _P2, 31) * _P1), 27) * _P1 + _P4


def _rotated(values: NDArray[np.uint64], bits: int) -> NDArray[np.uint64]:
    return (values << np.uint64(bits)) | (values >> np.uint64(64 - bits))


def _mixed(values: NDArray[np.uint64]) -> NDArray[np.uint64]:
    values = (values ^ (values >> np.uint64(33))) * _P2
    values = (values ^ (values >> np.uint64(29))) * _P3
    return values ^ (values >> np.uint64(32))


def sketch_hashes(values: NDArray[np.uint64]) -> tuple[NDArray[np.uint64], NDArray[np.uint64]]:
    """The input of a HyperLogLog sketch for longs.

    The register is in the low bits of the first result. Its rank is one more than the leading zeros of the second.
    """
    first = np.uint64(_SKETCH_SEED) ^ (_rotated(values * _C1, 31) * _C2) ^ np.uint64(8)
    second = np.uint64(_SKETCH_SEED ^ 8)
    first = first + second
    other = _finished(second + first)
    first = _finished(first) + other
    return first, other + first


def _finished(values: NDArray[np.uint64]) -> NDArray[np.uint64]:
    values = (values ^ (values >> np.uint64(33))) * _MIX1
    values = (values ^ (values >> np.uint64(33))) * _MIX2
    return values ^ (values >> np.uint64(33))
