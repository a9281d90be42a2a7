"""Conflicts are tried again with growing pauses, a changed schema is not."""

from pathlib import Path

import pytest
from delta.exceptions import ConcurrentAppendException, MetadataChangedException

from tidemark.delta.commit_conflict import BackOff, StaleReadError, with_retries
from tidemark.delta.errors import ColumnsDifferError, CommitConflictError

HERE = Path("/warehouse/orders")


class Attempts:
    """Fails with each of `errors` in turn, then succeeds."""

    def __init__(self, *errors: Exception) -> None:
        self.errors = list(errors)

    def __call__(self) -> str:
        if self.errors:
            raise self.errors.pop(0)
        return "done"


def append_conflict() -> ConcurrentAppendException:
    return ConcurrentAppendException("files were added to dt=2026-03-29\nby a WRITE")


def never(seconds: float) -> None:
    pytest.fail(f"waited {seconds} s")


def test_it_goes_on_until_it_succeeds() -> None:
    pauses: list[float] = []
    back_off = BackOff(attempts=5, first_seconds=1, most_seconds=3, sleep=pauses.append)
    assert with_retries(HERE, Attempts(append_conflict(), StaleReadError(), append_conflict()), back_off) == ("done", 3)
    assert [pause <= longest for pause, longest in zip(pauses, (1, 2, 3), strict=True)] == [True] * 3


def test_after_the_last_attempt_the_conflict_is_raised() -> None:
    pauses: list[float] = []
    back_off = BackOff(attempts=2, sleep=pauses.append)
    with pytest.raises(CommitConflictError, match="2 times in a row") as caught:
        with_retries(HERE, Attempts(append_conflict(), append_conflict()), back_off)
    assert caught.value.found == "ConcurrentAppendException: files were added to dt=2026-03-29"
    assert len(pauses) == 1


def test_a_changed_schema_is_not_tried_again() -> None:
    with pytest.raises(ColumnsDifferError, match="another writer changed"):
        with_retries(HERE, Attempts(MetadataChangedException("a column came")), BackOff(sleep=never))
