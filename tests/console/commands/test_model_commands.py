"""`check`, `graph` and `explain`: what people read, what programs read, and exit codes."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from click.testing import CliRunner, Result

from tests.project import write_project
from tidemark.console.main import main
from tidemark.system.project_root import DECLARATIONS

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def root(tmp_path: Path) -> Path:
    files = {
        "project.yaml": "start: 2026-03-23\n",
        "ods/ods_orders.yaml": "kind: Virtual\nperiod: day\ntags: {product: shop}\n",
        "ods/ods_clicks.yaml": "kind: Virtual\nperiod: hour\n",
        "ads/ads_gmv.yaml": "period: day\nown_asset: true\ntags: {product: shop}\nready_by: 00:30\ndepends_on:\n"
        "  - {entity: ods_orders, offset: 'Set -1,0'}\n  - {entity: ods_clicks, weak: {at_least: 90%}}\n",
        "ads/ads_month.yaml": "period: month\nown_asset: true\ndepends_on: [{entity: ads_gmv, quality: ignore}]\n",
    }
    return write_project(tmp_path, files)


def run(root: Path, *arguments: str) -> Result:
    return CliRunner().invoke(main, [arguments[0], "--root", str(root), *arguments[1:]])


def as_json(root: Path, *arguments: str) -> Any:
    return json.loads(run(root, *arguments, "--json").stdout)


def test_check_says_that_nothing_is_wrong(root: Path) -> None:
    result = run(root, "check")
    assert (result.exit_code, result.stdout) == (0, "4 entities, 3 dependencies: no problems\n")
    assert as_json(root, "check") == {
        "entities": 4,
        "dependencies": 3,
        "problems": [],
        "outdated": {},
        "not_analysed": None,
        "notices": [],
    }


def test_check_says_everything_that_is_wrong(root: Path) -> None:
    (root / DECLARATIONS / "ads" / "ads_bad.yaml").write_text("period: dya\nfoo: 1\n")
    (root / DECLARATIONS / "ads" / "ads_lost.yaml").write_text(
        "period: day\ndepends_on:\n  - ods_order\n  - ads_bad\nown_asset: true\n"
    )
    result = run(root, "check")
    assert result.exit_code == 1
    lines = [line.split("\t") for line in result.stdout.splitlines()[:-1]]
    assert lines.pop(0) == ["where", "problem", "expected", "found", "hint"]
    assert [line[0] for line in lines] == ["ads/ads_bad.yaml:1", "ads/ads_bad.yaml:2", "ads/ads_lost.yaml:3"]
    assert lines[2][1:] == ["depends on an unknown entity", "", "ods_order", "did you mean 'ods_orders'?"]
    assert result.stdout.splitlines()[-1] == "5 entities, 3 dependencies: 3 problems"
    assert [problem["where"] for problem in as_json(root, "check")["problems"]] == [line[0] for line in lines]


def test_a_declaration_that_cannot_be_read_is_one_problem(root: Path) -> None:
    (root / DECLARATIONS / "ads" / "ads_bad.yaml").write_text("period: dya\n")
    (root / DECLARATIONS / "ads" / "ads_bad.sql").write_text("SELECT 1 AS one\n")
    assert [problem["where"] for problem in as_json(root, "check")["problems"]] == ["ads/ads_bad.yaml:1"]


def test_graph_lists_dependencies(root: Path) -> None:
    lines = run(root, "graph").stdout.splitlines()
    assert "ads\tads_gmv\tday\tods_orders Set -1,0, ods_clicks all" in lines
    assert lines[-1] == "ads\tads_month\tmonth\tads_gmv all"


def test_graph_shows_a_part(root: Path) -> None:
    around = as_json(root, "graph", "ads_gmv", "--down", "0")
    assert [entity["name"] for entity in around["entities"]] == ["ods_clicks", "ods_orders", "ads_gmv"]
    tagged = as_json(root, "graph", "--tag", "product=shop")
    assert tagged["dependencies"] == [
        {"up": "ods_orders", "down": "ads_gmv", "offset": "Set -1,0", "state": "completed", "strength": "strong"}
    ]
    assert [entity["name"] for entity in as_json(root, "graph", "--layer", "ods")["entities"]] == [
        "ods_clicks",
        "ods_orders",
    ]


def test_graph_as_mermaid(root: Path) -> None:
    lines = run(root, "graph", "--format", "mermaid").stdout.splitlines()
    assert lines[0] == "flowchart LR"
    assert sum("-->" in line for line in lines) == 2
    assert sum("-.->" in line for line in lines) == 1


def test_explain_shows_the_inputs_and_readers_of_a_slice(root: Path) -> None:
    result = run(root, "explain", "ads_gmv", "2026-03-29")
    assert result.exit_code == 0
    assert "2026-03-29 00:00+01:00 to 2026-03-30 00:00+02:00 Europe/Paris" in result.stdout
    assert "ods_orders\tSet -1,0\t2026-03-28, 2026-03-29" in result.stdout
    assert "ods_clicks\tall\t2026-03-29T00 .. 2026-03-29T23 (23)\tweak" in result.stdout
    assert "ads_month\t2026-03" in result.stdout
    assert "ready by     2026-03-30 00:30+02:00" in result.stdout
    data = as_json(root, "explain", "ads_gmv", "2026-03-29")
    assert [read["slice"] for read in data["upstream"][0]["slices"]] == [
        "ods_orders@2026-03-28",
        "ods_orders@2026-03-29",
    ]
    assert data["downstream"] == ["ads_month@2026-03"]


@pytest.mark.parametrize(
    ("arguments", "code", "says"),
    [
        (("explain", "ads_gmv", "2026-03-22"), 1, "starts at 2026-03-23"),
        (("explain", "ads_gm", "2026-03-29"), 1, "did you mean 'ads_gmv'?"),
        (("explain", "ads_gmv", "2026-03"), 1, "a date such as"),
        (("explain", "ads_gmv", "2026-03-29", "--part", "cn"), 2, "DIMENSION=VALUE"),
        (("explain", "ads_gmv"), 2, "SLICE"),
        (("graph", "ads_gm"), 1, "did you mean 'ads_gmv'?"),
        (("graph", "--tag", "shop"), 2, "KEY=VALUE"),
        (("graph", "--to", "ads_gmv"), 2, "--to needs an ENTITY"),
        (("graph", "--format", "svg"), 2, "mermaid"),
    ],
)
def test_unanswerable_questions(root: Path, arguments: tuple[str, ...], code: int, says: str) -> None:
    result = run(root, *arguments)
    assert (result.exit_code, says in result.output) == (code, True), result.output


@pytest.mark.parametrize("command", ["check", "graph", "explain"])
def test_help_names_the_exit_codes(command: str) -> None:
    assert "Exit codes: 0" in CliRunner().invoke(main, [command, "--help"]).stdout


def test_check_reports_ignored_parts_of_a_query(root: Path) -> None:
    path = root / "warehouse_assets" / "dws" / "dws_copy.sql"
    path.parent.mkdir(exist_ok=True)
    path.with_suffix(".yaml").write_text("period: day\n")
    path.write_text("SELECT 1 AS a")
    path.write_text(f"INSERT OVERWRITE TABLE {path.stem}\n{path.read_text()}")
    result = run(root, "check")
    assert (result.exit_code, "no problems" in result.stdout) == (0, True)
    assert f"{path.parent.name}/{path.name}:1:1: INSERT OVERWRITE {path.stem} is ignored" in result.stdout
    (notice,) = as_json(root, "check")["notices"]
    assert notice["where"] == f"{path.parent.name}/{path.name}:1:1"
