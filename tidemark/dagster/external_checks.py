"""The rules of an external asset as checks with its partitions. The center reports the results of its probes (A5).

A button on the asset's page runs the checks on the newest slice. The result is only shown on the page. Only the
center's own probes, two with the same result, release a slice.
"""

import os
from collections.abc import Container, Iterator, Sequence

import dagster as dg

from tidemark.center.detectors.observed_in_dagster import MaterializedAssets
from tidemark.center.detectors.slice_rules import judge
from tidemark.center.outside_world import look_once, newest_slice
from tidemark.crawl.connection_secrets import ConnectionSecrets
from tidemark.dagster.partitions import slice_partitions
from tidemark.dagster.rule_specs import rule_specs
from tidemark.dagster.validity_results import reached_by_rules, validity_spec
from tidemark.dependency_model.arrival.sighting import Sight
from tidemark.dependency_model.entity import Entity
from tidemark.dependency_model.slice import Slice
from tidemark.dependency_model.status.flaws import VALID, flaws
from tidemark.state_store.database import Database
from tidemark.state_store.reader import SqlStateReader
from tidemark.state_store.record_counts import RecordCounts
from tidemark.system.utc_clock import utc_now
from tidemark.warehouse.dagster_partition_keys import slice_of
from tidemark.warehouse.warehouse import Warehouse


def external_checks(warehouse: Warehouse, own: Container[str] = ()) -> list[dg.AssetChecksDefinition]:
    """The checks of each external entity: of its rules if it has a probe, and of the validity of its slices.

    `own` are assets that the project writes itself.
    """
    theirs = [entity for entity in warehouse.entities.values() if entity.name not in own]
    reached = reached_by_rules(warehouse.graph)
    return [
        *(_checks(warehouse, entity) for entity in theirs if entity.probe is not None and entity.quality),
        *(_validity(warehouse, entity) for entity in theirs if _is_held(warehouse, entity, reached)),
    ]


def _is_held(warehouse: Warehouse, entity: Entity, reached: Container[str]) -> bool:
    """Whether it is an external entity whose slices broken rules can reach."""
    return warehouse.is_external(entity.name) and not (entity.is_project or entity.is_static) and entity.name in reached


def _checks(warehouse: Warehouse, entity: Entity) -> dg.AssetChecksDefinition:
    specs = rule_specs(warehouse, entity)

    @dg.multi_asset_check(name=f"look_at_{entity.name}", specs=specs, can_subset=False)
    def look(context: dg.AssetCheckExecutionContext) -> Iterator[dg.AssetCheckResult]:
        run = context.op_execution_context
        asked = (
            slice_of(entity, run.partition_key)
            if run.has_partition_key
            else newest_slice(warehouse.graph, entity.name, utc_now())
        )
        yield from _results(entity, asked, _look(warehouse, asked, run.instance), specs)

    return look


def _validity(warehouse: Warehouse, entity: Entity) -> dg.AssetChecksDefinition:
    """The check of validity by the state store. The center reports changes itself."""
    spec = validity_spec(entity, slice_partitions(entity, warehouse.graph))

    @dg.multi_asset_check(name=f"validity_of_{entity.name}", specs=[spec])
    def tell(context: dg.AssetCheckExecutionContext) -> Iterator[dg.AssetCheckResult]:
        run = context.op_execution_context
        asked = (
            slice_of(entity, run.partition_key)
            if run.has_partition_key
            else newest_slice(warehouse.graph, entity.name, utc_now())
        )
        known = SqlStateReader(Database.of(warehouse.settings)).currents([asked])
        why = "; ".join(flaw for current in known for flaw in flaws(asked, current.status))
        yield dg.AssetCheckResult(
            asset_key=spec.asset_key,
            check_name=spec.name,
            passed=not why,
            description=why or VALID,
            metadata={"slice": str(asked)},
        )

    return tell


def _look(warehouse: Warehouse, slice_: Slice, instance: dg.DagsterInstance) -> Sight:
    secrets = ConnectionSecrets.of(warehouse.settings, os.environ)
    counts = RecordCounts(Database.of(warehouse.settings))
    return look_once(warehouse.graph, slice_, secrets, MaterializedAssets(instance), counts)


def _results(
    entity: Entity, slice_: Slice, sight: Sight, specs: Sequence[dg.AssetCheckSpec]
) -> Iterator[dg.AssetCheckResult]:
    """The results of the rules. All fail if the data is not there."""
    verdicts = {verdict.name: verdict for verdict in judge(entity, sight)} if sight.is_there else {}
    for spec in specs:
        verdict = verdicts.get(spec.name)
        warns = not spec.blocking
        yield dg.AssetCheckResult(
            asset_key=spec.asset_key,
            check_name=spec.name,
            passed=verdict is not None and verdict.passed,
            description=sight.why if verdict is None else verdict.reason,
            metadata={"slice": str(slice_)},
            severity=dg.AssetCheckSeverity.WARN if warns else dg.AssetCheckSeverity.ERROR,
        )
