"""The place of a run is that of the center's launch; no caller's tags choose one."""

from __future__ import annotations

from typing import TYPE_CHECKING

import dagster as dg
import pytest

from tests.center.test_center import CenterWorld
from tidemark.dependency_model.slice import Slice
from tidemark.system.run_places import PlaceKind, RunPlace
from tidemark.system.settings import Settings
from tidemark.warm_runs.run_identity import POOL_TAG, RUN_TAG
from tidemark.warm_runs.run_places import RunPlaces

if TYPE_CHECKING:
    from pathlib import Path

DAY = Slice("days", "2024-06-01")


@pytest.mark.parametrize(
    ("tags", "place"),
    [
        ({RUN_TAG: "noted", POOL_TAG: "east"}, "east"),
        ({RUN_TAG: "noted", POOL_TAG: "west"}, ""),
        ({RUN_TAG: "noted", POOL_TAG: "elsewhere"}, ""),
        ({RUN_TAG: "never noted", POOL_TAG: "east"}, ""),
        ({POOL_TAG: "east"}, ""),
        ({RUN_TAG: "noted", POOL_TAG: "east", "dagster/parent_run_id": "noted"}, ""),
        ({RUN_TAG: "noted"}, ""),
    ],
)
def test_a_tag_counts_only_if_the_center_launched_the_run_there(
    tmp_path: Path, tags: dict[str, str], place: str
) -> None:
    world = CenterWorld(tmp_path, days="{period: day, tags: {pool: east}}")
    world.center.tick()
    assert world.center.launch([DAY], "noted", "east") == [DAY]
    declared = tuple(RunPlace(name, PlaceKind.STANDALONE, "spark://x:1", "http://x") for name in ("east", "west"))
    settings = Settings.at(tmp_path).model_copy(update={"places": declared})
    with dg.DagsterInstance.ephemeral() as instance:
        instance.add_run(dg.DagsterRun(job_name="job", run_id="of-dagster", tags=tags))
        assert RunPlaces(instance, settings).place_of("of-dagster") == place
        assert RunPlaces(instance, settings.model_copy(update={"places": ()})).place_of("of-dagster") == ""
