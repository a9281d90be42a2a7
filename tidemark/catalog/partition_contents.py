"""The contents of a partition after each commit that changed it, and whether they are still what its run wrote.

Contents have numbers. A commit of another program makes a new number, or an earlier one if it restores the same files
(RESTORE). A commit that only moves rows into other files (OPTIMIZE, clustering, compaction) keeps the number. The slice
is sound while its number is that of our last write, or of the version that its run reported, whichever is later.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING, Final, NamedTuple, Self

from tidemark.strict_json import json_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from tidemark.delta.table_changes import TableFile

_LOST: Final = "lost"
_KEPT: Final = 32
"""The most contents that are kept. The last content that we wrote is kept in addition."""


class DataCondition(Enum):
    """The state of a slice's data in storage."""

    SOUND = "sound"
    FOREIGN = "foreign"
    ABSENT = "absent"


class DataVerdict(NamedTuple):
    """`version` is the last that changed the partition; `why` is for people."""

    condition: DataCondition
    version: int
    why: str


class ToldData(NamedTuple):
    """The table version and the rows that a slice's last run reported; None if it did not."""

    version: int | None = None
    rows: int | None = None


class HeldFile(NamedTuple):
    """A live file: its rows (None if not in the log), its bytes, and its paths on disk."""

    rows: int | None
    size_bytes: int
    paths: tuple[str, ...]


class Content(NamedTuple):
    """The files after commit `version`, as `digest`. Equal `number` means equal rows. `own`: we wrote it."""

    version: int
    digest: str
    number: int
    own: bool
    operation: str


@dataclass(slots=True)
class PartitionContents:
    """`take` changes it in place. `missing` is the number of live files that were not on disk at the last check.

    With `is_other_table`, versions that runs reported belong to an earlier table at this place and are ignored.
    """

    files: dict[str, HeldFile] = field(default_factory=dict)
    contents: list[Content] = field(default_factory=list)
    missing: int = 0
    is_other_table: bool = False

    @classmethod
    def empty(cls) -> Self:
        """A partition of a log that is read from its beginning."""
        return cls(contents=[Content(-1, "", 0, own=False, operation="")])

    @property
    def version(self) -> int:
        """The last version that changed it."""
        return self.contents[-1].version

    @property
    def rows(self) -> int:
        """Rows that are not deleted, as far as the log says."""
        return sum(file.rows or 0 for file in self.files.values())

    @property
    def size_bytes(self) -> int:
        return sum(file.size_bytes for file in self.files.values())

    def begin(self, version: int, files: Iterable[TableFile]) -> None:
        """Starts with the live files of a checkpoint. Earlier commits are not known."""
        self._hold(files)
        self.contents = [Content(version, self._digest(), 0, own=False, operation="")]

    def take(
        self,
        version: int,
        added: Iterable[TableFile],
        removed: Iterable[TableFile],
        *,
        changes_rows: bool,
        is_own: bool,
        operation: str,
    ) -> None:
        """Applies a commit that adds or removes files in this partition."""
        for file in removed:
            self.files.pop(file.identity, None)
        self._hold(added)
        self.missing = 0
        digest = self._digest()
        number = self._number(digest) if changes_rows else self.contents[-1].number
        self.contents.append(Content(version, digest, number, is_own and changes_rows, operation))
        self._forget()

    def lose_all(self, operation: str) -> None:
        """Records that the table is gone without a commit: versions that runs reported no longer apply."""
        self.files, self.missing, self.is_other_table = {}, 0, True
        self.contents.append(Content(self.version + 1, "", self._number(""), own=False, operation=operation))
        self._forget()

    def lose_commit(self, version: int) -> None:
        """Records that the commit that a run reported has lost its actions, so its files are not in the table."""
        lost = Content(version, _LOST, -1, own=True, operation=f"the emptied commit {version}")
        self.contents[-1:] = [lost, self.contents[-1]._replace(own=False)]

    def succeed(self, earlier: PartitionContents, *, is_other_table: bool) -> None:
        """Continues `earlier` after the log was read again: its sound content must be there, unless we wrote later.

        If the log does not have it, the log is an older copy or has lost a commit, so the versions that runs reported
        no longer apply.
        """
        self.is_other_table = is_other_table or earlier.is_other_table
        anchor, own = earlier._sound(None), self._sound(None)
        if anchor is None or (own is not None and (is_other_table or own.version > anchor.version)):
            return
        if own is not None and (
            own.digest == anchor.digest or (anchor.digest == _LOST and own.version == anchor.version)
        ):
            return
        if own is not None:
            self.is_other_table = True
            self.contents = [content._replace(own=False) for content in self.contents]
        number = next((held.number for held in self.contents if held.digest == anchor.digest), -1)
        self.contents.insert(0, anchor._replace(number=number, own=True))

    def judge(self, told: ToldData, newest: int) -> DataVerdict:
        """Whether the data is still what the slice's run wrote, by our own commits and by the run's report.

        `newest` is the table's newest version.
        """
        now = self.contents[-1]
        if self.missing:
            return DataVerdict(
                DataCondition.ABSENT, now.version, f"{self.missing} of its {len(self.files)} files are gone"
            )
        version = None if self.is_other_table else told.version
        if version is not None and version > newest:
            return self._beyond(version, newest)
        sound = self._sound(version)
        operation = now.operation or "a write"
        if told.rows and not self.files and not any(content.own for content in self.contents):
            return DataVerdict(
                DataCondition.ABSENT, now.version, f"its run reported {told.rows} rows, but its table has none"
            )
        is_untouched = bool(self.files) or len(self.contents) == 1
        if is_untouched if sound is None else sound.number == now.number:
            return DataVerdict(DataCondition.SOUND, now.version, "")
        if sound is None or not self.files:
            return DataVerdict(
                DataCondition.ABSENT, now.version, f"{operation} of version {now.version} left none of its rows"
            )
        why = f"{operation} of version {now.version} is foreign; its own content is in version {sound.version}"
        return DataVerdict(DataCondition.FOREIGN, now.version, why)

    def _beyond(self, told: int, newest: int) -> DataVerdict:
        """The verdict if the log lacks the version that the run reported: it is an older copy, or gone."""
        condition = DataCondition.FOREIGN if self.files else DataCondition.ABSENT
        end = f"the log ends at version {newest}" if newest >= 0 else "the table has no log"
        return DataVerdict(condition, newest, f"its run wrote version {told}, and {end}")

    @property
    def is_suspect(self) -> bool:
        """Whether our own commits alone do not prove that the data is sound."""
        own = self._sound(None)
        return bool(self.missing) or own is None or own.number != self.contents[-1].number

    def vouch(self) -> None:
        """Records that the present content is what its run reported, which counts as our own commit from now on."""
        last = self.contents[-1]
        self.contents[-1] = last._replace(own=True)

    def to_json(self) -> str:
        """The contents as JSON text, for `of_json`."""
        return json_text([self.files, self.contents, self.missing, self.is_other_table], separators=(",", ":"))

    @classmethod
    def of_json(cls, text: str) -> Self:
        """The inverse of `to_json`."""
        files, contents, missing, is_other_table = json.loads(text)
        held = {name: HeldFile(rows, size, tuple(paths)) for name, (rows, size, paths) in files.items()}
        return cls(held, [Content(*values) for values in contents], missing, is_other_table)

    def _hold(self, files: Iterable[TableFile]) -> None:
        self.files.update((file.identity, HeldFile(file.rows, file.size_bytes, file.paths)) for file in files)

    def _sound(self, told: int | None) -> Content | None:
        """The later of our last own content and the content at the reported version; None without either."""
        own = next((content for content in reversed(self.contents) if content.own), None)
        if told is None or (own is not None and own.version >= told):
            return own
        before = (content for content in reversed(self.contents) if content.version <= told)
        return next(before, self.contents[0])

    def _number(self, digest: str) -> int:
        """The number of an earlier content with the same files, or the next number."""
        same = (content.number for content in reversed(self.contents) if content.digest == digest)
        return next(same, max((content.number for content in self.contents), default=-1) + 1)

    def _digest(self) -> str:
        """A hash of the files; empty without files."""
        return hashlib.blake2b("\n".join(sorted(self.files)).encode(), digest_size=9).hexdigest() if self.files else ""

    def _forget(self) -> None:
        if len(self.contents) <= _KEPT:
            return
        older, kept = self.contents[:-_KEPT], self.contents[-_KEPT:]
        own = [content for content in older if content.own][-1:]
        self.contents = [*own, *kept] if not any(content.own for content in kept) else kept


def by_partition(files: Iterable[TableFile]) -> Mapping[tuple[tuple[str, str | None], ...], list[TableFile]]:
    """Files by the values of their partition, in the order of the columns' names."""
    grouped: dict[tuple[tuple[str, str | None], ...], list[TableFile]] = {}
    for file in files:
        grouped.setdefault(tuple(sorted((file.partition or {}).items())), []).append(file)
    return grouped
