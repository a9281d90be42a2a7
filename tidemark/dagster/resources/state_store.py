"""The state store as a Dagster resource."""

from pathlib import Path
from typing import Any, Self

from pydantic import Field

from tidemark.dagster.resources.secret import MASKED, from_environment
from tidemark.dagster_internals.fixed_resource import FixedResource
from tidemark.state_store.database import Database
from tidemark.state_store.snapshot_registry import SnapshotRegistry
from tidemark.system.settings import Settings


class StateStoreResource(FixedResource):
    """Where the state of slices and the tags of snapshots are kept."""

    url: str = Field(
        default="", description="A postgresql+psycopg2:// URL; the SQLite file when empty.", json_schema_extra=MASKED
    )
    file: str = Field(description="The SQLite file of an embedded store.")

    @classmethod
    def of(cls, settings: Settings) -> Self:
        """The resource with the project's settings."""
        return cls(url=from_environment("state", settings.state), file=str(settings.state_db))

    def as_settings(self) -> dict[str, Any]:
        """The fields of Settings that this resource decides."""
        return {"state": self.url, "state_db": Path(self.file)}

    def registry(self) -> SnapshotRegistry:
        """The tags of snapshots. Raises StateStoreDownError."""
        return SnapshotRegistry(Database(self.url) if self.url else Database.at(Path(self.file)))
