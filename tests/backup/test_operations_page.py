"""docs/operations.md: the commands of its sections on backups, word for word."""

from __future__ import annotations

import re
import shlex
import subprocess
from typing import TYPE_CHECKING

from click.testing import CliRunner

from tests.docs.written_commands import ROOT
from tidemark.console.main import main

if TYPE_CHECKING:
    import pytest

    from tests.backup.depot import Depot


def commands(section: str) -> list[str]:
    """The lines of the fenced blocks of a section."""
    text = (ROOT / "docs" / "operations.md").read_text(encoding="utf-8")
    of_section = text.partition(f"## {section}\n")[2].partition("\n## ")[0]
    return [line for block in re.findall(r"```bash\n(.*?)```", of_section, re.DOTALL) for line in block.splitlines()]


def run_as_written(line: str, exit_code: int = 0) -> str:
    """What it prints."""
    if not line.startswith("tidemark "):
        subprocess.run(["bash", "-c", line], check=True)
        return ""
    result = CliRunner().invoke(main, shlex.split(line)[1:])
    assert result.exit_code == exit_code, (line, result.output)
    return result.output


def test_a_backup_is_made_and_restored_as_the_page_says(depot: Depot, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(depot.root)
    backup, restore = commands("Backup"), commands("Restore")
    assert (len(backup), len(restore)) == (3, 4)
    for line in backup:
        run_as_written(line)
    depot.write_table("2026-03-01", [7], is_own=False)
    *restored, plan, applied = restore
    for line in restored:
        run_as_written(line)
    assert "compute again: stock_1d@2026-03-01" in run_as_written(plan, exit_code=1)
    assert "Backfill 1 computes the wrong slices again" in run_as_written(applied)


def test_a_missing_store_is_built_again_as_the_page_says(depot: Depot, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(depot.root)
    before = depot.states()
    for file in depot.settings.data.glob("state.db*"):
        file.unlink()
    assert "is missing" in run_as_written("tidemark status", exit_code=1)
    depot.tick()
    assert depot.states() == before
    for line in commands("The state store is missing"):
        assert "agree" in run_as_written(line)
