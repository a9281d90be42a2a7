"""The quick look for qualifiers never misses one that the whole search finds."""

from __future__ import annotations

from typing import Final

from hypothesis import given
from hypothesis import strategies as st

from tidemark.dependency_model.lineage.qualified_names import Naming, leave_out_qualifiers

_LAYERS: Final = {"orders": "dwd", "users": "ods", "plain": ""}
_PIECES: Final = [
    "dwd",
    "ODS",
    "prod",
    "Orders",
    "users",
    "plain",
    "a",
    ".",
    " ",
    "`",
    "\n",
    "-- x\n",
    "/* c */",
    "'s.t'",
]


class _SearchedWhole(Naming):
    def may_qualify(self, text: str) -> bool:  # noqa: ARG002 - as it is named there
        return True


@given(st.lists(st.sampled_from(_PIECES), max_size=12).map("".join))
def test_the_quick_look_misses_no_qualifier(text: str) -> None:
    schemas = frozenset({"prod"})
    assert leave_out_qualifiers(text, Naming(_LAYERS, schemas)) == leave_out_qualifiers(
        text, _SearchedWhole(_LAYERS, schemas)
    )


def test_a_text_without_schemas_before_dots_is_not_searched() -> None:
    naming = Naming(_LAYERS, frozenset({"prod"}))
    assert not naming.may_qualify("SELECT o.a FROM orders AS o WHERE o.dt = :biz_date")
    assert naming.may_qualify("SELECT a FROM Dwd . orders")
