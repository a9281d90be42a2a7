"""Counts of records as other systems report them: each entry is a count, or how far the source's counts are final.

A file has one entry on each line; a request over HTTP has a list of them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Final, Literal, Self

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, TypeAdapter, ValidationError, model_validator

from tidemark.crawl.errors import CountReportError
from tidemark.dependency_model.time.window import seconds_of
from tidemark.state_store.record_counts import RecordCount
from tidemark.strict_json import json_text

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator

MOST_LINES: Final = 1_000_000
MOST_ENTRIES: Final = 20_000
"""The most entries of one request."""
_LONGEST_LINE: Final = 4_096
_Offset = Annotated[int, Field(ge=0, lt=1 << 53)]
_MOST_RECORDS: Final = 1 << 40
"""The most records of one part and minute, so that the sum of a report fits 64 bits."""
_Name = Annotated[str, Field(min_length=1, max_length=256)]


class _Count(BaseModel):
    """`part` is the counted object: a topic's partition, a commit, a file. A repeated count replaces the earlier one.

    The number is `records`, or the difference of a Kafka partition's `offsets`: [first, last + 1].
    """

    model_config = ConfigDict(extra="forbid", frozen=True, title="Count")

    of: _Name
    at: AwareDatetime
    side: Literal["source", "lake"]
    part: Annotated[str, Field(max_length=256)] = ""
    records: Annotated[int, Field(ge=0, lt=_MOST_RECORDS)] | None = None
    offsets: tuple[_Offset, _Offset] | None = None

    @model_validator(mode="after")
    def _has_one_number(self) -> Self:
        if (self.records is None) == (self.offsets is None):
            raise ValueError("expected exactly one of records, offsets")
        if self.offsets is not None and self.offsets[0] > self.offsets[1]:
            raise ValueError("offsets: the first is after the last")
        if self.number >= _MOST_RECORDS:
            raise ValueError(f"more than {_MOST_RECORDS - 1} records of one part and minute")
        return self

    @property
    def number(self) -> int:
        """Records of this part and minute."""
        return self.records or 0 if self.offsets is None else self.offsets[1] - self.offsets[0]


class _Final(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, title="Final")

    of: _Name
    final_until: AwareDatetime


_ENTRY: Final[TypeAdapter[_Count | _Final]] = TypeAdapter(_Count | _Final)
ENTRY_SCHEMA: Final = {"oneOf": [_Count.model_json_schema(), _Final.model_json_schema()]}
CountReport = tuple[list[RecordCount], dict[str, int]]
"""The counts, and by name the minute up to which the source's counts are final."""


def read_counts(lines: Iterable[str]) -> CountReport:
    """The counts of a file of JSON lines. Raises CountReportError with the line."""
    return _summed(_lines(lines))


def counts_of(entries: Iterable[object], names: Collection[str]) -> CountReport:
    """The counts of a request with these names. Raises CountReportError with the index of the entry."""
    return _summed(_named(entries, names))


def _summed(entries: Iterable[_Count | _Final]) -> CountReport:
    """Sums the counts of one part and minute in a report."""
    counts: dict[tuple[str, int, Literal["source", "lake"], str], int] = {}
    final: dict[str, int] = {}
    for entry in entries:
        if isinstance(entry, _Final):
            final[entry.of] = max(final.get(entry.of, 0), seconds_of(entry.final_until) // 60)
            continue
        key = (entry.of, seconds_of(entry.at) // 60, entry.side, entry.part)
        counts[key] = counts.get(key, 0) + entry.number
    return [RecordCount(*key, records) for key, records in counts.items()], final


def _lines(lines: Iterable[str]) -> Iterator[_Count | _Final]:
    for number, line in enumerate(lines, 1):
        where = f"line {number}"
        if number > MOST_LINES or len(line) > _LONGEST_LINE:
            raise CountReportError(f"at most {MOST_LINES:,} lines of {_LONGEST_LINE:,} characters", where=where)
        if line.strip():
            try:
                yield _ENTRY.validate_json(line)
            except ValidationError as error:
                raise _invalid(error, where) from None


def _named(entries: Iterable[object], names: Collection[str]) -> Iterator[_Count | _Final]:
    for number, given in enumerate(entries):
        where = f"entry {number}"
        try:
            # Validated as JSON text, so that times follow the same rules as in a file.
            entry = _ENTRY.validate_json(json_text(given))
        except ValidationError as error:
            raise _invalid(error, where) from None
        if entry.of not in names:
            raise CountReportError(
                "no entity uses counts with this name",
                expected=f"one of {', '.join(sorted(names)[:20])}"
                if names
                else "an entity with `probe: {counts: {of: NAME}}`",
                found=entry.of[:100],
                where=where,
                hint="the center itself counts tables that declare `completeness`",
            )
        yield entry


def _invalid(error: ValidationError, where: str) -> CountReportError:
    first = error.errors(include_url=False, include_input=False)[0]
    place = ".".join(str(step) for step in first["loc"][1:]) or "the entry"
    return CountReportError(
        f"{place}: {first['msg']}",
        expected='{"of": "clicks", "at": "2026-03-29T15:58:00Z", "side": "lake", "part": "7", "records": 12}',
        where=where,
    )
