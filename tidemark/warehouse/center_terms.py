"""Records of take-overs in a lake: terms, and marks beside them. Both centers read and write them; none is changed.

A record of a term is put only if its number is free, so of two take-overs through one lake exactly one succeeds.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Final

from tidemark.dependency_model.failover import Term, first_term
from tidemark.storage.stored_files import stored_files
from tidemark.strict_json import json_text
from tidemark.warehouse.errors import TermRecordError

if TYPE_CHECKING:
    from tidemark.system.table_location import TableLocation

_FOLDER: Final = "_centers"
_NAME: Final = re.compile(r"(\d{8})(?:\.(handed|rejoined))?\.json")


class TermMark(Enum):
    """A mark beside a term: the holder before has stopped, or the new holder has seen its lake again."""

    HANDED = "handed"
    REJOINED = "rejoined"


@dataclass(frozen=True, slots=True)
class LakeTerms:
    """The terms of one center's flows in one lake, and the numbers of terms with each mark."""

    terms: tuple[Term, ...]
    marks: frozenset[tuple[TermMark, int]]


@dataclass(frozen=True, slots=True)
class CenterTerms:
    """The records of the flows of one center in one lake. Raises the errors of stores, and OSError."""

    lake: TableLocation
    flows: str

    @property
    def exists(self) -> bool:
        """Whether the lake is there. The folder of an unmounted disk is not."""
        return not isinstance(self.lake, Path) or self.lake.is_dir()

    def read(self) -> LakeTerms:
        """All records. Raises also TermRecordError for a record that cannot be read."""
        store, terms, marks = stored_files(self.lake), [first_term(self.flows)], set[tuple[TermMark, int]]()
        for name in store.names_in(self._folder):
            match = _NAME.fullmatch(name.rpartition("/")[2])
            if match and match[2]:
                marks.add((TermMark(match[2]), int(match[1])))
            elif match:
                terms.append(self._parse(name, store.read(name)))
        return LakeTerms(tuple(terms), frozenset(marks))

    def add(self, term: Term) -> bool:
        """Write a term; returns whether its number was free."""
        content = json_text(term.as_record()).encode()
        return stored_files(self.lake).put_if_absent(f"{self._folder}/{term.number:08d}.json", content)

    def mark(self, number: int, mark: TermMark) -> None:
        """Write a mark; again changes nothing."""
        stored_files(self.lake).put_if_absent(f"{self._folder}/{number:08d}.{mark.value}.json", b"{}")

    @property
    def _folder(self) -> str:
        return f"{_FOLDER}/{self.flows}"

    def _parse(self, name: str, content: bytes) -> Term:
        try:
            return Term.of_record(json.loads(content))
        except (ValueError, TypeError, KeyError) as error:
            raise TermRecordError.unreadable(self.lake, name, str(error)) from error
