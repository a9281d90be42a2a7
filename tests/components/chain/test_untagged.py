"""A reason counts only for the slices that it is given for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.components.chain.tables import TABLES
from tests.components.chain.untagged import reason

if TYPE_CHECKING:
    from pathlib import Path

ORDERS = TABLES[0]
HELD = "ods_orders 2026-03-23T01: not tagged, held: shard a.chain.orders_0: rows changed without row events"
SPAN = "ods_orders 2026-03-23T03 to 2026-03-23T05 (3 slices): never tagged, because rows of a.chain were missing"


@pytest.mark.parametrize(
    ("slice_key", "line"),
    [
        ("2026-03-23T01", HELD),
        ("2026-03-23T02", None),
        ("2026-03-23T03", SPAN),
        ("2026-03-23T04", SPAN),
        ("2026-03-23T05", SPAN),
        ("2026-03-23T06", None),
    ],
)
def test_a_slice_has_the_reason_that_was_said_of_it(tmp_path: Path, slice_key: str, line: str | None) -> None:
    of_others = ["ods_orders 2026-03-23T02: late", HELD.replace("orders", "payments").replace("T01", "T06")]
    steps: list[dict[str, Any]] = [{"warnings": [*of_others, HELD]}, {"error": "BrokerDownError"}, {"warnings": [SPAN]}]
    assert reason(ORDERS, slice_key, tmp_path / "no_table", steps) == line
