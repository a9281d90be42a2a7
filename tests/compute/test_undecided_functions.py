"""Functions of which no plan tells what they read: Spark is not started again where nothing has changed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.project import write_project
from tidemark.compute import function_reads
from tidemark.compute.function_reads import read_with_dry_runs
from tidemark.errors import EntityError
from tidemark.system.settings import Settings

if TYPE_CHECKING:
    from pathlib import Path

    import pytest

    from tidemark.warehouse.declarations import Declarations

FUNCTION = "def compute(sales, *, biz_date):\n    return sales.limit(sales.count())\n"


class Project:
    """`asked` counts how often a dry run would have been made."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        files = {"ods/sales.yaml": "{kind: Virtual, period: day}", "ads/best.yaml": "period: day\n"}
        self.root = write_project(folder, {**files, "ads/best.py": FUNCTION}) / "warehouse_assets"
        self.settings, self.asked = Settings.load({"TIDEMARK_ROOT": str(folder)}), 0
        self.settings.data.mkdir(exist_ok=True)
        monkeypatch.setattr(function_reads._DryRuns, "_session", None)
        monkeypatch.setattr(function_reads, "_reads", self._reads)

    def _reads(self, *_: object) -> None:
        self.asked += 1
        raise EntityError("it reads rows before it returns")

    def check(self) -> Declarations:
        return read_with_dry_runs(self.root, self.settings)


def test_spark_is_asked_again_when_the_function_or_the_tables_are_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = Project(tmp_path, monkeypatch)
    first = project.check()
    assert "it reads rows" in str(first.differences)
    again = project.check()
    assert (project.asked, str(again.differences), again.unread) == (1, str(first.differences), first.unread)
    (project.root / "ads" / "best.py").write_text(FUNCTION.replace("limit", "sample"))
    assert [project.check() and project.asked for _ in range(2)] == [2, 2]
    log = project.settings.data / "warehouse" / "sales" / "_delta_log"
    log.mkdir(parents=True)
    (log / f"{0:020}.json").write_text("{}")
    assert [project.check() and project.asked for _ in range(2)] == [3, 3]
