"""Inputs on which others broke, as they were reported: each has the value that Spark, Dagster or the calendar gives."""

from __future__ import annotations

import datetime as dt
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import dagster as dg
import pyarrow as pa
import pytest
import yaml
from click.testing import CliRunner, Result
from deltalake import write_deltalake

from tests.dagster.test_two_time_zones import assert_windows_are_the_same
from tests.dependency_model.world import graph, keys
from tests.project import write_project
from tidemark.console.main import main
from tidemark.dagster.mappings import partition_mapping
from tidemark.dagster.partitions import partitions_definition
from tidemark.dependency_model.entity import parse_entity
from tidemark.dependency_model.lineage import expression_evaluation
from tidemark.dependency_model.lineage.column_lineage import ColumnLineage, column_lineage
from tidemark.dependency_model.lineage.entity_outline import EntityOutline, QuerySession
from tidemark.dependency_model.lineage.inference import infer
from tidemark.dependency_model.lineage.known_tables import Tables
from tidemark.dependency_model.lineage.parsed_query import read_query
from tidemark.dependency_model.slice import Slice
from tidemark.dependency_model.time import Calendar, Period
from tidemark.dependency_model.time.cron import Cron
from tidemark.dependency_model.time.zone import Zone
from tidemark.system.settings import Settings
from tidemark.warehouse.warehouse import load_warehouse

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tidemark.dependency_model.graph import DependencyGraph

CASES: Final = Path(__file__).parent / "cases"
START: Final = "2024-01-01"
UTC: Final = Calendar("UTC")
DOWN: Final = EntityOutline("down", Period.DAY, UTC, START)
PROJECT: Final = "start: 2026-03-23\n"


def text_of(name: str) -> str:
    return (CASES / name).read_text()


def tables_of(folder: str, *others: str) -> dict[str, EntityOutline]:
    """The tables that are declared beside a query, and others of which no column is known."""
    tables = {name: EntityOutline(name, Period.DAY, UTC, START) for name in others}
    for path in (CASES / folder).glob("*.yaml"):
        columns = yaml.safe_load(path.read_text()).get("columns")
        tables[path.stem] = EntityOutline(path.stem, Period.DAY, UTC, START, tuple(columns) if columns else None)
    return tables


def read_by(name: str, *others: str) -> str:
    """The offset of the tables of a query: one for all of them."""
    tables = tables_of(name.partition("/")[0], *others)
    (read,) = {str(read) for read in infer([read_query(text_of(name))], DOWN, tables).values()}
    return read


def lineage_of(name: str, *others: str) -> ColumnLineage:
    tables = tables_of(name.partition("/")[0], *others)
    return column_lineage(read_query(text_of(name)), Tables({name: table.table for name, table in tables.items()}))


def sources(name: str, *others: str) -> dict[str, str]:
    return {column: " ".join(map(str, used)) for column, used in lineage_of(name, *others).direct.items()}


def indirect(name: str, *others: str) -> set[str]:
    return {str(column) for column in lineage_of(name, *others).indirect}


def project(root: Path, files: Mapping[str, str], settings: str = "time_zone: UTC\n") -> Path:
    return write_project(root, {"project.yaml": PROJECT, **files}, settings)


def run(root: Path, *words: str, query: str | None = None) -> Result:
    return CliRunner().invoke(main, [*words, "--root", str(root)], input=query)


@pytest.mark.slow
def test_a_local_day_of_hours_of_another_zone_is_materialized(tmp_path: Path) -> None:
    """Case 01. The table of hours begins at midnight of UTC, which is one in the morning of Paris."""
    base = CASES / "01_two_time_zones"
    declared = {str(path.relative_to(base / "warehouse_assets")): path for path in base.glob("*/*/*")}
    files = {name: path.read_text() for name, path in declared.items()}
    files["project.yaml"] = text_of("01_two_time_zones/warehouse_assets/project.yaml")
    root = write_project(tmp_path, files, text_of("01_two_time_zones/tidemark.yaml"))
    assert run(root, "check").exit_code == 0
    warehouse = load_warehouse(Settings.at(tmp_path / "data", root=str(root)))
    local, clicks = warehouse.entities["dws_local"], warehouse.entities["ods_clicks"]
    counts = {day: len(_hours_of(warehouse.graph, f"dws_local@{day}")) for day in ("2026-11-20", "2026-11-21")}
    assert counts == {"2026-11-20": 23, "2026-11-21": 24}
    partitions = {entity.name: partitions_definition(entity, warehouse.graph) for entity in (local, clicks)}
    dep = dg.AssetDep("ods_clicks", partition_mapping=partition_mapping(clicks, local).built_in)

    @dg.asset(name="dws_local", partitions_def=partitions["dws_local"], deps=[dep])
    def computed() -> None:
        pass

    spec = dg.AssetSpec("ods_clicks", partitions_def=partitions["ods_clicks"])
    for day in counts:
        assert dg.materialize([spec, computed], partition_key=day, selection=[computed]).success


def _hours_of(world: DependencyGraph, slice_: str) -> list[Slice]:
    (requirement,) = world.requirements(Slice.parse(slice_))
    return [*requirement.slices]


def test_dates_are_followed_through_chains() -> None:
    """Case 02."""
    assert read_by("02_dates_through_a_chain/query.sql", "d_orders") == "Range -8..0"
    assert read_by("02_dates_through_a_chain/text.sql", "d_orders") == "Set 0"


@pytest.mark.parametrize(
    "name",
    [
        *(f"03_fields_of_structs/{name}.sql" for name in ("nested", "nested_cte", "struct_star")),
        *(f"04_names_of_generators/{path.name}" for path in (CASES / "04_names_of_generators").glob("*.sql")),
        *(f"13_limits_of_queries/{path.name}" for path in (CASES / "13_limits_of_queries").glob("*.sql")),
    ],
)
def test_queries_that_spark_runs_are_read(name: str) -> None:
    """Cases 03, 04 and 13."""
    assert read_by(name, "ods_orders", "ods_users", *(["ods_raw"] if "03" in name else [])) == "Set 0"


def test_check_reports_columns_that_no_run_can_write(tmp_path: Path) -> None:
    """Case 05: the column of the slice itself is taken away, other lists are refused."""
    names = ("ods_base", "dws_star", "dws_dup", "dws_space")
    files = {f"{name[:3]}/{name}.sql": text_of(f"05_select_list_that_cannot_be_written/{name}.sql") for name in names}
    files |= {f"{name[:3]}/{name}.yaml": "period: day\n" for name in names}
    told = run(project(tmp_path, files), "check")
    assert told.exit_code == 1
    words = " ".join(told.output.split())
    assert "two columns of one name" in words
    assert "no name that a table's column can have" in words
    assert "dws_star" not in words


def test_a_rewritten_model_runs_and_dropped_parts_are_reported(tmp_path: Path) -> None:
    """Case 05."""
    folder = "05_select_list_that_cannot_be_written"
    files = {f"ods/ods_base.{kind}": text_of(f"{folder}/ods_base.{kind}") for kind in ("sql", "yaml")}
    root = project(tmp_path, files)
    options = ("--query-from", "sqlmesh", "--period", "day", "--query", "-")
    told = run(root, "new", "dws_model", *options, query=text_of(f"{folder}/sqlmesh_model.sql"))
    assert told.exit_code == 0, told.output
    assert "lookback 2" in told.output
    assert run(root, "check").exit_code == 0


@pytest.mark.parametrize(
    ("end", "due"), [("2026-10-25T02:00+01:00", "02:05+01:00"), ("2026-10-25T02:00+02:00", "02:05+02:00")]
)
def test_the_hour_that_comes_twice_is_due_twice(end: str, due: str) -> None:
    """Case 06."""
    entity = yaml.safe_load(text_of("06_repeated_hour_in_cron/entity.yaml"))
    following = Cron.parse(entity["earliest"]).next(
        int(dt.datetime.fromisoformat(end).timestamp()), Zone.load(entity["time_zone"])
    )
    assert following == dt.datetime.fromisoformat(f"2026-10-25T{due}").timestamp()


def test_hours_of_a_zone_with_new_rules_are_partitions() -> None:
    """Case 07."""
    entity = parse_entity(text_of("07_rules_of_time_zones_change/entity.yaml"), "hours")
    assert assert_windows_are_the_same(entity) > 521


def test_hours_that_dagster_cannot_cut_are_refused(tmp_path: Path) -> None:
    """Case 08: Dagster's hours are others after a change of half an hour."""
    entity = text_of("08_half_hour_clock_change/entity.yaml")
    root = project(tmp_path, {"dws/dws_hours.yaml": entity, "dws/dws_hours.sql": "SELECT 1 AS x\n"})
    told = run(root, "check")
    assert told.exit_code == 1
    assert "Dagster cannot make hours if the clock changes by less than an hour" in " ".join(told.output.split())


def test_a_recursive_query_has_the_sources_of_its_rows() -> None:
    """Case 09."""
    name = "09_lineage_of_recursive_queries/dws_recursive.sql"
    assert sources(name)["path"] == "ods_users.name"
    assert indirect(name) == {"ods_users.dt", "ods_users.user_id", "ods_users.y"}


def test_pivoted_columns_have_their_own_sources() -> None:
    """Case 10."""
    unpivoted = sources("10_lineage_of_pivots/dws_unpivot.sql")
    assert unpivoted == {"shop": "ods_sales.shop", "quarter": "", "amount": "ods_sales.q1 ods_sales.q2"}
    pivoted = sources("10_lineage_of_pivots/dws_pivot.sql")
    assert pivoted == {
        "shop": "ods_sales.shop",
        **dict.fromkeys(("north_a", "south_a"), "ods_sales.q1"),
        **dict.fromkeys(("north_b", "south_b"), "ods_sales.q2"),
    }
    assert "ods_sales.region" in indirect("10_lineage_of_pivots/dws_pivot.sql")
    assert read_by("10_lineage_of_pivots/dws_unpivot_where.sql") == "Set 0"


def test_rows_that_except_removes_are_indirect_lineage() -> None:
    """Case 11."""
    name, tables = "11_lineage_of_except/query.sql", ("ods_users", "ods_orders")
    assert sources(name, *tables) == {"user_id": "ods_users.user_id"}
    assert "ods_orders.id" in indirect(name, *tables)


def test_a_column_with_a_dot_is_followed(tmp_path: Path) -> None:
    """Case 12."""
    base, names = "05_select_list_that_cannot_be_written", "12_columns_with_a_dot"
    files = {f"ods/ods_base.{kind}": text_of(f"{base}/ods_base.{kind}") for kind in ("sql", "yaml")}
    files |= {f"dws/{path.name}": path.read_text() for path in (CASES / names).iterdir()}
    told = run(project(tmp_path, files), "lineage", "dws_names2.c.d")
    assert told.exit_code == 0, told.output
    assert "dws_names.a.b" in told.output
    assert "ods_base.user_id" in told.output


def test_a_comment_that_a_backslash_continues_hides_the_next_line() -> None:
    """Case 14."""
    told = read_by("14_comment_that_goes_on/query.sql", "ods_orders")
    assert told == "undecidable: no condition bounds its partition columns at their end"


def test_a_pattern_of_week_years_is_refused() -> None:
    """Case 15."""
    assert read_by("15_week_years/query.sql", "ods_orders").startswith("undecidable: Spark has no letter Y in patterns")


@pytest.mark.parametrize("name", ["as_join", "drop_set", "table"])
def test_pipe_operators_are_read(name: str) -> None:
    """Case 16."""
    assert read_by(f"16_pipe_operators/{name}.sql", "ods_orders", "ods_users") == "Set 0"


def test_days_that_a_zone_skipped_are_not_slices() -> None:
    """Case 17: both directions agree, and no slice waits for itself."""
    entities: dict[str, dict[str, Any]] = yaml.safe_load(text_of("17_days_that_a_zone_skipped/entities.yaml"))
    world = graph(**{name: json.dumps(entity, default=str) for name, entity in entities.items()})
    assert keys(world, "d@2011-12-31") == {"u": []}
    needed = {day: keys(world, f"e@{day}")["v"] for day in ("2011-12-29", "2011-12-31", "2012-01-03")}
    assert [day for day, slices in needed.items() if "2011-12-30" in slices] == ["2011-12-31", "2012-01-03"]
    until = dt.datetime(2012, 2, 1, tzinfo=dt.UTC)
    users = {str(slice_) for slice_ in world.downstream(Slice.parse("v@2011-12-30"), until)}
    assert {"e@2011-12-31", "e@2012-01-01", "e@2012-01-03"} <= users


@pytest.mark.slow
def test_a_period_that_changed_over_its_table_is_said(tmp_path: Path) -> None:
    """Case 18."""
    files = {
        **{
            f"ods/ods_base.{kind}": text_of(f"05_select_list_that_cannot_be_written/ods_base.{kind}")
            for kind in ("sql", "yaml")
        },
        "dws/dws_x.sql": text_of("18_period_changed/query.sql"),
        "dws/dws_x.yaml": text_of("18_period_changed/before.yaml"),
    }
    root = project(tmp_path, files)
    rows = pa.table({"user_id": [1], "x": [0.5], "dt": [dt.date(2026, 3, 23)]})
    write_deltalake(str(Settings.at(root / "data").warehouse / "dws_x"), rows, partition_by=["dt"])
    assert "dws_x" not in json.loads(run(root, "plan", "--json").stdout)["broken"]
    (root / "warehouse_assets/dws/dws_x.yaml").write_text(text_of("18_period_changed/after.yaml"))
    for words, says in (
        (("check",), "partitions by dt, hour"),
        (("plan",), "partitions by dt, hour"),
        (("show", "dws_x", "2026-03-23T07"), "--rebuild"),
    ):
        told = run(root, *words)
        assert told.exit_code != 0
        assert says in " ".join(told.output.split()), told.output


@pytest.mark.parametrize("zone", ["America/New_York", "Asia/Kolkata", "Asia/Kathmandu", "Australia/Lord_Howe"])
def test_a_local_day_of_utc_hours_is_all_of_them(monkeypatch: pytest.MonkeyPatch, zone: str) -> None:
    """Case 19, in few steps: each day is sought where the day before was found."""
    monkeypatch.setattr(expression_evaluation, "STEPS_LIMIT", 6_000)
    folder = "19_local_day_of_utc_hours"
    declared = {name: yaml.safe_load(text_of(f"{folder}/{name}.yaml")) for name in ("down", "h_utc")}
    assert declared["down"]["time_zone"] == "America/New_York"
    down, hours = (
        EntityOutline(name, Period.parse(entity["period"]), Calendar(clock), str(entity["start"]))
        for (name, entity), clock in zip(declared.items(), (zone, "UTC"), strict=True)
    )
    query = read_query(text_of(f"{folder}/query.sql").replace("America/New_York", zone))
    assert str(infer([query], down, {"h_utc": hours}, session=QuerySession(zone))["h_utc"]) == "all"
