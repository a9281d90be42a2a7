"""Every query of the corpus reads what stands beside it: an offset, or the word that nobody can tell."""

from __future__ import annotations

import pytest

from tests.dependency_model.lineage.corpus import FOLDER, Case, cases
from tests.dependency_model.lineage.worlds import PARIS, START, SUBJECTS, VIEWS
from tidemark.dependency_model.lineage.entity_outline import EntityOutline, QuerySession
from tidemark.dependency_model.lineage.inference import infer
from tidemark.dependency_model.lineage.parsed_query import read_query
from tidemark.dependency_model.time import Calendar, Period

_STYLES = ("hive", "spark", "dataworks", "airflow", "dbt", "warehouse", "reports")
DEAR = {
    "basic-hour_of_five_minutes",
    "basic-month_to_date_by_fields",
    "calendar-same_hour_a_week_ago_against_now",
    "calendar-since_a_fixed_day_for_a_month",
    "calendar-two_in_the_morning_with_its_repeated_hour",
    "dataworks-month_to_date_and_last_months",
    "dataworks-previous_month_by_text",
    "warehouse-tpcds_2_week_over_week",
}
"""Each takes seconds; what is of their kinds is among the others, or in the tests of hours and of clock changes."""


@pytest.mark.slow
@pytest.mark.parametrize(
    "case",
    [
        case if number % 4 == 1 and case.name not in DEAR else pytest.param(case, marks=pytest.mark.long)
        for number, case in enumerate(cases())
    ],
    ids=lambda case: case.name,
)
def test_the_query_reads_what_is_expected(case: Case) -> None:
    query = read_query(case.sql, file=f"{case.name}.sql")
    downstream = EntityOutline("downstream", case.down, PARIS, START)
    reads = infer([query], downstream, SUBJECTS, session=QuerySession("Europe/Paris"), views=VIEWS)
    assert reads.keys() == case.reads.keys()
    for table, expected in case.reads.items():
        offset_text = str(reads[table])
        assert offset_text.startswith(expected) if expected.startswith("undecidable") else offset_text == expected, (
            offset_text
        )
        assert reads[table].where.partition(":")[0] in (f"{case.name}.sql", "v_paid.sql")


def test_the_workday_before_is_read_by_the_entitys_calendar() -> None:
    sql = """SELECT * FROM d_orders WHERE dt = CASE dayofweek(:biz_date)
      WHEN 1 THEN date_sub(:biz_date, 2) WHEN 2 THEN date_sub(:biz_date, 3) ELSE date_sub(:biz_date, 1) END"""
    for holidays, offset in (("weekdays", "workday -1"), ("", "undecidable: no offset")):
        downstream = EntityOutline("downstream", Period.DAY, Calendar("Europe/Paris", "monday", holidays), START)
        reads = infer([read_query(sql, file="q.sql")], downstream, SUBJECTS)
        assert str(reads["d_orders"]).startswith(offset)


def test_the_corpus_is_large_and_every_case_of_it_is_read() -> None:
    all_cases = cases()
    written = sum(path.read_text().count("-- case: ") for path in FOLDER.glob("*.sql"))
    assert len(all_cases) == len({case.name for case in all_cases}) == written >= 120
    assert sum(case.name.startswith("warehouse-") for case in all_cases) >= 30


def test_what_people_write_is_decided() -> None:
    """Of queries as they are written for other systems; what is not decided is refused with a reason, never guessed."""
    for styles, fewest in ((_STYLES, 300), (("reports",), 150)):
        written = [case for case in cases() if case.name.partition("-")[0] in styles]
        decided = [case for case in written if not any(map(is_undecided, case.reads.values()))]
        assert len(written) >= fewest
        assert len(decided) >= 0.95 * len(written)


def is_undecided(offset: str) -> bool:
    return offset.startswith("undecidable")
