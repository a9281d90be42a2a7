"""`tidemark audit-log`: the actions of users and services."""

from __future__ import annotations

from contextlib import closing

import click

from tidemark.console.output import json_option, print_json, print_table


@click.command("audit-log")
@click.option("--limit", default=50, show_default=True, type=click.IntRange(1, 1_000), help="The most entries.")
@click.option(
    "--before", type=click.IntRange(min=1), help="Only entries before the one with this number: the next page."
)
@click.option("--who", help="Only entries of this identity, such as token:airflow.")
@json_option
def audit_log(limit: int, before: int | None, who: str | None, *, as_json: bool) -> None:
    """Show who did what, from where, when and why, newest first: commands, requests to the center, Dagster's mutations.

    Each name is verified: account:NAME@HOST is an account of the operating system, token:NAME a token, proxy:NAME a
    person whom the configured proxy has logged in, anonymous a caller of a server that needs no name. An entry is
    written before the action is done. Entries are deleted only by their age (`audit_days`).

    \b
    Exit codes: 0 shown, 1 there is no state store yet, 75 the state store does not answer.
    With --json the answer of GET /v1/audit-log: {"entries": [{"number", "at", "who", "source", "action", "subject",
                  "why"}]}.
    """  # noqa: D301 - \b is click's mark for a verbatim paragraph
    from tidemark.api.audit_models import audit_log_model  # noqa: PLC0415 - keeps --help fast
    from tidemark.console.errors import NothingComputedError  # noqa: PLC0415
    from tidemark.state_store.audit_log import AuditLog  # noqa: PLC0415
    from tidemark.state_store.database import Database  # noqa: PLC0415
    from tidemark.system.settings import Settings  # noqa: PLC0415

    settings = Settings.load()
    if not settings.state and not settings.state_db.exists():
        raise NothingComputedError("nothing was computed here yet, so the audit log is empty")
    with closing(Database.of(settings)) as database:
        rows = AuditLog(database).rows(limit, before, who)
    if as_json:
        print_json(audit_log_model(rows).model_dump(mode="json"))
        return
    cells = [
        [str(row.number), f"{row.at:%Y-%m-%d %H:%M:%S}", row.entry.who, row.entry.source, row.entry.action,
         row.entry.subject, row.entry.why]
        for row in rows
    ]  # fmt: skip
    print_table(["number", "at (UTC)", "who", "from", "action", "subject", "why"], cells)
