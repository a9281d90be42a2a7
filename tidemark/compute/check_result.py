"""The result of one rule for one slice."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tidemark.dependency_model.entity.quality_rules import Severity


@dataclass(frozen=True)
class CheckResult:
    """One rule's result for one slice. `reason` has the expected and the actual value, `figures` the measured values.

    A rule that crashed is unknown and has not passed.
    """

    name: str
    passed: bool
    reason: str
    figures: Mapping[str, Any]
    severity: Severity = "block"
    is_unknown: bool = False

    @property
    def blocks(self) -> bool:
        """Whether it blocks the slice."""
        return not self.passed and self.severity == "block"
