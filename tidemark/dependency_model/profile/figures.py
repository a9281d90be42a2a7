"""The figures of a profile, without its sketches: for people and for the comparison with history."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any, Final

from tidemark.dependency_model.profile.sketches import FrequentValue, distinct_values, frequent_values, quantiles
from tidemark.dependency_model.profile.slice_profile import ColumnKind

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tidemark.dependency_model.profile.slice_profile import ColumnProfile, SliceProfile

RANKS: Final = (0.01, 0.05, 0.25, 0.5, 0.75, 0.95, 0.99)
SHOWN_FREQUENT: Final = 8


@dataclass(frozen=True, slots=True)
class ColumnFigures:
    """`values` counts rows that are not NULL, `distinct` is an estimate, `quantiles` are at RANKS.

    None or empty: not measured.
    """

    kind: ColumnKind
    values: int
    distinct: float | None = None
    minimum: str | None = None
    maximum: str | None = None
    quantiles: tuple[float, ...] = ()
    frequent: tuple[FrequentValue, ...] = ()


@dataclass(frozen=True, slots=True)
class SliceFigures:
    """The figures of a slice. `inputs` has the rows of its inputs, by entity."""

    rows: int
    columns: Mapping[str, ColumnFigures] = field(default_factory=dict)
    inputs: Mapping[str, int] = field(default_factory=dict)

    def nulls(self, column: str) -> float:
        """The share of rows that are NULL, 0 to 1."""
        return 1 - self.columns[column].values / self.rows if self.rows else 0.0


def figures_of(profile: SliceProfile, inputs: Mapping[str, int] | None = None) -> SliceFigures:
    """The figures of a profile."""
    columns = {column.name: _column_figures(column) for column in profile.columns}
    return SliceFigures(profile.rows, columns, dict(inputs or {}))


def _column_figures(column: ColumnProfile) -> ColumnFigures:
    return ColumnFigures(
        column.kind,
        column.values,
        None if column.distinct is None else min(round(distinct_values(column.distinct), 1), float(column.values)),
        column.minimum,
        column.maximum,
        () if column.quantiles is None else quantiles(column.quantiles, RANKS),
        () if column.frequent is None else frequent_values(column.frequent, SHOWN_FREQUENT),
    )


def figures_as_data(figures: SliceFigures) -> dict[str, Any]:
    """The figures as values for JSON; figures that were not measured are omitted."""
    columns = {
        name: {key: value for key, value in asdict(column).items() if value not in (None, ())}
        | {"kind": column.kind.value}
        for name, column in figures.columns.items()
    }
    return {"rows": figures.rows, "inputs": dict(figures.inputs), "columns": columns}


def figures_from_data(data: Mapping[str, Any]) -> SliceFigures:
    """The inverse of `figures_as_data`."""
    columns = {
        name: ColumnFigures(
            ColumnKind(column["kind"]),
            column["values"],
            column.get("distinct"),
            column.get("minimum"),
            column.get("maximum"),
            tuple(map(float, column.get("quantiles", ()))),
            tuple(FrequentValue(value, rows) for value, rows in column.get("frequent", ())),
        )
        for name, column in data["columns"].items()
    }
    return SliceFigures(data["rows"], columns, data["inputs"])
