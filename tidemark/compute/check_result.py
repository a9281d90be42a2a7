"""What one rule says of one slice."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tidemark.dependency_model.entity.quality_rules import Severity


@dataclass(frozen=True)
class CheckResult:
    """One rule's verdict on one slice; `reason` says what was expected and found, `figures` are what was measured.

    A rule that crashed is unknown, and has not passed.
    """

    name: str
    passed: bool
    reason: str
    figures: Mapping[str, Any]
    severity: Severity = "block"
    is_unknown: bool = False

    @property
    def blocks(self) -> bool:
        """Whether it keeps the slice from being published."""
        return not self.passed and self.severity == "block"
