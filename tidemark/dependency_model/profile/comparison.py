"""Compares a slice's figures with its history and reports anomalies (the first stage of C9's seed story).

History alone cannot show a change that is smaller than the noise of a day, such as a hundredth of the rows missing.
Such a change shows in the rows per row of an input, in the gaps of a key, in the share of a shard, or in the source's
counts.
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
"""The limit in standard deviations. It is high because a slice has about fifty measures, and spreads are estimates."""
_WIDER: Final = {History.SHORT: 2.0, History.CHANGED: 1.5}
_SPECIAL_WIDER: Final = 2.0
_SPECIAL_SPREAD: Final = 0.35
"""The least spread for the rows of a holiday, which may be an eighth of the usual rows."""
_PRESENT: Final = 0.7
_SHOWN: Final = 10


@dataclass(frozen=True, slots=True)
class Anomaly:
    """An unusual measure, with texts of both figures; `score` is its distance in standard deviations."""

    measure: str
    actual: str
    expected: str
    score: float

    def __str__(self) -> str:
        return f"{self.measure}: {self.actual}, expected about {self.expected}"


@dataclass(frozen=True, slots=True)
class HistoryComparison:
    """The length of the history, the number of compared measures, and the anomalies, the worst first."""

    history: History
    compared: int
    anomalies: tuple[Anomaly, ...] = ()


NOT_COMPARED: Final = HistoryComparison(History.NONE, 0)


class DatedFigures(NamedTuple):
    """The figures of a slice, `ago` slices before the present one.

    A special slice is a holiday, or a day next to one.
    """

    ago: int
    figures: SliceFigures
    window: Window | None = None
    is_special: bool = False


def compare(now: DatedFigures, past: Sequence[DatedFigures], season: int) -> HistoryComparison:
    """Compares a slice with earlier ones. `season` is the number of slices in a week, or 1.

    Past holidays are left out. For a holiday itself the limits are wider.
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
    """Values that were frequent in recent slices, because a missing value is an anomaly, too."""
    return set[ProfileMeasure]().union(*(frequent_in(dated.figures) for dated in usual[:3]))


def _prediction(
    measure: ProfileMeasure, by_ago: Mapping[int, Mapping[ProfileMeasure, Measured]], season: int
) -> Prediction | None:
    """None if too few slices have the measure: the column is new, or is a key only on some days."""
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
