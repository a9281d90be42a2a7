"""The generation of a slice that was last published in a replica, the version of that commit, and a later fault.

They are transaction identifiers of the log (Delta protocol, "Transaction Identifiers"). Readers find them without a
walk through the commits, and checkpoints keep them. The texts beside them are in the metadata of these commits.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from deltalake.fs import DeltaStorageHandler

from tidemark.delta.log_folder import commit_file
from tidemark.delta.own_commit import replica_told

if TYPE_CHECKING:
    from collections.abc import Mapping

    from deltalake import DeltaTable


TERM: Final = "tidemark.center.term"
"""The application id whose transaction is the term of the center that computes the table: earlier ones are fenced."""


class PublishedGeneration(NamedTuple):
    """Readers of the slice open this `version` of the replica's table.

    The commit `fault_version` says that the source found the published generation wrong; None if it is valid there.
    """

    generation: int
    version: int
    fault_version: int | None = None


def generation_app(slice_: str) -> str:
    """The application id whose transactions number the generations of a slice."""
    return f"tidemark.replica.generation {slice_}"


def version_app(slice_: str) -> str:
    """The application id whose transactions are the versions that published a slice."""
    return f"tidemark.replica.version {slice_}"


def fault_app(slice_: str) -> str:
    """The application id whose transactions are the versions with a fault of a slice; 0 if the fault is over."""
    return f"tidemark.replica.fault {slice_}"


def published_generation(table: DeltaTable, slice_: str) -> PublishedGeneration | None:
    """The newest published generation; None if no replication has published the slice."""
    generation = table.transaction_version(generation_app(slice_))
    version = table.transaction_version(version_app(slice_))
    if generation is None or version is None:
        return None
    fault = table.transaction_version(fault_app(slice_)) or 0
    return PublishedGeneration(generation, version, fault if fault > version else None)


def told_by_commit(place: str, options: Mapping[str, str], version: int) -> Mapping[str, Any]:
    """The facts that a replication wrote into the commit of a version; empty if the log no longer has the commit.

    `history` of delta-rs begins at the newest version, whichever is loaded.
    """
    try:
        content = DeltaStorageHandler(place, dict(options)).open_input_file(commit_file(version)).read()
        actions = [json.loads(line) for line in bytes(content).splitlines()]
    except (FileNotFoundError, ValueError):
        return {}
    return next((replica_told(action["commitInfo"]) or {} for action in actions if "commitInfo" in action), {})
