"""The answer to one question about this machine, or about what it is set to work with."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Literal

from tidemark.errors import TerminalError

if TYPE_CHECKING:
    from collections.abc import Iterable

Verdict = Literal["ok", "warning", "unreachable", "problem"]


@dataclass(frozen=True)
class Finding:
    """`subject` was looked at, `found` is what it is, `to_do` what makes it right (empty when it is).

    `unreachable` is a server that does not answer: down at this moment, or at another address.
    """

    subject: str
    verdict: Verdict
    found: str
    to_do: str = ""

    @property
    def is_in_the_way(self) -> bool:
        """Whether nothing should be started as long as it is so."""
        return self.verdict in {"unreachable", "problem"}

    def as_dict(self) -> dict[str, str]:
        return asdict(self)


class PreflightError(TerminalError):
    """Something has to be changed first; names everything that is wrong at once."""

    def __init__(self, what: str, problems: list[Finding]) -> None:
        super().__init__(
            what,
            found="; ".join(f"{problem.subject}: {problem.found}" for problem in problems),
            hint="; ".join(problem.to_do for problem in problems),
        )


def require_no_problem(findings: Iterable[Finding], what: str = "this machine is not ready") -> None:
    """Raise PreflightError, which says `what`, when one of the findings is in the way."""
    problems = [finding for finding in findings if finding.is_in_the_way]
    if problems:
        raise PreflightError(what, problems)
