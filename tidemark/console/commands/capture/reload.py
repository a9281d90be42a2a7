"""`tidemark capture reload`: read a table, a shard or a range of keys again from the source."""

from __future__ import annotations

import click

from tidemark.console.action_command import ActionCommand
from tidemark.console.commands.capture.load import addresses_of, captured_source
from tidemark.console.output import json_option, print_json, print_line
from tidemark.errors import TerminalError


@click.command(cls=ActionCommand)
@click.argument("table", metavar="TABLE")
@click.option("--shard", metavar="NAME", help="Only this shard (a.school.orders_3); a dropped shard is removed.")
@click.option("--range", "key_range", metavar="LOW..HIGH", help="Only the rows with these keys, both ends included.")
@click.option("--again", is_flag=True, help="Also during another load, which the connector has lost.")
@json_option
def reload(table: str, shard: str | None, key_range: str | None, *, again: bool, as_json: bool) -> None:
    """Read a captured TABLE (ods_orders) again from its source. This ends every hold.

    Use it if Kafka dropped changes before they were read, a topic was deleted and created again, a column got a type
    that the lake's cannot hold, a shard was dropped, or a table was added after its topic's retention had passed. Older
    versions and tags stay. No snapshot is tagged until every row has arrived. Other tables continue.

    With --range, only rows whose first key column is from LOW to HIGH (integers; one of the two may be omitted) are
    read
    again, and deleted if the source no longer has them. Other rows and a hold stay.

    It is refused during another load of the same rows, because the end of one load could be mistaken for the end of
    the other.
    If the connector has lost that load, it never ends; then use --again.

    It needs the same settings as `tidemark capture load`: the instances' addresses, and connectors that take signals.

    \b
    Exit codes: 0 requested, 1 not possible, 75 a database or Kafka does not answer.
    With --json: {"id", "shards": [...], "gone": [...], "starts": {instance: offset}}.
    """  # noqa: D301 - \b is click's mark for a verbatim paragraph
    from tidemark.capture.initial_load.key_range import KeyRange  # noqa: PLC0415 - keeps --help fast
    from tidemark.capture.operations.reload_order import order_reload, refuse_load_under_way  # noqa: PLC0415
    from tidemark.state_store.database import Database  # noqa: PLC0415
    from tidemark.system.settings import Settings  # noqa: PLC0415
    from tidemark.warehouse.warehouse import load_warehouse  # noqa: PLC0415

    settings = Settings.load()
    database = Database.of(settings)
    source = captured_source(load_warehouse(settings).source_tables(), table)
    if shard is not None and not source.holds(shard.partition(".")[0], shard.partition(".")[2]):
        raise TerminalError("this is not a shard of the table", expected=f"instance.{source.table}", found=shard)
    keys = None if key_range is None else KeyRange.parse(key_range, source.key[0])
    addresses = addresses_of(settings, source, shard.partition(".")[0] if shard else None)
    if not again:
        refuse_load_under_way(settings, database, source, shard)
    request = order_reload(settings, database, source, addresses, shard, keys)
    if as_json:
        shown = {"shards": list(request.shards), "gone": list(request.gone), "starts": dict(request.starts)}
        print_json({"id": request.id, **shown})
        return
    asked = f"requested {', '.join(request.shards)}" if request.shards else "nothing to request"
    gone = f"; the rows of {', '.join(request.gone)} are deleted" if request.gone else ""
    print_line(f"{table}: {asked}{gone}; the capture's next step starts it; see tidemark capture status")
