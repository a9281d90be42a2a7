"""The OLAP store as a Dagster resource."""

from pathlib import Path
from typing import Any, Self

from pydantic import Field

from tidemark.dagster.resources.secret import MASKED, from_environment
from tidemark.dagster_internals.fixed_resource import FixedResource
from tidemark.olap.open_store import DUCKDB, open_store
from tidemark.olap.store import OlapStore
from tidemark.system.settings import Settings


class OlapResource(FixedResource):
    """Where ADS slices are published for BI."""

    url: str = Field(
        default=DUCKDB,
        description="duckdb for a file in the data folder, or a postgresql+psycopg2:// URL.",
        json_schema_extra=MASKED,
    )
    data: str = Field(description="The folder of the embedded store's file.")

    @classmethod
    def of(cls, settings: Settings) -> Self:
        """The resource with the project's settings."""
        return cls(url=from_environment("olap", settings.olap), data=str(settings.data))

    def as_settings(self) -> dict[str, Any]:
        """The fields of Settings that this resource decides."""
        return {"olap": self.url}

    def store(self) -> OlapStore:
        """The store, not opened yet. Raises OlapSettingError."""
        return open_store(self.url, Path(self.data))
