"""Samples of two keys in the distributions that clustering has to be good at."""

import numpy as np

from tidemark.delta.clustering.column_ranks import Positions

ROWS = 40_000


def _mix(chance: np.random.Generator, share: float) -> Positions:
    return np.where(chance.random(ROWS) < share, 500, chance.integers(0, 10**6, ROWS))


def _zipf(chance: np.random.Generator) -> Positions:
    ranks = np.minimum((1 - chance.random(ROWS)) ** -2, 10**6).astype(np.int64)
    return ranks * 48271 % 1_000_003


def worlds(seed: int) -> dict[str, list[Positions]]:
    chance = np.random.default_rng(seed)
    base = chance.integers(0, 10**6, ROWS)
    return {
        "uniform": [base, chance.integers(0, 10**6, ROWS)],
        "one value": [_mix(chance, 0.9), base],
        "two hot": [_mix(chance, 0.8), _mix(chance, 0.8)],
        "zipf": [_zipf(chance), _zipf(chance)],
        "correlated": [base, base + chance.integers(0, 20_000, ROWS)],
        "three": [base, chance.integers(0, 100, ROWS), chance.integers(0, 10**6, ROWS)],
    }


def constant(chance: np.random.Generator) -> list[Positions]:
    return [np.zeros(ROWS, dtype=np.int64), chance.integers(0, 3, ROWS)]
