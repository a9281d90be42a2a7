"""Builds an entity's Dagster asset from its declaration alone (D3).

Data of other systems becomes an external asset: a spec with the entity's partitions, which Dagster shows and Tidemark
never launches. A project's root and end belong to the center. They have no data, so they have no asset.
"""

from collections.abc import Container, Iterator, Mapping
from typing import Any

import dagster as dg

from tidemark.compute.anomaly_verdict import CHECK_NAME
from tidemark.compute.run_fence import RunFence
from tidemark.dagster.asset_bodies import AssetBody, snapshot_step, sql_step
from tidemark.dagster.granted_slice_manifests import skipped_if_not_ready
from tidemark.dagster.mappings import BuiltInMapping, partition_mapping
from tidemark.dagster.metadata.asset_columns_and_files import code_references, column_metadata
from tidemark.dagster.olap_export import export_step
from tidemark.dagster.partitions import slice_partitions
from tidemark.dagster.promise_results import baseline_spec
from tidemark.dagster.promised_freshness import promised_freshness
from tidemark.dagster.resources.runtimes import Runtimes
from tidemark.dagster.rule_specs import rule_specs
from tidemark.dagster.slice_results import StepResult
from tidemark.dagster.validity_results import reached_by_rules, validity_spec
from tidemark.dagster_internals.optional_outputs import with_optional_outputs
from tidemark.dependency_model.entity import Entity
from tidemark.dependency_model.entity.profile_settings import Anomalies
from tidemark.warehouse.code_version import code_version
from tidemark.warehouse.warehouse import EXPORT_LAYER, Warehouse


def build_assets(warehouse: Warehouse, own: Container[str] = ()) -> list[dg.AssetsDefinition]:
    """One asset for each entity, upstream first, with the resources of tidemark.dagster.resources.

    `own` has the entities with an asset that the project writes itself.
    """
    runtimes = Runtimes(warehouse)
    names = [name for name in warehouse.graph.topological() if name in warehouse.entities and name not in own]
    entities = [warehouse.entities[name] for name in names if not warehouse.entities[name].is_project]
    judged = reached_by_rules(warehouse.graph)
    return [
        _external(warehouse, entity)
        if warehouse.is_external(entity.name)
        else _asset(runtimes, warehouse, entity, is_judged=entity.name in judged)
        for entity in entities
    ]


def _external(warehouse: Warehouse, entity: Entity) -> dg.AssetsDefinition:
    spec = dg.AssetSpec(
        entity.name,
        description=entity.description,
        group_name=entity.layer or None,
        partitions_def=slice_partitions(entity, warehouse.graph),
        deps=_deps(warehouse, entity),
        tags=asset_tags(entity),
        owners=[entity.owner] if entity.owner else None,
        kinds={"external"},
        metadata=_metadata(warehouse, entity),
        freshness_policy=promised_freshness(entity),
    )
    return dg.AssetsDefinition(specs=[spec])


def asset_tags(entity: Entity) -> dict[str, str]:
    """The tags of an asset; Dagster has no commas, so several pools are `east.west`."""
    return {name: ".".join(part.strip() for part in value.split(",")) for name, value in entity.tags.items()}


def _asset(runtimes: Runtimes, warehouse: Warehouse, entity: Entity, *, is_judged: bool) -> dg.AssetsDefinition:
    step, resources = _step(warehouse, entity)

    @dg.asset(
        name=entity.name,
        description=_description(warehouse, entity),
        group_name=entity.layer or None,
        partitions_def=slice_partitions(entity, warehouse.graph),
        deps=_deps(warehouse, entity),
        check_specs=_check_specs(warehouse, entity, is_judged=is_judged),
        backfill_policy=dg.BackfillPolicy.single_run(),
        tags=asset_tags(entity),
        owners=[entity.owner] if entity.owner else None,
        kinds=_kinds(warehouse, entity),
        code_version=code_version(warehouse, entity),
        metadata=_metadata(warehouse, entity),
        required_resource_keys=set(resources),
    )
    def compute(context: dg.AssetExecutionContext) -> Iterator[StepResult]:
        runtime = runtimes.of(*(getattr(context.resources, name) for name in resources))
        with skipped_if_not_ready(context, entity):
            yield from _fenced(step(context, runtime, entity), runtime.fences.of(context.run.run_id, entity.center))

    return with_optional_outputs(compute)


def _fenced(results: Iterator[StepResult], fence: RunFence) -> Iterator[StepResult]:
    """Pass the results on unless the run was given up meanwhile; checks the fence before the first result."""
    is_asked = False
    for result in results:
        if not is_asked:
            fence()
            is_asked = True
        yield result


def _step(warehouse: Warehouse, entity: Entity) -> tuple[AssetBody, tuple[str, ...]]:
    """The asset's body, and its required resources."""
    if entity.layer == EXPORT_LAYER:
        return export_step, ("lake", "olap")
    body = snapshot_step if warehouse.is_snapshot(entity.name) else sql_step
    return body, ("spark", "lake", "state_store")


def _deps(warehouse: Warehouse, entity: Entity) -> list[dg.AssetDep]:
    return [
        dg.AssetDep(name, partition_mapping=mapping.built_in) for name, mapping in _mappings(warehouse, entity).items()
    ]


def _mappings(warehouse: Warehouse, entity: Entity) -> dict[str, BuiltInMapping]:
    """The mapping of each upstream asset, over all states of the entity, without a project's end."""
    upstreams = dict.fromkeys(dependency.entity for state in entity.states for dependency in state.depends_on)
    known = [name for name in upstreams if name in warehouse.entities and not warehouse.entities[name].is_project]
    return {name: partition_mapping(warehouse.entities[name], entity) for name in known}


def _check_specs(warehouse: Warehouse, entity: Entity, *, is_judged: bool) -> list[dg.AssetCheckSpec]:
    """A check for each rule, and one for anomalies, with the asset's partitions and a result for each slice.

    There is also a check for validity if rules can make a slice invalid: its own or those of its inputs.
    """
    partitions = slice_partitions(entity, warehouse.graph)
    checks = [*rule_specs(warehouse, entity), *baseline_spec(entity, partitions)]
    if is_judged and entity.layer != EXPORT_LAYER and entity.period is not None:
        checks.append(validity_spec(entity, partitions))
    if has_anomaly_check(entity):
        description = "Passes if its profile is as usual, or the rules for anomalies pass."
        checks.append(
            dg.AssetCheckSpec(
                CHECK_NAME, asset=entity.name, blocking=True, description=description, partitions_def=partitions
            )
        )
    return checks


def has_anomaly_check(entity: Entity) -> bool:
    """Whether the entity's profiles are compared with earlier ones."""
    is_compared = entity.profiled is not None and entity.anomalies is not Anomalies.OFF
    return is_compared and entity.layer != EXPORT_LAYER and entity.period is not None


def _kinds(warehouse: Warehouse, entity: Entity) -> set[str]:
    if entity.layer == EXPORT_LAYER:
        return {"postgresql" if warehouse.settings.olap.startswith("postgresql") else "duckdb"}
    if warehouse.is_snapshot(entity.name):
        return {"deltalake", "mysql"}
    return {"deltalake", "spark", "python" if entity.name in warehouse.functions else "sql"}


def _description(warehouse: Warehouse, entity: Entity) -> str:
    query = warehouse.queries.get(entity.name)
    return (entity.description or "") + (f"\n\n```sql\n{query.strip()}\n```" if query else "")


def _metadata(warehouse: Warehouse, entity: Entity) -> dict[str, Any]:
    """Facts that Dagster's graph cannot show: the exact offsets, and where its mapping is wider."""
    mappings = _mappings(warehouse, entity)
    lines = ["| reads | offset | in Dagster's graph |", "| --- | --- | --- |"]
    lines += [
        f"| {dependency.entity} | {dependency.offset} | {_in_dagster(mappings, dependency.entity)} |"
        for state in entity.states
        for dependency in state.depends_on
    ]
    metadata: dict[str, Any] = {
        "kind": entity.kind.value,
        "period": str(entity.period),
        **column_metadata(warehouse.columns, entity),
        **code_references(warehouse.files.get(entity.name, ())),
    }
    is_table = entity.layer != EXPORT_LAYER and not warehouse.is_snapshot(entity.name)
    if is_table and len(entity.times) == 1 and not entity.sub_partitions:
        # I/O managers of other packages find the partition of a slice by this key.
        metadata["partition_expr"] = entity.times[0].name
    if mappings:
        metadata["dependencies"] = dg.MetadataValue.md("\n".join(lines))
        metadata["exact_mappings"] = all(mapping.exact for mapping in mappings.values())
    return metadata


def _in_dagster(mappings: Mapping[str, BuiltInMapping], upstream: str) -> str:
    mapping = mappings.get(upstream)
    return mapping.explanation if mapping else "not shown: a project's end"
