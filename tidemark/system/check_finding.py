"""The finding of a check of this machine or its configuration."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Literal

from tidemark.errors import TerminalError

if TYPE_CHECKING:
    from collections.abc import Iterable

Verdict = Literal["ok", "warning", "unreachable", "problem"]


@dataclass(frozen=True)
class Finding:
    """`subject` was checked, `found` is its state, `to_do` repairs it (empty if nothing is wrong).

    `unreachable` is a server that does not answer: it is down now, or has another address.
    """

    subject: str
    verdict: Verdict
    found: str
    to_do: str = ""

    @property
    def is_in_the_way(self) -> bool:
        """Whether this finding has to be resolved before a start."""
        return self.verdict in {"unreachable", "problem"}

    def as_dict(self) -> dict[str, str]:
        return asdict(self)


class PreflightError(TerminalError):
    """Something has to be changed first. The error lists all problems."""

    def __init__(self, what: str, problems: list[Finding]) -> None:
        super().__init__(
            what,
            found="; ".join(f"{problem.subject}: {problem.found}" for problem in problems),
            hint="; ".join(problem.to_do for problem in problems),
        )


def require_no_problem(findings: Iterable[Finding], what: str = "this machine is not ready") -> None:
    """Raise PreflightError with the message `what` if a finding prevents a start."""
    problems = [finding for finding in findings if finding.is_in_the_way]
    if problems:
        raise PreflightError(what, problems)
