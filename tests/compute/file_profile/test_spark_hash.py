"""Hashes and sketches of arrays against published figures and the library's own; the test beside asks Spark."""

from __future__ import annotations

import struct

import datasketches
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.profile.sketched import distinct_sketch
from tidemark.compute.file_profile.distinct_sketch import DistinctSketch
from tidemark.compute.file_profile.spark_hash import hash_bytes, hash_integers, hash_longs
from tidemark.dependency_model.profile.sketches import LOG_REGISTERS, distinct_values, merge_distinct

longs = st.integers(-(2**63), 2**63 - 1)


def hashed(*texts: bytes) -> list[int]:
    lengths = np.array([len(text) for text in texts], np.int64)
    starts = np.cumsum(lengths) - lengths
    return [int(value) for value in hash_bytes(np.frombuffer(b"".join(texts), np.uint8), starts, lengths)]


def test_the_examples_of_sparks_documentation() -> None:
    """`SELECT xxhash64('Spark')`; the other one is of the seed alone."""
    assert hashed(b"Spark", b"") == [(-4294468057691064905) % 2**64, (-7444071767201028348) % 2**64]


@given(st.lists(st.binary(max_size=150), min_size=1, max_size=20))
def test_the_order_and_the_neighbours_of_a_text_are_nothing_to_it(texts: list[bytes]) -> None:
    assert hashed(*texts) == [hashed(text)[0] for text in texts]


@given(st.lists(longs, min_size=1, max_size=20))
def test_a_number_is_hashed_as_its_bytes(numbers: list[int]) -> None:
    told = hash_longs(np.array(numbers, np.int64).view(np.uint64)).tolist()
    assert told == hashed(*(struct.pack("<q", number) for number in numbers))
    small = np.array(numbers, np.int64).astype(np.int32)
    assert hash_integers(small.view(np.uint32)).tolist() == hashed(*(struct.pack("<i", number) for number in small))


def registers(sketch: bytes) -> bytes:
    union = datasketches.hll_union(LOG_REGISTERS)
    union.update(datasketches.hll_sketch.deserialize(sketch))
    return bytes(union.get_result(datasketches.HLL_8).serialize_updatable())[40:]


@pytest.mark.parametrize("count", [0, 1, 191, 192, 193, 256, 1_000, 2_000, 30_000])
def test_a_sketch_has_the_registers_of_the_library_s_own(count: int) -> None:
    values = np.random.default_rng(count).integers(-(2**63), 2**63, count, np.int64)
    sketch, expected = DistinctSketch(), distinct_sketch(values.tolist())
    for some in np.array_split(np.concatenate([values, values[: count // 2]]), 3):
        sketch.add(some.view(np.uint64))
    halves = [distinct_sketch(half.tolist()) for half in np.array_split(values, 2)]
    told, merged = sketch.serialized(), merge_distinct(halves)
    assert distinct_values(told) == pytest.approx(distinct_values(merged), rel=0.01)
    assert distinct_values(merge_distinct([told, expected])) == pytest.approx(distinct_values(told))
    if count > 1_000:
        assert registers(told) == registers(expected)
