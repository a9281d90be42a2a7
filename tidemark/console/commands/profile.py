"""`tidemark profile`: the profile of a slice, with the usual figures."""

from __future__ import annotations

from datetime import UTC, datetime
from statistics import median
from typing import TYPE_CHECKING, Any, Final

import click

from tidemark.console.entity_argument import entity_argument
from tidemark.console.exit_codes import ExitCode
from tidemark.console.output import json_option, print_json, print_line, print_table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tidemark.console.slice_profile_answer import ProfileAnswer
    from tidemark.dependency_model.profile.figures import ColumnFigures, SliceFigures

_HEADINGS: Final = ("column", "nulls", "usual", "distinct", "usual", "min", "median", "usual", "max", "frequent values")
_SHOWN_FREQUENT: Final = 3
_SHOWN_TEXT: Final = 24
_SHARE: Final = "{:.2%}"


@click.command()
@entity_argument()
@click.argument("slice_key", metavar="SLICE")
@json_option
def profile(entity: str, slice_key: str, *, as_json: bool) -> None:
    """Show the profile of a slice: nulls, distinct values, ends, quantiles and frequent values by column.

    Each run measures the slices that it checks, in the query of the rules (`profile: off` in the declaration turns this
    off). Each figure is shown with the usual one: the median of the same weekday (and time of day) of the weeks
    before. Sketches give distinct values within 5 %, and quantiles within 2 % of the rows.

    SLICE may also be a longer period, such as a day of an hourly table: the profiles of its slices are merged.

    \b
      tidemark profile dwd_orders 2026-03-29
      tidemark profile ods_clicks_1h 2026-03-29 --json

    \b
    Exit codes: 0 shown; 1 it has no profile, or it has anomalies; 2 wrong usage;
                75 the state store does not answer.
    With --json: {"slice", "merged_from": [...], "measured_at", "rows", "usual_rows", "history", "anomalies":
                  [{"measure", "actual", "expected", "score"}], "columns": [{"column", "kind", "nulls", "distinct",
                  "minimum", "maximum", "quantiles": {"0.5": ..}, "frequent": [{"value", "rows"}], "usual_nulls",
                  "usual_distinct", "usual_median"}]}; nulls are shares from 0 to 1, quantiles of times microseconds
                  since 1970 (UTC); null: not measured, or no history.
    """  # noqa: D301 - \b is click's mark for a verbatim paragraph
    from tidemark.console.slice_profile_answer import profile_answer  # noqa: PLC0415 - keeps --help fast
    from tidemark.system.settings import Settings  # noqa: PLC0415

    answer = profile_answer(Settings.load(), entity, slice_key)
    if as_json:
        print_json(_as_data(answer))
    else:
        _print(answer)
    raise SystemExit(ExitCode.FAILED if answer.anomalies else ExitCode.OK)


def _print(answer: ProfileAnswer) -> None:
    usual = median(past.rows for past in answer.usual) if answer.usual else None
    of = f", usually {usual:,.0f}" if usual is not None else ""
    merged = f", merged from {len(answer.merged_from)} slices" if answer.merged_from else ""
    print_line(f"{answer.slice}: {answer.figures.rows:,} rows{of}{merged}; history: {answer.history.value}")
    print_table(_HEADINGS, [_row(answer, name, column) for name, column in answer.figures.columns.items()])
    for anomaly in answer.anomalies:
        print_line(str(anomaly), "yellow")


def _row(answer: ProfileAnswer, name: str, column: ColumnFigures) -> list[str]:
    usual = _usual(answer.usual, name)
    is_time = column.kind.value == "time"
    return [
        name,
        _SHARE.format(answer.figures.nulls(name)),
        _text(usual["usual_nulls"], _SHARE),
        _text(column.distinct, "{:,.0f}"),
        _text(usual["usual_distinct"], "{:,.0f}"),
        _short(column.minimum or ""),
        _instant(_middle(column)) if is_time else _text(_middle(column), "{:,.6g}"),
        "" if is_time else _text(usual["usual_median"], "{:,.6g}"),
        _short(column.maximum or ""),
        ", ".join(f"{_short(value)} {rows / column.values:.0%}" for value, rows in column.frequent[:_SHOWN_FREQUENT]),
    ]


def _as_data(answer: ProfileAnswer) -> dict[str, Any]:
    return {
        "slice": str(answer.slice),
        "merged_from": [str(slice_) for slice_ in answer.merged_from],
        "measured_at": answer.measured_at.isoformat(),
        "rows": answer.figures.rows,
        "usual_rows": median(past.rows for past in answer.usual) if answer.usual else None,
        "history": answer.history.value,
        "anomalies": [
            {"measure": anomaly.measure, "actual": anomaly.actual, "expected": anomaly.expected, "score": anomaly.score}
            for anomaly in answer.anomalies
        ],
        "columns": [_column_data(answer, name, column) for name, column in answer.figures.columns.items()],
    }


def _column_data(answer: ProfileAnswer, name: str, column: ColumnFigures) -> dict[str, Any]:
    from tidemark.dependency_model.profile.figures import RANKS  # noqa: PLC0415 - keeps --help fast

    return {
        "column": name,
        "kind": column.kind.value,
        "nulls": answer.figures.nulls(name),
        "distinct": column.distinct,
        "minimum": column.minimum,
        "maximum": column.maximum,
        "quantiles": {str(rank): value for rank, value in zip(RANKS, column.quantiles, strict=False)},
        "frequent": [{"value": value, "rows": rows} for value, rows in column.frequent],
        **_usual(answer.usual, name),
    }


def _usual(past: Sequence[SliceFigures], name: str) -> dict[str, float | None]:
    """The medians of the weeks before; None if there are none."""
    columns = [(figures.nulls(name), figures.columns[name]) for figures in past if name in figures.columns]
    distinct = [column.distinct for _, column in columns if column.distinct is not None]
    middles = [middle for _, column in columns if (middle := _middle(column)) is not None]
    return {
        "usual_nulls": median(nulls for nulls, _ in columns) if columns else None,
        "usual_distinct": median(distinct) if distinct else None,
        "usual_median": median(middles) if middles else None,
    }


def _middle(column: ColumnFigures) -> float | None:
    return column.quantiles[len(column.quantiles) // 2] if column.quantiles else None


def _instant(micros: float | None) -> str:
    return "" if micros is None else f"{datetime.fromtimestamp(micros / 1e6, UTC):%Y-%m-%d %H:%M:%S}"


def _text(number: float | None, form: str) -> str:
    return "" if number is None else form.format(number)


def _short(text: str) -> str:
    return text if len(text) <= _SHOWN_TEXT else text[: _SHOWN_TEXT - 1] + "…"
