"""Counts of records as others report them: lines of JSON, each with a count or with how far the source's are final."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Final, Literal

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from tidemark.crawl.errors import CountReportError
from tidemark.dependency_model.time.window import seconds_of
from tidemark.state_store.record_counts import RecordCount

if TYPE_CHECKING:
    from collections.abc import Iterable

MOST_LINES: Final = 1_000_000
_LONGEST_LINE: Final = 4_096
_Name = Annotated[str, Field(min_length=1, max_length=256)]


class _Count(BaseModel):
    """`part` is who counts: a partition of a topic, a commit, a file. What it says again replaces what it said."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    of: _Name
    at: AwareDatetime
    side: Literal["source", "lake"]
    part: Annotated[str, Field(max_length=256)] = ""
    records: Annotated[int, Field(ge=0, lt=1 << 53)]


class _Final(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    of: _Name
    final_until: AwareDatetime


_LINE: Final[TypeAdapter[_Count | _Final]] = TypeAdapter(_Count | _Final)


def read_counts(lines: Iterable[str]) -> tuple[list[RecordCount], dict[str, int]]:
    """The counts of a report, and by name the minute up to which they are final.

    Two counts of one part and minute are summed. Raises CountReportError with the line.
    """
    counts: dict[tuple[str, int, Literal["source", "lake"], str], int] = {}
    final: dict[str, int] = {}
    for number, line in enumerate(lines, 1):
        if number > MOST_LINES or len(line) > _LONGEST_LINE:
            raise CountReportError(
                f"at most {MOST_LINES:,} lines of {_LONGEST_LINE:,} characters", where=f"line {number}"
            )
        if not line.strip():
            continue
        told = _read(line, number)
        if isinstance(told, _Final):
            final[told.of] = max(final.get(told.of, 0), seconds_of(told.final_until) // 60)
            continue
        key = (told.of, seconds_of(told.at) // 60, told.side, told.part)
        counts[key] = counts.get(key, 0) + told.records
    return [RecordCount(*key, records) for key, records in counts.items()], final


def _read(line: str, number: int) -> _Count | _Final:
    try:
        return _LINE.validate_json(line)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        place = ".".join(str(step) for step in first["loc"][1:]) or "the line"
        raise CountReportError(
            f"{place}: {first['msg']}",
            expected='{"of": "clicks", "at": "2026-03-29T15:58:00Z", "side": "lake", "part": "7", "records": 12}',
            where=f"line {number}",
        ) from None
