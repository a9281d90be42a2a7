"""A lease for one repair or VACUUM of a table at a time. A repair restores files that VACUUM may be about to delete."""

from contextlib import AbstractContextManager

from tidemark.state_store.database import Database
from tidemark.state_store.held_leases import HeldLeases, holding
from tidemark.system.table_location import TableLocation


def maintaining(database: Database, table: TableLocation) -> AbstractContextManager[HeldLeases]:
    """Hold the table's lease in the state store. Raises AlreadyRunningError if another process has it."""
    return holding(database, f"maintain {table}", f"repairing or vacuuming {table.name}")
