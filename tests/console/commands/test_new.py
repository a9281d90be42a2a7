"""`tidemark new`: the README's own table, added to a copy of the main job."""

from __future__ import annotations

import json
import re
import shutil
from typing import TYPE_CHECKING

import pytest
import yaml
from click.testing import CliRunner, Result

from tests.examples import each
from tests.project import CHECKOUT, write_project
from tidemark.console.main import main
from tidemark.system.project_root import DECLARATIONS

if TYPE_CHECKING:
    from pathlib import Path

README = (CHECKOUT / "README.md").read_text()


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A project with the main job's declarations without its code."""
    project = write_project(tmp_path / "project", {})
    ignored = shutil.ignore_patterns("*.py", "__pycache__")
    shutil.copytree(CHECKOUT / DECLARATIONS, project / DECLARATIONS, ignore=ignored, dirs_exist_ok=True)
    return project


def block(language: str) -> str:
    """The first block of a language in the README's section on the first table."""
    section = README[README.index("## Your first table") :]
    match = re.search(rf"```{language}\n(.*?)```", section, re.DOTALL)
    assert match
    return "".join(line.removeprefix("   ") for line in match[1].splitlines(keepends=True)).rstrip() + "\n"


def new(root: Path, *arguments: str, query: str | None = None) -> Result:
    options = ["--root", str(root), *(["--query", "-"] if query else [])]
    return CliRunner().invoke(main, ["new", *arguments, *options], input=query)


@pytest.mark.slow
def test_the_readmes_table_takes_one_query_and_at_most_five_lines(root: Path) -> None:
    result = new(root, "dws_city_buyers_1d", "--json", query=block("sql"))
    assert result.exit_code == 0, result.output
    assert json.loads(result.stdout)["depends_on"] == [
        {"entity": "dwd_orders", "offset": "Set 0"},
        {"entity": "ods_users", "offset": "Set 0"},
    ]
    assert (root / DECLARATIONS / "dws" / "dws_city_buyers_1d.sql").read_text() == block("sql")
    written = (root / DECLARATIONS / "dws" / "dws_city_buyers_1d.yaml").read_text()
    assert written == block("yaml")
    assert len(written.splitlines()) <= 5
    checked = CliRunner().invoke(main, ["check", "--root", str(root)])
    assert checked.stdout == "34 entities, 36 dependencies: no problems\n"


def test_the_main_job_takes_little_yaml_and_states_no_dependency() -> None:
    declared = [path.read_text() for path in (CHECKOUT / DECLARATIONS).rglob("*.yaml")]
    assert not [text for text in declared if "depends_on" in text]


@pytest.mark.parametrize(
    ("query", "says"),
    [
        ("SELECT 1 FROM dwd_order WHERE dt = :biz_date", "did you mean 'dwd_orders'?"),
        ("SELECT 1 FROM dwd_orders", "which slices of dwd_orders are read"),
        ("SELECT (1", "this is no SQL"),
    ],
)
def test_an_invalid_request_writes_no_file(root: Path, query: str, says: str) -> None:
    result = new(root, "dws_x", query=query)
    assert (result.exit_code, says in result.output) == (1, True), result.output
    assert not list(root.rglob("dws_x.*"))


def test_nothing_is_overwritten(root: Path) -> None:
    before = (root / DECLARATIONS / "dwd" / "dwd_orders.sql").read_text()
    result = new(root, "dwd_orders", query="SELECT 1 FROM ods_orders WHERE dt = :biz_date")
    assert (result.exit_code, "exists already" in result.output) == (1, True)
    assert (root / DECLARATIONS / "dwd" / "dwd_orders.sql").read_text() == before


def test_the_parameters_tell_the_period(root: Path) -> None:
    result = new(root, "ads_x", query="SELECT 1 AS a FROM dws_orders_1h WHERE dt = :biz_date AND hour = :biz_hour")
    assert result.exit_code == 0, result.output
    assert "period: hour" in (root / DECLARATIONS / "ads" / "ads_x.yaml").read_text()


@pytest.mark.slow
def test_without_a_query_there_is_a_stub_that_works(root: Path) -> None:
    result = new(root, "dws_stub")
    assert result.exit_code == 0, result.output
    assert "reads" in result.stdout


@pytest.mark.parametrize("name", ["/etc/dws_x", "../dws_x", "dws_x/../../x", "..", "dws_x\n", "dws x"])
def test_a_name_that_is_a_path_is_refused(root: Path, name: str) -> None:
    before = sorted(root.parent.rglob("*"))
    result = new(root, name, "--layer", "dws", query="SELECT 1 FROM dwd_orders WHERE dt = :biz_date")
    assert (result.exit_code, "invalid name of an entity" in result.output) == (1, True), result.output
    assert sorted(root.parent.rglob("*")) == before


@pytest.mark.parametrize("layer", ["/tmp", "..", "../elsewhere", "dws/../..", "dsw"])
def test_a_layer_that_the_project_does_not_have_is_refused(root: Path, layer: str) -> None:
    before = sorted(root.parent.rglob("*"))
    result = new(root, "dws_x", "--layer", layer, query="SELECT 1 FROM dwd_orders WHERE dt = :biz_date")
    assert (result.exit_code, "unknown layer" in result.output) == (1, True), result.output
    assert sorted(root.parent.rglob("*")) == before


def test_a_layer_that_is_a_link_out_of_the_project_is_refused(root: Path, tmp_path: Path) -> None:
    outside = (root / DECLARATIONS / "external").rename(tmp_path / "outside")
    (root / DECLARATIONS / "external").symlink_to(outside)
    before = sorted(outside.iterdir())
    result = new(root, "dws_x", "--layer", "external", query="SELECT 1 FROM dwd_orders WHERE dt = :biz_date")
    assert (result.exit_code, "leaves the project" in result.output) == (1, True), result.output
    assert sorted(outside.iterdir()) == before


@pytest.mark.slow
def test_the_past_that_will_be_computed_is_said_and_can_be_left_out(root: Path) -> None:
    told = json.loads(new(root, "dws_city_buyers_1d", "--json", query=block("sql")).stdout)
    assert told["past"] == {"slices": 9, "first": "2026-03-23", "last": "2026-03-31"}
    later = new(root, "dws_later_1d", "--from", "2026-03-30", query=block("sql"))
    assert "2 past slices (2026-03-30 .. 2026-03-31) are computed once Dagster has loaded it" in later.stdout
    assert "start: 2026-03-30\n" in (root / DECLARATIONS / "dws" / "dws_later_1d.yaml").read_text()


def test_a_first_slice_that_is_none_leaves_no_file(root: Path) -> None:
    result = new(root, "dws_later_1d", "--from", "yesterday", query=block("sql"))
    assert (result.exit_code, "yesterday" in result.output) == (1, True), result.output
    assert not list(root.rglob("dws_later_1d.*"))


FOREIGN = (
    "INSERT OVERWRITE TABLE dws.dws_city_1d PARTITION (dt='${bizdate}')\n"
    "SELECT city, count(*) AS buyers\nFROM ods_users\nWHERE dt = '${bizdate}'\nGROUP BY city;\n"
)


@pytest.mark.slow
def test_a_query_of_another_system_is_rewritten_and_each_change_is_printed(root: Path) -> None:
    result = new(root, "dws_city_1d", "--query-from", "dataworks", query=FOREIGN)
    assert result.exit_code == 0, result.output
    rows = [line.split("\t") for line in result.stdout.splitlines() if "\t" in line]
    assert rows[0] == ["line", "was", "becomes"]
    assert ["4", "'${bizdate}'", ":biz_date"] in rows
    assert [row[0] for row in rows[1:]] == ["1", "1", "4"]
    assert "  reads ods_users  Set 0" in result.stdout
    written = (root / DECLARATIONS / "dws" / "dws_city_1d.sql").read_text()
    assert written == "SELECT city, count(*) AS buyers\nFROM ods_users\nWHERE dt = :biz_date\nGROUP BY city\n"
    assert "quality: [{unique: [city]}]" in (root / DECLARATIONS / "dws" / "dws_city_1d.yaml").read_text()
    assert CliRunner().invoke(main, ["check", "--root", str(root)]).exit_code == 0


@pytest.mark.slow
def test_json_has_the_changes(root: Path) -> None:
    told = json.loads(new(root, "dws_city_1d", "--query-from", "dataworks", "--json", query=FOREIGN).stdout)
    assert told["rewrites"][-1] == {"line": 4, "was": "'${bizdate}'", "becomes": ":biz_date", "to_do": None}


@pytest.mark.slow
def test_with_open_changes_nothing_is_written(root: Path) -> None:
    query = "SELECT 1 AS a FROM ods_users WHERE dt = '{{ ds }}' AND city = '{{ params.city }}'"
    result = new(root, "dws_x", "--query-from", "airflow", query=query)
    assert result.exit_code == 1
    assert "NOT REWRITTEN" in result.stdout
    assert "WHERE dt = :biz_date AND city = '{{ params.city }}' /* not rewritten: its value" in result.stdout
    assert not list(root.rglob("dws_x.*"))
    told = json.loads(new(root, "dws_x", "--query-from", "airflow", "--json", query=query).stdout)
    assert [row["becomes"] for row in told["rewrites"]] == [":biz_date", None]
    given = new(root, "dws_x", "--query-from", "airflow", "--parameter", "city=Lyon", query=query)
    assert given.exit_code == 0, given.output
    assert "city = 'Lyon'" in (root / DECLARATIONS / "dws" / "dws_x.sql").read_text()


def test_a_placeholder_without_its_system_is_refused_with_a_hint(root: Path) -> None:
    result = new(root, "dws_x", query="SELECT 1 AS a FROM ods_users WHERE dt = '${bizdate}'")
    assert (result.exit_code, "a placeholder of DataWorks" in result.output, ":biz_date" in result.output) == (
        1,
        True,
        True,
    )


@pytest.mark.slow
def test_a_stated_offset_completes_an_unclear_query(root: Path) -> None:
    query = "SELECT city, count(*) AS n FROM ods_users GROUP BY city"
    assert "which slices of ods_users are read" in new(root, "dws_x", query=query).output
    result = new(root, "dws_x", "--offset", "ods_users=Range -6..0", "--json", query=query)
    assert result.exit_code == 0, result.output
    assert json.loads(result.stdout)["depends_on"] == [{"entity": "ods_users", "offset": "Range -6..0"}]
    yaml = (root / DECLARATIONS / "dws" / "dws_x.yaml").read_text()
    assert yaml.endswith('depends_on:\n  - {entity: ods_users, offset: "Range -6..0"}\n')
    assert CliRunner().invoke(main, ["check", "--root", str(root)]).exit_code == 0


@pytest.mark.parametrize(
    ("offset", "code", "says"),
    [
        ("ods_users=Range 1 to 2", 1, "Range 1 to 2"),
        ("ods_users", 2, "NAME=VALUE"),
        ("ods_user=Set 0", 1, "did you mean 'ods_users'?"),
        ("ods_users: x=Set 0", 1, "unknown entity"),
    ],
)
def test_an_offset_that_is_none_leaves_no_file(root: Path, offset: str, code: int, says: str) -> None:
    result = new(root, "dws_x", "--offset", offset, query="SELECT city FROM ods_users")
    assert (result.exit_code, says in result.output) == (code, True), result.output
    assert not list(root.rglob("dws_x.*"))


@pytest.mark.parametrize(
    ("columns", "system", "query", "condition"),
    each(
        3,
        [
            (
                "{ds: yyyyMMdd}",
                "dataworks",
                "SELECT 1 AS a FROM clicks WHERE ds = '${bizdate}'",
                "ds = date_format(:biz_date, 'yyyyMMdd')",
            ),
            (
                "{ds: int yyyyMMdd}",
                "dataworks",
                "SELECT 1 AS a FROM clicks WHERE ds = ${bizdate}",
                "ds = int(date_format(:biz_date, 'yyyyMMdd'))",
            ),
            ("{p_date: date}", "airflow", "SELECT 1 AS a FROM clicks WHERE p_date = '{{ ds }}'", "p_date = :biz_date"),
            (
                "{dt: yyyyMMdd}",
                "dataworks",
                "SELECT 1 AS a FROM clicks WHERE dt = '${bizdate}'",
                "dt = date_format(:biz_date, 'yyyyMMdd')",
            ),
            ("{dt: date}", "airflow", "SELECT 1 AS a FROM clicks WHERE dt = '{{ ds }}'", "dt = :biz_date"),
            (
                "{ds: yyyy-MM-dd}",
                "dbt",
                "SELECT 1 FROM clicks {% if is_incremental() %} WHERE ds > (SELECT MAX(ds) FROM {{this}}) {% endif %}",
                "ds = date_format(:biz_date, 'yyyy-MM-dd')",
            ),
        ],
    ),
)
def test_declared_partition_columns_are_written(
    tmp_path: Path, columns: str, system: str, query: str, condition: str
) -> None:
    files = {"ods/clicks.yaml": "{period: day, kind: Virtual}\n", "project.yaml": "start: 2026-03-23\n"}
    root = write_project(tmp_path / "p", files, f"partition_columns: {columns}\n")
    result = new(root, "dws_x", "--query-from", system, query=query)
    assert result.exit_code == 0, result.output
    assert condition in (root / DECLARATIONS / "dws" / "dws_x.sql").read_text()
    assert "reads clicks  Set 0" in result.stdout
    stub = new(root, "dws_stub")
    assert "reads clicks  Set 0" in stub.stdout, stub.output
    assert f"WHERE {condition.partition(' ')[0]} = " in (root / DECLARATIONS / "dws" / "dws_stub.sql").read_text()


def test_a_variable_of_the_project_takes_a_template_variables_place(tmp_path: Path) -> None:
    files = {"ods/clicks.yaml": "{period: day, kind: Virtual}\n", "project.yaml": "start: 2026-03-23\n"}
    root = write_project(tmp_path / "p", files, "variables: {site: eu}\n")
    query = "SELECT user_id FROM {{ ref('clicks') }} WHERE dt = :biz_date AND site = '{{ var('site') }}'\n"
    result = new(root, "dws_x", "--query-from", "dbt", query=query)
    assert result.exit_code == 0, result.output
    assert "AND site = :site" in (root / DECLARATIONS / "dws" / "dws_x.sql").read_text()


MODEL = """MODEL (name db.m, kind INCREMENTAL_BY_TIME_RANGE (time_column dt, lookback 2), cron '@daily', owner ann);
SELECT order_id, dt FROM dwd_orders WHERE dt BETWEEN @start_ds AND @end_ds
"""


def test_ignored_parts_of_a_models_header_are_reported_and_its_time_column_stays(root: Path) -> None:
    result = new(root, "dws_m", "--query-from", "sqlmesh", "--period", "day", "--json", query=MODEL)
    assert result.exit_code == 0, result.output
    left_out = [row["was"].partition(":")[0] for row in json.loads(result.stdout)["rewrites"] if not row["becomes"]]
    assert left_out == ["lookback 2", "cron '@daily'", "owner ann"]
    other = MODEL.replace("BETWEEN @start_ds", "BETWEEN date_sub(@start_ds, 6)")
    result = new(root, "dws_n", "--query-from", "sqlmesh", "--period", "day", query=other)
    assert (result.exit_code, "the partition column dt is in the list" in result.output) == (1, True), result.output


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    """A project as `init` writes it, beside two days of somebody's CSV files."""
    for day, city in (("2024-06-01", "Oslo"), ("2024-06-02", "Rome")):
        folder = tmp_path / "exports" / f"dt={day}"
        folder.mkdir(parents=True)
        (folder / "a.csv").write_text(f"city,amount\n{city},2.5\n")
    (tmp_path / "exports" / "notes").mkdir()
    assert CliRunner().invoke(main, ["init", str(tmp_path / "shop")]).exit_code == 0
    return tmp_path / "shop"


def test_foreign_files_become_a_table_whose_readers_begin_with_them(shop: Path) -> None:
    path = str(shop / ".." / "exports" / "dt={key}")
    declared = new(shop, "orders", "--files", path, "--json")
    assert declared.exit_code == 0, declared.output
    (file,) = json.loads(declared.stdout)["files"]
    assert yaml.safe_load((shop / DECLARATIONS / "ods" / "orders.yaml").read_text()) == {
        "description": "Orders, from files of another system.",
        "period": "day",
        "start": "2024-06-01",
        "source": str(shop.parent / "exports" / "dt={key}"),
        "columns": ["city", "amount"],
    }
    assert file == str(shop / DECLARATIONS / "ods" / "orders.yaml")
    table = new(
        shop, "dws_cities_1d", query="SELECT city, count(*) AS n FROM orders WHERE dt = :biz_date GROUP BY city"
    )
    assert table.exit_code == 0, table.output
    assert "start: 2024-06-01" in (shop / DECLARATIONS / "dws" / "dws_cities_1d.yaml").read_text()
    looked = CliRunner().invoke(main, ["--root", str(shop), "probe", "orders", "2024-06-02"])
    assert looked.stdout.startswith("orders_source@2024-06-02 is there")


def test_a_file_a_slice_in_the_projects_folder_is_declared_from_there(shop: Path) -> None:
    (shop / "landing").mkdir()
    for name in ("2024-06-01.csv", "2024-06-02.csv", "readme.csv"):
        (shop / "landing" / name).write_text("city,amount\nOslo,2.5\n")
    declared = new(shop, "ods_orders", "--files", str(shop / "landing" / "{dt}.csv"))
    assert declared.exit_code == 0, declared.output
    written = yaml.safe_load((shop / DECLARATIONS / "ods" / "ods_orders.yaml").read_text())
    assert (written["source"], written["start"]) == ("landing/{dt}.csv", "2024-06-01")
    looked = CliRunner().invoke(main, ["--root", str(shop), "probe", "ods_orders", "2024-06-02"])
    assert looked.stdout.startswith("ods_orders_source@2024-06-02 is there: 1 files")


def test_the_project_begins_today_where_nothing_says_otherwise(shop: Path) -> None:
    (shop / DECLARATIONS / "ods").mkdir()
    (shop / DECLARATIONS / "ods" / "ods_orders.yaml").write_text("kind: Virtual\nperiod: day\n")
    status = CliRunner().invoke(main, ["--root", str(shop), "status", "--json"])
    (entry,) = json.loads(status.stdout)["entities"]
    assert len(entry["waiting"]) <= 1, "midnight may have passed since"


@pytest.mark.parametrize(
    ("path", "says"),
    [
        ("exports", "with {key} for the slice's key"),
        ("exports/dt={key}/{key}", "with {key} for the slice's key"),
        ("nowhere/{key}", "the path does not exist"),
        ("exports/{key}", "found    dt=2024-06-01, dt=2024-06-02, notes"),
        ("empty/{key}", "found    no file"),
        ("other/{key}", "found    "),
    ],
)
def test_undeclarable_files_write_nothing(path: str, says: str, shop: Path) -> None:
    (shop.parent / "empty" / "2024-06").mkdir(parents=True)
    (shop.parent / "other" / "2024").mkdir(parents=True)
    (shop.parent / "other" / "2024" / "a.xlsx").write_text("?")
    refused = new(shop, "orders", "--files", str(shop.parent / path))
    assert refused.exit_code == 1, refused.output
    assert says in refused.output
    assert not (shop / DECLARATIONS / "ods" / "orders.yaml").exists()
    both = new(shop, "orders", "--files", "x/{key}", query="SELECT 1")
    assert both.exit_code == 2
