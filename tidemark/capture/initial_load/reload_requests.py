"""Tables, or shards of them, that are to be read from their source again: entries in the state store, only added to.

The capture takes a request in with one commit of the table, which says its id: asked for once, it is done once.
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
    """`shards` (`a.school.orders_0`) are read again, `gone` are those that the source does not have any more.

    `starts` are per instance the end of its topic (and `topic_ids` the topic) before the source was asked for the rows:
    they come behind it. `is_whole`: all of the table, which begins there. `columns` are per shard the source's columns,
    name -> type as the server prints it. With `keys` it is the rows of that range alone, of the shards.
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
    """Those of a warehouse."""

    def __init__(self, database: Database) -> None:
        self._entries = StoredJournal(database, JOURNAL)

    def add(self, request: ReloadRequest) -> None:
        """To be taken in by the next step."""
        self._entries.add(request.table, json_text(asdict(request), ensure_ascii=False))

    def after(self, table: str, done: Sequence[str]) -> list[ReloadRequest]:
        """Those of a table that came after the last one that was `done` (ids), in order."""
        mine = [_request(json.loads(content)) for content in self._entries.of(table)]
        last = max((place for place, request in enumerate(mine) if request.id in done), default=-1)
        return mine[last + 1 :]


def _request(entry: Mapping[str, object]) -> ReloadRequest:
    request = ReloadRequest(**entry)  # type: ignore[arg-type]  # what `add` wrote
    keys = KeyRange(**request.keys) if isinstance(request.keys, dict) else None
    return replace(request, shards=tuple(request.shards), gone=tuple(request.gone), keys=keys)
