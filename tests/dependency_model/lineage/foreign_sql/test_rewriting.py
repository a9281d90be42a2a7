"""What a placeholder becomes at its place: a date beside `dt`, a text elsewhere, a part of a literal, a number."""

from __future__ import annotations

import pytest

from tidemark.dependency_model.lineage.foreign_sql.rewriting import QueryOrigin, RewrittenQuery, rewrite
from tidemark.dependency_model.time import Period

TEXT = "date_format(:biz_date, 'yyyyMMdd')"


def rewritten(sql: str, system: str = "dataworks", /, **parameters: str) -> RewrittenQuery:
    return rewrite(sql, QueryOrigin(system, Period.DAY, parameters, {"t", "s_t", "s_u"}))


@pytest.mark.parametrize(
    ("sql", "becomes"),
    [
        ("dt = '${bizdate}'", "dt = :biz_date"),
        ('o . `dt` >= "${bizdate}"', "o . `dt` >= :biz_date"),
        ("'${bizdate}' = o.dt", ":biz_date = o.dt"),
        ("dt BETWEEN '${yyyymmdd-6}' AND '${bizdate}'", "dt BETWEEN date_sub(:biz_date, 6) AND :biz_date"),
        ("dt BETWEEN f(a, g(b)) AND '${bizdate}'", "dt BETWEEN f(a, g(b)) AND :biz_date"),
        ("dt NOT IN ('${bizdate}', '${yyyymmdd-1}')", "dt NOT IN (:biz_date, date_sub(:biz_date, 1))"),
        ("pdt = '${bizdate}'", f"pdt = {TEXT}"),
        ("dt = concat('${bizdate}')", f"dt = concat({TEXT})"),
        ("a LIKE '%${bizdate}_%'", f"a LIKE concat('%', {TEXT}, '_%')"),
        ("a = '${yyyymm}01'", "a = concat(date_format(:biz_date, 'yyyyMM'), '01')"),
        ("a = '${yyyymmdd-1}-${bizdate}'", f"a = concat(date_format(date_sub(:biz_date, 1), 'yyyyMMdd'), '-', {TEXT})"),
        ("a = ${bizdate}", f"a = int({TEXT})"),
        ("dt = ${bizdate}", "dt = :biz_date"),
        ("a = '${d}' AND dt = '${d}'", f"a = {TEXT} AND dt = :biz_date"),
        ("a = '${city}' AND b = ${count} AND c = '${sql}'", "a = 'Lyon''s' AND b = 3 AND c = upper('x')"),
        ("to_date(a, 'yyyymmdd')", "to_date(a, 'yyyyMMdd')"),
        ("to_char(a, 'yyyy-mm-dd hh:mi:ss')", "date_format(a, 'yyyy-MM-dd HH:mm:ss')"),
        ("to_char(a, '999')", "to_char(a, '999')"),
        ("dateadd(a, -1, 'mm')", "add_months(a, -1)"),
        ("'${bizdate}' -- '${bizdate}'", f"{TEXT} -- '${{bizdate}}'"),
    ],
)
def test_it_is_written_as_its_place_asks(sql: str, becomes: str) -> None:
    parameters = {"d": "$[yyyymmdd-1]", "city": "Lyon's", "count": "3", "sql": "upper('x')"}
    result = rewritten(f"SELECT {sql}", **parameters)
    assert (result.text, result.left) == (f"SELECT {becomes}", ())


@pytest.mark.parametrize(
    ("sql", "system", "advice"),
    [
        ("{{ source('s', 't') }}", "dbt", "t or s_t: which entity is meant"),
        ("dt = {{ ds }}", "dbt", "a placeholder of Airflow"),
        ("a = {{ ds }}", "airflow", ":biz_date"),
        ("a = '${other}'", "dataworks", "--parameter other="),
        ("dateadd(a, 1, 'hh')", "dataworks", "INTERVAL"),
        ("a = '$[hh24]'", "dataworks", "in an entity of hours date_format(:period_end, "),
    ],
)
def test_what_cannot_be_told_stays_with_a_comment(sql: str, system: str, advice: str) -> None:
    result = rewritten(f"SELECT {sql}", system)
    (left,) = result.left
    assert advice in left.advice
    stood = f"SELECT {sql}"[left.start : left.end]
    assert f"{stood} /* not rewritten: {left.advice} */" in result.text


def test_a_source_is_the_entity_of_its_name_alone_or_after_the_source() -> None:
    assert rewritten("SELECT 1 FROM {{ source('s', 'u') }}", "dbt").text == "SELECT 1 FROM s_u"
    assert rewritten("SELECT 1 FROM {{ source('s', 'v') }}", "dbt").text == "SELECT 1 FROM v"
