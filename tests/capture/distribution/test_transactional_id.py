"""Names: no two at a time, and the name of one that is gone goes to the next."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tidemark.capture.distribution.service import member_name
from tidemark.state_store.database import Database

if TYPE_CHECKING:
    from pathlib import Path


def test_two_at_a_time_differ_and_who_comes_next_has_the_name_of_the_one_that_went(tmp_path: Path) -> None:
    database = Database.at(tmp_path / "state.db")
    with member_name(database) as first:
        with member_name(database) as second:
            assert second != first
        with member_name(database) as third:
            assert third == second
    with member_name(database) as fourth:
        assert fourth == first
    with member_name(Database.at(tmp_path / "another.db")) as other:
        assert other not in {first, second}
