"""What YAML states and what SQL reads: put together where they agree, told where they do not."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.dependency_model.lineage.worlds import PARIS, START, SUBJECTS
from tests.dependency_model.world import entity
from tidemark.dependency_model.lineage.declared_and_inferred import Agreement, agree_with_queries
from tidemark.dependency_model.lineage.entity_outline import EntityOutline
from tidemark.dependency_model.lineage.inference import infer
from tidemark.dependency_model.lineage.inferred_read import Read, runs_by_time
from tidemark.dependency_model.lineage.parsed_query import read_query
from tidemark.dependency_model.offset import Offset
from tidemark.dependency_model.time import Period
from tidemark.dependency_model.time.window import seconds_of

if TYPE_CHECKING:
    from tidemark.dependency_model.entity import Entity

UP = entity("up", "period: day")
HOURLY = entity("hourly", "period: hour")
SIGNAL = entity("signal", "{period: day, kind: Virtual}")
ENTITIES = {entity.name: entity for entity in (UP, HOURLY, SIGNAL)}


def day(text: str) -> int:
    """The slice of a date."""
    assert UP.period is not None
    grid = UP.calendar.grid(UP.period)
    return grid.at(seconds_of(UP.calendar.start_of(text)))


def of(depends: str, *reads: Read, period: str = "day") -> Agreement:
    down = entity("down", f"{{period: {period}, depends_on: [{depends}]}}")
    return agree_with_queries(down, {read.table: read for read in reads}, ENTITIES)


def read(table: str, *offsets: str, why: str = "") -> Read:
    return Read(table, "down.sql:3:6", tuple(Offset.parse(offset) for offset in offsets), why)


def offsets(entity: Entity) -> list[tuple[str, str]]:
    return [(dependency.entity, str(dependency.offset)) for dependency in entity.depends_on]


def test_what_sql_reads_needs_no_yaml() -> None:
    agreement = of("", read("up", "Set -1", "to_date month"), read("hourly", "all"))
    assert offsets(agreement.entity) == [("up", "Set -1"), ("up", "to_date month"), ("hourly", "all")]
    assert (agreement.missing, agreement.differences) == ((), ())


def test_a_day_that_reads_its_whole_month_is_told_when_it_is_computed() -> None:
    agreement = of("", read("up", "all month"), read("hourly", "last of week -1,0"))
    month, week = (str(notice) for notice in agreement.notices)
    assert month == (
        "down.sql:3:6: up: the query reads 'all month', so a day waits for the end of its month; "
        "where only what is there by then is meant, add: dt <= :biz_date"
    )
    assert "hourly: the query reads 'last of week -1,0', so a day waits for the end of its week" in week
    assert (agreement.missing, agreement.differences) == ((), ())


def test_what_is_over_or_stated_is_no_trap() -> None:
    before = of("", read("up", "all month -1", "to_date month"), read("hourly", "all day"))
    stated = of("{entity: up, offset: all month}", read("up", "all month"))
    month = of("", read("up", "all month"), period="month")
    assert before.notices == stated.notices == month.notices == ()


def test_yaml_adds_what_sql_cannot_say() -> None:
    agreement = of("{entity: hourly, weak: {at_least: 22}}", read("hourly", "Range 0-23"))
    (dependency,) = agreement.entity.depends_on
    assert (str(dependency.offset), dependency.strength) == ("Range 0..23", "weak")


def test_a_difference_names_the_place_and_both_offsets() -> None:
    agreement = of("{entity: up, offset: Set -2}", read("up", "Set -1"))
    (problem,) = agreement.differences
    assert str(problem) == (
        "down.sql:3:6: the query reads other slices of up than declared: expected Set -1 (read by the query), "
        "found Set -2 (declared in down.yaml) - leave depends_on to the query, or say why it differs: because: ..."
    )
    assert offsets(agreement.entity) == [("up", "Set -2")]


def test_offsets_are_compared_by_the_slices_that_they_name() -> None:
    assert of("{entity: up, offset: Range 0-6}", read("up", "all"), period="week").differences == ()
    assert of("{entity: hourly, offset: Range 0-23}", read("hourly", "all")).differences == ()
    assert of("{entity: up, offset: 'Set 0'}, {entity: up, offset: 'Set -1'}", read("up", "Set -1,0")).differences == ()
    assert len(of("{entity: up, offset: Range 0-27}", read("up", "all"), period="month").differences) == 1
    assert len(of("{entity: up, offset: last_available}", read("up", "Set 0")).differences) == 1


def test_a_reason_allows_a_difference() -> None:
    agreement = of("{entity: up, offset: Set 0, because: restated until noon}", read("up", "Set -1"))
    assert (agreement.differences, offsets(agreement.entity)) == ((), [("up", "Set 0")])


def test_what_no_query_reads_is_told_but_for_signals() -> None:
    agreement = of("up, signal, {entity: hourly, because: it tells that the day is over}")
    (problem,) = agreement.differences
    assert (problem.message, problem.word) == ("up is declared, but no query of down reads it", "up")


def test_what_sql_leaves_open_has_to_be_stated() -> None:
    undecidable = read("up", why="no condition bounds its partition columns at both ends")
    (problem,) = of("", undecidable).missing
    assert str(problem).startswith("down.sql:3:6: which slices of up are read: no condition bounds")
    assert of("{entity: up, offset: last_available}", undecidable).missing == ()


MONTH_ENDS = Read(
    "up",
    "down.sql:3:6",
    undecidable="no offset names the slices that it reads at every business time",
    evaluated=runs_by_time({day(text): [day("2024-02-29")] for text in ("2024-03-01", "2024-03-31")}),
)
"""`dt = last_day(add_months(:biz_date, -1))`."""


def test_a_stated_offset_that_lacks_a_slice_is_refused() -> None:
    agreement = of("{entity: up, offset: Set 0}", MONTH_ENDS)
    (problem,) = agreement.missing
    assert str(problem) == (
        "down.sql:3:6: the declared offset does not name all slices of up that the query reads: "
        "expected 2024-02-29 too, at 2024-03-01, found Set 0 - a wider offset is safe, "
        "a narrower one computes without what it lacks; "
        "or say why: because: ..."
    )
    assert of("up", MONTH_ENDS).missing[0].message == problem.message, "no offset is the natural one"
    assert of("{entity: up, offset: Set -1}", MONTH_ENDS).missing[0].expected == "2024-02-29 too, at 2024-03-31"
    assert of("{entity: up, offset: Set 0, because: it is enough}", MONTH_ENDS).missing == ()


def test_a_stated_offset_that_is_wider_says_why() -> None:
    agreement = of("{entity: up, offset: Range -31..-1}", MONTH_ENDS)
    (problem,) = agreement.differences
    assert (agreement.missing, problem.message) == (
        (), "the declared offset names slices of up that the query does not read"
    )  # fmt: skip
    assert problem.expected == "2024-02-29 alone, at 2024-03-01"
    assert of("{entity: up, offset: Range -31..-1, because: the end of any month}", MONTH_ENDS).differences == ()
    assert of("{entity: up, offset: last_available}", MONTH_ENDS).missing == ()


@pytest.mark.parametrize(
    ("condition", "offset", "is_lacking"),
    [
        ("dt >= date_sub(:biz_date, 3)", "Set 0", True),
        ("dt >= date_sub(:biz_date, 3)", "Range -2..0", True),
        ("dt >= date_sub(:biz_date, 3)", "Range -3..0", False),
        ("dt >= date_sub(:biz_date, 3)", "Range -9..2", False),
        ("dt > :biz_date", "Set 0", True),
        ("dt > :biz_date", "Set 1", False),
        ("dt >= date_sub(:biz_date, 3) AND some_function(dt)", "Set 0", False),
        ("dt < :biz_date", "Set -1", True),
        ("dt < :biz_date", "since start", False),
        ("dt < date_sub(:biz_date, 9) OR dt = :biz_date", "Set 0", True),
        ("dt < date_sub(:biz_date, 9) OR dt = :biz_date", "since start", False),
        ("dt < :biz_date AND some_function(dt)", "Set -1", False),
        ("dt < :biz_date OR dt > date_add(:biz_date, 7)", "Set -1", True),
        ("dt < :biz_date OR dt > date_add(:biz_date, 7)", "since start", False),
        ("dt <> :biz_date", "Set -1", True),
        ("dt <> :biz_date", "since start", False),
        ("amount > 0", "Set 0", False),
    ],
)
def test_a_read_without_a_bound_names_all_that_is_over(condition: str, offset: str, *, is_lacking: bool) -> None:
    """What is not there yet nobody can wait for; a condition that is not known says nothing.

    Without any a query means what is declared: it sees no other slices.
    """
    query = read_query(f"SELECT * FROM d_orders WHERE {condition}", file="down.sql")  # noqa: S608 - our own text
    reads = infer([query], EntityOutline("down", Period.DAY, PARIS, START), SUBJECTS)
    assert reads["d_orders"].undecidable
    up = entity("d_orders", f"{{period: day, start: {START}}}")
    down = entity("down", f"{{period: day, start: {START}, depends_on: [{{entity: d_orders, offset: {offset}}}]}}")
    agreement = agree_with_queries(down, reads, {"d_orders": up})
    assert [problem.message for problem in agreement.missing] == (
        ["the declared offset does not name all slices of d_orders that the query reads"] if is_lacking else []
    )
    assert agreement.differences == ()


@pytest.mark.parametrize(
    ("condition", "offset"),
    [
        ("dt < :biz_date", "since start"),
        ("dt <> :biz_date", "since start"),
        ("dt >= date_sub(:biz_date, 3)", "Range -3..0"),
        ("dt > :biz_date", "Set 1"),
    ],
)
def test_nothing_is_lacking_before_a_later_start_of_what_is_read(condition: str, offset: str) -> None:
    later = EntityOutline("d_orders", Period.DAY, PARIS, "2024-06-01")
    query = read_query(f"SELECT * FROM d_orders WHERE {condition}", file="down.sql")  # noqa: S608 - our own text
    down = EntityOutline("down", Period.DAY, PARIS, START)
    reads = infer([query], down, {**SUBJECTS, "d_orders": later})
    assert not any(runs for time, runs in reads["d_orders"].at_least if time < day("2024-05-31"))
    up = entity("d_orders", "{period: day, start: 2024-06-01}")
    declared = entity("down", f"{{period: day, start: {START}, depends_on: [{{entity: d_orders, offset: {offset}}}]}}")
    agreement = agree_with_queries(declared, reads, {"d_orders": up})
    assert (agreement.missing, agreement.differences) == ((), ())
