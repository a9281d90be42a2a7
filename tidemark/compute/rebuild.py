"""Rebuilds a computed table: other slices, other partition columns, other types of columns.

Its slices are computed into a table beside it, and one commit swaps them. Before that commit nothing changes, and after
it only the report to Dagster is missing: a rebuild that was killed is simply repeated.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from tidemark.compute.business_time import slice_values
from tidemark.compute.errors import RebuildRefusedError
from tidemark.delta.delta_rs_table import current_version
from tidemark.delta.maintenance_lease import maintaining
from tidemark.delta.swap_table import swap_table
from tidemark.dependency_model.status import RunState
from tidemark.storage.stored_files import stored_files
from tidemark.system.crash_points import crash_point

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from tidemark.compute.quality_checks import Audit
    from tidemark.compute.runtime import Runtime
    from tidemark.compute.slice_computer import ComputedSlice
    from tidemark.dependency_model.slice import Slice
    from tidemark.system.table_location import TableLocation

_BESIDE: Final = ".rebuilt"
_SLICES_A_COMMIT: Final = 16


@dataclass(frozen=True)
class PlannedRebuild:
    """`slices` of `entity` are computed, in order of time. `waiting` have the missing inputs of the others."""

    entity: str
    slices: tuple[Slice, ...]
    waiting: Mapping[Slice, tuple[Slice, ...]]


def require_rebuildable(runtime: Runtime, planned: PlannedRebuild) -> None:
    """Raise RebuildRefusedError if it is not a computed table, if it has no rows yet, or if it would lose a slice."""
    warehouse, entity = runtime.warehouse, planned.entity
    if entity not in warehouse.queries and entity not in warehouse.functions:
        raise RebuildRefusedError.not_computed(entity)
    path = warehouse.table_path(entity)
    if current_version(path) is None:
        raise RebuildRefusedError.no_table(entity, str(path))
    there = runtime.state.currents(planned.waiting)
    lost = [current.slice for current in there if current.status.run_state is RunState.COMPLETED]
    if lost or not planned.slices:
        slice_ = lost[0] if lost else next(iter(planned.waiting), None)
        raise RebuildRefusedError.not_ready(entity, slice_, planned.waiting.get(slice_, ()) if slice_ else ())


def carry_out(runtime: Runtime, planned: PlannedRebuild) -> Iterator[ComputedSlice]:
    """Compute the slices, swap the tables, and describe each slice of the new version.

    Raises RebuildRefusedError, QualityError, TableChangedError and AlreadyRunningError; then the table is unchanged.
    """
    require_rebuildable(runtime, planned)
    path = runtime.warehouse.table_path(planned.entity)
    with maintaining(runtime.database, path):
        version, staged = current_version(path) or 0, path.with_name(f"{path.name}{_BESIDE}")
        files = stored_files(staged)
        files.delete_all()
        audits = _staged(runtime, planned, staged)
        columns = list(slice_values(runtime.warehouse.entities[planned.entity], planned.slices[0]))
        swap_table(runtime.spark.newSession(), staged, path, columns, version)
        files.delete_all()
    computer = runtime.computer()
    for slice_ in planned.slices:
        yield computer.check_stored_slice(slice_, audits[slice_])


def _staged(runtime: Runtime, planned: PlannedRebuild, staged: TableLocation) -> dict[Slice, Audit]:
    """The results of the rules for the slices, which are in the table at `staged` then."""
    beside = replace(runtime, warehouse=replace(runtime.warehouse, staged={planned.entity: staged}))
    entity, computer = runtime.warehouse.entities[planned.entity], beside.computer()
    reads_itself = planned.entity in {dependency.entity for dependency in entity.depends_on}
    audits: dict[Slice, Audit] = {}
    for some in _groups(planned.slices, 1 if reads_itself else _SLICES_A_COMMIT):
        audits.update(computer.stage(some, staged))
        crash_point("rebuild.slices_staged")
    return audits


def _groups(slices: Sequence[Slice], most: int) -> Iterator[Sequence[Slice]]:
    for start in range(0, len(slices), most):
        yield slices[start : start + most]
