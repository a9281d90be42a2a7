"""The answer to one question about this machine."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Literal

from dependency_model.errors import TerminalError

if TYPE_CHECKING:
    from collections.abc import Iterable

Verdict = Literal["ok", "warning", "problem"]


@dataclass(frozen=True)
class Finding:
    """`subject` was looked at, `found` is what it is, `to_do` what makes it right (empty when it is)."""

    subject: str
    verdict: Verdict
    found: str
    to_do: str = ""

    def as_dict(self) -> dict[str, str]:
        return asdict(self)


class PreflightError(TerminalError):
    """Something on this machine has to be changed first; names everything that is wrong at once."""

    def __init__(self, problems: list[Finding]) -> None:
        super().__init__(
            "this machine is not ready",
            found="; ".join(f"{problem.subject}: {problem.found}" for problem in problems),
            hint="; ".join(problem.to_do for problem in problems),
        )


def require_no_problem(findings: Iterable[Finding]) -> None:
    """Raise PreflightError when one of the findings is a problem."""
    problems = [finding for finding in findings if finding.verdict == "problem"]
    if problems:
        raise PreflightError(problems)
