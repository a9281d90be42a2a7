"""A slice's figures against those of its past: what is not as it should be (the first stage of C9's seed story).

History alone cannot see what is smaller than a day's noise: a hundredth of the rows gone is within it. It shows in
the rows for a row of an input, in the gaps of a key, in the share of a shard, or against the source's counts.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, NamedTuple

from tidemark.dependency_model.profile.measures import (
    DISTINCT,
    MIX,
    ROWS,
    Measured,
    ProfileMeasure,
    frequent_in,
    measures_of,
    share_in,
)
from tidemark.dependency_model.profile.prediction import History, predict

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from tidemark.dependency_model.profile.figures import SliceFigures
    from tidemark.dependency_model.profile.prediction import Prediction
    from tidemark.dependency_model.time.window import Window

LIMIT: Final = 5.0
"""Standard deviations from what is expected: some fifty measures a slice, and spreads that are estimated."""
_WIDER: Final = {History.SHORT: 2.0, History.CHANGED: 1.5}
_SPECIAL_WIDER: Final = 2.0
_SPECIAL_SPREAD: Final = 0.35
"""Of the rows of a holiday: they may be an eighth of the usual."""
_PRESENT: Final = 0.7
_SHOWN: Final = 10


@dataclass(frozen=True, slots=True)
class Anomaly:
    """A measure that is not as expected, in words and figures; `score` is how many standard deviations it is off."""

    measure: str
    actual: str
    expected: str
    score: float

    def __str__(self) -> str:
        return f"{self.measure}: {self.actual}, expected about {self.expected}"


@dataclass(frozen=True, slots=True)
class HistoryComparison:
    """How much history there was, how many measures were compared, and what is off, the worst first."""

    history: History
    compared: int
    anomalies: tuple[Anomaly, ...] = ()


NOT_COMPARED: Final = HistoryComparison(History.NONE, 0)


class DatedFigures(NamedTuple):
    """The figures of a slice: `ago` slices before the one in question; special is a holiday, or a day next to one."""

    ago: int
    figures: SliceFigures
    window: Window | None = None
    is_special: bool = False


def compare(now: DatedFigures, past: Sequence[DatedFigures], season: int) -> HistoryComparison:
    """Compare a slice with those before it; `season` is how many slices a week has, or 1.

    Past holidays tell nothing of usual days. Of a holiday itself the band is wider.
    """
    usual = [dated for dated in past if not dated.is_special]
    by_ago = {dated.ago: _all_measures(dated, now.figures, usual) for dated in usual}
    told = _all_measures(now, now.figures, usual)
    predictions = {measure: _prediction(measure, by_ago, season) for measure in told}
    known = {measure: prediction for measure, prediction in predictions.items() if prediction is not None}
    off = [
        anomaly
        for measure, prediction in known.items()
        if (anomaly := _judge(measure, told[measure], prediction, is_special=now.is_special)) is not None
    ]
    worst = sorted(off, key=lambda anomaly: -anomaly.score)[:_SHOWN]
    return HistoryComparison(_history_of(known), len(known), tuple(worst))


def _all_measures(
    dated: DatedFigures, now: SliceFigures, usual: Sequence[DatedFigures]
) -> Mapping[ProfileMeasure, Measured]:
    shares = {measure: share_in(dated.figures, measure) for measure in frequent_in(now) | _often_frequent(usual)}
    exact = {measure: measured for measure, measured in shares.items() if measured is not None}
    return {**measures_of(dated.figures, dated.window), **exact}


def _often_frequent(usual: Sequence[DatedFigures]) -> set[ProfileMeasure]:
    """Values that were frequent most recently: one that is missing now is told, too."""
    return set[ProfileMeasure]().union(*(frequent_in(dated.figures) for dated in usual[:3]))


def _prediction(
    measure: ProfileMeasure, by_ago: Mapping[int, Mapping[ProfileMeasure, Measured]], season: int
) -> Prediction | None:
    """None where too few slices have the measure: a column is new, or is a key on some days only."""
    values = {ago: measures[measure].value for ago, measures in by_ago.items() if measure in measures}
    return predict(values, season) if len(values) >= _PRESENT * len(by_ago) else None


def _judge(measure: ProfileMeasure, measured: Measured, prediction: Prediction, *, is_special: bool) -> Anomaly | None:
    if is_special and measure.name == DISTINCT:
        return None
    spread = max(prediction.spread, measured.error)
    limit = LIMIT * _WIDER.get(prediction.history, 1.0)
    if is_special and measure == ROWS:
        spread = max(spread, _SPECIAL_SPREAD)
    elif is_special and measure.name in MIX:
        limit *= _SPECIAL_WIDER
    score = abs(measured.value - prediction.value) / spread
    if score <= limit:
        return None
    shown = measured.scale.shown
    return Anomaly(str(measure), shown(measured.value), shown(prediction.value), round(score, 1))


def _history_of(predictions: Mapping[ProfileMeasure, Prediction]) -> History:
    rows = predictions.get(ROWS)
    return rows.history if rows else History.NONE


def words(anomalies: Iterable[Anomaly]) -> str:
    """All anomalies in one line."""
    return "; ".join(map(str, anomalies))
