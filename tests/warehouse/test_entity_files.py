"""Folders of declarations: names, layers, defaults, and what is wrong between files, with its line."""

from __future__ import annotations

import os
from pathlib import Path

from tidemark.dependency_model.entity import EntityKind
from tidemark.dependency_model.graph import DependencyGraph
from tidemark.dependency_model.time import Period
from tidemark.warehouse.entity_files import load_entities, locate, read_folder

MAIN_JOB = Path(__file__).resolve().parents[2] / "warehouse_assets"


def write(root: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text, encoding="utf-8")
    return root


def test_a_folder_becomes_entities(tmp_path: Path) -> None:
    entities = load_entities(
        write(
            tmp_path,
            {
                "project.yaml": "time_zone: Europe/Paris\nowner: data@school.example\ntags: {team: platform}\n",
                "ods/ods_orders.yaml": "period: day\nkind: Snapshot\ntags: {product: shop}\n",
                "ads/project.yaml": "owner: bi@school.example\n",
                "ads/deep/ads_gmv.yaml": "period: week\nweek_start: sunday\nowner: me@school.example\n",
                "ads/ads_live.yaml": "period: hour\ntime_zone: UTC\n",
                "ads/ads_live.sql": "SELECT 1",
            },
        )
    )
    assert set(entities) == {"ads_live", "ads_gmv", "ods_orders"}
    orders, gmv, live = entities["ods_orders"], entities["ads_gmv"], entities["ads_live"]
    assert (orders.layer, orders.file, orders.kind) == ("ods", "ods/ods_orders.yaml", EntityKind.SNAPSHOT)
    assert orders.tags == {"team": "platform", "product": "shop"}
    assert (orders.time_zone, live.time_zone) == ("Europe/Paris", "UTC")
    assert (orders.owner, live.owner, gmv.owner) == ("data@school.example", "bi@school.example", "me@school.example")
    assert (gmv.layer, gmv.week_start, gmv.period) == ("deep", "sunday", Period.WEEK)
    assert [entity.name for entity in entities.of_layer("ads")] == ["ads_live"]
    assert [entity.name for entity in entities.with_tags({"product": "shop"})] == ["ods_orders"]


def test_the_main_job_loads() -> None:
    entities = load_entities(MAIN_JOB)
    assert {entity.layer for entity in entities.values()} == {"external", "ods", "dwd", "dws", "ads"}


def test_one_name_in_two_folders_is_said(tmp_path: Path) -> None:
    problems = read_folder(write(tmp_path, {"a/one.yaml": "period: day\n", "b/one.yaml": "period: day\n"})).problems
    assert [str(problem) for problem in problems] == ["b/one.yaml: the entity 'one' is declared in a/one.yaml already"]


def test_unknown_defaults_are_said(tmp_path: Path) -> None:
    problems = read_folder(write(tmp_path, {"project.yaml": "# all\ntimezone: UTC\n"})).problems
    assert "project.yaml:2" in str(problems[0])
    assert "did you mean 'time_zone'?" in str(problems[0])


def test_a_file_that_is_not_text_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "one.yaml").write_bytes(b"period: \xff\n")
    problems = read_folder(tmp_path).problems
    assert "not UTF-8" in str(problems[0])
    assert "the folder of declarations does not exist" in str(read_folder(tmp_path / "nowhere").problems[0])


def test_the_line_is_found_when_someone_reads_it(tmp_path: Path) -> None:
    (tmp_path / "table.yaml").write_text("period: day\ndescription: on daly\ndepends_on:\n  - daily\n  - daly\n")
    (tmp_path / "daily.yaml").write_text("period: day\n")
    entities = read_folder(tmp_path).entities
    (problem,) = DependencyGraph.build(entities).problems()
    locate(problem, tmp_path)
    assert str(problem).startswith("table.yaml:5: depends on an unknown entity: found daly")


def test_links_that_lead_nowhere_or_back_and_pipes_are_problems(tmp_path: Path) -> None:
    root = write(tmp_path / "assets", {"ods/ods_orders.yaml": "period: day\n"})
    (root / "ods" / "loop.yaml").symlink_to("loop.yaml")
    (root / "ods" / "gone.yaml").symlink_to("nowhere")
    (root / "ods" / "back").symlink_to("..")
    os.mkfifo(root / "ods" / "pipe.yaml")
    folder = read_folder(root)
    assert list(folder.entities) == ["ods_orders"]
    assert {problem.where: problem.message for problem in folder.problems} == {
        "ods/back": "the link leads back to one of its parent folders",
        "ods/gone.yaml": "this is not a file",
        "ods/loop.yaml": "cannot be read",
        "ods/pipe.yaml": "this is not a file",
    }


def test_queries_are_found_by_name_even_below_a_link(tmp_path: Path) -> None:
    root = write(tmp_path / "assets", {"dwd/dwd_a.yaml": "period: day\n", "dwd/dwd_a.sql": "SELECT 1"})
    write(tmp_path / "shared", {"dwd_b.yaml": "period: day\n", "dwd_b.sql": "SELECT 2"})
    (root / "linked").symlink_to(tmp_path / "shared")
    folder = read_folder(root)
    assert folder.queries == {"dwd_a": "dwd/dwd_a.sql", "dwd_b": "linked/dwd_b.sql"}
    assert {*folder.entities} == {*folder.queries}


def test_two_queries_of_one_name_are_said(tmp_path: Path) -> None:
    files = {"a/t.yaml": "period: day\n", "a/t.sql": "SELECT 1", "b/t.sql": "SELECT 2"}
    (problem,) = read_folder(write(tmp_path, files)).problems
    assert str(problem).startswith("b/t.sql: the query of 't' stands in a/t.sql already")
