"""Small drawings of an ADS slice for Dagster's lists of metadata.

Dagster renders Markdown directly only below 1,000 characters, and hides longer text behind a button. So a drawing is a
short SVG data URI. It drops its oldest points if it would not fit.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final
from urllib.parse import quote

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

SHOWN_AT_ONCE: Final = 999
"""Characters of Markdown that Dagster renders without a button."""
_WIDTH, _HEIGHT, _TOP = 460, 92, 14
_COLOURS: Final = ("06799d", "d86f33", "4f8a4c")
# Characters that need no escape in Markdown's brackets or in a URI.
_SAFE: Final = "/:=',;-.~!*@$&?"


@dataclass(frozen=True)
class Series:
    """One measure over time, oldest first."""

    name: str
    values: Sequence[float]


def lines(title: str, first: str, series: Sequence[Series]) -> str:
    """Lines over time as Markdown, with as many of the newest points as fit; `first` names the oldest point."""
    longest = max((len(line.values) for line in series), default=0)

    def drawn(count: int) -> str:
        shown = [Series(line.name, line.values[-count:]) for line in series[: len(_COLOURS)]]
        top = max([0.0, *(value for line in shown for value in line.values)]) or 1.0
        words = [
            _coloured(f"{line.name} {_short(line.values[-1])}", colour)
            for line, colour in zip(shown, _COLOURS, strict=False)
            if line.values
        ]
        since = f" ({count} slices)" if count < longest else f" (since {_words(first)})"
        drawn_lines = [_polyline(line, colour, top) for line, colour in zip(shown, _COLOURS, strict=False)]
        return _svg(" ".join(words) + since, "".join(drawn_lines))

    return _fitting(title, longest, drawn)


def bars(title: str, key: str, measure: Series) -> str:
    """One bar for each row as Markdown, greatest first, with as many as fit."""

    def drawn(count: int) -> str:
        values = sorted(measure.values, reverse=True)[:count]
        words = f"{measure.name} by {key}, greatest {_short(values[0]) if values else 'none'}"
        return _svg(_words(words), _sticks(values))

    return _fitting(title, len(measure.values), drawn)


def _fitting(title: str, most: int, drawn: Callable[[int], str]) -> str:
    plain = "".join(letter for letter in title if letter not in "[]()")
    for count in range(most, 1, -1):
        text = f"![{plain}]({drawn(count)})"
        if len(text) <= SHOWN_AT_ONCE:
            return text
    return f"![{plain}]({drawn(min(most, 1))})"


def _words(text: str) -> str:
    """The first 60 characters, without markup."""
    return text.replace("&", "+").replace("<", "").replace(">", "")[:60]


def _coloured(text: str, colour: str) -> str:
    return f"<tspan fill='#{colour}'>{_words(text)}</tspan>"


def _svg(label: str, shapes: str) -> str:
    svg = (
        f"<svg xmlns='http://www.w3.org/2000/svg' width='{_WIDTH}' height='{_HEIGHT}'>"
        f"<text y='10' font-size='11' font-family='sans-serif' fill='#777'>{label}</text>{shapes}</svg>"
    )
    return f"data:image/svg+xml,{quote(svg, safe=_SAFE)}"


def _polyline(line: Series, colour: str, top: float) -> str:
    step = _WIDTH / max(len(line.values) - 1, 1)
    points = [f"{round(at * step)},{_height(value, top)}" for at, value in enumerate(line.values)]
    return f"<path d='M{'L'.join(points)}' fill='none' stroke='#{colour}' stroke-width='2'/>" if points else ""


def _sticks(values: Sequence[float]) -> str:
    top = max([*values, 0.0]) or 1.0
    step = _WIDTH / max(len(values), 1)
    strokes = "".join(f"M{round((at + 0.5) * step)},{_HEIGHT}V{_height(value, top)}" for at, value in enumerate(values))
    width = max(1, min(30, int(step * 0.8)))
    return f"<path d='{strokes}' stroke='#{_COLOURS[0]}' stroke-width='{width}'/>" if strokes else ""


def _height(value: float, top: float) -> int:
    """The height of a value below the line of text; negative values are at the bottom."""
    return round(_HEIGHT - 2 - max(value, 0.0) / top * (_HEIGHT - _TOP - 4))


def _short(value: float) -> str:
    return f"{value:,.0f}" if value == int(value) else f"{value:,.2f}"
