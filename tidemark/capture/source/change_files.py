"""Landed change files: `<landing>/<instance>/<first offset, 12 digits>.jsonl.gz`, contiguous, never modified.

The writer renames a finished file into place. Hidden files, which begin with a dot, are ignored.
"""

import gzip
import re
import zlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from tidemark.capture.bounded_json import UnreadableJsonError, parse_json
from tidemark.capture.errors import CorruptFileError, FileNameError, MalformedLineError
from tidemark.capture.source.expanded_size import MAX_LINE_BYTES
from tidemark.capture.source.possible_event_time import END_MS

# Average bytes of a compressed record.
_RECORD_BYTES = 35
FILE_NAME = re.compile(r"^(\d{12})\.jsonl\.gz$")


@dataclass(frozen=True, order=True)
class ChangeFile:
    """One landed file; its name has `first_offset`."""

    instance: str
    first_offset: int
    path: Path
    size_bytes: int

    @property
    def records(self) -> int:
        """The estimated number of records."""
        return self.size_bytes // _RECORD_BYTES


def landed_files(landing: Path, instance: str, next_offset: int) -> list[ChangeFile]:
    """Files that may hold offsets from `next_offset` on, in order. Raises FileNameError for a name of another form."""
    folder = landing / instance
    # Reading a pipe or a device would block.
    paths = sorted(path for path in folder.glob("*.json*") if not path.name.startswith(".") and path.is_file())
    if odd := [path for path in paths if not FILE_NAME.match(path.name)]:
        raise FileNameError.of(odd[0], len(odd) - 1)
    files = [ChangeFile(instance, int(path.name[:12]), path, path.stat().st_size) for path in paths]
    begun = [file.first_offset for file in files if file.first_offset <= next_offset]
    return [file for file in files if not begun or file.first_offset >= begun[-1]]


def within(files: Iterable[ChangeFile], limit_bytes: int, expanded: Callable[[ChangeFile], int]) -> list[ChangeFile]:
    """The first of `files` whose total `expanded` size is within the limit, at least one."""
    chosen: list[ChangeFile] = []
    for file in files:
        limit_bytes -= expanded(file)
        if chosen and limit_bytes < 0:
            break
        chosen.append(file)
    return chosen


def line_of(path: Path, offset: int) -> int:
    """The line (from 1) of the record with that offset; 0 if there is none."""
    needle = f'"offset":{offset},'
    for number, text in _lines(path):
        if needle in text.replace(" ", "") and _offset(text) == offset:
            return number
    return 0


def _offset(line: str) -> object:
    try:
        record = parse_json(line, MAX_LINE_BYTES)
    except UnreadableJsonError:
        return None
    return record.get("offset") if isinstance(record, dict) else None


def check_file(path: Path, topic: str) -> None:
    """Read the file line by line and raise its first fault: CorruptFileError or MalformedLineError.

    It is called only after a fault was noticed, to find the place and the reason.
    """
    for number, text in _lines(path):
        try:
            record = parse_json(text, MAX_LINE_BYTES)
        except UnreadableJsonError as error:
            raise MalformedLineError.of(path, number, str(error)) from error
        problem = _problem(record, topic)
        if problem:
            raise MalformedLineError.of(path, number, problem)


def _problem(record: object, topic: str) -> str | None:
    if not isinstance(record, dict):
        return f"a JSON {type(record).__name__}"
    if record.get("topic") != topic:
        return f"topic {record.get('topic')!r} in the folder of {topic}"
    if not isinstance(record.get("offset"), int):
        return f"offset {record.get('offset')!r}"
    value = record.get("value")
    if value is None:
        return None
    source = value.get("source") if isinstance(value, dict) else None
    written = source.get("ts_ms") if isinstance(source, dict) else None
    if not isinstance(written, int):
        return None if isinstance(value, dict) and value.get("aggregate_type") else "no value.source.ts_ms"
    return None if 0 <= written < END_MS else f"value.source.ts_ms {written}, outside the range of a binlog"


def _lines(path: Path) -> Iterator[tuple[int, str]]:
    number = 0
    try:
        with gzip.open(path, "rt", encoding="utf-8") as file:
            for number, text in enumerate(file, start=1):
                yield number, text
    except (EOFError, OSError, zlib.error, UnicodeDecodeError) as error:
        raise CorruptFileError.of(path, f"after line {number}: {error}") from error
