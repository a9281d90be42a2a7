"""Queries generated from known offsets give the offsets back."""

from __future__ import annotations

import pytest

from tests.dependency_model.lineage.generated import failures


def test_offsets_come_back() -> None:
    assert failures(0, 60) == []


@pytest.mark.long
@pytest.mark.parametrize("first", range(0, 20_000, 1_000))
def test_many_offsets_come_back(first: int) -> None:
    assert failures(first, 1_000) == []
