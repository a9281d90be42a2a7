"""`tidemark capture reload`: a table, a shard of it, or a range of its keys, read from its source again."""

from __future__ import annotations

import click

from tidemark.console.action_command import ActionCommand
from tidemark.console.commands.capture.load import addresses_of, captured_source
from tidemark.console.output import json_option, print_json, print_line
from tidemark.errors import TerminalError


@click.command(cls=ActionCommand)
@click.argument("table", metavar="TABLE")
@click.option("--shard", metavar="NAME", help="Of this shard alone (a.school.orders_3); one that is dropped goes.")
@click.option("--range", "key_range", metavar="LOW..HIGH", help="Of the rows with these keys alone, both with them.")
@click.option("--again", is_flag=True, help="Also while a load is under way: one that the connector has lost.")
@json_option
def reload(table: str, shard: str | None, key_range: str | None, *, again: bool, as_json: bool) -> None:
    """Begin a captured TABLE (ods_orders) anew, as its source is now: the way out of whatever holds it.

    For changes that Kafka dropped before they were read, a topic that was made anew, a type that changed to no wider
    one, a shard that was dropped, a table that was added after the topic's retention had passed. Older versions and
    tagged snapshots stay as they are; no snapshot is tagged until every row has come; other tables go on.

    With --range the rows whose first key column is from LOW to HIGH (a whole number each, one of them may be left out)
    are read again, and go where the source does not have them any more. All other rows stay; a hold stays, too.

    While a load of the same rows is under way it is refused: that one's end would be taken for this one's. A load that
    the connector has lost never ends; then use --again.

    Needs what `tidemark capture load` needs: the instances' addresses, and connectors that can be asked.

    \b
    Exit codes: 0 asked for, 1 it cannot be, 75 a database or Kafka does not answer.
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
        raise TerminalError("no shard of the table", expected=f"instance.{source.table}", found=shard)
    keys = None if key_range is None else KeyRange.parse(key_range, source.key[0])
    addresses = addresses_of(settings, source, shard.partition(".")[0] if shard else None)
    if not again:
        refuse_load_under_way(settings, database, source, shard)
    request = order_reload(settings, database, source, addresses, shard, keys)
    if as_json:
        shown = {"shards": list(request.shards), "gone": list(request.gone), "starts": dict(request.starts)}
        print_json({"id": request.id, **shown})
        return
    asked = f"asked for {', '.join(request.shards)}" if request.shards else "nothing to ask for"
    gone = f"; the rows of {', '.join(request.gone)} go" if request.gone else ""
    print_line(
        f"{table}: {asked}{gone}; the capture's next step begins, tidemark capture status says when all is there"
    )
