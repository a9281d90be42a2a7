"""Every error that Tidemark raises on purpose.

    TidemarkError                 the root: what was expected, what was found, where, what to do
    |-- TransientError            the same call may succeed later: retry it
    `-- TerminalError             the same call fails again: something has to be changed first
        |-- ParseError            a text that does not say a period, key, slice, offset or subject
        |   `-- NoSuchSliceError  a well-formed key of a slice that does not exist (an hour that spring skips)
        |-- CalendarError         a time zone, a week start or an instant that no calendar has
        |-- EntityError           one thing wrong in one declaration (file, line, key)
        |   `-- QueryError        one thing wrong in one query (file, line, column)
        |-- EntityErrors          everything that is wrong in a folder of declarations, at once
        |-- TransitionError       a change of a slice's state that the table of transitions does not have
        `-- UnknownEntityError    a question about an entity that the graph does not have

Other packages hang their own errors under `TransientError` or `TerminalError`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tidemark.error_codes import code_of

if TYPE_CHECKING:
    from collections.abc import Sequence


class TidemarkError(Exception):
    """The root. `str()` is one line for people: message, expected, found, where, hint."""

    def __init__(
        self,
        message: str,
        *,
        expected: str | None = None,
        found: str | None = None,
        where: str | None = None,
        hint: str | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.expected = expected
        self.found = found
        self.where = where
        self.hint = hint

    def __str__(self) -> str:
        detail = ", ".join(
            f"{name} {value}" for name, value in (("expected", self.expected), ("found", self.found)) if value
        )
        text = f"{self.where}: {self.message}" if self.where else self.message
        text = f"{text}: {detail}" if detail else text
        return f"{text} - {self.hint}" if self.hint else text

    @property
    def code(self) -> str:
        """The stable code of this kind of error, such as `TM0105`: docs/reference/errors.md."""
        return code_of(type(self))

    def __reduce__(self) -> tuple[object, ...]:
        """Survive the way between processes, keyword arguments included."""
        return _rebuild, (type(self), self.args, self.__dict__)


def _rebuild(kind: type[TidemarkError], args: tuple[object, ...], state: dict[str, object]) -> TidemarkError:
    error = kind.__new__(kind, *args)
    error.args = args
    error.__dict__.update(state)
    return error


class TransientError(TidemarkError):
    """The same call may succeed later."""


class TerminalError(TidemarkError):
    """The same call fails again until something is changed."""


class ParseError(TerminalError):
    """A text that cannot be read as a period, key, slice, offset or subject."""


class NoSuchSliceError(ParseError):
    """A well-formed key, but time has no such slice."""


class CalendarError(TerminalError):
    """A time zone, week start or instant that no calendar has."""


class EntityError(TerminalError):
    """One thing wrong in one declaration; `where` is `file:line`.

    What is wrong between entities is found without the files: there `where` is the file alone, and `word` what to look
    for in it (`tidemark.warehouse.entity_files.locate` finds the line).
    """

    word: str | None = None


class QueryError(EntityError):
    """One thing wrong in one query; `where` is `file:line:column`."""


class EntityErrors(TerminalError):  # noqa: N818 - it is many of them
    """All errors of a folder of declarations together."""

    def __init__(self, problems: Sequence[EntityError]) -> None:
        lines = "\n".join(f"  {problem}" for problem in problems)
        super().__init__(f"{len(problems)} problem{'s' * (len(problems) != 1)} in the declarations\n{lines}")
        self.problems = tuple(problems)


class TransitionError(TerminalError):
    """A change of state that the table of transitions does not have."""


class UnknownEntityError(TerminalError, KeyError):
    """The graph has no such entity."""
