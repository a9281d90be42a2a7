"""A slice's profile for its Dagster page: a table, and numbers that Dagster plots over the partitions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import dagster as dg

from tidemark.dagster.metadata.number import as_number

if TYPE_CHECKING:
    from tidemark.dependency_model.profile.figures import ColumnFigures, SliceFigures

PLOTTED_COLUMNS: Final = 12
"""The most columns with plots, three for each: a page with hundreds of plots is useless."""
_SHOWN_FREQUENT: Final = 3
_MIDDLE: Final = 3
_TEXT_LENGTH: Final = 80


def profile_metadata(figures: SliceFigures) -> dict[str, dg.MetadataValue[Any]]:
    """The share of nulls of some columns, with distinct values and medians, as plots."""
    metadata: dict[str, dg.MetadataValue[Any]] = {"profile": dg.MarkdownMetadataValue(_table(figures))}
    for name, column in list(figures.columns.items())[:PLOTTED_COLUMNS]:
        metadata[f"nulls of {name}"] = dg.FloatMetadataValue(round(figures.nulls(name), 6))
        if column.distinct is not None:
            metadata[f"distinct {name}"] = dg.IntMetadataValue(round(column.distinct))
        if column.quantiles and column.kind.value == "number":
            metadata[f"median {name}"] = as_number(column.quantiles[_MIDDLE])
    return metadata


def _table(figures: SliceFigures) -> str:
    lines = ["| column | nulls | distinct | min | median | max | frequent values |", "|" + " --- |" * 7]
    lines += [_line(figures, name, column) for name, column in figures.columns.items()]
    return "\n".join(lines)


def _line(figures: SliceFigures, name: str, column: ColumnFigures) -> str:
    is_number = column.quantiles and column.kind.value == "number"
    cells = (
        name,
        f"{figures.nulls(name):.2%}",
        "" if column.distinct is None else f"{column.distinct:,.0f}",
        column.minimum or "",
        f"{column.quantiles[_MIDDLE]:,.6g}" if is_number else "",
        column.maximum or "",
        ", ".join(f"{value} {rows / column.values:.0%}" for value, rows in column.frequent[:_SHOWN_FREQUENT]),
    )
    return "| " + " | ".join(_cell(cell) for cell in cells) + " |"


def _cell(text: str) -> str:
    return text[:_TEXT_LENGTH].replace("|", "\\|").replace("\n", " ")
