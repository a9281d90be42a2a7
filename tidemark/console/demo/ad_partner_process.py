"""The partner's program (`ad_partner.py`) as a child process that gets the time of the recording."""

from __future__ import annotations

import os
import subprocess
import sys
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Final, Self

from tidemark.console.demo.errors import PartnerError
from tidemark.delta.open_table import delta_rs_options

if TYPE_CHECKING:
    from datetime import datetime
    from types import TracebackType

    from tidemark.warehouse.warehouse import Warehouse

TABLE: Final = "partner_ads"
"""The external entity that the program writes."""
_PROGRAM: Final = Path(__file__).with_name("ad_partner.py")
_LAST: Final = date(2026, 3, 31)
"""The last recorded day."""


class AdPartner:
    """Use as a context. Without the entity in the project, no process is started."""

    def __init__(self, warehouse: Warehouse, last: date = _LAST) -> None:
        entity = warehouse.entities.get(TABLE)
        self._words, self._access = list[str](), dict[str, str]()
        if entity is not None and entity.start is not None:
            path = warehouse.table_path(TABLE)
            self._words = [sys.executable, str(_PROGRAM), str(path), entity.start[:10], last.isoformat()]
            self._access = {name.upper(): value for name, value in (delta_rs_options(path) or {}).items()}
        self._process: subprocess.Popen[str] | None = None

    def __enter__(self) -> Self:
        if self._words:
            # A session of its own: Ctrl-C does not reach it, and it ends with its input.
            self._process = subprocess.Popen(
                self._words,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
                env={**os.environ, **self._access},
                start_new_session=True,
            )
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._process is not None:
            self._process.communicate()

    def pass_time(self, now: datetime) -> int:
        """Let it write the finished partitions, and return their number. Raises PartnerError if it has ended."""
        process = self._process
        if process is None or process.stdin is None or process.stdout is None:
            return 0
        try:
            process.stdin.write(f"{now.isoformat()}\n")
            process.stdin.flush()
        except OSError as problem:
            raise PartnerError.of(process.poll()) from problem
        answer = process.stdout.readline()
        if not answer:
            raise PartnerError.of(process.poll())
        return int(answer)
