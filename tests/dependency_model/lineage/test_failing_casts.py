"""An hour cast to a number fails where the clock repeats an hour: told when the query is read, not on that day."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.dependency_model.lineage.worlds import PARIS, START, SUBJECTS
from tests.examples import each
from tidemark.dependency_model.lineage.entity_outline import EntityOutline
from tidemark.dependency_model.lineage.inference import infer
from tidemark.dependency_model.lineage.parsed_query import read_query
from tidemark.dependency_model.time import Calendar, Period
from tidemark.errors import QueryError

if TYPE_CHECKING:
    from tidemark.dependency_model.lineage.inferred_read import Read


def _reads(condition: str, table: str = "h_clicks", start: str | None = START) -> dict[str, Read]:
    minsk = EntityOutline("h_minsk", Period.HOUR, Calendar("Europe/Minsk"), start)
    query = read_query(f"SELECT 1 FROM {table} WHERE dt = :biz_date AND {condition}", file="q.sql")  # noqa: S608 - of this test
    return infer([query], EntityOutline("down", Period.DAY, PARIS, START), {**SUBJECTS, "h_minsk": minsk})


@pytest.mark.parametrize(
    "condition",
    [
        "int(hour) < 6",
        "CAST(hour AS INT) = 6",
        "hour = 2",
        "hour BETWEEN 0 AND 5",
        "hour IN (1, 2)",
        "hour + 1 > 3",
        "user_id > 0 AND NOT (hour * 60 < 600)",
    ],
)
@pytest.mark.parametrize("table", ["h_clicks", "e_events"])
def test_a_cast_that_will_fail_is_an_error(condition: str, table: str) -> None:
    with pytest.raises(QueryError) as error:
        _reads(condition, table)
    assert error.value.message == "a cast that fails at run time"
    assert "hour is '02+01:00' on 2024-10-27" in str(error.value.found)
    assert str(error.value.where).startswith("q.sql:1:")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("condition", "table"),
    each(
        3,
        [
            ("int(left(hour, 2)) < 6", "h_clicks"),
            ("hour < '06'", "h_clicks"),
            ("try_cast(hour AS INT) < 6", "h_clicks"),
            ("hour NOT LIKE '%+%' AND int(hour) < 6", "h_clicks"),
            ("CASE WHEN length(hour) = 2 THEN int(hour) ELSE 2 END < 6", "h_clicks"),
            ("int(hour) < 6", "h_minsk"),
        ],
    ),
)
def test_what_cannot_fail_is_read(condition: str, table: str) -> None:
    assert _reads(condition, table)[table].table == table


def test_a_zone_that_once_changed_its_clock_counts_from_the_start_of_the_table() -> None:
    with pytest.raises(QueryError):
        _reads("int(hour) < 6", "h_minsk", "2005-01-01")
