"""`tidemark token`: named tokens for callers of the center and of Dagster's web server, with their scopes."""

from __future__ import annotations

from contextlib import closing, contextmanager
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import click

from tidemark.console.action_command import ActionCommand
from tidemark.console.output import json_option, print_json, print_line, print_table
from tidemark.system.caller import AccessScope, scopes_text, this_account

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tidemark.state_store.access_tokens import AccessTokens, StoredToken


@click.group()
def token() -> None:
    """Create, list and revoke tokens. A caller sends one: Authorization: Bearer TOKEN."""


@token.command(cls=ActionCommand, makes_store=True)
@click.argument("name")
@click.option(
    "--scope",
    "scopes",
    multiple=True,
    required=True,
    type=click.Choice([scope.value for scope in AccessScope]),
    help="What the caller may do; may be repeated.",
)
@click.option("--expires", type=click.DateTime(), help="The end of its validity (UTC).  [default: never]")
@json_option
def create(name: str, scopes: tuple[str, ...], expires: datetime | None, *, as_json: bool) -> None:
    """Create a token for the caller NAME, and print it: it is stored as a digest, and never shown again.

    \b
    metrics   the figures for Prometheus
    read      every question, and metrics
    report    events and counts of other systems
    operate   backfills and Dagster's mutations, and read
    admin     everything, and the audit log

    A name has at most two valid tokens: distribute the new one, then revoke the old one. After the first token
    was created, the center answers without a token only on /health. Servers know a new token within 5 seconds.

    \b
      tidemark token create prometheus --scope metrics
      tidemark token create airflow --scope report --expires 2027-01-01
    \b
    Exit codes: 0 created, 1 the name has two tokens already, or is not valid; 2 wrong usage;
                75 the state store does not answer.
    With --json: {"name", "scopes", "expires_at", "token"}.
    """  # noqa: D301 - \b is click's mark for a verbatim paragraph
    if expires is not None and expires.replace(tzinfo=UTC) <= datetime.now(UTC):
        raise click.UsageError("--expires is in the past: the token would never be valid")
    chosen, until = frozenset(map(AccessScope, scopes)), expires.replace(tzinfo=UTC) if expires else None
    with _tokens() as tokens:
        made = tokens.create(name, chosen, this_account().who, until)
    if as_json:
        print_json({"name": name, "scopes": scopes_text(chosen).split(","), "expires_at": until, "token": made})
    else:
        click.echo(made)


@token.command("list")
@json_option
def list_(*, as_json: bool) -> None:
    """List the tokens without their secrets, revoked and expired ones as well.

    \b
    Exit codes: 0 listed; 75 the state store does not answer.
    With --json: {"tokens": [{"id", "name", "scopes", "created_by", "created_at", "expires_at", "revoked_at",
                  "in_force"}]}.
    """  # noqa: D301 - \b is click's mark for a verbatim paragraph
    with _tokens() as tokens:
        rows = tokens.rows()
    now = datetime.now(UTC)
    if as_json:
        print_json({"tokens": [_as_data(row, now) for row in rows]})
        return
    cells = [
        [row.id, row.name, scopes_text(row.scopes), row.created_by, f"{row.created_at:%Y-%m-%d %H:%M}", _end(row, now)]
        for row in rows
    ]
    print_table(["id", "name", "scopes", "created by", "created (UTC)", "in force"], cells)


@token.command(cls=ActionCommand)
@click.argument("which", metavar="NAME|ID")
@json_option
def revoke(which: str, *, as_json: bool) -> None:
    """Revoke all tokens of a name, or the token with an id. Servers refuse them within 5 seconds.

    \b
    Exit codes: 0 revoked, also before; 1 unknown token; 75 the state store does not answer.
    With --json: {"revoked": [ID]}.
    """  # noqa: D301 - \b is click's mark for a verbatim paragraph
    with _tokens() as tokens:
        revoked = tokens.revoke(which)
    if as_json:
        print_json({"revoked": revoked})
    else:
        print_line(f"revoked: {', '.join(revoked) or 'no valid token'}")


@contextmanager
def _tokens() -> Iterator[AccessTokens]:
    from tidemark.state_store.access_tokens import AccessTokens  # noqa: PLC0415 - keeps --help fast
    from tidemark.state_store.database import Database  # noqa: PLC0415
    from tidemark.system.settings import Settings  # noqa: PLC0415

    with closing(Database.of(Settings.load())) as database:
        yield AccessTokens(database)


def _end(row: StoredToken, now: datetime) -> str:
    if row.revoked_at is not None:
        return f"revoked {row.revoked_at:%Y-%m-%d %H:%M}"
    if row.expires_at is None:
        return "yes"
    return f"{'until' if row.is_in_force(now) else 'expired'} {row.expires_at:%Y-%m-%d %H:%M}"


def _as_data(row: StoredToken, now: datetime) -> dict[str, object]:
    instants = {name: getattr(row, name) for name in ("created_at", "expires_at", "revoked_at")}
    return {
        "id": row.id,
        "name": row.name,
        "scopes": scopes_text(row.scopes).split(","),
        "created_by": row.created_by,
        **{name: instant.isoformat() if instant else None for name, instant in instants.items()},
        "in_force": row.is_in_force(now),
    }
