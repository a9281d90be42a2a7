"""Parses a YAML file to plain values, with the line of each value.

It is stricter than YAML's safe subset: one document, no anchors, aliases, tags or duplicate keys, and limits on size,
depth and number of values. Only `true`, `false`, `null`, whole numbers and decimal fractions become other types than
texts. `10:30` and `2026-03-29` stay texts (YAML 1.1 makes them 630 and a date).
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import yaml

from tidemark.errors import EntityError

if TYPE_CHECKING:
    from collections.abc import Iterator

SIZE_LIMIT = 256 * 1024
DEPTH_LIMIT = 12
VALUE_LIMIT = 20_000

Path = tuple[str | int, ...]

_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_INT = re.compile(r"[+-]?(?:0|[1-9]\d{0,17})", re.ASCII)
_FLOAT = re.compile(r"[+-]?(?:0|[1-9]\d{0,17})\.\d{1,18}", re.ASCII)
_NUMERIC = frozenset("+-0123456789")
_WORDS: dict[str, bool | None] = {"true": True, "false": False, "null": None, "~": None, "": None}


@dataclass(frozen=True, slots=True)
class Document:
    """The values of a file, and the line (from 1) of each by its path."""

    values: Any
    lines: dict[Path, int] = field(default_factory=dict)

    def line(self, path: Path) -> int:
        """The line of the nearest known value on a path."""
        while path and path not in self.lines:
            path = path[:-1]
        return self.lines.get(path, 1)


def read_document(text: str, file: str) -> Document:
    """The only document of a text. Raises EntityError with file and line."""
    if len(text) > SIZE_LIMIT:
        raise EntityError("the file is too long", expected=f"at most {SIZE_LIMIT} characters", where=file)
    lines: dict[Path, int] = {}
    try:
        events = _content(yaml.parse(text, Loader=_LOADER), file)
        first = next(events, None)
        values = None if first is None else _Builder(events, lines, file).value(first, ())
        next(events, None)  # refuses a second document
    except (yaml.YAMLError, UnicodeError) as error:
        raise _unreadable(error, file) from error
    return Document(values, lines)


def scalar(text: str) -> str | int | float | bool | None:
    """The value of an unquoted text."""
    if text in _WORDS:
        return _WORDS[text]
    if text[0] not in _NUMERIC:
        return text
    if _INT.fullmatch(text):
        return int(text)
    return float(text) if _FLOAT.fullmatch(text) else text


def _content(events: Iterator[yaml.Event], file: str) -> Iterator[yaml.Event]:
    """The events of the document. Raises EntityError for what is not allowed."""
    documents = depth = 0
    for count, event in enumerate(events):
        documents += isinstance(event, yaml.DocumentStartEvent)
        depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
        tagged = getattr(event, "tag", None) is not None or getattr(event, "anchor", None) is not None
        if documents > 1 or tagged:
            what = "a second document" if documents > 1 else "anchors, aliases and tags"
            raise EntityError(f"{what}: not allowed in a declaration", where=_place(file, event.start_mark))
        if depth > DEPTH_LIMIT or count > VALUE_LIMIT:
            raise EntityError("too much nesting, or too many values in one file", where=_place(file, event.start_mark))
        if isinstance(event, (yaml.ScalarEvent, yaml.CollectionStartEvent, yaml.CollectionEndEvent)):
            yield event


@dataclass(slots=True)
class _Builder:
    events: Iterator[yaml.Event]
    lines: dict[Path, int]
    file: str

    def value(self, event: yaml.Event, path: Path) -> Any:
        self.lines.setdefault(path, _line(event.start_mark))
        if isinstance(event, yaml.ScalarEvent):
            return scalar(event.value) if event.implicit[0] and not event.style else event.value
        return self._sequence(path) if isinstance(event, yaml.SequenceStartEvent) else self._mapping(path)

    def _sequence(self, path: Path) -> list[Any]:
        values: list[Any] = []
        for event in self.events:
            if isinstance(event, yaml.SequenceEndEvent):
                break
            values.append(self.value(event, (*path, len(values))))
        return values

    def _mapping(self, path: Path) -> dict[Any, Any]:
        values: dict[Any, Any] = {}
        for event in self.events:
            if isinstance(event, yaml.MappingEndEvent):
                break
            key = self._key(event, values)
            self.lines[*path, key] = _line(event.start_mark)
            values[key] = self.value(next(self.events), (*path, key))
        return values

    def _key(self, event: yaml.Event, values: dict[Any, Any]) -> str:
        if not isinstance(event, yaml.ScalarEvent):
            raise EntityError("a key must be a plain word", where=_place(self.file, event.start_mark))
        if event.value in values:
            raise EntityError(f"the key '{event.value}' appears twice", where=_place(self.file, event.start_mark))
        return str(event.value)


def _line(mark: Any) -> int:
    return int(mark.line) + 1


def _place(file: str, mark: Any) -> str:
    return f"{file}:{_line(mark)}" if mark else file


def _unreadable(error: Exception, file: str) -> EntityError:
    mark = getattr(error, "problem_mark", None)
    problem = getattr(error, "problem", None) or str(error).splitlines()[0]
    return EntityError(f"this is not YAML: {problem}", where=_place(file, mark))
