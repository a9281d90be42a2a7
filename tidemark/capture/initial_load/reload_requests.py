"""Requests to read tables, or shards of them, from their source again: entries in the state store, only ever added.

Capture takes in a request with one commit of the table, which records its id. So a request is carried out once.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Final

from tidemark.capture.initial_load.key_range import KeyRange
from tidemark.state_store.database import Database
from tidemark.state_store.journal import StoredJournal
from tidemark.strict_json import json_text

JOURNAL: Final = "capture reloads"
"""The kind of the entries; their subjects are tables."""


@dataclass(frozen=True)
class ReloadRequest:
    """A request to read `shards` (`a.school.orders_0`) again.

    - `gone`: the shards that the source no longer has.
    - `starts`: the end of each instance's topic before the rows were requested. The rows come after it.
    - `topic_ids`: the ids of these topics.
    - `columns`: by shard, the source's columns: name -> type as the server prints it.
    - `is_whole`: all of the table is read, and it begins at `starts`.
    - `keys`: only the rows of this range of the shards are read.
    """

    id: str
    table: str
    who: str
    at: str
    shards: tuple[str, ...]
    starts: Mapping[str, int]
    gone: tuple[str, ...] = ()
    topic_ids: Mapping[str, str] = field(default_factory=dict)
    columns: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    is_whole: bool = True
    keys: KeyRange | None = None


class ReloadRequests:
    """The requests of a warehouse."""

    def __init__(self, database: Database) -> None:
        self._entries = StoredJournal(database, JOURNAL)

    def add(self, request: ReloadRequest) -> None:
        """Add a request, which capture's next step takes in."""
        self._entries.add(request.table, json_text(asdict(request), ensure_ascii=False))

    def after(self, table: str, done: Sequence[str]) -> list[ReloadRequest]:
        """The requests of a table after the last one whose id is in `done`, in order."""
        mine = [_request(json.loads(content)) for content in self._entries.of(table)]
        last = max((place for place, request in enumerate(mine) if request.id in done), default=-1)
        return mine[last + 1 :]


def _request(entry: Mapping[str, object]) -> ReloadRequest:
    request = ReloadRequest(**entry)  # type: ignore[arg-type]  # what `add` wrote
    keys = KeyRange(**request.keys) if isinstance(request.keys, dict) else None
    return replace(request, shards=tuple(request.shards), gone=tuple(request.gone), keys=keys)
