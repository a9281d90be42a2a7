"""Which data folder may capture into a warehouse: the newest that took the lease; an older one is refused for good.

Within a data folder a file lock keeps two processes apart, but a warehouse may be reached from two data folders, on two
machines. So the lease lies in the warehouse, as the one row of a Delta table, and the data folder remembers the fencing
token that it got. The lease itself says who is refused and by whom; that nothing is lost meanwhile is the work of the
commits' own chain (delta.transaction_chain), which holds whatever happens between this look and a commit.
"""

import json
import socket
import uuid
from dataclasses import asdict, dataclass
from datetime import datetime
from pathlib import Path
from typing import Self

import pyarrow as pa
from deltalake import write_deltalake

from tidemark.capture.errors import FencedCaptureError
from tidemark.delta.delta_rs_table import table_exists
from tidemark.delta.open_table import answer_for, delta_rs_options, open_table
from tidemark.system.files import replace_text
from tidemark.system.settings import Settings
from tidemark.system.table_location import TableLocation

TABLE = "_capture_lease"


@dataclass(frozen=True)
class CaptureLease:
    """The right of `holder`, a data folder, to capture into a warehouse, since `taken_at` (ISO, UTC) from `host`."""

    fencing_token: int
    holder: str
    host: str
    taken_at: str

    @property
    def writer(self) -> str:
        """Who it is, for people and in each commit."""
        return f"{self.holder} on {self.host}, fencing token {self.fencing_token}"

    @classmethod
    def obtain(cls, settings: Settings, now: datetime) -> Self:
        """The data folder's lease, taken where it never had one. Raises FencedCaptureError where a later one is."""
        newest, own = cls.newest(settings.warehouse), cls._remembered(settings)
        if own is not None and (newest is None or own.fencing_token > newest.fencing_token):
            # It was remembered, and then the process died; or the warehouse was made anew.
            own.write_to(settings.warehouse)
        elif own is None:
            own = cls(
                newest.fencing_token + 1 if newest else 1, _holder(settings), socket.gethostname(), now.isoformat()
            )
            replace_text(_path(settings), json.dumps(asdict(own)))
            own.write_to(settings.warehouse)
        elif own != newest:
            raise FencedCaptureError.of(
                settings.warehouse, own.writer, newest.writer if newest else "", _path(settings)
            )
        return own

    @classmethod
    def newest(cls, warehouse: TableLocation) -> Self | None:
        """Whoever may capture into the warehouse now."""
        path = warehouse / TABLE
        if not table_exists(path):
            return None
        rows = open_table(path).to_pyarrow_table().to_pylist()
        return cls(**rows[0]) if rows else None

    @classmethod
    def _remembered(cls, settings: Settings) -> Self | None:
        path = _path(settings)
        return cls(**json.loads(path.read_text(encoding="utf-8"))) if path.exists() else None

    def write_to(self, warehouse: TableLocation) -> None:
        """Put it in the place of whatever lease is there."""
        row, options = pa.Table.from_pylist([asdict(self)]), delta_rs_options(warehouse)
        with answer_for(warehouse):
            write_deltalake(str(warehouse / TABLE), row, mode="overwrite", storage_options=options)


def forget_lease(settings: Settings) -> None:
    """The next step of this data folder takes the lease anew, and whoever has it now is refused."""
    _path(settings).unlink(missing_ok=True)


def _path(settings: Settings) -> Path:
    return settings.data / "capture" / "lease.json"


def _holder(settings: Settings) -> str:
    return f"{settings.data}#{uuid.uuid4().hex[:8]}"
