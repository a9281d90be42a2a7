"""The generation of a slice that was last published in a replica, and the version of that commit.

Both are transaction identifiers of the log (Delta protocol, "Transaction Identifiers"). Readers find them without a
walk through the commits, and checkpoints keep them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from deltalake import DeltaTable


class PublishedGeneration(NamedTuple):
    """Readers of the slice open this `version` of the replica's table."""

    generation: int
    version: int


def generation_app(slice_: str) -> str:
    """The application id whose transactions number the generations of a slice."""
    return f"tidemark.replica.generation {slice_}"


def version_app(slice_: str) -> str:
    """The application id whose transactions are the versions that published a slice."""
    return f"tidemark.replica.version {slice_}"


def published_generation(table: DeltaTable, slice_: str) -> PublishedGeneration | None:
    """The newest published generation; None if no replication has published the slice."""
    generation = table.transaction_version(generation_app(slice_))
    version = table.transaction_version(version_app(slice_))
    return None if generation is None or version is None else PublishedGeneration(generation, version)
