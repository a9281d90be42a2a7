"""What is written for a moment has the value that the other system gives, at every business time: counted in Python."""

from __future__ import annotations

from calendar import monthrange
from datetime import UTC, date, datetime, timedelta

from hypothesis import assume, given
from hypothesis import strategies as st

from tidemark.dependency_model.lineage.expression_evaluation import Evaluator
from tidemark.dependency_model.lineage.foreign_sql.date_pattern import has_clock
from tidemark.dependency_model.lineage.foreign_sql.moment import Base, Moment
from tidemark.dependency_model.lineage.known_tables import Tables
from tidemark.dependency_model.lineage.parsed_query import read_query
from tidemark.dependency_model.lineage.query_binding import bind
from tidemark.dependency_model.lineage.type_conversion import Conversion
from tidemark.dependency_model.lineage.value_range import Range, Type, Value, point
from tidemark.dependency_model.time import Period
from tidemark.dependency_model.time.zone import Zone

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_ZONES = {"UTC": 0, "Asia/Shanghai": 8, "America/Bogota": -5}
"""Hours before UTC, all year."""
_PERIODS = (Period.HOUR, Period.DAY, Period.WEEK, Period.MONTH)
_BASES: tuple[Base, ...] = ("business date", "run", "start", "end", "last day")
_PATTERNS = {"yyyyMMdd": "%Y%m%d", "yyyy-MM-dd": "%Y-%m-%d", "yyyyMM": "%Y%m", "yyyyMMddHH": "%Y%m%d%H", "HH": "%H"}


def months_later(time: datetime, months: int) -> datetime:
    """The same day of another month, or its last one."""
    year, month = divmod(time.year * 12 + time.month - 1 + months, 12)
    return time.replace(year=year, month=month + 1, day=min(time.day, monthrange(year, month + 1)[1]))


def slice_end(start: datetime, period: Period) -> datetime:
    days = {Period.HOUR: 0, Period.DAY: 1, Period.WEEK: 7}
    if period is Period.MONTH:
        return months_later(start, 1)
    return start + timedelta(days=days[period], hours=int(period is Period.HOUR))


def slice_start(day: date, hour: int, period: Period) -> datetime:
    start = datetime(day.year, day.month, day.day, tzinfo=UTC)
    if period is Period.HOUR:
        return start + timedelta(hours=hour)
    if period is Period.WEEK:
        return start - timedelta(days=start.weekday())
    return start.replace(day=1) if period is Period.MONTH else start


def expected(moment: Moment, start: datetime, end: datetime) -> datetime:
    """The time that the other system has, its hours of no meaning where it is a date."""
    base = {
        "business date": end - timedelta(days=1),
        "run": end,
        "start": start,
        "end": end,
        "last day": end - timedelta(microseconds=1),
    }[moment.base]
    if moment.pattern and not has_clock(moment.pattern) and not moment.hours:
        base = base.replace(hour=0)
    return months_later(base, moment.months) + timedelta(days=moment.days, hours=moment.hours)


def evaluated(sql: str, start: datetime, end: datetime, zone: str) -> Value:
    """In a session of a zone, whose clock is the slice's; `start` and `end` are by that clock."""
    east = timedelta(hours=_ZONES[zone])
    (relation,) = bind(read_query(f"SELECT {sql} AS v"), Tables({}))
    evaluator = Evaluator(Conversion(Zone.load(zone)), {})
    compute = evaluator.compile(relation.columns["v"])
    instants = {"period_start": start, "period_end": end}
    evaluator.begin(
        {
            "biz_date": point(Type.DATE, (start - _EPOCH).days),
            "biz_hour": point(Type.STRING, f"{start:%H}"),
            **{
                name: point(Type.TIMESTAMP, int((at - east - _EPOCH).total_seconds()) * 1_000_000)
                for name, at in instants.items()
            },
        }
    )
    return compute({})


@given(
    st.builds(
        Moment,
        st.sampled_from(_BASES),
        st.sampled_from(list(_PATTERNS)),
        st.sampled_from([0, 0, -1, 1, -12]),
        st.integers(-40, 3),
        st.sampled_from([0, 0, 0, -1, -24]),
    ),
    st.sampled_from(_PERIODS),
    st.dates(date(2023, 1, 1), date(2028, 12, 31)),
    st.integers(0, 23),
    st.sampled_from(list(_ZONES)),
)
def test_it_has_the_value_of_the_other_system(moment: Moment, period: Period, day: date, hour: int, zone: str) -> None:
    start = slice_start(day, hour, period)
    end = slice_end(start, period)
    sql = moment.sql(period)
    assume(sql is not None)
    value = evaluated(str(sql), start, end, zone)
    assert isinstance(value, Range), sql
    assert value.low == value.high == f"{expected(moment, start, end):{_PATTERNS[moment.pattern]}}", sql
