"""What a partition held after each commit that changed it, and whether it still is what its slice was written as.

Contents have numbers. A commit of somebody else makes a new one, or one that was there before where it brings back the
same files (RESTORE); one that only moves rows into other files (OPTIMIZE, clustering, compaction) keeps the number. The
slice is sound while the number is that of our last write, or of the version that its run told, if that is later.
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
"""So many contents are remembered; of those before, the last one that is ours."""


class DataCondition(Enum):
    """What became of a slice's data in storage."""

    SOUND = "sound"
    FOREIGN = "foreign"
    ABSENT = "absent"


class DataVerdict(NamedTuple):
    """`version` is the last that changed the partition; `why` what happened, for people."""

    condition: DataCondition
    version: int
    why: str


class ToldData(NamedTuple):
    """What a slice's last run told of it: the version of its table, and rows; None where it did not."""

    version: int | None = None
    rows: int | None = None


class HeldFile(NamedTuple):
    """A live file: its rows (None: the log does not say), bytes, and what has to be on disk."""

    rows: int | None
    size_bytes: int
    paths: tuple[str, ...]


class Content(NamedTuple):
    """After commit `version` the files were those of `digest`; equal `number`, equal rows. `own` is by our own word."""

    version: int
    digest: str
    number: int
    own: bool
    operation: str


@dataclass(slots=True)
class PartitionContents:
    """Changed in place by `take`. `missing` is how many live files were not on disk when they were last looked for.

    With `is_other_table` what runs told before is of a table that was at this place earlier, and means nothing here.
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
        """Rows that are not hidden, as far as the log says."""
        return sum(file.rows or 0 for file in self.files.values())

    @property
    def size_bytes(self) -> int:
        return sum(file.size_bytes for file in self.files.values())

    def begin(self, version: int, files: Iterable[TableFile]) -> None:
        """What is live at a checkpoint, where nothing older is known: taken as it is."""
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
        """One commit that adds or removes files here."""
        for file in removed:
            self.files.pop(file.identity, None)
        self._hold(added)
        self.missing = 0
        digest = self._digest()
        number = self._number(digest) if changes_rows else self.contents[-1].number
        self.contents.append(Content(version, digest, number, is_own and changes_rows, operation))
        self._forget()

    def lose_all(self, operation: str) -> None:
        """The table itself is gone, and no commit says so: no version that a run told is of what is there now."""
        self.files, self.missing, self.is_other_table = {}, 0, True
        self.contents.append(Content(self.version + 1, "", self._number(""), own=False, operation=operation))
        self._forget()

    def lose_commit(self, version: int) -> None:
        """The commit that a run told has lost its actions: what it wrote is not there."""
        lost = Content(version, _LOST, -1, own=True, operation=f"the emptied commit {version}")
        self.contents[-1:] = [lost, self.contents[-1]._replace(own=False)]

    def succeed(self, earlier: PartitionContents, *, is_other_table: bool) -> None:
        """After the log was read anew: what was sound before has to be there, unless we wrote after it.

        A log that does not have it any more is that of an older copy, or lost a commit: its versions are not those that
        runs told.
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
        """Whether the slice is what it was written as, by our own word and by what its last run told.

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
                DataCondition.ABSENT, now.version, f"its run told {told.rows} rows, and its table has none of it"
            )
        is_untouched = bool(self.files) or len(self.contents) == 1
        if is_untouched if sound is None else sound.number == now.number:
            return DataVerdict(DataCondition.SOUND, now.version, "")
        if sound is None or not self.files:
            return DataVerdict(
                DataCondition.ABSENT, now.version, f"{operation} of version {now.version} left nothing of it"
            )
        why = f"{operation} of version {now.version} is not ours; its own content is that of version {sound.version}"
        return DataVerdict(DataCondition.FOREIGN, now.version, why)

    def _beyond(self, told: int, newest: int) -> DataVerdict:
        """The run told a version that the log does not have: it is that of an older copy, or gone."""
        condition = DataCondition.FOREIGN if self.files else DataCondition.ABSENT
        end = f"the log ends at version {newest}" if newest >= 0 else "the table has no log"
        return DataVerdict(condition, newest, f"its run wrote version {told}, and {end}")

    @property
    def is_suspect(self) -> bool:
        """Whether it is not sound by our own word alone."""
        own = self._sound(None)
        return bool(self.missing) or own is None or own.number != self.contents[-1].number

    def vouch(self) -> None:
        """What is there now is what its run told: from now on our own word."""
        last = self.contents[-1]
        self.contents[-1] = last._replace(own=True)

    def to_json(self) -> str:
        """Text that `of_json` reads back."""
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
        """The last content by our own word, or as it was at the version told, whichever is later; None for neither."""
        own = next((content for content in reversed(self.contents) if content.own), None)
        if told is None or (own is not None and own.version >= told):
            return own
        before = (content for content in reversed(self.contents) if content.version <= told)
        return next(before, self.contents[0])

    def _number(self, digest: str) -> int:
        """That of an earlier content of the same files, or the next one."""
        same = (content.number for content in reversed(self.contents) if content.digest == digest)
        return next(same, max((content.number for content in self.contents), default=-1) + 1)

    def _digest(self) -> str:
        """Nothing for no files."""
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
