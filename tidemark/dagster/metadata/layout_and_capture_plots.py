"""Pictures of layouts and captures for Dagster's pages."""

from __future__ import annotations

import base64
import io
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_COLOUR: Final = ("#0b6e99", "#e07a3f", "#4f8a4c", "#8b5fa3")


def bar_plot(title: str, values: Mapping[str, Sequence[float]], names: Sequence[str]) -> str:
    """Markdown with a picture of bars: a group for each key, a bar and a colour for each name."""
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
    """Markdown with a picture of a table's last commits: changes by instance, and the delay.

    `times` are those of the commits. `behind` is the delay in seconds: the time from the event time up to which a
    commit is complete to the commit.
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
    from matplotlib.figure import Figure  # noqa: PLC0415 - takes half a second, only for drawings

    figure = Figure(figsize=(7.2, 3.4), dpi=110, layout="constrained")
    return figure, figure.add_subplot()


def _picture(figure: Figure, axes: Axes, title: str) -> str:
    from matplotlib.backends.backend_agg import FigureCanvasAgg  # noqa: PLC0415

    axes.set_title(title, loc="left", fontsize=11, fontweight="bold")
    axes.spines[["top", "right"]].set_visible(False)
    buffer = io.BytesIO()
    FigureCanvasAgg(figure).print_png(buffer)  # type: ignore[no-untyped-call]
    return f"![{title}](data:image/png;base64,{base64.b64encode(buffer.getvalue()).decode()})"
