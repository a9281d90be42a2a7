"""A Delta transaction in parts: read a version, write files, commit any mix of added and removed files.

Each of Delta's SQL statements decides itself what it reads, rewrites and logs. Here one commit can append to a
partition, rewrite files of another and hide rows of a third, with the same checks against other writers as a MERGE. It
uses Delta's `OptimisticTransaction` through py4j, because Python has no public name for it.

With a named operation, Delta derives the next checksum file without another read of the log. A version whose checksum
lists its files (`allFilesInCrc`) opens without a Spark job. So a small merge takes a quarter of MERGE's processor time.
"""

import json
import time
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as sf
from pyspark.sql.types import StructType

from tidemark.delta.commit_info import Transaction, user_metadata
from tidemark.delta.internals.contract import DELTA, SPARK
from tidemark.delta.internals.deletion_vectors import DeletionVectorFile
from tidemark.delta.internals.scala_json import python_of
from tidemark.delta.live_file import file_name
from tidemark.delta.own_commit import OWN_COMMIT
from tidemark.delta.transaction_chain import is_replay
from tidemark.quoting.spark import quote, sql_literal
from tidemark.spark.internals import Jvm, java_frame, java_session
from tidemark.strict_json import json_text
from tidemark.system.table_location import TableLocation


def _equal(partition: Mapping[str, str]) -> str:
    return " AND ".join(f"{quote(name)} = {sql_literal(value)}" for name, value in partition.items())


class OptimisticTransaction:
    """One attempt at one commit, based on `version`, the newest version at its start."""

    def __init__(self, spark: SparkSession, path: TableLocation) -> None:
        self._spark = spark
        self._path = path
        self._jvm = jvm = Jvm(spark)
        self._activate()
        self._log = jvm(f"{DELTA}.DeltaLog").forTable(java_session(spark), str(path))
        # By default a transaction would look for the newest version once more.
        newest = self._log.update(False, self._none(), self._none())  # noqa: FBT003 - Scala's stalenessAcceptable
        self._txn = self._log.startTransaction(self._none(), jvm("scala.Option").apply(newest))
        self._schema: StructType = StructType.fromJson(json.loads(self._txn.snapshot().schema().json()))
        self.version = int(self._txn.snapshot().version())
        self.columns: tuple[str, ...] = tuple(self._schema.names)
        self.has_deletion_vectors = self.property("delta.enableDeletionVectors") == "true"

    @property
    def partition_columns(self) -> tuple[str, ...]:
        """The table's partition columns, in its order."""
        return tuple(map(str, self._list(self._txn.snapshot().metadata().partitionColumns())))

    @property
    def schema(self) -> StructType:
        """The table's columns with their metadata."""
        return self._schema

    @property
    def definition(self) -> str:
        """The table's definition as text: columns, properties, protocol. Files written under another one do not fit."""
        snapshot = self._txn.snapshot()
        return f"{snapshot.metadata().json()} {snapshot.protocol().json()}"

    def property(self, name: str) -> str | None:
        """A table property; None if it is not set."""
        configured = self._txn.snapshot().metadata().configuration().get(name)
        return str(configured.get()) if configured.isDefined() else None

    def has_applied(self, transaction: Transaction) -> bool:
        """Whether that transaction is in the table. Raises ForeignCommitError (transaction_chain.is_replay)."""
        return is_replay(self._path, transaction, self._applied(transaction.app))

    def _applied(self, app: str) -> int:
        """The application's newest number, -1 if there is none."""
        checksum = self._txn.snapshot().checksumOpt()
        listed = checksum.get().setTransactions() if checksum.isDefined() else checksum
        if not listed.isDefined():
            return int(self._txn.txnVersion(app))
        # As in txnVersion, another commit of this application is a conflict from here on. But txnVersion reads the log.
        self._txn.readTxn().append(app)
        applied = {str(commit.appId()): int(commit.version()) for commit in self._list(listed.get())}
        return applied.get(app, -1)

    def depends_on(self, predicate: str | None) -> None:
        """Make later commits that add rows within `predicate` (on partition columns) a conflict.

        None means any row of the whole table.
        """
        if predicate is None:
            self._txn.readWholeTable()
        else:
            self._txn.trackReadPredicates(self._predicates(predicate), False, True)  # noqa: FBT003 - Scala's flags

    def files(self, names: Collection[str], predicate: str | None = None) -> dict[str, Any]:
        """Delta's AddFiles by file name, for these names. `predicate` (on partition columns) holds for all of them."""
        listed = self._list_files(predicate, self._txn.snapshot())
        files = self._jvm("scala.jdk.javaapi.CollectionConverters").asJava(listed)
        place = {file_name(file["path"]): at for at, file in enumerate(self.describe(listed))}
        return {name: files.get(place[name]) for name in names}

    def files_of(self, described: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
        """Delta's AddFiles by file name, for live files given as in the log."""
        return {file_name(file["path"]): self._add(file) for file in described}

    def files_in(self, partitions: Sequence[Mapping[str, str]]) -> list[Any]:
        """Delta's AddFiles of exactly these partitions: partition column -> value, as in the log."""
        return [file for file, _ in self.descriptions_of_files(partitions)]

    def descriptions_of_files(
        self, partitions: Sequence[Mapping[str, str]], version: int | None = None
    ) -> list[tuple[Any, dict[str, Any]]]:
        """The result of `files_in`, now or at an older version, each file with its description in the log."""
        some_are_in = " OR ".join(f"({_equal(partition)})" for partition in partitions)
        listed = self._list_files(some_are_in, self._snapshot(version))
        files = self._jvm("scala.jdk.javaapi.CollectionConverters").asJava(listed)
        described = enumerate(self.describe(listed))
        return [(files.get(at), file) for at, file in described if file["partitionValues"] in partitions]

    def files_matching(self, predicate: str | None) -> list[Any]:
        """Delta's AddFiles that may hold rows within `predicate`, by partition and by bounds."""
        if predicate is None:
            return self._list(self._list_files(None, self._txn.snapshot()))
        scan = self._txn.snapshot().filesForScan(self._predicates(predicate), True)  # noqa: FBT003 - keepNumRecords
        return self._list(scan.files())

    def describe(self, files: Any) -> list[dict[str, Any]]:
        """AddFiles (a Scala sequence or a list) as in the log, converted by one call."""
        seq = self._seq(files) if isinstance(files, list) else files
        described: list[dict[str, Any]] = python_of(self._jvm, seq)
        return described

    def read(self, files: Iterable[Any], version: int | None = None) -> DataFrame:
        """The rows of files, with the columns of an older version, deletion vectors applied; with `_metadata`."""
        snapshot = self._snapshot(version)
        frame = self._log.createDataFrame(snapshot, self._seq(files), False, self._none())  # noqa: FBT003
        return DataFrame(frame, self._spark)

    def cast_to_table(self, rows: DataFrame) -> DataFrame:
        """The rows with the table's columns in its order and types."""
        return rows.select(
            *(sf.col(quote(field.name)).cast(field.dataType).alias(field.name) for field in self._schema)
        )

    def write(self, rows: DataFrame) -> list[Any]:
        """Write `rows` as new files, which belong to the table after the commit."""
        return self._list(self._txn.writeFiles(java_frame(rows)))

    def rewrite(self, rows: DataFrame) -> list[Any]:
        """Write rows of the table as new files, one for each task and partition, as an OPTIMIZE does."""
        return self._list(self._txn.writeFiles(java_frame(rows), self._none(), True, self._seq([])))  # noqa: FBT003

    def unchanging(self, described: Iterable[Mapping[str, Any]], tags: Mapping[str, str]) -> list[Any]:
        """The actions that add files, given as in the log, without a change of the table's content."""
        return [self._add({**file, "dataChange": False, "tags": dict(tags)}) for file in described]

    def hide(self, positions: Iterable[tuple[Any, Sequence[int]]]) -> list[Any]:
        """The actions that hide rows of files by deletion vectors: (file, positions in it)."""
        with DeletionVectorFile(self._jvm, self._log) as vectors:
            return [action for file, rows in positions for action in vectors.hide(file, rows)]

    def removal(self, files: Iterable[Any]) -> list[Any]:
        """The actions that remove `files` from the table."""
        return [file.remove() for file in files]

    def exists(self, file: Any) -> bool:
        """Whether an AddFile's data and its deletion vector are still in storage."""
        table = self._log.dataPath()
        system = table.getFileSystem(self._log.newDeltaHadoopConf())
        vector = file.deletionVector()
        paths = [file.absolutePath(self._log)]
        if vector is not None and vector.isOnDisk():
            paths.append(vector.absolutePath(table))
        return all(bool(system.exists(path)) for path in paths)

    def put_back(self, described: Mapping[str, Any]) -> Any:
        """The action that makes a file of an older version live again, as a change of data."""
        return self._add({**described, "dataChange": True})

    def _add(self, described: Mapping[str, Any]) -> Any:
        return self._jvm.scala_object(f"{DELTA}.actions.Action").fromJson(json_text({"add": described}))

    def unchanging_removal(self, files: Iterable[Any]) -> list[Any]:
        """The actions that remove files whose content is in other files of the commit."""
        now = int(time.time() * 1000)
        return [file.removeWithTimestamp(now, False) for file in files]  # noqa: FBT003 - Scala's dataChange

    def _activate(self) -> None:
        """Activate the session in this thread, because Delta reads its settings and a commit's metadata from there."""
        self._jvm(f"{SPARK}.classic.SparkSession").setActiveSession(java_session(self._spark))

    def commit(self, actions: Sequence[Any], operation: Any, transaction: Transaction | None, metadata: str) -> int:
        """Commit and return the version. Raises delta.exceptions of a conflict; then nothing is written."""
        own = [] if transaction is None else [self._set_transaction(transaction)]
        self._activate()  # quality rules may have read the files by another session
        with user_metadata(self._spark, metadata or OWN_COMMIT):
            return int(self._txn.commit(self._seq([*own, *actions]), operation))

    def merge_operation(self, counts: Mapping[str, int]) -> Any:
        """A MERGE for the history, with its metrics."""
        self._report_metrics(counts)
        nothing, empty = self._none(), self._seq([])
        return self._operation("Merge")(nothing, nothing, nothing, nothing, empty, empty, empty)

    def overwrite_operation(self, predicate: str | None, counts: Mapping[str, int]) -> Any:
        """An overwrite of the rows within `predicate`, or of all, for the history, with its metrics."""
        self._report_metrics(counts)
        some, none = self._jvm("scala.Option").apply, self._none()
        mode = self._jvm("org.apache.spark.sql.SaveMode").Overwrite
        columns = some(self._txn.metadata().partitionColumns())
        where = none if predicate is None else some(predicate)
        return self._operation("Write")(mode, columns, where, none, none, none, none, none, none)

    def empty_operation(self) -> Any:
        """An append of no rows: a commit with metadata only."""
        self._report_metrics(dict.fromkeys(("numFiles", "numOutputBytes", "numOutputRows"), 0))
        mode, none = self._jvm("org.apache.spark.sql.SaveMode").Append, self._none()
        return self._operation("Write")(mode, none, none, none, none, none, none, none, none)

    def optimize_operation(self, columns: Sequence[str], predicate: str | None, counts: Mapping[str, int]) -> Any:
        """An OPTIMIZE by `columns` for the history, with its metrics."""
        self._report_metrics(counts)
        predicates = self._seq([]) if predicate is None else self._predicates(predicate)
        return self._operation("Optimize")(predicates, self._seq(columns), False, self._none(), False)  # noqa: FBT003

    def _report_metrics(self, counts: Mapping[str, int]) -> None:
        context = java_session(self._spark).sparkContext()
        metrics = self._jvm("java.util.HashMap")()
        make = self._jvm(f"{SPARK}.execution.metric.SQLMetrics").createMetric
        for name, count in counts.items():
            metric = make(context, name)
            metric.set(count)
            metrics.put(name, metric)
        self._txn.registerSQLMetrics(java_session(self._spark), self._immutable(metrics))

    def _map(self, items: Mapping[str, str]) -> Any:
        collected = self._jvm("java.util.HashMap")()
        for name, value in items.items():
            collected.put(name, value)
        return self._immutable(collected)

    def _immutable(self, java_map: Any) -> Any:
        # Scala's toMap needs evidence that its items are pairs.
        evidence = self._jvm.scala_object("scala.$less$colon$less").refl()
        return self._jvm("scala.jdk.javaapi.CollectionConverters").asScala(java_map).toMap(evidence)

    def _operation(self, name: str) -> Any:
        return self._jvm(f"{DELTA}.DeltaOperations${name}")

    def _set_transaction(self, transaction: Transaction) -> Any:
        updated = self._jvm("scala.Option").apply(int(time.time() * 1000))
        return self._jvm(f"{DELTA}.actions.SetTransaction")(transaction.app, transaction.number, updated)

    def _snapshot(self, version: int | None) -> Any:
        if version is None:
            return self._txn.snapshot()
        return self._log.getSnapshotAt(version, self._none(), self._none(), False)  # noqa: FBT003 - Scala's flag

    def _list_files(self, predicate: str | None, snapshot: Any) -> Any:
        """A Scala sequence with at least the snapshot's files within `predicate`."""
        checksum = snapshot.checksumOpt()
        listed = checksum.get().allFiles() if checksum.isDefined() else checksum
        # Spark builds a snapshot's query again after each commit, which takes most of a second.
        if listed.isDefined():
            return listed.get()
        wanted = self._seq([]) if predicate is None else self._predicates(predicate)
        return snapshot.filesForScan(wanted, True).files()  # noqa: FBT003 - Scala's keepNumRecords

    def _predicates(self, predicate: str) -> Any:
        parser = java_session(self._spark).sessionState().sqlParser()
        return self._seq([parser.parseExpression(predicate)])

    def _none(self) -> Any:
        return self._jvm("scala.Option").empty()

    def _seq(self, items: Iterable[Any]) -> Any:
        collected = self._jvm("java.util.ArrayList")()
        for item in items:
            collected.add(item)
        return self._jvm("scala.jdk.javaapi.CollectionConverters").asScala(collected).toSeq()

    def _list(self, seq: Any) -> list[Any]:
        """The items by index: the exception at the end of a Java iterator costs as much as a hundred items."""
        listed = self._jvm("scala.jdk.javaapi.CollectionConverters").asJava(seq)
        return [listed.get(index) for index in range(int(listed.size()))]
