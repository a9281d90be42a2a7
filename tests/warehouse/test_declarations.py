"""YAML and SQL of a folder read together, and what is kept between two readings."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

from tidemark.errors import EntityErrors
from tidemark.system.settings import Settings
from tidemark.warehouse.declarations import Declarations, read_declarations
from tidemark.warehouse.inference_cache import InferenceCache

if TYPE_CHECKING:
    from pathlib import Path

    from tidemark.dependency_model.entity import Entity
    from tidemark.dependency_model.lineage.inferred_read import Read

FILES = {
    "project.yaml": "time_zone: Europe/Paris\nstart: 2026-03-23\n",
    "ods_users.yaml": "{period: day, kind: Snapshot}\n",
    "orders.yaml": "period: day\n",
    "orders.sql": "SELECT u.user_id FROM ods_users AS u WHERE u.dt = :biz_date\n",
    "week.yaml": "period: week\nquality:\n  - reconcile:\n      value: sum(n)\n      equals: >-\n"
    "        SELECT count(*) FROM ods_users\n        WHERE dt = date_add(:biz_date, 6)\n",
    "week.sql": "SELECT count(*) AS n FROM orders WHERE dt BETWEEN :biz_date AND date_add(:biz_date, 6)\n",
}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "declared").mkdir()
    (tmp_path / "data").mkdir()
    for name, text in FILES.items():
        (tmp_path / "declared" / name).write_text(text)
    return tmp_path / "declared"


def read(root: Path) -> Declarations:
    return read_declarations(root, Settings.at(root.parent / "data"))


def cache_file(root: Path) -> Path:
    (result,) = (root.parent / "data" / "cache").glob("inference-*.json")
    return result


def needs(declarations: Declarations, name: str) -> list[tuple[str, str]]:
    return [(dependency.entity, str(dependency.offset)) for dependency in declarations.entities[name].depends_on]


def test_dependencies_come_from_queries_and_from_quality_rules(root: Path) -> None:
    checked = read(root).require_no_problems()
    assert needs(checked, "orders") == [("ods_users", "Set 0")]
    assert needs(checked, "week") == [("orders", "all"), ("ods_users", "Set 6")]
    assert checked.differences == ()


def test_all_errors_are_reported_together(root: Path) -> None:
    (root / "orders.sql").write_text("SELECT user_id\nFROM ods_user WHERE dt = :biz_date\n")
    (root / "week.sql").write_text("SELECT count(*) AS n FROM orders\n")
    with pytest.raises(EntityErrors) as caught:
        read(root).require_no_problems()
    assert [problem.where for problem in caught.value.problems] == ["orders.sql:2:6", "week.sql:1:27"]


def test_an_unbound_parameter_is_an_error_even_with_a_stated_offset(root: Path) -> None:
    (root / "orders.sql").write_text("SELECT user_id FROM ods_users\nWHERE dt = :biz_dat\n")
    (root / "orders.yaml").write_text("period: day\ndepends_on: [{entity: ods_users, offset: Set 0}]\n")
    (problem,) = read(root).problems
    assert (problem.where, problem.found, problem.hint) == ("orders.sql:2:12", ":biz_dat", "did you mean 'biz_date'?")


def test_a_query_without_a_declaration_is_an_error(root: Path) -> None:
    (root / "lost.sql").write_text("SELECT 1\n")
    (problem,) = read(root).differences
    assert (problem.where, problem.message) == ("lost.sql", "this query has no declaration")


def test_bad_sql_in_a_quality_rule_is_an_error_in_its_file(root: Path) -> None:
    (root / "week.yaml").write_text(FILES["week.yaml"].replace("count(*) FROM", "count( FROM"))
    (problem,) = read(root).problems
    assert str(problem.where).startswith("week.yaml:5:")


def test_only_changed_queries_are_analysed_again(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    analysed: list[str] = []
    analyse = InferenceCache._analyse

    def noted(self: InferenceCache, entity: Entity, *rest: Any) -> dict[str, Read]:
        analysed.append(entity.name)
        return analyse(self, entity, *rest)

    monkeypatch.setattr(InferenceCache, "_analyse", noted)
    first = read(root)
    assert analysed == ["orders", "week"]
    again = read(root)
    assert analysed == ["orders", "week"]
    assert again == first
    (root / "orders.sql").write_text(FILES["orders.sql"].replace(":biz_date", "date_sub(:biz_date, 1)"))
    assert needs(read(root), "orders") == [("ods_users", "Set -1")]
    (root / "ods_users.yaml").write_text("{period: day, kind: Snapshot, start: 2026-03-30}\n")
    read(root)
    assert analysed[2:] == ["orders", "orders", "week"]


@pytest.mark.parametrize("text", ["", "{", "[]", '{"orders": 3, "week": {"key": 1}}', "\x00"])
def test_a_cache_that_cannot_be_read_is_as_good_as_none(root: Path, text: str) -> None:
    first = read(root)
    cache_file(root).write_text(text)
    assert read(root) == first
    assert json.loads(cache_file(root).read_text()).keys() == {"orders", "week"}


def test_an_entry_with_wrong_insides_is_analysed_again(root: Path) -> None:
    first = read(root)
    entries = json.loads(cache_file(root).read_text())
    entries["orders"]["reads"] = [{"table": "ods_users", "where": "", "offsets": ["Set x"], "undecidable": ""}]
    entries["week"]["tables"] = {"gone": "day"}
    cache_file(root).write_text(json.dumps(entries))
    assert read(root) == first


def test_without_a_data_folder_nothing_is_written(root: Path) -> None:
    (root.parent / "data").rmdir()
    assert read(root).problems == ()
    assert not (root.parent / "data").exists()


def test_a_second_process_loads_no_sql_parser(root: Path) -> None:
    read(root)
    code = (
        "import sys; from pathlib import Path; from tidemark.system.settings import Settings;"
        "from tidemark.warehouse.declarations import read_declarations;"
        "read_declarations(Path(sys.argv[1]), Settings.at(Path(sys.argv[2])));"
        "print('sqlglot' in sys.modules, 'dagster' in sys.modules, 'pyspark' in sys.modules)"
    )
    command = [sys.executable, "-c", code, str(root), str(root.parent / "data")]
    assert subprocess.run(command, check=True, capture_output=True, text=True).stdout == "False False False\n"


def test_a_query_that_is_not_text_is_an_error_with_its_file(root: Path) -> None:
    (root / "orders.sql").write_bytes(b"SELECT '\xe9' AS x")
    (problem,) = read(root).problems
    assert str(problem) == "orders.sql: this is not UTF-8: found byte 8"


def test_lines_that_end_as_on_windows_keep_their_places(root: Path) -> None:
    (root / "orders.sql").write_bytes(b"SELECT user_id\r\nFROM ods_user WHERE dt = :biz_date\r\n")
    assert [problem.where for problem in read(root).problems] == ["orders.sql:2:6"]


def test_a_table_in_capitals_is_found_by_small_letters(root: Path) -> None:
    (root / "Visits.yaml").write_text("{period: day, kind: Virtual}\n")
    (root / "orders.sql").write_text("SELECT v.a FROM visits AS v WHERE v.dt = :biz_date\n")
    assert needs(read(root).require_no_problems(), "orders") == [("Visits", "Set 0")]


@pytest.mark.parametrize(
    ("date", "offset"),
    [
        (":biz_date", "Set 0"),
        ("to_date(:period_start)", "Set 0"),
        ("to_date(to_utc_timestamp(:period_start, 'Europe/Paris'))", "Set -1"),
    ],
)
def test_dates_of_instants_are_those_of_the_entitys_clock(root: Path, date: str, offset: str) -> None:
    (root / "orders.sql").write_text(f"SELECT u.user_id FROM ods_users AS u WHERE u.dt = {date}\n")  # noqa: S608
    checked = read_declarations(root, Settings.at(root.parent / "data", time_zone="Europe/Paris"))
    assert needs(checked.require_no_problems(), "orders") == [("ods_users", offset)]
