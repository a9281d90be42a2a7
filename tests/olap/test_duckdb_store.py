"""The one thing that the embedded store has of its own: a file for one process at a time."""

from __future__ import annotations

import stat
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import pytest

from tests.olap.examples import DAY, gmv
from tidemark.olap.duckdb_store import DuckDbStore
from tidemark.olap.errors import OlapBusyError, OlapRefusedError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_HOLD = """
import sys, duckdb
connection = duckdb.connect(sys.argv[1])
print("held", flush=True)
sys.stdin.readline()
"""

_PUBLISH = """
import sys
from pathlib import Path
from tidemark.olap import open_store
from tests.olap.examples import gmv
for n in range(5):
    open_store("duckdb", Path(sys.argv[1])).publish("t", gmv("1.00"), {"p": f"{sys.argv[2]}-{n}"})
"""


@pytest.fixture
def holder(tmp_path: Path) -> Iterator[subprocess.Popen[str]]:
    """Another process that holds the file until it is given a line."""
    with subprocess.Popen(
        [sys.executable, "-c", _HOLD, str(tmp_path / "olap.duckdb")],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "held\n"
        yield process
        process.kill()


def _let_go(holder: subprocess.Popen[str]) -> None:
    holder.communicate("go\n", timeout=30)


def test_a_held_file_is_waited_for(tmp_path: Path, holder: subprocess.Popen[str]) -> None:
    pauses: list[float] = []

    def pause(seconds: float) -> None:
        pauses.append(seconds)
        if len(pauses) == 7:
            _let_go(holder)

    store = DuckDbStore(tmp_path / "olap.duckdb", clock=lambda: 0.0, pause=pause)

    assert store.publish("t", gmv("1.00"), {"dt": DAY}).rows == 1
    assert pauses == [0.02, 0.04, 0.08, 0.16, 0.32, 0.5, 0.5]


def test_the_wait_is_bounded_and_the_error_names_the_holder(tmp_path: Path, holder: subprocess.Popen[str]) -> None:
    elapsed = [0.0]

    def pause(seconds: float) -> None:
        elapsed[0] += seconds

    store = DuckDbStore(tmp_path / "olap.duckdb", patience_seconds=5, clock=lambda: elapsed[0], pause=pause)

    with pytest.raises(OlapBusyError) as busy:
        store.publish("t", gmv("1.00"), {"dt": DAY})

    assert 4.5 <= elapsed[0] <= 5
    assert str(busy.value).startswith(
        f"{tmp_path}/olap.duckdb: the OLAP store is in use: expected a free store within 5 s, found it held: "
    )
    assert f"(PID {holder.pid})" in str(busy.value)
    assert "set TIDEMARK_OLAP to a PostgreSQL URL" in str(busy.value)


@pytest.mark.long
@pytest.mark.slow
def test_several_processes_get_their_turn(tmp_path: Path) -> None:
    def run(name: str) -> int:
        command = [sys.executable, "-c", _PUBLISH, str(tmp_path), name]
        return subprocess.run(command, check=False, timeout=90).returncode

    with ThreadPoolExecutor(3) as pool:
        assert list(pool.map(run, "abc")) == [0, 0, 0]

    assert DuckDbStore(tmp_path / "olap.duckdb").read("t", {}).num_rows == 15


def test_the_file_and_its_folder_are_their_owners_alone(tmp_path: Path) -> None:
    path = tmp_path / "data" / "olap.duckdb"
    DuckDbStore(path).publish("t", gmv("1.00"), {"dt": DAY})
    assert [stat.S_IMODE(made.stat().st_mode) for made in (path.parent, path)] == [0o700, 0o600]
    path.chmod(0o640)
    DuckDbStore(path).publish("t", gmv("2.00"), {"dt": DAY})
    assert stat.S_IMODE(path.stat().st_mode) == 0o640


def test_a_file_that_is_not_a_database_is_refused_by_name(tmp_path: Path) -> None:
    path = tmp_path / "olap.duckdb"
    path.write_text("not a database" * 1000)

    with pytest.raises(OlapRefusedError, match=r"olap\.duckdb: the OLAP store refused: found .*not a valid DuckDB"):
        DuckDbStore(path).publish("t", gmv("1.00"), {"dt": DAY})

    assert path.read_text() == "not a database" * 1000
