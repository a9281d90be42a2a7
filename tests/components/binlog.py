"""An independent count of row changes: what mariadb-binlog finds in a server's binary logs."""

from __future__ import annotations

import re
import subprocess
from collections import Counter
from typing import TYPE_CHECKING

from tidemark.console.servers.errors import ComponentMissingError
from tidemark.system.installed_programs import find_program

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

_ROW = re.compile(r"^### (INSERT INTO|UPDATE|DELETE FROM) `school`\.`(\w+)`$")
_OPERATIONS = {"INSERT INTO": "insert", "UPDATE": "update", "DELETE FROM": "delete"}


def row_changes(binlogs: Sequence[Path]) -> Counter[tuple[str, str]]:
    """Row changes by (table, operation) in binary log files."""
    program = find_program("mariadb-binlog")
    if program is None:
        raise ComponentMissingError("MariaDB", "mariadb-binlog", "install the package mariadb-server")
    command = [program, "--no-defaults", "--base64-output=DECODE-ROWS", "--verbose", *map(str, binlogs)]
    counted: Counter[tuple[str, str]] = Counter()
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, errors="replace") as process:
        for line in process.stdout or ():
            match = _ROW.match(line.rstrip())
            if match:
                counted[match[2], _OPERATIONS[match[1]]] += 1
    if process.returncode != 0:
        raise subprocess.CalledProcessError(process.returncode, command)
    return counted
