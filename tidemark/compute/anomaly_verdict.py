"""The verdict on a slice's profile against its history, in the two stages of C9's seed story.

An anomaly alone is a doubt: the deeper rules run. The slice is blocked only if one of them is broken, or by the
declaration (`anomalies: block`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from tidemark.dependency_model.entity.profile_settings import Anomalies
from tidemark.dependency_model.profile.comparison import words

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tidemark.compute.check_result import CheckResult
    from tidemark.dependency_model.profile.comparison import HistoryComparison

CHECK_NAME: Final = "anomaly"


@dataclass(frozen=True)
class AnomalyVerdict:
    """The verdict for one slice. `deeper` has the results of the rules that ran because of an anomaly."""

    comparison: HistoryComparison
    policy: Anomalies
    deeper: tuple[CheckResult, ...] = ()

    @property
    def passed(self) -> bool:
        """Whether there is no anomaly."""
        return not self.comparison.anomalies

    @property
    def broken(self) -> dict[str, str]:
        """The reasons to block the slice, by rule; empty if it is not blocked."""
        deeper = {check.name: check.reason for check in self.deeper if check.blocks}
        if not self.passed and self.policy is Anomalies.BLOCK:
            return {CHECK_NAME: self.reason, **deeper}
        return deeper

    @property
    def reason(self) -> str:
        """The anomalies, and the results of the deeper rules."""
        if self.passed:
            compared, history = self.comparison.compared, self.comparison.history.value
            return f"as expected: {compared} measures compared, history: {history}"
        told = [f"{check.name}: {check.reason}" for check in self.deeper]
        return words(self.comparison.anomalies) + (f" - deeper rules: {'; '.join(told)}" if told else "")

    @property
    def figures(self) -> Mapping[str, Any]:
        """The figures that Dagster plots."""
        worst = self.comparison.anomalies[0].score if self.comparison.anomalies else 0.0
        return {
            "history": self.comparison.history.value,
            "measures compared": self.comparison.compared,
            "anomalies": len(self.comparison.anomalies),
            "worst score": worst,
        }
