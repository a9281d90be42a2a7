"""`graph` and `lineage` as of a past time: by the code that had computed each table by then."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest
from click.testing import CliRunner

from tests.catalog.changed_project import compute, declare, rewrite
from tests.state_store.examples import NOON
from tidemark.console.main import main

if TYPE_CHECKING:
    from pathlib import Path

FIRST, SECOND = NOON + timedelta(minutes=30), NOON + timedelta(minutes=90)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Computed at noon; then a query is changed, and all is computed again an hour later."""
    declare(tmp_path)
    compute(tmp_path)
    rewrite(tmp_path, "sum(twice) AS twice FROM sales", "sum(twice) AS twice FROM ods_sales", "dws/twices.sql")
    compute(tmp_path, later=timedelta(hours=1))
    return tmp_path


def told(root: Path, *arguments: str) -> dict[str, Any]:
    env = {"TIDEMARK_ROOT": str(root), "TIDEMARK_DATA": str(root / "data")}
    result = CliRunner().invoke(main, [*arguments, "--json"], env=env)
    assert result.exit_code == 0, result.output
    return dict(json.loads(result.output))


def test_the_graph_is_that_of_the_code_then(root: Path) -> None:
    for when, upstream in ((FIRST, "sales"), (SECOND, "ods_sales")):
        shown = told(root, "graph", "--as-of", when.strftime("%Y-%m-%dT%H:%M:%S"))
        edges = {(edge["up"], edge["down"]) for edge in shown["dependencies"]}
        assert (upstream, "twices") in edges
        assert ("ods_sales", "sales") in edges
        assert len([edge for edge in edges if edge[1] == "twices"]) == 1
    before = told(root, "graph", "--as-of", (NOON - timedelta(days=1)).strftime("%Y-%m-%dT%H:%M:%S"))
    assert before == {"entities": [], "dependencies": []}


def test_lineage_is_that_of_the_queries_then(root: Path) -> None:
    for when, source in ((FIRST, "sales.twice"), (SECOND, "ods_sales.twice")):
        shown = told(root, "lineage", "twices.twice", "--as-of", when.strftime("%Y-%m-%dT%H:%M:%S"))
        assert shown["columns"][0]["up"][0]["column"] == source
