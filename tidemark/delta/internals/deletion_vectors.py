"""Delta's deletion vectors: mark rows as deleted without rewriting their file. A commit's vectors share one file."""

from collections.abc import Sequence
from types import TracebackType
from typing import Any, Self

from tidemark.delta.internals.contract import DELTA
from tidemark.spark.internals import Jvm
from tidemark.strict_json import json_text


class DeletionVectorFile:
    """Writes vectors; `log` is the table's DeltaLog. Close it before the commit."""

    def __init__(self, jvm: Jvm, log: Any) -> None:
        self._jvm = jvm
        conf = log.newDeltaHadoopConf()
        self._table = log.dataPath()
        self._store = jvm.scala_object(f"{DELTA}.storage.dv.DeletionVectorStore").createInstance(conf)
        self._id = jvm("java.util.UUID").randomUUID()
        table = jvm(f"{DELTA}.util.PathWithFileSystem").withConf(self._table, conf)
        self._writer = self._store.createWriter(self._store.generateFileNameInTable(table, self._id, ""))

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._writer.close()

    def hide(self, file: Any, positions: Sequence[int]) -> list[Any]:
        """The actions that hide the rows at `positions` of an AddFile, in addition to hidden rows."""
        bitmap = self._bitmap(positions)
        before = file.deletionVector()
        if before is not None:
            stored = self._jvm(f"{DELTA}.deletionvectors.StoredBitmap").create(before, self._table)
            bitmap.merge(stored.load(self._store))
        portable = self._jvm(f"{DELTA}.deletionvectors.RoaringBitmapArrayFormat").Portable()
        serialized = bitmap.serializeAsByteArray(portable)
        some, none = self._jvm("scala.Option").apply, self._jvm("scala.Option").empty
        offset = some(int(self._writer.write(serialized).offset()))
        vector = self._jvm(f"{DELTA}.actions.DeletionVectorDescriptor").onDiskWithRelativePath(
            self._id, "", len(serialized), int(bitmap.cardinality()), offset, none()
        )
        pair = file.removeRows(vector, True, True)  # noqa: FBT003 - Scala's updateStats and dataChange
        return [pair._1(), pair._2()]  # noqa: SLF001 - a Scala pair's first and second

    def _bitmap(self, positions: Sequence[int]) -> Any:
        """The positions are passed as one text, because each py4j call takes 0.1 ms."""
        longs = self._jvm("java.lang.Class").forName("[J")
        mapper = self._jvm("com.fasterxml.jackson.databind.ObjectMapper")()
        array = mapper.readValue(json_text(list(positions)), longs)
        wrapped = self._jvm("scala.collection.immutable.ArraySeq").unsafeWrapArray(array)
        bitmap = self._jvm(f"{DELTA}.deletionvectors.RoaringBitmapArray")()
        bitmap.addAll(wrapped)
        return bitmap


def size_of(file: Any) -> int:
    """The bytes of an AddFile."""
    return int(file.size())


def hidden_rows(file: Any) -> int:
    """The number of hidden rows of an AddFile."""
    vector = file.deletionVector()
    return 0 if vector is None else int(vector.cardinality())
