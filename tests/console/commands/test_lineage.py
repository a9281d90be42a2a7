"""`tidemark lineage`: columns up and down, over a small folder."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner, Result

from tests.project import write_project
from tidemark.console.main import main

if TYPE_CHECKING:
    from pathlib import Path

FILES = {
    "project.yaml": "start: 2026-03-23\n",
    "ods_orders.yaml": "{period: day, kind: Snapshot}\n",
    "ods_orders_1h.yaml": "{period: hour, kind: Snapshot, snapshot_of: ods_orders, start: 2026-03-23T00}\n",
    "dwd_orders.yaml": "period: day\n",
    "dwd_orders.sql": "SELECT user_id, amount - coalesce(discount, 0) AS net FROM ods_orders\n"
    "WHERE dt = :biz_date AND status = 'paid'\n",
    "ads_gmv.yaml": "period: day\n",
    "ads_gmv.sql": "SELECT sum(net) AS gmv, sum(net) FILTER (WHERE user_id > 0) AS known FROM dwd_orders\n"
    "WHERE dt = :biz_date\n",
    "live.yaml": "period: hour\nstart: 2026-03-23T00\n",
    "live.sql": "SELECT sum(amount) AS gmv FROM ods_orders_1h WHERE dt = :biz_date AND hour = :biz_hour\n",
}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return write_project(tmp_path, FILES)


def run(root: Path, *arguments: str) -> Result:
    return CliRunner().invoke(main, ["lineage", "--root", str(root), *arguments])


def test_a_column_is_followed_to_its_sources(root: Path) -> None:
    assert run(root, "ads_gmv.known").stdout.splitlines() == [
        "ads_gmv.known",
        "   <- dwd_orders.net",
        "      <- ods_orders.amount",
        "      <- ods_orders.discount",
        "indirect  dwd_orders.dt, dwd_orders.user_id",
    ]


def test_a_column_is_followed_to_its_users_through_snapshots(root: Path) -> None:
    assert run(root, "ods_orders.amount", "--down").stdout.splitlines() == [
        "ods_orders.amount",
        "   -> dwd_orders.net",
        "      -> ads_gmv.gmv",
        "      -> ads_gmv.known",
        "   -> ods_orders_1h.amount",
        "      -> live.gmv",
    ]


def test_a_column_that_comes_from_itself_ends(tmp_path: Path) -> None:
    """A total that goes on from the one of the day before, over a tree that doubles with each level."""
    summed = "SELECT sum(t.a + t.b) AS a, sum(t.a - t.b) AS b FROM total AS t JOIN sales AS s ON s.id = t.a\n"
    root = write_project(
        tmp_path,
        {
            "project.yaml": "start: 2026-03-23\n",
            "sales.yaml": "{period: day, kind: Snapshot}\n",
            "total.yaml": "period: day\n",
            "total.sql": f"{summed}WHERE t.dt = date_sub(:biz_date, 1) AND s.dt = :biz_date\n",
        },
    )
    assert run(root, "total.a").stdout.splitlines()[:5] == [
        "total.a",
        "   <- total.a  (again)",
        "   <- total.b",
        "      <- total.a  (again)",
        "      <- total.b  (again)",
    ]
    assert run(root, "total.a", "--limit", "2").stdout.splitlines()[3] == "   and 2 more: --limit 4 shows them"
    assert "(deeper levels: --depth)" in run(root, "total.a", "--depth", "1").stdout
    answer = json.loads(run(root, "total.a", "--json").stdout)["columns"][0]
    again = {"of": [], "again": True}
    nodes = [{"column": "total.a", **again}, {"column": "total.b", **again}]
    assert answer["up"] == [nodes[0], {"column": "total.b", "of": nodes}]
    assert answer["left_out"] == 0


def test_an_entity_is_each_of_its_columns(root: Path) -> None:
    answer = json.loads(run(root, "dwd_orders", "--up", "--down", "--json").stdout)
    assert [entry["column"] for entry in answer["columns"]] == ["dwd_orders.user_id", "dwd_orders.net"]
    assert answer["columns"][1]["up"] == [
        {"column": "ods_orders.amount", "of": []},
        {"column": "ods_orders.discount", "of": []},
    ]
    assert answer["indirect"] == {"dwd_orders": ["ods_orders.dt", "ods_orders.status"]}


@pytest.mark.parametrize(
    ("name", "says"), [("ads_gm", "did you mean 'ads_gmv'?"), ("ads_gmv.gm", "did you mean 'gmv'?")]
)
def test_unknown_names_are_clear_errors(root: Path, name: str, says: str) -> None:
    result = run(root, name)
    assert (result.exit_code, says in result.output) == (1, True)
