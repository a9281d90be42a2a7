"""`tidemark alerts`: alerts, their delivery, and tests of channels."""

from __future__ import annotations

import os
from datetime import UTC, datetime, tzinfo
from typing import TYPE_CHECKING, Any, Final

import click

from tidemark.console.exit_codes import ExitCode
from tidemark.console.output import json_option, print_json, print_line, print_table
from tidemark.dependency_model.time.zone import zone_info

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tidemark.alerts.alert import Alert
    from tidemark.alerts.outbox import Delivery
    from tidemark.system.settings import Settings

    Told = tuple[Alert, list[Delivery]]

_HEADINGS: Final = ("alert", "state", "since", "cause", "slices", "told")
_RECENT: Final = 20


@click.command()
@click.option("--test", "channel", metavar="CHANNEL", help="Only send a test message to a channel.")
@click.option(
    "--limit",
    type=click.IntRange(0, 10_000),
    default=_RECENT,
    show_default=True,
    help="How many finished alerts to list.",
)
@json_option
def alerts(channel: str | None, limit: int, *, as_json: bool) -> None:
    """List open alerts and the newest finished alerts, with the delivery to each channel.

    An alert is one cause: a promise that is at risk or missed (`tidemark baseline` explains it), a rule that slices of
    an entity broke, or unusual rows of an entity and of the tables below it (`tidemark profile`). One message is
    sent when it begins and one when it ends, to the channels in `notify` of the affected entities: `log`, or a name
    whose
    address is the variable TIDEMARK_CHANNEL_<NAME> of the center and of Dagster's code location. `told` shows the
    delivery to each channel, and why one failed.

    \b
      TIDEMARK_CHANNEL_ONCALL=ntfy://alerts tidemark alerts --test oncall

    \b
    Exit codes: 0 no alert is open, or the test was accepted; 1 an alert is open; 2 wrong usage;
                75 the state store, or the channel, does not answer.
    With --json: {"alerts": [{"number", "kind", "state", "cause", "message", "slices": [...], "raised_at",
                  "recovered_at", "told": [{"channel", "event", "state", "attempts", "problem"}]}]};
                  with --test {"sent_to"}.
    """  # noqa: D301 - \b is click's mark for a verbatim paragraph
    from tidemark.system.settings import Settings  # noqa: PLC0415 - keeps --help fast

    settings = Settings.load()
    if channel is not None:
        _test(settings, channel, as_json=as_json)
        return
    told = _alerts(settings, limit)
    if as_json:
        print_json({"alerts": [_as_data(alert, deliveries) for alert, deliveries in told]})
    else:
        _print(told, zone_info(settings.time_zone))
    raise SystemExit(ExitCode.FAILED if any(alert.is_open for alert, _ in told) else ExitCode.OK)


def _test(settings: Settings, channel: str, *, as_json: bool) -> None:
    from tidemark.alerts.alert import Alert, AlertEvent, AlertKind, AlertMessage  # noqa: PLC0415
    from tidemark.alerts.channels import Channels  # noqa: PLC0415
    from tidemark.dependency_model.entity.field_types import LOG_CHANNEL  # noqa: PLC0415
    from tidemark.dependency_model.suggestion import did_you_mean  # noqa: PLC0415

    known = (LOG_CHANNEL, *settings.channels)
    if channel not in known:
        hint = did_you_mean(channel, known) or "add it to `channels` in tidemark.yaml"
        raise click.UsageError(f"unknown channel, found {', '.join(known)} - {hint}")
    cause, text = "a test of this channel", "this is a test: alerts of this channel arrive here"
    alert = Alert(0, AlertKind.BASELINE, cause, text, (), datetime.now(UTC))
    Channels(os.environ).send(channel, AlertMessage.of(alert, AlertEvent.RAISED))
    if as_json:
        print_json({"sent_to": channel})
    else:
        print_line(f"{channel} accepted the message", "green")


def _alerts(settings: Settings, most: int) -> list[Told]:
    """Open alerts first; nothing if nothing was computed yet. Raises StateStoreDownError."""
    from tidemark.alerts.alert_book import AlertBook  # noqa: PLC0415
    from tidemark.alerts.outbox import Outbox  # noqa: PLC0415
    from tidemark.state_store.database import Database  # noqa: PLC0415

    if not settings.state and not settings.state_db.exists():
        return []
    database = Database.of(settings)
    book = AlertBook(database)
    listed = [*book.open(), *book.recent(most)]
    deliveries = Outbox(database).of(listed)
    database.close()
    return [(alert, [delivery for delivery in deliveries if delivery.alert.number == alert.number]) for alert in listed]


def _as_data(alert: Alert, deliveries: Sequence[Delivery]) -> dict[str, Any]:
    return {
        "number": alert.number,
        "kind": alert.kind.value,
        "state": _state(alert),
        "cause": alert.cause,
        "message": alert.message,
        "slices": list(alert.slices),
        "raised_at": alert.raised_at.isoformat(),
        "recovered_at": alert.recovered_at.isoformat() if alert.recovered_at else None,
        "told": [
            {
                "channel": delivery.channel,
                "event": delivery.event.value,
                "state": delivery.state.value,
                "attempts": delivery.attempts,
                "problem": delivery.problem,
            }
            for delivery in deliveries
        ],
    }


def _print(told: Sequence[Told], zone: tzinfo) -> None:
    rows = [_row(alert, deliveries, zone) for alert, deliveries in told]
    print_table(_HEADINGS, rows, ["bold red" if alert.is_open else "dim" for alert, _ in told])
    for alert, deliveries in told:
        if alert.is_open:
            print_line(f"{alert.number}: {alert.message}", "yellow")
        for delivery in deliveries:
            if delivery.problem:
                print_line(f"{alert.number}: not delivered ({delivery.attempts} times): {delivery.problem}", "yellow")
    print_line(f"{sum(alert.is_open for alert, _ in told)} open")


def _row(alert: Alert, deliveries: Sequence[Delivery], zone: tzinfo) -> list[str]:
    return [
        str(alert.number),
        _state(alert),
        f"{(alert.recovered_at or alert.raised_at).astimezone(zone):%Y-%m-%d %H:%M}",
        alert.cause,
        str(len(alert.slices)),
        ", ".join(f"{delivery.channel} {delivery.event.value} {delivery.state.value}" for delivery in deliveries),
    ]


def _state(alert: Alert) -> str:
    return "open" if alert.is_open else "recovered"
