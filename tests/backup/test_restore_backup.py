"""A backup becomes equal figures again in another folder, or nothing at all is written."""

from __future__ import annotations

import hashlib
import json
import shutil
import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING, Any

import pytest
from click.testing import CliRunner

from tests.backup.depot import Depot, files_below
from tidemark.console.main import main
from tidemark.dependency_model.status import RunState
from tidemark.state_store.lease import Lease
from tidemark.state_store.store import StateStore

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

FIGURES = [("2026-03-01", 1), ("2026-03-01", 2)]
STATES = {"2026-03-01": (RunState.COMPLETED, "0")}


def run(*arguments: str | Path, root: Path | None = None, exit_code: int = 0) -> dict[str, Any]:
    of_project = ["--root", str(root)] if root else []
    result = CliRunner().invoke(main, [*map(str, arguments), "--json", *of_project], catch_exceptions=False)
    assert result.exit_code == exit_code, result.output
    answer: dict[str, Any] = json.loads(result.stdout)
    return answer


def found(*arguments: str | Path, root: Path | None = None) -> str:
    """What a command that is refused says, in one line."""
    error = run(*arguments, root=root, exit_code=1)["error"]
    return f"{error['message']}: {error['found']} - {error['hint']}"


def test_another_folder_has_equal_figures_and_goes_on(backup: Path, tmp_path: Path) -> None:
    answer = run("restore", backup, "--into", tmp_path / "restored")
    assert (answer["with_lake"], answer["replaced"], answer["left_out"]) == (True, {}, {})
    restored = Depot(tmp_path / "restored")
    assert restored.figures() == FIGURES
    assert restored.states() == STATES
    restored.tick()
    assert restored.states() == STATES
    restored.compute("2026-03-02", [7])
    assert restored.states() == {**STATES, "2026-03-02": (RunState.COMPLETED, "1")}
    assert restored.figures() == [*FIGURES, ("2026-03-02", 7)]


def test_a_lake_outside_of_the_project_is_named_as_shared(depot: Depot, tmp_path: Path) -> None:
    shutil.move(depot.table.parent, tmp_path / "lake")
    (depot.root / "tidemark.yaml").write_text(f"time_zone: UTC\nwarehouse: {tmp_path / 'lake'}\n")
    run("backup", tmp_path / "positions", root=depot.root)
    answer = run("restore", tmp_path / "positions", "--into", tmp_path / "restored")
    assert answer["shared_lake"] == str(tmp_path / "lake")


def test_files_count_as_changed_when_the_originals_were(depot: Depot, tmp_path: Path) -> None:
    """VACUUM and time travel go by these times; a copy of the backup may have lost them."""
    depot.backup(tmp_path / "new")
    for file in (tmp_path / "new").rglob("*"):
        file.touch()
    run("restore", tmp_path / "new", "--into", tmp_path / "restored")
    times = [
        {path.relative_to(d.table): path.stat().st_mtime_ns for path in d.table.rglob("*") if path.is_file()}
        for d in (depot, Depot(tmp_path / "restored"))
    ]
    assert times[0] == times[1]


def test_existing_files_are_named_and_moved_aside_with_replace(depot: Depot, backup: Path) -> None:
    depot.compute("2026-03-01", [5])
    before = dict(files_below(depot.root))
    assert str(depot.settings.state_db) in (words := found("restore", backup, root=depot.root))
    assert "--replace" in words
    assert dict(files_below(depot.root)) == before
    replaced = dict(run("restore", backup, "--replace", root=depot.root)["replaced"])
    assert depot.figures() == FIGURES
    assert depot.states() == STATES
    assert {str(depot.settings.state_db), str(depot.table), str(depot.home / "history")} <= set(replaced)
    kept = {content for _, content in files_below(depot.root)}
    assert all(content in kept for name, content in before.items() if name.endswith(".parquet"))
    with closing(sqlite3.connect(replaced[str(depot.settings.state_db)])) as aside:
        assert aside.execute("SELECT count(*) FROM slices WHERE key = '2026-03-01'").fetchall() != [(0,)]
        assert aside.execute("SELECT action FROM audit_log").fetchall() == [("tidemark restore",)]
    depot.compute("2026-03-02", [6])
    assert depot.figures() == [*FIGURES, ("2026-03-02", 6)]


def test_a_folder_that_is_not_empty_is_in_the_way_as_a_whole(backup: Path, tmp_path: Path) -> None:
    into = tmp_path / "restored"
    into.mkdir()
    (into / "thesis.txt").write_text("years of work")
    assert "not empty" in found("restore", backup, "--into", into)
    replaced = run("restore", backup, "--into", into, "--replace")["replaced"]
    assert (into / "thesis.txt").exists() is False
    aside = dict(replaced)[str(into)]
    assert [content for _, content in files_below(type(into)(aside))] == [b"years of work"]


def test_a_process_at_work_is_not_robbed_of_its_files(depot: Depot, backup: Path) -> None:
    store = StateStore.of(depot.settings)
    lease = Lease(store.database, "center of somebody", 60.0)
    lease.hold()
    assert "center of somebody" in found("restore", backup, "--replace", root=depot.root)
    lease.release()
    store.close()
    run("restore", backup, "--replace", root=depot.root)


def test_a_damaged_store_is_replaced(depot: Depot, backup: Path) -> None:
    file = depot.settings.state_db
    file.write_bytes(file.read_bytes()[:8192] + b"\xff" * 100_000)
    run("restore", backup, "--replace", root=depot.root)
    assert depot.states() == STATES


def test_positions_alone_go_where_the_lake_is(depot: Depot, tmp_path: Path) -> None:
    depot.backup(tmp_path / "positions", with_lake=False)
    assert "no files of the lake" in found("restore", tmp_path / "positions", "--into", tmp_path / "restored")
    assert not (tmp_path / "restored").exists()
    depot.compute("2026-03-02", [6])
    run("restore", tmp_path / "positions", "--replace", root=depot.root)
    assert depot.figures() == [*FIGURES, ("2026-03-02", 6)]
    assert depot.states() == STATES


def changed(backup: Path, change: Callable[[dict[str, Any]], object]) -> None:
    """A manifest of somebody who knows how it is written."""
    manifest = json.loads((backup / "manifest.json").read_text())
    change(manifest)
    text = json.dumps(manifest)
    (backup / "manifest.json").write_text(text)
    digest = hashlib.sha256(text.encode()).hexdigest()
    (backup / "manifest.sha256").write_text(f"{digest}  manifest.json\n")


def data_file(backup: Path) -> Path:
    return next(backup.rglob("*.parquet"))


def cut(backup: Path) -> None:
    file = data_file(backup)
    file.write_bytes(file.read_bytes()[:-1])


def one_bit(backup: Path) -> None:
    content = bytearray((backup / "state/state.db").read_bytes())
    content[-1] ^= 1
    (backup / "state/state.db").write_bytes(content)


def by_link(backup: Path) -> None:
    file = data_file(backup)
    shutil.move(file, backup.parent / "elsewhere")
    file.symlink_to(backup.parent / "elsewhere")


def emptied(backup: Path) -> None:
    shutil.rmtree(backup)
    backup.mkdir()


def renamed(backup: Path, name: str) -> None:
    changed(backup, lambda manifest: manifest["files"].update({name: manifest["files"].pop("state/state.db")}))


UNUSABLE: dict[str, tuple[Callable[[Path], object], str]] = {
    "cut": (cut, "bytes, not"),
    "a bit": (one_bit, "state/state.db has other content"),
    "a file less": (lambda backup: data_file(backup).unlink(), "No such file"),
    "a link": (by_link, "is not a file of the backup"),
    "no manifest": (lambda backup: (backup / "manifest.json").unlink(), "not a backup of Tidemark"),
    "an empty folder": (emptied, "not a backup of Tidemark"),
    "no folder": (shutil.rmtree, "not a backup of Tidemark"),
    "manifest edited": (
        lambda backup: (backup / "manifest.json").write_text((backup / "manifest.json").read_text() + " "),
        "the SHA-256 of manifest.json differs",
    ),
    "manifest of others": (lambda backup: changed(backup, lambda manifest: manifest.clear()), "another program"),
    "later step": (lambda backup: changed(backup, lambda manifest: manifest.update(step=9_999)), "later version"),
    "later program": (
        lambda backup: changed(backup, lambda manifest: manifest.update(program="99.0")),
        "later version of Tidemark: nothing was restored: version 99.0",
    ),
    "later format": (
        lambda backup: changed(backup, lambda manifest: manifest.update(format=2, brand_new=True)),
        "format 2",
    ),
    "out of the folder": (lambda backup: renamed(backup, "state/../../evil"), "'state/../../evil'"),
    "from the root": (lambda backup: renamed(backup, "/etc/evil"), "'/etc/evil'"),
}


@pytest.mark.parametrize("kind", UNUSABLE)
def test_a_changed_backup_is_refused_with_a_message(kind: str, backup: Path, tmp_path: Path) -> None:
    spoil, words = UNUSABLE[kind]
    spoil(backup)
    assert words in found("restore", backup, "--into", tmp_path / "restored")
    assert not (tmp_path / "restored").exists()
    assert {path.name for path in tmp_path.iterdir()} <= {"backup", "elsewhere"}
