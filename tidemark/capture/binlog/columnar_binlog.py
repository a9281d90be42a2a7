"""The records of one topic as columns, cut into the same runs as by `consecutive_records.runs_of`.

Whether a record begins a run depends only on the record before it. So one comparison of columns finds all cuts, once
the records are sorted by offset. Spark's tasks, which read a file each, need not sort them.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from tidemark.capture.binlog.consecutive_records import MINUTE_MS, Novelty, Run
from tidemark.capture.binlog.gtid_policy import BinlogPolicy
from tidemark.capture.binlog.position import MARIADB, MYSQL, BinlogFile, BinlogPlace, Position

COLUMNS = ("instance", "offset", "event_ms", "binlog_file", "binlog_pos", "binlog_row", "gtid")
"""The columns of a change record (`envelope/change_record.py`) that describe its place in the binlog."""


@dataclass(frozen=True)
class Binlog:
    """Records that have a place in a binlog, in the order of their offsets, without duplicates.

    Columns: offset, log (the file's name without its number), file (the number), pos, row, event_ms (epoch ms), origin
    and sequence (of the GTID; NULL without one).
    """

    records: pa.Table

    def before(self, end: int) -> "Binlog":
        """The records before offset `end`."""
        return Binlog(self.records.slice(0, int(np.searchsorted(self._offsets, end))))

    def part(self, run: Run, end: int) -> Run:
        """The part of a run before offset `end`, which is after the run's start and at most the next run's start."""
        start, stop = np.searchsorted(self._offsets, [run.start, end])
        (last,) = self.records.slice(int(stop) - 1, 1).to_pylist()
        newest_ms = int(self._times[start:stop].max())
        return replace(run, last=_position(last), newest_ms=newest_ms, last_sequence=last["sequence"] or 0)

    def positions(self, offsets: Sequence[int]) -> list[Position | None]:
        """The positions of the records at these offsets; None for an offset without a record here."""
        mine = self._offsets
        places = np.searchsorted(mine, offsets)
        rows = pa.array(places, mask=np.append(mine, -1)[places] != offsets)
        return [None if record["pos"] is None else _position(record) for record in self.records.take(rows).to_pylist()]

    def first_at_place(self, offset: int) -> tuple[int, bool]:
        """The first offset of the records at the same place as the one at `offset`.

        Also returns whether these records begin here.
        """
        at = int(np.searchsorted(self._offsets, offset))
        place = self._place(at)
        while at and self._place(at - 1) == place:
            at -= 1
        return int(self._offsets[at]), at == 0

    def _place(self, at: int) -> tuple[str, Position]:
        (record,) = self.records.slice(at, 1).to_pylist()
        return record["log"], _position(record)

    @property
    def has_gtids(self) -> bool:
        """Whether there are records, and all have a GTID."""
        return len(self.records) > 0 and self.records["origin"].null_count == 0

    def last_before(self, end: int) -> BinlogPlace | None:
        """The place of the last record before offset `end`; None if there is no such record."""
        records = self.before(end).records
        last = records.slice(max(len(records) - 1, 0)).to_pylist()
        return BinlogPlace(last[0]["log"], _position(last[0])) if last else None

    @cached_property
    def _offsets(self) -> npt.NDArray[np.int64]:
        return _numbers(self.records, "offset")

    @cached_property
    def _times(self) -> npt.NDArray[np.int64]:
        return _numbers(self.records, "event_ms")

    def runs(self, policy: BinlogPolicy, known: Mapping[str, int]) -> list[Run]:
        """The runs, cut as by `runs_of`."""
        if not self.records:
            return []
        starts = np.flatnonzero(_begins(self.records, policy, known))
        newest = np.maximum.reduceat(_numbers(self.records, "event_ms"), starts)
        ends = np.append(starts[1:], len(self.records)) - 1
        firsts, lasts = (self.records.take(pa.array(places)).to_pylist() for places in (starts, ends))
        return [_run(*first) for first in zip(firsts, lasts, newest.tolist(), strict=True)]


def binlogs_of(records: pa.Table) -> dict[str, Binlog]:
    """The binlog of each instance; `records` has COLUMNS, in any order."""
    records = records.combine_chunks()
    instances = pc.unique(records["instance"]).to_pylist()
    return {instance: _binlog(records.filter(pc.equal(records["instance"], instance))) for instance in instances}


def _binlog(records: pa.Table) -> Binlog:
    offsets = _numbers(records, "offset")
    if np.any(offsets[1:] <= offsets[:-1]):
        records = records.take(pa.array(np.unique(offsets, return_index=True)[1]))
    log, file = _files(records["binlog_file"])
    origin, sequence = _gtids(records["gtid"])
    columns = {
        "offset": records["offset"],
        "log": log,
        "file": file,
        "pos": records["binlog_pos"],
        "row": records["binlog_row"],
        "event_ms": records["event_ms"],
        "origin": origin,
        "sequence": sequence,
    }
    return Binlog(pa.table(columns).filter(pc.is_valid(log)).combine_chunks())


def _files(names: pa.ChunkedArray) -> tuple[pa.Array, pa.Array]:
    """The name of the log and the number of the file, as from `BinlogFile.parse`."""
    coded = names.combine_chunks().dictionary_encode()
    parsed = [BinlogFile.parse(text) for text in coded.dictionary.to_pylist()]
    log = pa.array([file.base if file else None for file in parsed], pa.string())
    file = pa.array([file.number if file else None for file in parsed], pa.int64())
    return log.take(coded.indices), file.take(coded.indices)


def _gtids(texts: pa.ChunkedArray) -> tuple[pa.ChunkedArray, pa.ChunkedArray]:
    """Origin and sequence, as from `Gtid.parse`."""
    mariadb, mysql = (pc.extract_regex(texts, form.pattern) for form in (MARIADB, MYSQL))
    origin = pc.coalesce(pc.struct_field(mariadb, "origin"), pc.struct_field(mysql, "origin"))
    sequence = pc.coalesce(pc.struct_field(mariadb, "sequence"), pc.struct_field(mysql, "sequence"))
    return origin, sequence.cast(pa.int64())


def _begins(records: pa.Table, policy: BinlogPolicy, known: Mapping[str, int]) -> npt.NDArray[np.bool_]:
    """Whether each record begins a run."""
    log, origin = _codes(records, "log"), _codes(records, "origin")
    file, pos, row = (_numbers(records, name) for name in Position._fields)
    minute = _numbers(records, "event_ms") // MINUTE_MS
    grows = (pos[1:] > pos[:-1]) | (_same(pos) & (row[1:] > row[:-1]))
    step = np.diff(_numbers(records, "sequence"))
    follows = _same(log) & _same(file) & grows & _same(origin)
    goes_on = follows & _same(minute) & _same(_novelty(records, follows, known)) & (step >= 0)
    if policy.dense_gtids:
        goes_on &= step <= 1
    return np.append([True], ~goes_on)


def _novelty(records: pa.Table, follows: npt.NDArray[np.bool_], known: Mapping[str, int]) -> npt.NDArray[np.int64]:
    """The `Novelty` of each record.

    `follows` says, for all but the first, whether a record is after the one before it.
    """
    compared = np.sign(_numbers(records, "sequence") - _newest_before(records, known))
    places = np.arange(len(compared))
    decided = np.maximum.accumulate(np.where((compared != 0) | ~np.append([False], follows), places, 0))
    is_new = (compared > 0) | ((compared == 0) & (compared[decided] > 0))
    return np.where(is_new, Novelty.NEW, np.minimum(compared, Novelty.AGAIN))


def _newest_before(records: pa.Table, known: Mapping[str, int]) -> npt.NDArray[np.int64]:
    """The newest earlier transaction of each record's origin; -1 if there is none."""
    sequence = _numbers(records, "sequence")
    newest = np.full(len(sequence), -1, np.int64)
    for origin in pc.unique(records["origin"]).drop_null().to_pylist():
        mine = np.flatnonzero(pc.equal(records["origin"], origin).fill_null(fill_value=False))
        newest[mine] = np.maximum.accumulate(np.append(known.get(origin, -1), sequence[mine]))[:-1]
    return newest


def _same(values: npt.NDArray[np.int64]) -> npt.NDArray[np.bool_]:
    """Whether each value equals the one before it, for all but the first."""
    return values[1:] == values[:-1]  # type: ignore[no-any-return]


def _numbers(records: pa.Table, name: str) -> npt.NDArray[np.int64]:
    return records[name].cast(pa.int64()).fill_null(0).to_numpy()  # type: ignore[no-any-return]


def _codes(records: pa.Table, name: str) -> npt.NDArray[np.int64]:
    """An integer for each distinct text, and -1 for NULL."""
    codes = records[name].combine_chunks().dictionary_encode().indices
    return codes.fill_null(-1).to_numpy(zero_copy_only=False).astype(np.int64)  # type: ignore[no-any-return]


def _run(first: Mapping[str, Any], last: Mapping[str, Any], newest_ms: int) -> Run:
    return Run(
        start=first["offset"],
        base=first["log"],
        first=_position(first),
        last=_position(last),
        first_ms=first["event_ms"],
        newest_ms=newest_ms,
        origin=first["origin"],
        first_sequence=first["sequence"] or 0,
        last_sequence=last["sequence"] or 0,
    )


def _position(record: Mapping[str, Any]) -> Position:
    return Position(*(record[name] for name in Position._fields))
