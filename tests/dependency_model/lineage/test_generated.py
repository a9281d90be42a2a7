"""Queries generated from known offsets give the offsets back."""

from __future__ import annotations

import pytest

from tests.dependency_model.lineage.generated import failures
from tests.seeds import MANY, chunks


@pytest.mark.slow
def test_offsets_come_back() -> None:
    assert failures(5, 6) == []


@pytest.mark.long
@pytest.mark.parametrize("first", chunks(0, 1_000, 2 * MANY))
def test_many_offsets_come_back(first: int) -> None:
    assert failures(first, 1_000) == []
