"""`tidemark capture reload`: a table, or a shard of it, read from its source again."""

from __future__ import annotations

import getpass
import uuid
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import click

from tidemark.console.commands.capture.load import addresses_of, captured_source
from tidemark.console.output import json_option, print_json, print_line
from tidemark.errors import TerminalError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tidemark.capture.heartbeat.source_databases import HeartbeatDatabase
    from tidemark.capture.initial_load.reload_requests import ReloadRequest
    from tidemark.capture.source_table import SourceTable
    from tidemark.system.settings import Settings


@click.command()
@click.argument("table", metavar="TABLE")
@click.option("--shard", metavar="NAME", help="Of this shard alone (a.school.orders_3); one that is dropped goes.")
@json_option
def reload(table: str, shard: str | None, *, as_json: bool) -> None:
    """Begin a captured TABLE (ods_orders) anew, as its source is now: the way out of whatever holds it.

    For changes that Kafka dropped before they were read, a topic that was made anew, a type that changed to no wider
    one, a shard that was dropped, a table that was added after the topic's retention had passed. Older versions and
    tagged snapshots stay as they are; no snapshot is tagged until every row has come; other tables go on.

    Needs what `tidemark capture load` needs: the instances' addresses, and connectors that can be asked.

    \b
    Exit codes: 0 asked for, 1 it cannot be, 75 a database or Kafka does not answer.
    With --json: {"id", "shards": [...], "gone": [...], "starts": {instance: offset}}.
    """  # noqa: D301 - \b is click's mark for a verbatim paragraph
    from tidemark.capture.initial_load.load_request import request_load, source_columns  # noqa: PLC0415
    from tidemark.capture.initial_load.reload_requests import ReloadRequests  # noqa: PLC0415 - keeps --help fast
    from tidemark.system.settings import Settings  # noqa: PLC0415
    from tidemark.warehouse.warehouse import load_warehouse  # noqa: PLC0415

    settings = Settings.load()
    source = captured_source(load_warehouse(settings).source_tables(), table)
    addresses = addresses_of(settings, source, shard.partition(".")[0] if shard else None)
    there = {
        f"{address.instance}.{name}": columns
        for address in addresses
        for name, columns in source_columns(address, source).items()
    }
    request = _request(settings, source, addresses, there, shard)
    # First what says where the rows begin, then they are asked for: none of them comes before it.
    ReloadRequests.of(settings).add(request)
    for address in addresses:
        names = [name.partition(".")[2] for name in request.shards if name.startswith(f"{address.instance}.")]
        if names:
            request_load(address, source, names)
    if as_json:
        shown = {"shards": list(request.shards), "gone": list(request.gone), "starts": dict(request.starts)}
        print_json({"id": request.id, **shown})
        return
    asked = f"asked for {', '.join(request.shards)}" if request.shards else "nothing to ask for"
    gone = f"; the rows of {', '.join(request.gone)} go" if request.gone else ""
    print_line(
        f"{table}: {asked}{gone}; the capture's next step begins, tidemark capture status says when all is there"
    )


def _request(
    settings: Settings,
    source: SourceTable,
    addresses: Sequence[HeartbeatDatabase],
    there: Mapping[str, Mapping[str, str]],
    shard: str | None,
) -> ReloadRequest:
    from tidemark.capture.initial_load.reload_requests import ReloadRequest  # noqa: PLC0415 - keeps --help fast

    if shard is not None and not source.holds(shard.partition(".")[0], shard.partition(".")[2]):
        raise TerminalError("no shard of the table", expected=f"instance.{source.table}", found=shard)
    wanted = tuple(there) if shard is None else tuple(name for name in there if name == shard)
    starts, topic_ids = _ends(settings, source, [address.instance for address in addresses])
    return ReloadRequest(
        id=uuid.uuid4().hex,
        table=source.name,
        who=getpass.getuser(),
        at=datetime.now(UTC).isoformat(),
        shards=wanted,
        gone=() if shard is None or shard in there else (shard,),
        starts=starts,
        topic_ids=topic_ids,
        columns=there if shard is None else {},
        is_whole=shard is None,
    )


def _ends(settings: Settings, source: SourceTable, instances: Sequence[str]) -> tuple[dict[str, int], dict[str, str]]:
    """Where the instances' topics end now, and which topics these are; of files where the table stands."""
    from tidemark.capture.commits.commit_state import last_commit  # noqa: PLC0415 - keeps --help fast
    from tidemark.capture.source_table import topic_of  # noqa: PLC0415

    if not settings.kafka:
        last = last_commit(settings.warehouse / source.name)
        offsets = last.state.offsets if last else {}
        return {name: offsets.get(topic_of(name), 0) for name in instances}, {}
    from tidemark.capture.source.kafka.broker_offsets import Broker  # noqa: PLC0415 - loads Kafka's client

    bounds = Broker(settings.kafka).bounds([topic_of(name) for name in instances])
    of_instance = {name: bounds[topic_of(name)] for name in instances}
    ends = {name: known.high for name, known in of_instance.items()}
    return ends, {name: known.topic_id for name, known in of_instance.items()}
