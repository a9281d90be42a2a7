"""`tidemark delta layout` and `advise` on a small table, for people and for programs."""

import json
from pathlib import Path

import pyarrow as pa
import pytest
from click.testing import CliRunner
from deltalake import write_deltalake

from tidemark.console.main import main
from tidemark.state_store.database import Database
from tidemark.state_store.scan_counts import ScanCounts
from tidemark.system.settings import Settings


@pytest.fixture
def table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("TIDEMARK_DATA", str(tmp_path))
    path = tmp_path / "warehouse" / "orders"
    for number in range(12):
        rows = pa.table({"day": pa.array([number, number], pa.int64()), "user": pa.array([0, 100], pa.int64())})
        write_deltalake(str(path), rows, mode="append")
    return path


def said(*arguments: str) -> tuple[int, str]:
    result = CliRunner().invoke(main, ["delta", *arguments])
    return result.exit_code, result.stdout


def test_layout(table: Path) -> None:
    code, text = said("layout", "orders", "--where", "day=3..5")
    assert code == 0
    assert text.splitlines()[0].startswith("version 11, 12 files, ")
    assert "day\t1.0\t1\t12" in text
    assert text.splitlines()[-1].startswith("this filter reads 3 of 12 files, ")
    code, text = said("layout", str(table), "--column", "user", "--json")
    answer = json.loads(text)
    assert answer["columns"] == [{"column": "user", "depth": 12.0, "deepest": 12, "bounded": 12}]
    assert "read" not in answer


def test_errors_are_clear(table: Path) -> None:
    assert said("layout", "nothing")[0] == 1
    assert said("layout", "orders", "--where", "nope=3")[0] == 1
    assert said("layout", "orders", "--where", "day")[0] == 2


def test_advice(table: Path) -> None:
    assert "no query" in said("advise", "orders")[1]
    ScanCounts(Database.of(Settings.load())).add({(str(table), frozenset({"user"})): 3})
    code, text = said("advise", "orders")
    assert (code, text.splitlines()[0].startswith("cluster: 3 of 3 scans filter by user")) == (0, True)
    assert json.loads(said("advise", "orders", "--json")[1])["weights"] == {"user": 1.0}
