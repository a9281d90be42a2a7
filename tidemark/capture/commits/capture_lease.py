"""Which state store may capture into a warehouse: the newest that took the lease; an older one is refused for good.

Leases in the state store keep its processes apart (`instance_leases`), but a warehouse may be reached with two state
stores. So this lease lies in the warehouse, as the one row of a Delta table, and the state store remembers the fencing
token that it got. The lease itself says who is refused and by whom; that nothing is lost meanwhile is the work of the
commits' own chain (delta.transaction_chain), which holds whatever happens between this look and a commit.
"""

import json
import socket
import uuid
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from typing import Any, Final, Self

from deltalake.exceptions import CommitFailedError
from sqlalchemy import Connection

from tidemark.capture.errors import FencedCaptureError
from tidemark.delta.delta_rs_table import table_exists
from tidemark.delta.open_table import answer_for, delta_rs_options, open_table
from tidemark.state_store.database import Database
from tidemark.state_store.notes import Notes
from tidemark.strict_json import json_text
from tidemark.system.settings import Settings
from tidemark.system.table_location import TableLocation

TABLE = "_capture_lease"
NOTES: Final = "capture lease"
"""The kind of the note: the lease that the state store has, by the warehouse's location."""


@dataclass(frozen=True)
class CaptureLease:
    """The right of `holder`, a state store, to capture into a warehouse, since `taken_at` (ISO, UTC) from `host`."""

    fencing_token: int
    holder: str
    host: str
    taken_at: str

    @property
    def writer(self) -> str:
        """Who it is, for people and in each commit."""
        return f"{self.holder} on {self.host}, fencing token {self.fencing_token}"

    @classmethod
    def obtain(cls, settings: Settings, database: Database, now: datetime) -> Self:
        """The state store's lease, taken where it never had one. Raises FencedCaptureError where a later one is."""
        newest, known = cls.newest(settings.warehouse), _Remembered.of(settings, database)
        if known is None:
            before = newest.fencing_token if newest else 0
            taken = cls(before + 1, _holder(database), socket.gethostname(), now.isoformat())
            known = _Remembered(taken, before).add(settings, database)
        own = cls(**asdict(known.lease))
        if own == newest:
            return own
        # It was remembered, and then the process died; or it was renewed; or the warehouse was made anew.
        if newest is None or newest.holder == own.holder or newest.fencing_token <= known.before:
            own._publish(settings.warehouse)
            return own
        raise FencedCaptureError.of(settings.warehouse, own.writer, newest.writer, database.where)

    @classmethod
    def newest(cls, warehouse: TableLocation) -> Self | None:
        """Whoever may capture into the warehouse now."""
        path = warehouse / TABLE
        if not table_exists(path):
            return None
        rows = open_table(path).to_pyarrow_table().to_pylist()
        return cls(**rows[0]) if rows else None

    def _publish(self, warehouse: TableLocation) -> None:
        """Write it, as other processes with this state store may do at this moment."""
        try:
            self.write_to(warehouse)
        except CommitFailedError:
            if type(self).newest(warehouse) != self:
                raise

    def write_to(self, warehouse: TableLocation) -> None:
        """Put it in the place of whatever lease is there."""
        import pyarrow as pa  # noqa: PLC0415 - a command that only reads the lease needs no Arrow
        from deltalake import write_deltalake  # noqa: PLC0415

        row, options = pa.Table.from_pylist([asdict(self)]), delta_rs_options(warehouse)
        with answer_for(warehouse):
            write_deltalake(str(warehouse / TABLE), row, mode="overwrite", storage_options=options)


@dataclass(frozen=True)
class _Remembered:
    """What a state store notes of its lease: that the newest one was `before` when it was taken first (0 for none)."""

    lease: CaptureLease
    before: int

    @classmethod
    def of(cls, settings: Settings, database: Database) -> Self | None:
        noted = Notes(database, NOTES).get(str(settings.warehouse))
        return cls.parse(noted) if noted else None

    def add(self, settings: Settings, database: Database) -> Self:
        """Where another process with the state store was faster, that one's is both's."""
        return self.parse(Notes(database, NOTES).add(str(settings.warehouse), self.text))

    @classmethod
    def parse(cls, text: str) -> Self:
        fields = json.loads(text)
        return cls(CaptureLease(**fields["lease"]), fields["before"])

    @property
    def text(self) -> str:
        return json_text(asdict(self))


def remember_lease(settings: Settings, database: Database, fields: Mapping[str, Any]) -> None:
    """Note a lease that an earlier version kept in a file; one that is noted already stays."""
    lease = CaptureLease(**fields)
    _Remembered(lease, lease.fencing_token - 1).add(settings, database)


def renew_lease(settings: Settings, database: Database, connection: Connection, now: datetime) -> None:
    """Give the state store's lease the next fencing token, in a writer's transaction: from the next step on.

    A process with this state store that was stopped in the middle of a step, and goes on, is refused then as one of
    another state store is.
    """
    notes = Notes(database, NOTES)
    noted = notes.get_in(connection, str(settings.warehouse))
    if noted:
        known = _Remembered.parse(noted)
        token, host = known.lease.fencing_token + 1, socket.gethostname()
        lease = replace(known.lease, fencing_token=token, host=host, taken_at=now.isoformat())
        notes.put_in(connection, {str(settings.warehouse): replace(known, lease=lease).text})


def forget_lease(settings: Settings, database: Database) -> None:
    """The next step with this state store takes the lease anew, and whoever has it now is refused."""
    Notes(database, NOTES).remove(str(settings.warehouse))


def _holder(database: Database) -> str:
    return f"{database.where}#{uuid.uuid4().hex[:8]}"
