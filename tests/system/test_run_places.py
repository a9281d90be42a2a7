"""Places of runs: what their setting may have, what it decides, and that no process has a place by itself."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from tidemark.spark.session import spark_conf
from tidemark.system.errors import SettingsError
from tidemark.system.settings import Settings

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

EAST: dict[str, Any] = {
    "spark_master": "spark://east:7077",
    "probe": "http://east:8080",
    "cores": 2,
    "takes": {"region": ["eu", "us"]},
}
WEST: dict[str, Any] = {
    "spark_master": "yarn",
    "probe": "http://rm:8088",
    "queue": "reports",
    "spark_conf": "west.conf",
}
PODS: dict[str, Any] = {
    "spark_master": "k8s://https://kube:6443",
    "probe": "https://kube:6443",
    "namespace": "etl",
    "spark_memory": "1g",
}


def settings_with(project: Path, places: Mapping[str, Mapping[str, Any]], **env: str) -> Settings:
    (project / "tidemark.yaml").write_text("pools: default=1, east=4, west=2, pods=3\n")
    given = {"TIDEMARK_ROOT": str(project), "TIDEMARK_PLACES": json.dumps(places)}
    return Settings.load({**given, **{f"TIDEMARK_{name.upper()}": value for name, value in env.items()}})


def test_a_process_has_the_spark_settings_of_its_place_and_no_other_ones(tmp_path: Path) -> None:
    (tmp_path / "west.conf").write_text("spark.executor.memory 3g\n")
    places = {"east": EAST, "west": WEST, "pods": PODS}
    own = settings_with(tmp_path, places)
    assert (own.spark_master, own.place_here, own.slots) == ("local[*]", None, 10)
    decided = {}
    for name in places:
        settings = settings_with(tmp_path, places, place=name)
        conf = spark_conf(settings, tmp_path)
        keys = ("spark.master", "spark.cores.max", "spark.yarn.queue", "spark.kubernetes.namespace")
        others = ("spark.executor.memory", "spark.driver.memory")
        decided[name] = [conf.get(key, "") for key in (*keys, *others)]
    assert decided == {
        "east": ["spark://east:7077", "2", "", "", "", "2g"],
        "west": ["yarn", "", "reports", "", "3g", "2g"],
        "pods": ["k8s://https://kube:6443", "", "", "etl", "", "1g"],
    }


@pytest.mark.parametrize(
    ("places", "why"),
    [
        ({"east": {**EAST, "spark.jars": "x"}}, "east may have cores, namespace, probe"),
        ({"east": {"probe": "http://east"}}, "east needs a spark_master that begins with"),
        ({"east": {**EAST, "spark_master": "local[2]"}}, "east needs a spark_master that begins with"),
        ({"east": {**EAST, "probe": "file:///etc/passwd"}}, "east needs a probe"),
        ({"east": {**EAST, "queue": "reports"}}, "a queue belongs to yarn"),
        ({"west": {**WEST, "queue": ""}}, "west: spark_master.* are texts"),
        ({"west": {key: value for key, value in WEST.items() if key != "queue"}}, "each needs its own"),
        ({"east": {**EAST, "cores": 0}}, "east: cores is the number of cores"),
        ({"east": {**EAST, "cores": True}}, "east: cores is the number of cores"),
        ({"east": {**EAST, "takes": ["eu"]}}, "east: takes has values"),
        ({"north": EAST}, "north needs slots in `pools`, such as north=2"),
        ({"default": EAST}, "`default` is not a place"),
    ],
)
def test_a_place_that_cannot_be_used_is_refused(tmp_path: Path, places: Mapping[str, Any], why: str) -> None:
    with pytest.raises(SettingsError, match=why):
        settings_with(tmp_path, places)


def test_a_process_in_a_place_that_there_is_not_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="there is no such place: expected one of east, found north"):
        settings_with(tmp_path, {"east": EAST}, place="north")
