"""Spark's own overwrite of a Delta table, held between its files and its commit.

`WriteIntoDelta` creates tables, adds columns and maps names like the statement, but returns the actions instead of
committing them. Until the commit the files belong to no version. Only this transaction can read them.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pyspark.sql import DataFrame

from tidemark.delta.commit_info import user_metadata
from tidemark.delta.internals.contract import DELTA
from tidemark.delta.internals.transaction import OptimisticTransaction
from tidemark.delta.live_file import LiveFile, files_of
from tidemark.delta.own_commit import OWN_COMMIT
from tidemark.spark.internals import java_frame, java_session

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_PHYSICAL_NAME = "delta.columnMapping.physicalName"


@dataclass(frozen=True)
class OverwriteActions:
    """The actions of an uncommitted overwrite. Partition values of files have the names that queries use."""

    added: tuple[LiveFile, ...]
    removed: tuple[LiveFile, ...]
    others: tuple[Any, ...]

    def only(self, partitions: Sequence[Mapping[str, str]]) -> OverwriteActions:
        """The actions that touch these partitions (given as in the log), or the table as a whole."""
        added, removed = (tuple(files_of(files, partitions)) for files in (self.added, self.removed))
        return OverwriteActions(added, removed, self.others)


class OverwriteTransaction(OptimisticTransaction):
    """A transaction that can also be Spark's own overwrite."""

    def write_overwrite(self, rows: DataFrame, columns: Sequence[str], predicate: str | None) -> OverwriteActions:
        """Write `rows` as new files.

        `columns` partition the table; `predicate` selects the rows to replace (None: all).
        """
        replaced = {} if predicate is None else {"replaceWhere": predicate}
        return self._write_overwrite(rows, columns, {"mergeSchema": "true", **replaced})

    def write_as_new_table(self, rows: DataFrame, columns: Sequence[str]) -> OverwriteActions:
        """Write `rows` as new files that replace all rows, all columns, and the partition columns of the table."""
        return self._write_overwrite(rows, columns, {"overwriteSchema": "true"})

    def _write_overwrite(self, rows: DataFrame, columns: Sequence[str], options: Mapping[str, str]) -> OverwriteActions:
        session, none, frame = java_session(self._spark), self._none(), java_frame(rows)
        delta_options = self._jvm(f"{DELTA}.DeltaOptions")(self._map(options), session.sessionState().conf())
        mode = self._jvm("org.apache.spark.sql.SaveMode").Overwrite
        write = self._jvm(f"{DELTA}.commands.WriteIntoDelta")(
            self._log,
            mode,
            delta_options,
            self._seq(columns),
            self._map({}),
            frame,
            none,
            none,
            False,  # noqa: FBT003 - Scala's flag
        )
        data = write.writeAndReturnCommitData(self._txn, session, none, False)  # noqa: FBT003 - Scala's flag
        actions = [(action, action.wrap()) for action in self._list(data.actions())]
        added = [wrapped.add() for _, wrapped in actions if wrapped.add() is not None]
        removed = [wrapped.remove() for _, wrapped in actions if wrapped.remove() is not None]
        others = [action for action, wrapped in actions if wrapped.add() is None and wrapped.remove() is None]
        return OverwriteActions(self._named(added), self._named(removed), tuple(others))

    def _named(self, files: list[Any]) -> tuple[LiveFile, ...]:
        """Files whose partition values have the columns' names, not the names in files."""
        fields = json.loads(self._txn.metadata().schema().json())["fields"]
        names = {field["metadata"].get(_PHYSICAL_NAME, field["name"]): field["name"] for field in fields}
        return tuple(
            LiveFile(
                {**told, "partitionValues": {names[key]: text for key, text in told["partitionValues"].items()}}, file
            )
            for told, file in zip(self.describe(files), files, strict=True)
        )

    def read_overwrite(self, actions: OverwriteActions) -> DataFrame:
        """The rows of written files, with the columns that the table has after the commit."""
        described = self._jvm(f"{DELTA}.DummySnapshot")(
            self._log.logPath(),
            self._log,
            self._txn.metadata(),
            self._none(),
            self._jvm("scala.Option").apply(self._txn.protocol()),
        )
        files = self._seq(file.handle for file in actions.added)
        frame = self._log.createDataFrame(described, files, False, self._none())  # noqa: FBT003 - isStreaming
        return DataFrame(frame, self._spark)

    def commit_overwrite(self, actions: OverwriteActions, predicate: str | None, counts: Mapping[str, int]) -> int:
        """Commit and return the version, or the old version if nothing changes. Raises the errors of `commit`."""
        files = [file.handle for file in (*actions.added, *actions.removed)]
        operation = self.overwrite_operation(predicate, counts)
        with user_metadata(self._spark, OWN_COMMIT):
            made = self._txn.commitIfNeeded(self._seq([*actions.others, *files]), operation, self._map({}))
        return int(made.get()) if made.isDefined() else self.version
