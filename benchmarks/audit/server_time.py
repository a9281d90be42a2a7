"""Processor time of the source's server, and of one connection's thread in it."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tidemark.capture.audit.source_reader import SourceReader
    from tidemark.console.servers.mariadb import MariaDb


class ServerTime:
    """Of the process `pid`."""

    def __init__(self, pid: int) -> None:
        self._stat = Path(f"/proc/{pid}/stat")

    def seconds(self) -> float:
        """So far, in user and kernel."""
        return _seconds(self._stat)

    def processors(self, seconds: float) -> float:
        """How many it keeps busy for so long from now on."""
        begun, used = time.monotonic(), self.seconds()
        time.sleep(seconds)
        return (self.seconds() - used) / (time.monotonic() - begun)


def connection_seconds(server: MariaDb, pid: int, reader: SourceReader) -> float:
    """What the thread that serves the reader's session has used; it has one for its whole life."""
    with server.connect() as session, session.cursor() as sql:
        sql.execute("SELECT tid FROM information_schema.processlist WHERE id = %s", (reader.connection_id,))
        row = sql.fetchone()
    if row is None:
        raise RuntimeError("the audit's session has ended")
    return _seconds(Path(f"/proc/{pid}/task/{row[0]}/stat"))


def _seconds(stat: Path) -> float:
    fields = stat.read_text(encoding="utf-8").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
