"""Python functions analysed by `check`: offsets from the plan, differences, what the plan leaves open, the cache."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.compute.small_warehouse import small_warehouse
from tidemark.compute import function_reads
from tidemark.compute.function_reads import read_with_dry_runs
from tidemark.dependency_model.lineage.spark_plan import function_reads as plan_reads
from tidemark.system.settings import Settings
from tidemark.warehouse.declarations import read_declarations

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession

    from tidemark.warehouse.declarations import Declarations

pytestmark = pytest.mark.spark

FUNCTION = """
from datetime import timedelta

from pyspark.sql import functions as F


def compute(sales, totals, *, biz_date):
    before = sales.where(F.col("dt") == biz_date - timedelta(1)).groupBy("region").agg(F.sum("amount").alias("before"))
    return totals.where(F.col("dt") == F.lit(biz_date)).join(before, "region", "left")
"""


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where a handful of the business times shows as much as all."""
    every = plan_reads.business_times
    monkeypatch.setattr(plan_reads, "business_times", lambda downstream: every(downstream)[:9])


@pytest.fixture
def root(tmp_path: Path) -> Path:
    small_warehouse(tmp_path)
    (tmp_path / "data").mkdir(exist_ok=True)
    _write(tmp_path / "declared", FUNCTION)
    return tmp_path / "declared"


def _write(root: Path, text: str, yaml: str = "period: day\n") -> None:
    (root / "ads" / "best.py").write_text(text)
    (root / "ads" / "best.yaml").write_text(yaml)


def _settings(root: Path) -> Settings:
    return Settings.at(root.parent / "data")


def _needs(declarations: Declarations) -> list[tuple[str, str | None]]:
    return [
        (dependency.entity, str(dependency.offset) if dependency.offset else None)
        for dependency in declarations.entities["best"].depends_on
    ]


def _texts_of(declarations: Declarations) -> list[str]:
    """What is said of the function, and of nothing else in the folder."""
    return [str(difference) for difference in declarations.differences if str(difference.where).startswith("ads/best")]


def test_a_check_finds_the_offsets_and_loading_takes_them_from_it(spark: SparkSession, root: Path) -> None:
    before = read_declarations(root, _settings(root))
    assert _needs(before) == [("sales", None), ("totals", None)]
    assert before.unread == {"best"}
    checked = read_with_dry_runs(root, _settings(root))
    assert _texts_of(checked) == []
    assert _needs(checked) == [("sales", "Set -1"), ("totals", "Set 0")]
    after = read_declarations(root, _settings(root))
    assert (_needs(after), after.unread) == (_needs(checked), frozenset())


@pytest.mark.usefixtures("few")
def test_a_function_is_analysed_again_when_it_changed_and_not_before(
    spark: SparkSession, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    read_with_dry_runs(root, _settings(root))
    monkeypatch.setattr(function_reads, "_DryRuns", None)
    assert read_with_dry_runs(root, _settings(root)).unread == frozenset()
    _write(root, FUNCTION.replace("def compute", "# the day before\n\ndef compute"))
    assert read_with_dry_runs(root, _settings(root)).unread == frozenset()
    _write(root, FUNCTION.replace("timedelta(1)", "timedelta(2)"))
    with pytest.raises(TypeError):
        read_with_dry_runs(root, _settings(root))


@pytest.mark.usefixtures("few")
@pytest.mark.parametrize(
    ("old", "new", "yaml", "says"),
    [
        (
            "",
            "",
            "depends_on: [{entity: sales, offset: Set -2}]",
            "ads/best.py:7:1: the query reads other slices of sales",
        ),
        (".join(before", ".join(totals", "", "ads/best.py:7:1: sales: a parameter, but nothing that is returned is"),
        ('F.col("dt") == biz_date - timedelta(1)', 'F.col("amount") > 1', "", "ads/best.py:7:1: which slices of sales"),
        ("F.sum(", "F.sun(", "", "ads/best.py:8:88: its dry run over empty inputs fails: module"),
        ('"region", "left")', '"region").limit(1 + sales.count())', "", "it reads rows (collect, count, toPandas"),
    ],
)
def test_different_and_unknown_reads_are_reported(
    spark: SparkSession, root: Path, old: str, new: str, yaml: str, says: str
) -> None:
    _write(root, FUNCTION.replace(old, new), f"period: day\n{yaml}\n")
    declarations = read_with_dry_runs(root, _settings(root))
    assert any(says in difference for difference in _texts_of(declarations)), _texts_of(declarations)
    assert declarations.problems == ()


@pytest.mark.usefixtures("few")
def test_yaml_states_reads_that_the_plan_does_not_show(spark: SparkSession, root: Path) -> None:
    text = FUNCTION.replace('F.col("dt") == biz_date - timedelta(1)', 'F.col("amount") > 1')
    _write(root, text, "period: day\ndepends_on: [{entity: sales, offset: Set -1}]\n")
    declarations = read_with_dry_runs(root, _settings(root))
    assert (_texts_of(declarations), _needs(declarations)) == ([], [("sales", "Set -1"), ("totals", "Set 0")])
