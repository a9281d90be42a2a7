"""Draws the key path of a promise for Dagster's pages: predicted bars against `ready_by`.

The SVG is short, because Dagster hides a long one behind a button. If there are too many slices, only the last ones
are drawn.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final
from urllib.parse import quote

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tidemark.center.baseline import Baseline, PathStep

_AT_ONCE: Final = 999
_WIDTH, _ROW = 440, 22
_SAFE: Final = "/:=',;-.~!*@$&?"


def key_path_drawing(promise: Baseline) -> str:
    """Markdown: a bar for each slice, first to last, and a line at the promised time."""
    for count in range(len(promise.path), 0, -1):
        text = f"![key path]({_drawing(promise, promise.path[-count:])})"
        if len(text) <= _AT_ONCE:
            return text
    return ""


def _drawing(promise: Baseline, steps: Sequence[PathStep]) -> str:
    begin = min(*(step.start for step in steps), promise.ready_by)
    whole = (max(*(step.finish for step in steps), promise.ready_by) - begin).total_seconds() or 1.0

    def place(seconds: float) -> int:
        return round(_WIDTH * seconds / whole)

    rows = []
    for at, step in enumerate(steps):
        first, last = (place((instant - begin).total_seconds()) for instant in (step.start, step.finish))
        top, colour = at * _ROW, "d86f33" if step.finish > promise.ready_by else "06799d"
        rows.append(f"<path d='M{first},{top + 16}H{max(last, first + 2)}' stroke='#{colour}' stroke-width='7'/>")
        rows.append(f"<text x='4' y='{top + 10}'>{_words(step)}</text>")
    height = len(steps) * _ROW
    line = place((promise.ready_by - begin).total_seconds())
    rows.append(f"<path d='M{line},0V{height}' stroke='#b00'/>")
    svg = (
        f"<svg xmlns='http://www.w3.org/2000/svg' width='{_WIDTH + 4}' height='{height}' "
        f"font-size='10' fill='#888'>{''.join(rows)}</svg>"
    )
    return f"data:image/svg+xml,{quote(svg, safe=_SAFE)}"


def _words(step: PathStep) -> str:
    """Text without markup, shortened."""
    text = str(step.slice).replace("&", "+").replace("<", "").replace(">", "")
    return text if len(text) <= 40 else f"{text[:39]}..."
