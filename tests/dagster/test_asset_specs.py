"""The specs of the main job in Dagster, compared with the recorded ones."""

from __future__ import annotations

import json

import dagster as dg
import pytest

from tests.dagster.asset_specs import SNAPSHOT, asset_specs
from tidemark.dagster.assets import asset_tags
from tidemark.dependency_model.entity import parse_entity
from tidemark.errors import EntityErrors


@pytest.mark.slow
def test_every_generated_spec_is_as_agreed() -> None:
    """Where a change is meant: `python -m tests.dagster.asset_specs`, and look at the difference."""
    assert json.loads(asset_specs()) == json.loads(SNAPSHOT.read_text())


def test_the_specs_equal_the_recorded_ones() -> None:
    specs = json.loads(SNAPSHOT.read_text())
    assert len(specs) == 33 + 8
    gmv = specs["ads_gmv_course"]
    assert gmv["deps"] == {"dws_course_orders_1d": "windows -1..0", "ods_orders": "windows 0..0"}
    assert gmv["metadata"]["dagster/column_lineage"]["gmv"] == ["dws_course_orders_1d.gmv"]
    assert gmv["metadata"]["dagster/code_references"] == [
        "warehouse_assets/ads/ads_gmv_course.sql",
        "warehouse_assets/ads/ads_gmv_course.yaml",
    ]
    assert specs["ads_retention"]["metadata"]["exact_mappings"] is False
    assert all(spec["owners"] and spec["tags"] and spec["kinds"] for spec in specs.values())


def test_several_pools_are_a_tag_that_dagster_takes() -> None:
    entity = parse_entity("{period: day, tags: {pool: 'east, west', team: growth}}", "days")
    spec = dg.AssetSpec("days", tags=asset_tags(entity))
    assert spec.tags == {"pool": "east.west", "team": "growth"}


@pytest.mark.parametrize("tags", ["{team: 'new york'}", "{'a b': c}", "{pool: 'east; west'}", f"{{team: {'x' * 64}}}"])
def test_a_tag_that_dagster_refuses_is_found_by_the_linter(tags: str) -> None:
    with pytest.raises(EntityErrors, match="Dagster's tags have letters, digits"):
        parse_entity(f"{{period: day, tags: {tags}}}", "days")
