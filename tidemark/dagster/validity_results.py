"""The check `valid` of an entity: the results from runs that compute a slice. The center reports other changes.

A run knows other slices' flags from the state store, and its own rows' results itself. The center corrects differences
after the run (`center/validity_checks.py`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import dagster as dg

from tidemark.dagster_internals.partition_checks import of_newest_materialization
from tidemark.dependency_model.entity.profile_settings import Anomalies
from tidemark.dependency_model.status import SliceStatus
from tidemark.dependency_model.status.flaws import VALID, VALIDITY_CHECK, flaws
from tidemark.warehouse.dagster_partition_keys import partition_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from tidemark.compute.slice_computer import ComputedSlice
    from tidemark.dependency_model.entity import Entity
    from tidemark.dependency_model.graph import DependencyGraph
    from tidemark.dependency_model.slice import Slice
    from tidemark.state_store.reader import StateReader


def reached_by_rules(graph: DependencyGraph) -> frozenset[str]:
    """Entities with a rule that holds slices back, and all entities whose slices it can make invalid or hold."""
    open_ = [name for name in graph if _is_judged(graph.entity(name))]
    reached: set[str] = set()
    while open_:
        name = open_.pop()
        if name not in reached:
            reached.add(name)
            open_ += graph.series_of(name)
            open_ += [edge.down.name for edge in graph.downstream_edges(name)]
    return frozenset(reached)


def _is_judged(entity: Entity) -> bool:
    rules = (*entity.quality, *entity.quality_on_anomaly)
    return entity.anomalies is Anomalies.BLOCK or any(rule.severity == "block" for rule in rules)


def validity_spec(entity: Entity, partitions: dg.PartitionsDefinition[Any] | None) -> dg.AssetCheckSpec:
    """The check's spec. It does not block, because the center holds the readers of the slice."""
    return dg.AssetCheckSpec(
        VALIDITY_CHECK,
        asset=entity.name,
        description="Fails while a broken rule reaches the slice: its own, that of a slice of its series within or "
        "around its window, or that of an input, also while it waits for the input. `broken_rules` says which; nothing "
        "reads the slice meanwhile but what ignores quality.",
        partitions_def=partitions,
    )


def validity_results(
    context: dg.AssetExecutionContext, entity: Entity, state: StateReader, computed: Sequence[ComputedSlice]
) -> Iterator[dg.Output[None] | dg.AssetCheckEvaluation]:
    """The result of each slice of a run, published or not, after Dagster knows the materializations."""
    spec = next((spec for spec in context.assets_def.check_specs if spec.name == VALIDITY_CHECK), None)
    if spec is None:
        return
    yield dg.Output(None, output_name=spec.get_python_identifier())
    known = {current.slice: current.status for current in state.currents([result.slice for result in computed])}
    for result in computed:
        why = _why_not(result, known)
        evaluation = dg.AssetCheckEvaluation(
            asset_key=spec.asset_key,
            check_name=VALIDITY_CHECK,
            passed=not why,
            partition=partition_of(entity, result.slice),
            description=f"as it was computed: {why}" if why else VALID,
        )
        yield of_newest_materialization(context.instance, evaluation)


def _why_not(result: ComputedSlice, known: Mapping[Slice, SliceStatus]) -> str:
    """Why the slice is invalid: its own rules now, and flags of other slices. A taint ends with the earlier content."""
    status = known.get(result.slice, SliceStatus())
    is_broken = frozenset({result.slice} if result.audit.blocks else ())
    return "; ".join(flaws(result.slice, SliceStatus(issues=status.issues - {result.slice} | is_broken)))
