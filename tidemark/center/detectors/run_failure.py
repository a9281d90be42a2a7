"""The reason of a failed run in one sentence: the first error of its step in Dagster's log."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, Protocol

from dagster import DagsterEventType

if TYPE_CHECKING:
    from dagster import DagsterEvent, DagsterInstance

_OURS: Final = "tidemark."
_STACK: Final = re.compile(r"\n\s+at .*|\n=+ .*|\s*SQLSTATE: \w+.*", re.DOTALL)
"""Spark's additions to its sentence: the JVM's stack, the query, a code."""
_UNSTORABLE: Final = re.compile("[\0\ud800-\udfff]")
_LONGEST: Final = 500


class LoggedError(Protocol):
    """An error in Dagster's log, whose class is private there."""

    @property
    def message(self) -> str: ...
    @property
    def cls_name(self) -> str | None: ...
    @property
    def cause(self) -> LoggedError | None: ...


def failure_of(instance: DagsterInstance, run_id: str, asset: str) -> str:
    """The error of the asset's step, or of another step of the run; empty if the log has none."""
    kinds = {DagsterEventType.STEP_FAILURE, DagsterEventType.RUN_FAILURE}
    logged = instance.get_records_for_run(run_id, of_type=kinds).records
    events = [event for record in logged if (event := record.event_log_entry.dagster_event)]
    own = [event for event in events if event.step_key == asset]
    told = (_words(event) for event in (*own, *events))
    return next(filter(None, told), "")


def _words(event: DagsterEvent) -> str:
    data = event.event_specific_data
    error, failure = getattr(data, "error", None), getattr(data, "user_failure_data", None)
    if failure is not None and failure.description:
        return _short(failure.description)
    return "" if error is None else _short(_sentence(_first_cause(error)))


def _first_cause(error: LoggedError) -> LoggedError:
    while error.cause is not None:
        error = error.cause
    return error


def _sentence(error: LoggedError) -> str:
    """Our errors are sentences; others need their class: `ZeroDivisionError: division by zero`."""
    named, _, message = error.message.strip().partition(": ")
    name = named.rpartition(".")[2]
    if name != error.cls_name:
        return str(error.message)
    return message if named.startswith(_OURS) else f"{name}: {message}" if message else name


def _short(text: str) -> str:
    words = " ".join(_UNSTORABLE.sub("?", _STACK.sub("", text)).split())
    return words if len(words) <= _LONGEST else f"{words[:_LONGEST]} ..."
