"""A picture of an ADS slice for the Dagster UI: one would rather look than read."""

from __future__ import annotations

import base64
import decimal
import io
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime

    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_COLOUR: Final = ("#0b6e99", "#e07a3f", "#4f8a4c", "#8b5fa3")
_BARS: Final = 25


def slice_plot(title: str, current: pd.DataFrame, history: pd.DataFrame) -> str:
    """Markdown with the picture inside it (a PNG data URI).

    `current` is the slice's rows, `history` those of this and earlier slices with their time in `dt` (and `hour`).
    One row a slice becomes lines over time, several become bars by their first column.
    """
    figure, axes = _empty()
    measures = _measures(current)
    if len(current) == 1:
        _lines(axes, history, measures)
    else:
        _bars(axes, current, measures[0] if measures else None)
    return _picture(figure, axes, title)


def bar_plot(title: str, values: Mapping[str, Sequence[float]], names: Sequence[str]) -> str:
    """Markdown with a picture of groups of bars: a group a key, a bar and a colour a name."""
    figure, axes = _empty()
    width = 0.8 / len(names)
    for number, name in enumerate(names):
        places = [at + (number - (len(names) - 1) / 2) * width for at in range(len(values))]
        axes.bar(places, [group[number] for group in values.values()], width, label=name, color=_COLOUR[number])
    axes.set_xticks(range(len(values)), list(values))
    axes.legend(frameon=False)
    return _picture(figure, axes, title)


def capture_plot(
    title: str, times: Sequence[datetime], changes: Mapping[str, Sequence[int]], behind: Sequence[float]
) -> str:
    """Markdown with a picture of a captured table's last commits: its changes by instance, and how far behind it was.

    `times` are the commits', `behind` (seconds) what lay between each and the event time up to which it is complete.
    """
    figure, axes = _empty()
    places, below = range(len(times)), [0.0] * len(times)
    for number, (name, counts) in enumerate(changes.items()):
        axes.bar(places, counts, 0.8, bottom=below, label=f"changes of {name}", color=_COLOUR[number % len(_COLOUR)])
        below = [low + count for low, count in zip(below, counts, strict=True)]
    delay = axes.twinx()
    delay.plot(places, behind, marker="o", markersize=3.5, color="#111111", label="behind (s)")
    delay.set_ylim(bottom=0)
    delay.spines[["top"]].set_visible(False)
    axes.set_xticks(places, [f"{time:%m-%d %H:%M:%S}" for time in times], rotation=45, ha="right", fontsize=7)
    axes.set_ylabel("changes", fontsize=8)
    delay.set_ylabel("behind (s)", fontsize=8)
    axes.legend(frameon=False, fontsize=8, loc="lower right", bbox_to_anchor=(1, 1), ncols=4, borderaxespad=0.1)
    return _picture(figure, axes, title)


def _empty() -> tuple[Figure, Axes]:
    from matplotlib.figure import Figure  # noqa: PLC0415 - half a second that only who draws should wait for

    figure = Figure(figsize=(7.2, 3.4), dpi=110, layout="constrained")
    return figure, figure.add_subplot()


def _picture(figure: Figure, axes: Axes, title: str) -> str:
    from matplotlib.backends.backend_agg import FigureCanvasAgg  # noqa: PLC0415

    axes.set_title(title, loc="left", fontsize=11, fontweight="bold")
    axes.spines[["top", "right"]].set_visible(False)
    buffer = io.BytesIO()
    FigureCanvasAgg(figure).print_png(buffer)  # type: ignore[no-untyped-call]
    return f"![{title}](data:image/png;base64,{base64.b64encode(buffer.getvalue()).decode()})"


def _measures(rows: pd.DataFrame) -> list[str]:
    """Rates and amounts (decimals) before counts; the key column of a many-row slice is no measure."""
    names = [str(name) for name in rows.columns if name not in ("dt", "hour")]
    candidates = names if len(rows) == 1 else names[1:]
    decimals = [name for name in candidates if rows[name].map(lambda v: isinstance(v, decimal.Decimal)).any()]
    return decimals or [name for name in candidates if rows[name].dtype.kind in "if"]


def _lines(axes: Axes, history: pd.DataFrame, measures: list[str]) -> None:
    time = history["dt"].astype(str)
    if "hour" in history:
        time = time.str.slice(5) + " " + history["hour"].astype(str) + "h"
    for colour, name in zip(_COLOUR, measures, strict=False):
        axes.plot(time, history[name].astype(float), marker="o", markersize=3.5, color=colour, label=name)
    axes.set_ylim(bottom=0)
    axes.tick_params(axis="x", rotation=45, labelsize=7)
    if len(time) > _BARS:
        axes.set_xticks(axes.get_xticks()[:: len(time) // 12])
    axes.grid(axis="y", alpha=0.3)
    if measures:
        axes.legend(frameon=False, fontsize=8)


def _bars(axes: Axes, rows: pd.DataFrame, measure: str | None) -> None:
    if measure is None:
        axes.text(0.5, 0.5, "no rows", ha="center", va="center", transform=axes.transAxes)
        return
    key = str(rows.columns[0])
    top = rows.assign(_value=rows[measure].astype(float)).sort_values("_value", ascending=False).head(_BARS)
    axes.bar(top[key].astype(str), top["_value"], color=_COLOUR[0])
    axes.set_xlabel(key, fontsize=8)
    axes.set_ylabel(measure, fontsize=8)
    axes.tick_params(labelsize=7)
    axes.grid(axis="y", alpha=0.3)
