"""Errors of centers that take over from each other.

TransientError
|-- FenceUnseenError   the terms of a lake could not be read recently
`-- NotStoppedError    the center before has not stopped yet
TerminalError
|-- CenterFencedError  another center computes these flows
|-- TakeOverError      a take-over that is not possible now
`-- TermRecordError    a record in a lake that cannot be read
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

from tidemark.errors import TerminalError, TransientError

if TYPE_CHECKING:
    from collections.abc import Collection

    from tidemark.dependency_model.failover import Term
    from tidemark.system.table_location import TableLocation


class FenceUnseenError(TransientError):
    """The terms of a lake could not be read recently."""

    @classmethod
    def of(cls, flows: str, troubles: Collection[str]) -> Self:
        return cls(
            f"it is not known whether another center has taken over the flows of {flows}: nothing is started",
            expected="the lakes of all centers that may take over",
            found="; ".join(troubles) or "no look yet",
            hint=f"it goes on when they answer; if that center is lost: `tidemark take-over {flows} --lost`",
        )


class NotStoppedError(TransientError):
    """The center before has not stopped yet."""

    @classmethod
    def of(cls, term: Term) -> Self:
        return cls(
            f"{term.before} still ends its runs and replicates their slices: {term.holder} has not begun",
            expected=f"`tidemark center` and `tidemark replicate --follow` of {term.before}",
            hint="run the same command again to go on; with --lost, it does not wait for that center",
        )


class CenterFencedError(TerminalError):
    """Another center computes these flows."""

    @classmethod
    def of(cls, term: Term, center: str) -> Self:
        return cls(
            f"the center {term.holder} computes the flows of {term.flows} since {term.begun_at:%Y-%m-%d %H:%M}Z, "
            f"{center} does not",
            where=f"term {term.number}, by {term.who}" if term.who else f"term {term.number}",
            hint=f"restart the processes here to become its replica; `tidemark take-over {term.flows}` takes them back",
        )


class TakeOverError(TerminalError):
    """A take-over that is not possible now."""

    @classmethod
    def without_name(cls) -> Self:
        return cls("this project has no name for its center", expected="center: center_b", where="tidemark.yaml")

    @classmethod
    def unknown(cls, flows: str, known: Collection[str]) -> Self:
        return cls(
            f"no table here belongs to the center '{flows}'",
            expected=f"one of {', '.join(sorted(known))}" if known else "tables with `center: ...`",
        )

    @classmethod
    def unreachable(cls, flows: str, troubles: Collection[str]) -> Self:
        return cls(
            "the term cannot be written to every lake, so the center before would not see it",
            found="; ".join(troubles),
            hint=f"repair the way there, or, if that center is lost: tidemark take-over {flows} --lost",
        )

    @classmethod
    def alone(cls, term: Term) -> Self:
        return cls(
            f"{term.holder} took over without this center, and has not seen this lake since: it would not stop",
            found=f"term {term.number}",
            hint="let both centers reach both lakes first",
        )

    @classmethod
    def too_late(cls, term: Term, lake: TableLocation) -> Self:
        return cls(
            "another take-over was faster",
            found=f"term {term.number} in {lake}",
            hint="`tidemark take-over --status` shows which center has the flows",
        )


class TermRecordError(TerminalError):
    """A record in a lake that cannot be read."""

    @classmethod
    def unreadable(cls, lake: TableLocation, name: str, why: str) -> Self:
        return cls(
            "the record of a take-over cannot be read",
            found=why,
            where=f"{lake}/{name}",
            hint="copy the file of that name from the other center's lake",
        )
