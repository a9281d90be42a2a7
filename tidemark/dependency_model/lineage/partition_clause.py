"""`PARTITION (dt='${bizdate}')` of an INSERT must name the slice that is written."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from tidemark.dependency_model.lineage.foreign_sql.placeholder import placeholders
from tidemark.dependency_model.lineage.sql_text import code_of, words
from tidemark.dependency_model.time.partition_columns import PARTITION_COLUMNS
from tidemark.dependency_model.time.period import Period
from tidemark.errors import QueryError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tidemark.dependency_model.lineage.computed_table import ComputedTable
    from tidemark.dependency_model.lineage.foreign_sql.moment import Moment
    from tidemark.dependency_model.time.partition_columns import PartitionColumn

_STATIC: Final = re.compile(r"\s*`?(\w+)`?\s*=\s*(.+?)\s*", re.DOTALL)
_WITH_HOUR: Final = re.compile(r"(.*)HH(?:([^A-Za-z]*)(mm))?")
_QUOTED: Final = re.compile(r"(['\"])(.*)\1", re.DOTALL)


def refuse_other_partition(clause: str, written: ComputedTable, where: str) -> None:
    """Raises QueryError if the text in the brackets is not the slice that is written."""
    for part in _parts(clause):
        static = _STATIC.fullmatch(part)
        if static is None:
            raise _dynamic(part.strip(), where)
        column, value = static[1].lower(), static[2]
        own = _own_value(column, written)
        if not _is_of_slice(own, value, written.period):
            raise _other(column, value, own if column in written.columns else "", where)


def _parts(clause: str) -> Iterator[str]:
    start = 0
    for word in words(code_of(clause), 0, len(clause)):
        if word.text == "," and word.depth == 0:
            yield clause[start : word.start]
            start = word.end
    yield clause[start:]


def _own_value(column: str, written: ComputedTable) -> str:
    """The value of a partition column on the slice, as a query writes it."""
    declared = next((time for time in written.times if time.name == column), None)
    if declared is not None:
        return value_on_slice(declared, written.period)
    return ":biz_date" if column == "dt" else f":biz_{column}" if column in PARTITION_COLUMNS else f":{column}"


def value_on_slice(column: PartitionColumn, period: Period | None) -> str:
    """The value of a declared partition column on the slice that is computed, as a query writes it."""
    if column.type == "date":
        return ":biz_date"
    if column.type == "string" and column.pattern in ("HH", "mm"):
        return ":biz_hour" if column.pattern == "HH" else ":biz_minute"
    text = _text_on_slice(column.pattern, period)
    return text if column.type == "string" else f"CAST({text} AS INT)"


def _text_on_slice(pattern: str, period: Period | None) -> str:
    """The slice's time on its own clock, which may differ from that of Spark's sessions."""
    match = _WITH_HOUR.fullmatch(pattern)
    if match is None:
        return f"date_format(:biz_date, '{pattern}')"
    days, between, minutes = match.groups()
    parts = [f"date_format(:biz_date, '{days}')"] if days else []
    by_clock = period is not None and period.is_clock
    parts.append(":biz_hour" if by_clock else "'00'")
    if minutes:
        parts += [f"'{between}'"] if between else []
        parts.append(":biz_minute" if by_clock and period is not Period.HOUR else "'00'")
    return f"concat({', '.join(parts)})" if len(parts) > 1 else parts[0]


def _is_of_slice(own: str, value: str, period: Period | None) -> bool:
    if "".join(value.split()) == "".join(own.split()):
        return True
    quoted = _QUOTED.fullmatch(value)
    inner = quoted[2] if quoted else value
    for placeholder in placeholders(inner):
        if placeholder.text == inner and placeholder.meaning.moment is not None and period is not None:
            return _is_at(placeholder.meaning.moment, period)
    return False


def _is_at(moment: Moment, period: Period) -> bool:
    """Whether a moment is the slice's own date or hour; for a slice of days, any of its days."""
    if moment.pattern and "dd" not in moment.pattern and "HH" not in moment.pattern:
        return moment.names_slice(period)
    return moment.date(period) == ":biz_date" or moment.sql(period) == ":biz_hour" or moment.names_slice(period)


def _dynamic(column: str, where: str) -> QueryError:
    return QueryError(
        f"PARTITION ({column}): the rows would choose their partition themselves",
        expected="the rows of the slice alone",
        where=where,
        hint="take PARTITION and the last column of the SELECT away, and keep the slice's rows: WHERE .. = :biz_date",
    )


def _other(column: str, value: str, own: str, where: str) -> QueryError:
    if own:
        expected = own
        hint = "the rows go to the slice that is computed: read what it needs, or shift the entity that reads it"
    else:
        expected, hint = "a column of the SELECT", f"select it: {value} AS {column}"
    return QueryError(
        "PARTITION writes another partition than the slice",
        expected=expected,
        found=f"{column} = {value}",
        where=where,
        hint=hint,
    )
