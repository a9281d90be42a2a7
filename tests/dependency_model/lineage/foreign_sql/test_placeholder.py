"""Each system's placeholders by what they mean, and what is none of them."""

from __future__ import annotations

import pytest

from tidemark.dependency_model.lineage.foreign_sql.placeholder import placeholders
from tidemark.dependency_model.lineage.parsed_query import read_query
from tidemark.dependency_model.time import Period
from tidemark.errors import QueryError

D = "date_format(:biz_date, 'yyyyMMdd')"
ISO = "date_format(:biz_date, 'yyyy-MM-dd')"
END = ":period_end"
BEFORE = "date_format(date_sub(:biz_date, 1), 'yyyy-MM-dd')"

MEANINGS = [
    ("${bizdate}", "DataWorks", D),
    ("$bizdate", "DataWorks", D),
    ("${bdp.system.bizdate}", "DataWorks", D),
    ("${yyyymmdd}", "DataWorks", D),
    ("${yyyy-mm-dd}", "DataWorks", ISO),
    ("${yyyymmdd-7*2}", "DataWorks", "date_format(date_sub(:biz_date, 14), 'yyyyMMdd')"),
    ("${yyyymm-1}", "DataWorks", "date_format(add_months(:biz_date, -1), 'yyyyMM')"),
    ("${yyyy-1}", "DataWorks", "date_format(add_months(:biz_date, -12), 'yyyy')"),
    ("$gmtdate", "DataWorks", "date_format(date_add(:biz_date, 1), 'yyyyMMdd')"),
    ("$bizmonth", "DataWorks", "date_format(add_months(date_add(:biz_date, 1), -1), 'yyyyMM')"),
    ("$[yyyymmdd]", "DataWorks and DolphinScheduler", "date_format(date_add(:biz_date, 1), 'yyyyMMdd')"),
    ("$[yyyymmdd-1]", "DataWorks and DolphinScheduler", D),
    ("$[yyyymmdd-7*1]", "DataWorks and DolphinScheduler", "date_format(date_sub(:biz_date, 6), 'yyyyMMdd')"),
    ("$[yyyy-MM-dd-1]", "DataWorks and DolphinScheduler", ISO),
    (
        "$[add_months(yyyymm,-1)]",
        "DataWorks and DolphinScheduler",
        "date_format(add_months(date_add(:biz_date, 1), -1), 'yyyyMM')",
    ),
    ("$[yyyymm-1]", "DataWorks and DolphinScheduler", None),
    ("$[hh24miss]", "DataWorks and DolphinScheduler", None),
    ("${system.biz.date}", "DolphinScheduler", D),
    ("${system.biz.curdate}", "DolphinScheduler", "date_format(date_add(:biz_date, 1), 'yyyyMMdd')"),
    ("${hivevar:dt}", "Hive", None),
    ("${hiveconf:dt}", "Hive", None),
    ("${yyyyMMdd-1d}", "DataWorks, DolphinScheduler or Hive", None),
    ("{{ ds }}", "Airflow", ISO),
    ("{{ds_nodash}}", "Airflow", D),
    ("{{ yesterday_ds }}", "Airflow", BEFORE),
    ("{{ next_ds }}", "Airflow", "date_format(date_add(:biz_date, 1), 'yyyy-MM-dd')"),
    ("{{ macros.ds_add(ds, -1) }}", "Airflow", BEFORE),
    (
        "{{ macros.ds_format(macros.ds_add(ds, -6), '%Y-%m-%d', '%Y%m%d') }}",
        "Airflow",
        "date_format(date_sub(:biz_date, 6), 'yyyyMMdd')",
    ),
    ("{{ data_interval_start }}", "Airflow", ":period_start"),
    ("{{ data_interval_end }}", "Airflow", ":period_end"),
    ("{{ execution_date }}", "Airflow", ":period_start"),
    ("{{ data_interval_start | ds }}", "Airflow", ISO),
    ("{{ (execution_date - macros.timedelta(days=1)).strftime('%Y-%m-%d') }}", "Airflow", BEFORE),
    (
        "{{ logical_date.subtract(months=1).strftime('%Y%m') }}",
        "Airflow",
        "date_format(add_months(:biz_date, -1), 'yyyyMM')",
    ),
    ("{{ data_interval_end.in_timezone('Europe/Paris').strftime('%H') }}", "Airflow", f"date_format({END}, 'HH')"),
    ("{{ params.x }}", "Airflow", None),
    ("{{ ref('x') }}", "dbt", None),
    ("{{ source('s','t') }}", "dbt", None),
    ("{{ var('x') }}", "dbt", None),
    ("{{ config(materialized='incremental') }}", "dbt", None),
    ("{{ this }}", "dbt", None),
    ("{% if is_incremental() %}", "dbt or Airflow", None),
    ("@start_ds", "SQLMesh", ISO),
    ("@end_ds", "SQLMesh", ISO),
    ("@end_ts", "SQLMesh", None),
    ("@biz_date", "SQLMesh or SQL Server", None),
]


@pytest.mark.parametrize(("text", "system", "sql"), MEANINGS)
def test_a_placeholder_is_told_by_its_system_and_value(text: str, system: str, sql: str | None) -> None:
    (placeholder,) = placeholders(f"SELECT {text}")
    meaning = placeholder.meaning
    assert (placeholder.text, placeholder.start, meaning.system) == (text, 7, system)
    assert (meaning.moment.sql(Period.DAY) if meaning.moment else None) == sql
    assert meaning.to_write()


@pytest.mark.parametrize(("text", "system", "sql"), MEANINGS)
def test_a_query_with_a_placeholder_is_refused_before_it_is_parsed(text: str, system: str, sql: str | None) -> None:
    with pytest.raises(QueryError) as caught:
        read_query(f"SELECT a\nFROM {text}", file="dws/x.sql")
    assert caught.value.where == "dws/x.sql:2:6"
    assert caught.value.message.startswith(f"a placeholder of {system}: ")
    assert caught.value.found == text
    assert (sql or "") in str(caught.value.expected)


@pytest.mark.parametrize(
    ("period", "text", "sql"),
    [
        (Period.HOUR, "${bizdate}", f"date_format(date_sub(to_date({END}), 1), 'yyyyMMdd')"),
        (Period.HOUR, "$[yyyymmdd-1/24]", D),
        (Period.HOUR, "$[hh24-1/24]", ":biz_hour"),
        (Period.HOUR, "$[hh24]", f"date_format({END}, 'HH')"),
        (Period.HOUR, "{{ ds }}", ISO),
        (Period.HOUR, "@end_ds", ISO),
        (Period.WEEK, "@end_ds", "date_format(date_add(:biz_date, 6), 'yyyy-MM-dd')"),
        (Period.WEEK, "${yyyy-mm-dd}", "date_format(date_add(:biz_date, 6), 'yyyy-MM-dd')"),
        (Period.MONTH, "{{ ds }}", ISO),
        (Period.MONTH, "$[yyyymmdd]", "date_format(add_months(:biz_date, 1), 'yyyyMMdd')"),
    ],
)
def test_the_run_of_a_longer_or_shorter_slice_is_at_its_end(period: Period, text: str, sql: str) -> None:
    (placeholder,) = placeholders(text)
    assert placeholder.meaning.moment is not None
    assert placeholder.meaning.moment.sql(period) == sql


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT get_json_object(a, '$[0].b'), '$.c', 'a@b.c' FROM x",
        "SELECT regexp_replace(a, '(?<y>\\\\d+)', '${y}') FROM x",
        "SELECT '{{name}}', 'costs $5', '${1}' FROM x",
        "SELECT a -- {{ ds }} and ${bizdate}\nFROM x /* $[yyyymmdd] don't */ WHERE dt = :biz_date",
        "SELECT a['b'], `c@d` FROM x",
    ],
)
def test_what_spark_reads_itself_is_no_placeholder(sql: str) -> None:
    assert list(placeholders(sql)) == []


@pytest.mark.parametrize(
    ("sql", "texts"),
    [
        ("SELECT '${bizdate}'", ["${bizdate}"]),
        ("SELECT 'a {{ var('b') }} c', x", ["{{ var('b') }}"]),
        ("SELECT \"it's {{ ds }}\", '$[yyyymmdd-1]'", ["{{ ds }}", "$[yyyymmdd-1]"]),
        ("SELECT '${yyyymm}01', '@start_ds'", ["${yyyymm}", "@start_ds"]),
        ("{# a note #}SELECT {{ anything.at_all() }}", ["{# a note #}", "{{ anything.at_all() }}"]),
    ],
)
def test_placeholders_in_literals_and_templates_are_seen(sql: str, texts: list[str]) -> None:
    assert [placeholder.text for placeholder in placeholders(sql)] == texts


@pytest.mark.slow
def test_what_has_no_end_takes_no_time() -> None:
    """Of a hundred thousand characters each is looked at a bounded number of times: this would take minutes else."""
    assert len(list(placeholders("'" + "{{ ds }} \\' " * 20_000))) == 20_000
    assert not list(placeholders("{{ " * 40_000))
    assert not list(placeholders("'" + "{% " * 40_000))
