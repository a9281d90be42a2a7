"""A run of a promised entity tells the check `baseline` of each of its partitions, and the margin of those of today."""

from datetime import UTC, datetime, timedelta
from typing import Any

import dagster as dg

from tests.dependency_model.world import graph
from tidemark.dagster.promise_results import MARGIN, baseline_results, baseline_spec
from tidemark.dependency_model.slice import Slice


def test_each_partition_of_a_run_has_its_check_and_a_backfill_no_margin() -> None:
    soon = datetime.now(UTC) + timedelta(minutes=30)
    yesterday, before = (f"{soon - timedelta(days=days):%Y-%m-%d}" for days in (1, 3))
    company = graph(ads=f'{{period: day, time_zone: UTC, ready_by: "{soon:%H:%M}"}}', dwd="{period: day}")
    entity, days = company.entity("ads"), dg.DailyPartitionsDefinition(before, end_offset=1)
    assert list(baseline_spec(company.entity("dwd"), days)) == []

    @dg.asset(
        partitions_def=days,
        check_specs=list(baseline_spec(entity, days)),
        backfill_policy=dg.BackfillPolicy.single_run(),
    )
    def ads(context: dg.AssetExecutionContext) -> Any:
        yield from baseline_results(context, entity, company, [Slice("ads", key) for key in context.partition_keys])
        yield dg.MaterializeResult()

    with dg.DagsterInstance.ephemeral() as instance:
        tags = {"dagster/asset_partition_range_start": before, "dagster/asset_partition_range_end": yesterday}
        result = dg.materialize([ads], instance=instance, tags=tags)
    told = {evaluation.partition: evaluation for evaluation in result.get_asset_check_evaluations()}
    assert len(told) == 3
    assert all(evaluation.passed for evaluation in told.values())
    assert "before it was promised for" in (told[yesterday].description or "")
    assert "after it was promised for" in (told[before].description or "")
    margins = {
        event.partition: event.materialization.metadata[MARGIN].value
        for event in result.get_asset_materialization_events()
        if MARGIN in event.materialization.metadata
    }
    assert before not in margins
    margin = margins[yesterday]
    assert isinstance(margin, float)
    assert 0 < margin <= 30
