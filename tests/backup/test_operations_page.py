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


def run_as_written(line: str) -> None:
    if line.startswith("tidemark "):
        result = CliRunner().invoke(main, shlex.split(line)[1:])
        assert result.exit_code == 0, (line, result.output)
    else:
        subprocess.run(["bash", "-c", line], check=True)


def test_a_backup_is_made_and_restored_as_the_page_says(depot: Depot, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(depot.root)
    lines = [*commands("Backup"), *commands("Restore")]
    assert len(lines) == 5
    for line in lines:
        run_as_written(line)
