"""Shows external slices in Dagster, and reads materializations of other assets."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import dagster as dg

from tidemark.center.detectors.told_event import PROBE_KEY, ROWS_KEY
from tidemark.dagster_internals.partition_checks import report_check
from tidemark.warehouse.dagster_partition_keys import partition_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tidemark.center.detectors.slice_rules import RuleVerdict
    from tidemark.dependency_model.arrival.sighting import Sight
    from tidemark.dependency_model.entity import Entity
    from tidemark.dependency_model.slice import Slice

_REPORTED_AS: Final = "probe"


def show_observation(
    instance: dg.DagsterInstance,
    entity: Entity,
    slice_: Slice,
    sight: Sight,
    verdicts: Iterable[RuleVerdict],
    *,
    is_new: bool,
) -> None:
    """Show an observation and the result of each check.

    If the slice `is_new`, also mark its partition as materialized.
    """
    key, partition = dg.AssetKey([entity.name]), partition_of(entity, slice_)
    told = {"seen": sight.why, ROWS_KEY: sight.rows, "version": sight.version, "watermark": sight.watermark}
    metadata: dict[str, int | float | str | bool] = {PROBE_KEY: True}
    metadata |= {name: value for name, value in told.items() if value is not None} | dict(sight.figures)
    instance.report_runless_asset_event(dg.AssetObservation(asset_key=key, partition=partition, metadata=metadata))
    if is_new:
        event = dg.AssetMaterialization(asset_key=key, partition=partition, metadata=metadata)
        instance.report_runless_asset_event(event)
    for verdict in verdicts:
        evaluation = dg.AssetCheckEvaluation(
            asset_key=key,
            check_name=verdict.name,
            passed=verdict.passed,
            partition=partition,
            description=verdict.reason,
            metadata={"reason": dg.MetadataValue.text(verdict.reason), "slice": str(slice_)},
            blocking=not verdict.warns,
            severity=dg.AssetCheckSeverity.WARN if verdict.warns else dg.AssetCheckSeverity.ERROR,
        )
        report_check(instance, evaluation, _REPORTED_AS)


class MaterializedAssets:
    """Materializations in one Dagster storage; `instance` is that of the present tick."""

    def __init__(self, instance: dg.DagsterInstance) -> None:
        self.instance = instance

    def newest(self, asset: tuple[str, ...], partition: str | None) -> tuple[int, int | None] | None:
        """See tidemark.crawl.probed_slice.Materializations."""
        records = self.instance.fetch_materializations(
            dg.AssetRecordsFilter(
                asset_key=dg.AssetKey(list(asset)), asset_partitions=None if partition is None else [partition]
            ),
            limit=1,
        ).records
        if not records:
            return None
        materialization = records[0].asset_materialization
        rows = materialization.metadata.get(ROWS_KEY) if materialization else None
        return records[0].storage_id, rows.value if rows is not None and isinstance(rows.value, int) else None
