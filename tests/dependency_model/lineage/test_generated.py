"""Queries generated from known offsets give the offsets back."""

from __future__ import annotations

import pytest

from tests.dependency_model.lineage.generated import failures

_CHUNK = 100


@pytest.mark.parametrize("first", range(0, 200, _CHUNK))
def test_offsets_come_back(first: int) -> None:
    assert failures(first, _CHUNK) == []


@pytest.mark.long
@pytest.mark.parametrize("first", range(200, 20_200, 1_000))
def test_many_offsets_come_back(first: int) -> None:
    assert failures(first, 1_000) == []
