"""Orders a reload: first the start offsets are stored, then the rows are requested from the source."""

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime

from tidemark.capture.commits.commit_state import CommitState, last_commit
from tidemark.capture.heartbeat.source_databases import HeartbeatDatabase, databases
from tidemark.capture.initial_load.errors import KeyRangeError, LoadUnderWayError, NobodyToAskError
from tidemark.capture.initial_load.key_range import KeyRange, is_integer
from tidemark.capture.initial_load.reload_requests import ReloadRequest, ReloadRequests
from tidemark.capture.initial_load.request_load import request_load, source_columns
from tidemark.capture.source.kafka.broker_offsets import Broker
from tidemark.capture.source_table import SourceTable, topic_of
from tidemark.state_store.database import Database
from tidemark.system.account import account_name
from tidemark.system.settings import Settings

Columns = Mapping[str, Mapping[str, str]]
"""The columns of each shard: name -> type as the server prints it."""


def refuse_load_under_way(
    settings: Settings, database: Database, source: SourceTable, shard: str | None = None
) -> None:
    """Raise LoadUnderWayError while a requested load of the table (or of that shard) has not ended.

    Its end would come after the new start and count as the end of the new load, whose rows are not all there. Snapshots
    without these rows would be tagged.
    """
    last = last_commit(settings.warehouse / source.name)
    state = last.state if last else CommitState()
    under_way = {*state.initial_load_pending, *state.holds.loading}
    for request in ReloadRequests(database).after(source.name, state.reloads):
        under_way.update(request.shards)
    if shard is not None:
        under_way &= {shard}
    if under_way:
        raise LoadUnderWayError.of(under_way, source.name)


def order_reload(
    settings: Settings,
    database: Database,
    source: SourceTable,
    addresses: Sequence[HeartbeatDatabase],
    shard: str | None = None,
    keys: KeyRange | None = None,
) -> ReloadRequest:
    """Request a table, one `shard` of it (`a.school.orders_3`), or the rows in a range of `keys`.

    `addresses` are those of the instances to read from; call `refuse_load_under_way` before. Raises DatabaseDownError,
    LoadRefusedError, KeyRangeError, BrokerDownError, TopicMissingError.
    """
    there = _columns(source, addresses)
    request = _request(settings, source, addresses, there, shard, keys)
    if keys is not None:
        _check_range(request, there, keys)
    # The request is stored first, so that no row arrives before its start offset is known.
    ReloadRequests(database).add(request)
    for address in addresses:
        names = [name.partition(".")[2] for name in request.shards if name.startswith(f"{address.instance}.")]
        if names:
            request_load(address, source, names, keys.condition if keys else "")
    return request


def order_start(settings: Settings, database: Database, source: SourceTable) -> None:
    """Store, once, where a table without captured changes begins, and request its rows if it begins with a load.

    Its columns come from the source, because its declaration may be before the first offset. Raises NobodyToAskError
    and the errors of `order_reload`.
    """
    is_declared = source.is_loaded_first or source.first_offsets
    if not is_declared or ReloadRequests(database).after(source.name, ()):
        return
    known = {address.instance: address for address in databases(settings.databases.get_secret_value())}
    missing = {*source.instances} - known.keys()
    if missing:
        raise NobodyToAskError.of(source.name, missing)
    addresses = [known[name] for name in source.instances]
    if source.is_loaded_first:
        order_reload(settings, database, source, addresses)
        return
    request = _request(settings, source, addresses, _columns(source, addresses), None, None)
    ReloadRequests(database).add(replace(request, shards=(), starts=dict(source.first_offsets)))


def _columns(source: SourceTable, addresses: Sequence[HeartbeatDatabase]) -> Columns:
    return {
        f"{address.instance}.{name}": columns
        for address in addresses
        for name, columns in source_columns(address, source).items()
    }


def _request(
    settings: Settings,
    source: SourceTable,
    addresses: Sequence[HeartbeatDatabase],
    there: Columns,
    shard: str | None,
    keys: KeyRange | None,
) -> ReloadRequest:
    starts, topic_ids = _ends(settings, source, [address.instance for address in addresses])
    is_whole = shard is None and keys is None
    return ReloadRequest(
        id=uuid.uuid4().hex,
        table=source.name,
        who=account_name(),
        at=datetime.now(UTC).isoformat(),
        shards=tuple(there) if shard is None else tuple(name for name in there if name == shard),
        gone=() if shard is None or shard in there else (shard,),
        starts=starts,
        topic_ids=topic_ids,
        columns=there if is_whole else {},
        is_whole=is_whole,
        keys=keys,
    )


def _check_range(request: ReloadRequest, there: Columns, keys: KeyRange) -> None:
    for shard in (*request.shards, *request.gone):
        printed = there.get(shard, {}).get(keys.column, "")
        if not is_integer(printed):
            raise KeyRangeError.of_type(shard, keys.column, printed)


def _ends(settings: Settings, source: SourceTable, instances: Sequence[str]) -> tuple[dict[str, int], dict[str, str]]:
    """The current ends of the instances' topics, and the topics' ids; for files, the table's own offsets."""
    if not settings.kafka:
        last = last_commit(settings.warehouse / source.name)
        offsets = last.state.offsets if last else {}
        return {name: offsets.get(topic_of(name), 0) for name in instances}, {}
    bounds = Broker(settings.kafka).bounds([topic_of(name) for name in instances])
    of_instance = {name: bounds[topic_of(name)] for name in instances}
    ends = {name: known.high for name, known in of_instance.items()}
    return ends, {name: known.topic_id for name, known in of_instance.items()}
