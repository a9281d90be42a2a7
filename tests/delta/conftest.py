"""Delta as a version that lacks one of the private interfaces."""

from collections.abc import Iterator

import pytest

from tidemark.delta.internals import contract
from tidemark.delta.internals.probe import missing_here


@pytest.fixture
def public_ways(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """One class of the contract is not there: everything goes by Delta's public ways."""
    monkeypatch.setattr(contract, "CLASSES", {**contract.CLASSES, f"{contract.DELTA}.NoSuchClass": ()})
    monkeypatch.setattr(contract, "PROVEN_WITH", {**contract.PROVEN_WITH, "delta-spark": "0.0.0"})
    missing_here.cache_clear()
    yield
    missing_here.cache_clear()
