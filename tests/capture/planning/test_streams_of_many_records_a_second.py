"""Random streams with many records a second: each record is merged once, whatever the passes, kills and cuts."""

import pytest

from tests.capture.planning.simulated_capture import live

FEW = range(25)
MANY = [range(start, start + 5_000) for start in range(0, 50_000, 5_000)]
"""Lives of two topics each."""


@pytest.mark.parametrize("seeds", [FEW, *(pytest.param(seeds, marks=pytest.mark.long) for seeds in MANY)], ids=str)
def test_each_record_is_merged_once_and_in_its_order(seeds: range) -> None:
    closed = 0
    for seed in seeds:
        capture = live(seed)
        try:
            capture.check()
        except AssertionError as error:
            raise AssertionError(f"seed {seed}: {error}") from error
        closed += len(capture.closed)
    assert closed > len(seeds)
