"""Whatever form the partition columns of a table have, the offsets of a query that reads it are the same."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from tidemark.dependency_model.lineage.column_lineage import column_lineage
from tidemark.dependency_model.lineage.entity_outline import EntityOutline, QuerySession
from tidemark.dependency_model.lineage.inference import infer
from tidemark.dependency_model.lineage.known_tables import Tables
from tidemark.dependency_model.lineage.parsed_query import read_query
from tidemark.dependency_model.lineage.query_binding import bind
from tidemark.dependency_model.lineage.shown_partition import shown_values
from tidemark.dependency_model.lineage.slice_space import slice_space
from tidemark.dependency_model.lineage.slices_read import Evaluation
from tidemark.dependency_model.lineage.value_range import Range, Type
from tidemark.dependency_model.time import Calendar, Period
from tidemark.dependency_model.time.date_grid import day_of
from tidemark.dependency_model.time.partition_columns import parse_partition_columns, time_columns

if TYPE_CHECKING:
    from tidemark.dependency_model.lineage.inferred_read import Read
    from tidemark.dependency_model.lineage.slices_read import Needed

PARIS = Calendar("Europe/Paris")
START = "2024-01-01"
DATES = [
    ":biz_date",
    "date_sub(:biz_date, 1)",
    "date_sub(:biz_date, 7)",
    "trunc(:biz_date, 'MM')",
    "last_day(add_months(:biz_date, -1))",
    "add_months(:biz_date, -12)",
    "DATE '2024-02-29'",
]
DAY_FORMS = {
    "{p_date: date}": ("p_date", "{}"),
    "{ds: yyyyMMdd}": ("ds", "date_format({}, 'yyyyMMdd')"),
    "{dt: yyyyMMdd}": ("dt", "date_format({}, 'yyyyMMdd')"),
    "{dt: yyyy-MM-dd}": ("dt", "CAST({} AS STRING)"),
    "{ds: int yyyyMMdd}": ("ds", "CAST(date_format({}, 'yyyyMMdd') AS INT)"),
    "{ds: yyyyMMdd, kept: date}": ("to_date(ds, 'yyyyMMdd')", "{}"),
    "{y: int yyyy, m: int MM, d: int dd}": ("make_date(y, m, d)", "{}"),
    "{ym: yyyyMM, d: dd}": ("concat(ym, d)", "date_format({}, 'yyyyMMdd')"),
}
"""What a column is compared as, and what a date is then."""
OF_THREE_NUMBERS = "{y: int yyyy, m: int MM, d: int dd}"
"""The dearest form."""


def _outline(name: str, period: Period, form: str = "{}") -> EntityOutline:
    pairs = (part.partition(": ") for part in form.strip("{}").split(", ") if part)
    declared = parse_partition_columns({column: shown for column, _, shown in pairs})
    return EntityOutline(name, period, PARIS, START, declared=declared)


def _read(sql: str, up: EntityOutline, down: Period = Period.DAY, *others: EntityOutline) -> Read:
    subjects = {outline.name: outline for outline in (up, *others)}
    return infer([read_query(sql)], _outline("down", down), subjects)[up.name]


def _answer(read: Read) -> tuple[object, ...]:
    return read.offsets, bool(read.undecidable), read.evaluated


CONDITIONS = [
    "column = {}",
    "column IN ({}, {})",
    "column BETWEEN {} AND {}",
    "column > {} AND column <= {}",
    "column < {} AND column >= {}",
    "column <= {}",
    "NOT column <> {}",
]


def _needed(sql: str, up: EntityOutline, down: Period) -> Needed:
    """What is read on the first and last days of two months, and around changes of the clock."""
    grid = PARIS.grid(down)
    days = ["2024-02-29", "2024-03-01", "2025-02-28", "2025-03-01", "2025-03-30", "2025-10-26", "2025-12-31"]
    starts = [int(datetime.fromisoformat(f"{day}T12:00+01:00").timestamp()) for day in days]
    relations = bind(read_query(sql), Tables({"t": up.table}))
    evaluation = Evaluation(PARIS, down, START, {"t": up})
    return evaluation.slices_by_table_at([grid.at(start) for start in starts], relations, QuerySession())["t"]


@settings(max_examples=40, deadline=None, phases=[Phase.generate])
@given(
    st.sampled_from(CONDITIONS),
    st.sampled_from(DATES),
    st.sampled_from(DATES),
    st.sampled_from([Period.DAY, Period.WEEK, Period.MONTH]),
    st.sampled_from(sorted(DAY_FORMS)),
)
def test_a_days_table_is_read_by_the_same_slices(
    condition: str, first: str, second: str, down: Period, form: str
) -> None:
    def sql(column: str, shown: str) -> str:
        text = condition.replace("column", column)
        return f"SELECT x FROM t WHERE {text.format(shown.format(first), shown.format(second))}"  # noqa: S608

    plain = _needed(sql("dt", "{}"), _outline("t", Period.DAY), down)
    assert _needed(sql(*DAY_FORMS[form]), _outline("t", Period.DAY, form), down) == plain


@pytest.mark.slow
@pytest.mark.parametrize(
    "form", [pytest.param(form, marks=[pytest.mark.long] * (form == OF_THREE_NUMBERS)) for form in sorted(DAY_FORMS)]
)
@pytest.mark.parametrize("date", ["date_sub(:biz_date, 1)"])
def test_the_offset_is_the_same(form: str, date: str) -> None:
    column, shown = DAY_FORMS[form]
    sql = "SELECT x FROM t WHERE {} BETWEEN {} AND {}"
    plain = _read(sql.format("dt", date, ":biz_date"), _outline("t", Period.DAY))
    other = _read(sql.format(column, shown.format(date), shown.format(":biz_date")), _outline("t", Period.DAY, form))
    assert _answer(other) == _answer(plain)
    assert plain.offsets


@pytest.mark.parametrize(
    ("form", "condition"),
    [
        ("{ds: yyyyMMdd, hh: HH}", "ds = <D> AND hh BETWEEN '06' AND '11'"),
        pytest.param(
            *("{ds: int yyyyMMdd, hh: HH}", "ds = int(<D>) AND hh IN ('06', '07', '08', '09', '10', '11')"),
            marks=pytest.mark.long,
        ),
        ("{pt: yyyyMMddHH}", "pt BETWEEN concat(<D>, '06') AND concat(<D>, '11')"),
    ],
)
def test_hours_of_a_day(form: str, condition: str) -> None:
    shown = condition.replace("<D>", "date_format(:biz_date, 'yyyyMMdd')")
    sql = "SELECT x FROM t WHERE {}"
    plain = _read(sql.format("dt = :biz_date AND hour BETWEEN '06' AND '11'"), _outline("t", Period.HOUR))
    assert _answer(_read(sql.format(shown), _outline("t", Period.HOUR, form))) == _answer(plain)


@pytest.mark.parametrize(
    ("form", "condition", "offset"),
    [
        ("{pm: yyyyMM}", "pm = date_format(:biz_date, 'yyyyMM')", "Set 0"),
        ("{pm: int yyyyMM}", "pm = int(date_format(add_months(:biz_date, -1), 'yyyyMM'))", "Set -1"),
        ("{y: yyyy, m: MM}", "y = date_format(:biz_date, 'yyyy') AND m = date_format(:biz_date, 'MM')", "Set 0"),
        pytest.param(
            "{y: yyyy, m: MM, d: dd}",
            "y = year(:biz_date) AND m = month(:biz_date)",
            "Set 0",
            marks=pytest.mark.long,
        ),
    ],
)
def test_months(form: str, condition: str, offset: str) -> None:
    read = _read(f"SELECT x FROM t WHERE {condition}", _outline("t", Period.MONTH, form), Period.MONTH)  # noqa: S608
    assert [str(named) for named in read.offsets] == [offset], read.undecidable


@pytest.mark.parametrize("form", ["{ds: yyyyMMdd}", "{ds: int yyyyMMdd}", "{ds: yyyy-MM-dd}", "{ds: date}"])
def test_a_join_over_the_columns_alone(form: str) -> None:
    up, other = _outline("t", Period.DAY, form), _outline("o", Period.DAY, form)
    sql = "SELECT x FROM t JOIN o ON t.ds = o.ds AND t.k = o.k WHERE o.ds = {}"
    date = {"{ds: date}": "date_sub(:biz_date, 1)", "{ds: yyyy-MM-dd}": "string(date_sub(:biz_date, 1))"}
    shown = date.get(form, "date_format(date_sub(:biz_date, 1), 'yyyyMMdd')")
    read = _read(sql.format(f"int({shown})" if "int" in form else shown), up, Period.DAY, other)
    assert [str(offset) for offset in read.offsets] == ["Set -1"], read.undecidable


def test_what_was_a_column_of_time_is_data_where_others_are_declared() -> None:
    read = _read("SELECT x FROM t WHERE dt = :biz_date", _outline("t", Period.DAY, "{ds: yyyyMMdd}"))
    assert read.undecidable == "no condition bounds its partition columns at both ends"
    rows = "SELECT x FROM t WHERE ds = date_format(:biz_date, 'yyyyMMdd') AND hour = 3"
    assert [str(offset) for offset in _read(rows, _outline("t", Period.DAY, "{ds: yyyyMMdd}")).offsets] == ["Set 0"]


def test_column_lineage_names_the_declared_columns() -> None:
    up = _outline("t", Period.DAY, "{ds: yyyyMMdd}")
    lineage = column_lineage(
        read_query("SELECT ds AS day, x FROM t WHERE ds = '20260329'"), Tables({"t": replace(up, columns=("x",)).table})
    )
    assert {name: [str(source) for source in sources] for name, sources in lineage.direct.items()} == {
        "day": ["t.ds"],
        "x": ["t.x"],
    }


FORMS = [
    {"ds": "yyyyMMdd", "hh": "HH", "mm": "mm"},
    {"y": "int yyyy", "md": "int MMdd", "hm": "HHmm"},
    {"pt": "yyyy-MM-dd HH", "mm": "int mm"},
    {"pt": "yyyyMMddHHmm"},
]


@settings(max_examples=60, deadline=None)
@given(
    st.sampled_from(FORMS),
    st.sampled_from([Period.FIVE_MINUTES, Period.HOUR, Period.DAY, Period.MONTH]),
    st.integers(0, 20_000),
    st.integers(0, 800),
    st.data(),
)
def test_a_box_holds_what_each_of_its_slices_shows(
    form: dict[str, str], period: Period, first: int, count: int, data: st.DataObject
) -> None:
    columns = time_columns(period, parse_partition_columns(form))
    space = slice_space(PARIS.grid(period))
    low = min(first, space.last)
    high = min(low + count, space.last)
    slices = space.slices(low, high)
    ordinal = slices[data.draw(st.integers(0, len(slices) - 1))]
    unit = space.unit_of(ordinal)
    boxes = [space.box(low, high), *(box for box, ordinals in space.inside(unit) if ordinal in ordinals)]
    exact = shown_values(columns, space.point(ordinal))
    for box in boxes:
        for held, shown in zip(shown_values(columns, box), exact, strict=True):
            assert isinstance(held, Range)
            assert isinstance(shown, Range)
            assert shown.is_point
            assert held.type is shown.type
            assert held.low <= shown.low <= held.high


@pytest.mark.parametrize(
    ("form", "first", "last"),
    [
        ("{ds: yyyyMMdd}", "20260330", "20270105"),
        ("{ds: int yyyyMMdd}", 20260330, 20270105),
        ("{ym: yyyy-MM}", "2026-03", "2027-01"),
    ],
)
def test_what_rises_with_the_days_ends_with_its_days(form: str, first: object, last: object) -> None:
    """Were it all of both years, a search would look at each month on its own, at every business time."""
    days = Range(Type.DATE, day_of("2026-03-30"), day_of("2027-01-05"))
    (held,) = shown_values(_outline("t", Period.DAY, form).declared, (days,))
    assert isinstance(held, Range)
    assert (held.low, held.high) == (first, last)
