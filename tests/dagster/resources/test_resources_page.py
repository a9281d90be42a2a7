"""What Dagster's Resources page shows of this project, asked of a real code location; no password is in the answer."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

from tests.project import CHECKOUT

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

_QUERY = """{ allTopLevelResourceDetailsOrError(
  repositorySelector: {repositoryLocationName: "tidemark", repositoryName: "__repository__"}
) { __typename
  ... on PythonError { message }
  ... on ResourceDetailsList { results {
    name description configuredValues { key value type } configFields { name defaultValueAsJson }
    nestedResources { name } assetKeysUsing { path } jobsOpsUsing { jobName }
  } }
} }"""
_SECONDS = 300
_STATE, _OLAP = "postgresql+psycopg2://tidemark:hush1@db/state", "postgresql+psycopg2://bi:hush2@db/bi"


@pytest.fixture(scope="module")
def answer(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The page's answer, as text: what is not in it cannot be shown."""
    folder = tmp_path_factory.mktemp("page")
    return _ask(folder, {"TIDEMARK_STATE": _STATE, "TIDEMARK_OLAP": _OLAP, "TIDEMARK_SPARK_MEMORY": "3g"})


@pytest.fixture(scope="module")
def page(answer: str) -> dict[str, Any]:
    details = json.loads(answer)["data"]["allTopLevelResourceDetailsOrError"]
    return {resource["name"]: resource for resource in details["results"]}


def _ask(folder: Path, settings: Mapping[str, str]) -> str:
    (folder / "home").mkdir()
    root = CHECKOUT
    env = {**os.environ, **settings, "TIDEMARK_DATA": str(folder / "data"), "DAGSTER_HOME": str(folder / "home")}
    command = [sys.executable, "-c", "from dagster_graphql.cli import main; main()", "-w", str(root / "workspace.yaml")]
    done = subprocess.run(
        [*command, "-o", str(folder / "answer.json"), "-t", _QUERY],
        cwd=root,
        env={**env, "PYTHONPATH": str(root)},
        capture_output=True,
        text=True,
        timeout=_SECONDS,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return (folder / "answer.json").read_text()


def _configuration(resource: Mapping[str, Any]) -> dict[str, tuple[str, str]]:
    return {value["key"]: (value["type"], value["value"]) for value in resource["configuredValues"]}


def test_the_engines_resources_are_there_with_their_settings(page: Mapping[str, Any]) -> None:
    assert set(page) == {"spark", "lake", "lake_io_manager", "state_store", "olap"}
    assert _configuration(page["spark"])["memory"] == ("VALUE", '"3g"')
    assert _configuration(page["lake"])["tables"][1].endswith('/data/warehouse"')
    assert [nested["name"] for nested in page["lake"]["nestedResources"]] == ["state_store"]
    assert all(resource["description"] for resource in page.values())


@pytest.mark.slow
def test_addresses_with_passwords_are_environment_variables(answer: str, page: Mapping[str, Any]) -> None:
    assert _configuration(page["state_store"])["url"] == ("ENV_VAR", "TIDEMARK_STATE")
    assert _configuration(page["olap"])["url"] == ("ENV_VAR", "TIDEMARK_OLAP")
    assert "hush" not in answer


def test_the_page_shows_the_users_of_each_resource(page: Mapping[str, Any]) -> None:
    published = {key["path"][0] for key in page["olap"]["assetKeysUsing"]}
    computed = {key["path"][0] for key in page["spark"]["assetKeysUsing"]}
    assert "olap_ads_gmv_course" in published
    assert {"ods_orders", "dwd_orders", "ads_gmv_course"} <= computed
    assert not computed & published
    jobs = {use["jobName"] for use in page["lake"]["jobsOpsUsing"]}
    assert {"cluster", "repair", "vacuum"} <= jobs
