"""Errors of computing a slice.

TransientError
|-- SnapshotMissingError   an input snapshot is not tagged yet
|-- InputMissingError      input slices are not computed yet
`-- SliceBusyError         another run is computing the slice
TerminalError
|-- UnreadFunctionError    the inputs of the entity's Python function are not known yet
|-- RepairSourceError      it is not clear what to repair, or from what
|-- RebuildRefusedError    a table that cannot be rebuilt
|-- SnapshotRestatedError  a single version was requested, and a restated snapshot is not one
|-- RowsMissingError       a slice is completed in the state store, but its rows are missing in storage
|   `-- ExternalRowsError  the same for data of another system
|-- ZoneRulesError         Java's rules of a time zone differ from the rules that slices follow
`-- QualityError           a blocking check failed: the slice is not released, and its table is unchanged
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Self

from tidemark.errors import TerminalError, TransientError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tidemark.dependency_model.slice import Slice
    from tidemark.errors import TidemarkError
    from tidemark.state_store.snapshot_registry import TaggedSnapshot

_SHOWN = 5


class RowsMissingError(TerminalError):
    """A slice is completed in the state store, but its rows are missing in storage. The run computes nothing."""

    @classmethod
    def of(cls, reader: Slice, name: str, slices: Sequence[Slice], where: str, found: str) -> Self:
        named = ", ".join(map(str, slices[:_SHOWN])) + ("..." if len(slices) > _SHOWN else "")
        return cls(
            f"{reader} reads {name}, whose rows are missing",
            expected=f"the rows of {named}",
            found=found,
            where=where,
            hint=f"restore the table, or compute {name} again (tidemark backfill)",
        )


class ExternalRowsError(RowsMissingError):
    """The rows of an external slice cannot be read."""

    @classmethod
    def nowhere(cls, name: str, probe: str) -> Self:
        return cls(
            f"the place of the rows of {name} is not known",
            expected="a probe of rows (delta, files, partitions, sql, kafka), or a table with that name in the lake",
            found=f"a probe of the kind {probe}" if probe else "no probe",
            where=f"{name}.yaml",
            hint="declare such a probe, or depend on it without reading it",
        )

    @classmethod
    def gone(cls, slice_: Slice, found: str) -> Self:
        return cls(
            "external data has disappeared",
            expected="the rows that were seen",
            found=found,
            where=str(slice_),
            hint="check it with `tidemark probe`; report backfill_requested to have it delivered again",
        )

    @classmethod
    def unreadable(cls, slice_: Slice, error: TidemarkError) -> Self:
        return cls(
            "external files cannot be read",
            expected=error.expected
            or "files of one format (by their names), unchanged since the check of their columns",
            found=": ".join(filter(None, (error.where, error.message, error.found))),
            where=str(slice_),
            hint="write them again, or read them in a Python function",
        )

    @classmethod
    def too_many(cls, slice_: Slice, most: int) -> Self:
        return cls(
            "too many rows of a database's table or of a topic for one slice",
            expected=f"at most {most:,} rows",
            found="more",
            where=str(slice_),
            hint="declare a shorter period, or export the table to files",
        )


class SnapshotMissingError(TransientError):
    """An input snapshot is not tagged yet."""

    @classmethod
    def of(cls, slice_: Slice, waiting: str | None = None) -> Self:
        return cls(
            "the snapshot is not complete",
            expected="every shard past the end of the slice",
            found=waiting or "no version with that tag",
            where=str(slice_),
            hint=f"let the capture continue, or materialize {slice_.entity} for {slice_.key} first",
        )

    @classmethod
    def waits(cls, slice_: Slice, until_ms: int) -> Self:
        until = datetime.fromtimestamp(until_ms / 1000, UTC)
        return cls(
            "the snapshot still waits for late events",
            expected=f"every instance past {until:%Y-%m-%d %H:%M:%S} UTC, its allowed_lateness after the slice's end",
            found="a version with that tag, and an instance that is behind",
            where=str(slice_),
            hint="let the capture continue",
        )

    @classmethod
    def untagged(cls, slice_: Slice, why: str, before: TaggedSnapshot | None) -> Self:
        """`before` is the newest tag of an earlier slice."""
        instead = (
            f"{slice_.entity} {before.slice} is tagged, version {before.version}" if before else "no slice is tagged"
        )
        return cls(
            "the snapshot is not tagged, because its rules failed or were not checked yet",
            expected=f"a version that passes its blocking rules; before it, {instead}",
            found=why,
            where=str(slice_),
            hint="correct the rows at the source, or the rule; the next slice is checked separately",
        )


class SnapshotRestatedError(TerminalError):
    """A restated snapshot is a version and late changes, not a single version of its table."""

    @classmethod
    def of(cls, slice_: Slice, version: int) -> Self:
        return cls(
            "the snapshot was restated: it is not a single version",
            found=f"version {version} and late changes",
            where=str(slice_),
            hint="read it with Spark: `snapshot` of tidemark.reader adds the late changes",
        )


class NothingThereThenError(TerminalError):
    """No version of the slice was reported by a past instant."""

    @classmethod
    def of(cls, slice_: Slice, when: datetime, told: str) -> Self:
        return cls(
            "the slice had no known version at that time",
            expected="a version that was reported by then",
            found=repr(told) if told else f"nothing by {when.isoformat(sep=' ', timespec='seconds')}",
            where=str(slice_),
            hint="`tidemark explain ENTITY SLICE --as-of TIME` shows its state at that time",
        )


class InputMissingError(TransientError):
    """Input slices are not computed yet."""

    @classmethod
    def of(cls, slice_: Slice, missing: Sequence[Slice]) -> Self:
        names = ", ".join(str(slice_) for slice_ in missing[:_SHOWN])
        more = f" and {len(missing) - _SHOWN} more" if len(missing) > _SHOWN else ""
        return cls(
            "the slice is not ready",
            expected="all its input slices, computed and checked",
            found=f"missing {names}{more}",
            where=str(slice_),
            hint="materialize these first; nothing was written",
        )


class SliceBusyError(TransientError):
    """Another run is computing the slice, which has one writer at a time."""

    @classmethod
    def of(cls, slice_: Slice, run_id: str) -> Self:
        return cls(
            "another run is computing the slice",
            expected="no active run of the slice",
            found=f"run {run_id}",
            where=str(slice_),
            hint="wait until it ends, or terminate it; nothing was written",
        )


class UnreadFunctionError(TerminalError):
    """The inputs of the entity's Python function are not known yet."""

    @classmethod
    def of(cls, entity: str, inputs: Sequence[str]) -> Self:
        return cls(
            "the slices that its function reads are not known, so their state is not known either",
            expected="an offset for each input, from a check of the current function or from YAML",
            found=f"none for {', '.join(inputs)}",
            where=entity,
            hint="run `tidemark check` and load the definitions again; nothing was written",
        )


class QualityError(TerminalError):
    """A blocking check failed."""

    @classmethod
    def of(cls, slice_: Slice, failed: Mapping[str, str], others: Sequence[Slice] = ()) -> Self:
        """`others` failed in the same run."""
        more = f", and {len(others)} more: {', '.join(map(str, others[:_SHOWN]))}" if others else ""
        return cls(
            "the slice failed its quality checks and is not released",
            found="; ".join(f"{name}: {reason}" for name, reason in failed.items()),
            where=f"{slice_}{more}",
            hint="correct the data or the rule, then materialize the slice again",
        )


class ZoneRulesError(TerminalError):
    """Java's rules of a time zone differ from the rules of slices in the time of a slice."""

    @classmethod
    def of(cls, slice_: Slice, zone: str) -> Self:
        return cls(
            f"Java's clock of {zone} differs from the clock of slices at the time of this slice",
            where=str(slice_),
            hint="update Java: its rules of time zones are older or newer than the package tzdata; `tidemark doctor`"
            " says from which day on they differ",
        )


class RebuildRefusedError(TerminalError):
    """A table that cannot be rebuilt. It is unchanged."""

    @classmethod
    def not_computed(cls, entity: str) -> Self:
        return cls(
            "only a computed table can be rebuilt",
            expected="an entity with a query or a function",
            where=entity,
            hint="`tidemark capture reload` reads a captured table again from its source",
        )

    @classmethod
    def no_table(cls, entity: str, where: str) -> Self:
        return cls(
            f"{entity} has no table yet, so there is nothing to rebuild",
            where=where,
            hint="the center computes its slices when their inputs are there",
        )

    @classmethod
    def not_ready(cls, entity: str, slice_: Slice | None, missing: Sequence[Slice]) -> Self:
        named = ", ".join(map(str, missing[:_SHOWN]))
        return cls(
            "the new table would be without slices of the old one" if missing else "no slice can be computed now",
            expected="all inputs of each slice",
            found=f"{slice_} misses {named}" if slice_ and missing else "no slice that has ended",
            where=entity,
            hint="compute the missing slices first, or set a later `start`; nothing was written",
        )


class RepairSourceError(TerminalError):
    """It is not clear what to repair, or from what."""

    @classmethod
    def unclear(cls, entity: str, count: int) -> Self:
        return cls(
            "the source of the rows is not clear",
            expected="a version, a tag or a recomputation",
            found=f"{count} of these",
            where=entity,
        )

    @classmethod
    def captured(cls, entity: str) -> Self:
        return cls(
            "a captured table cannot be computed again",
            expected="a version or a tag",
            where=entity,
            hint="send the rows from the source again, or take the partition from an older version",
        )

    @classmethod
    def no_slice(cls, slice_: Slice) -> Self:
        return cls("the slice does not exist", expected="a slice between the entity's start and end", where=str(slice_))

    @classmethod
    def no_partition(cls, entity: str, partition: str) -> Self:
        return cls(
            "this is not a partition of a captured table", expected="column=value", found=partition, where=entity
        )

    @classmethod
    def no_tag(cls, entity: str, tag: str, there: Sequence[str]) -> Self:
        return cls(
            "no version has that tag",
            expected=f"one of {', '.join(there[-_SHOWN:])}" if there else "a version with a tag",
            found=tag,
            where=entity,
            hint="`tidemark delta snapshots` lists them; a version can be given by its number, too",
        )

    @classmethod
    def restated(cls, entity: str, tag: str, version: int) -> Self:
        return cls(
            "the snapshot was restated: it is not a single version any more",
            found=f"version {version} and late changes",
            where=f"{entity} {tag}",
            hint="use the version's number to get it without the late changes",
        )
