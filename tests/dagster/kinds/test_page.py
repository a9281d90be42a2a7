"""docs/kinds.md says what the tests prove."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.dagster.kinds.page import FOLDER, PROOFS, page
from tidemark.warehouse.kind_rules import KIND_RULES

PAGE = Path(__file__).resolve().parents[3] / "docs" / "kinds.md"


def test_the_page_agrees_with_the_tests() -> None:
    assert PAGE.read_text() == page(), "run: python -m tests.dagster.kinds.page > docs/kinds.md"


@pytest.mark.parametrize("test", sorted({proof[3] for proof in PROOFS}))
def test_each_proof_is_there(test: str) -> None:
    file, _, name = test.partition("::")
    assert f"def {name}(" in (FOLDER / file).read_text()


def test_every_kind_has_a_proof() -> None:
    proved = {proof[0].partition(",")[0] for proof in PROOFS}
    assert {kind.value for kind in KIND_RULES} <= proved
