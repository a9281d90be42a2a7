"""`tidemark doctor`: whether this machine can run the warehouse."""

from __future__ import annotations

import os
from dataclasses import replace
from typing import TYPE_CHECKING, Final

import click

from tidemark.console.action_command import ActionCommand
from tidemark.console.exit_codes import ExitCode
from tidemark.console.output import json_option, print_json, print_line, print_table

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tidemark.system.check_finding import Finding

_HERE: Final = "create one with `tidemark init my_warehouse --sample school` and `cd` into it, or name one with --root"
_STYLES: Final = {"ok": "", "warning": "yellow", "unreachable": "bold red", "problem": "bold red"}


@click.command(cls=ActionCommand, only_with="is_applied")
@click.option("--after-restore", is_flag=True, help="Compare state store, Dagster and lake, and plan what to do.")
@click.option("--apply", "is_applied", is_flag=True, help="With --after-restore: carry out the plan.")
@json_option
def doctor(*, after_restore: bool, is_applied: bool, as_json: bool) -> None:
    """Check everything that the warehouse needs on this machine.

    It checks Java 17 or newer and its rules of time zones, Python, Spark's jars and classes, write access to folders,
    disk space, memory and the port of the Dagster UI. If TIDEMARK_STATE names a server, it checks the state store and
    lists the hosts that take its runs. If Kafka or databases are set, it runs `tidemark capture check`. Each problem
    comes with a fix. Outside of a project, it checks only the machine.

    --after-restore is for the time after a restore of the state store, Dagster's storage or the lake. It shows which of
    them is behind, and a plan that makes them consistent. With --apply it ends runs without a process, reads events
    again, forgets missing slices, lets the state store capture into the lake, and plans a backfill that a center
    carries out. Stop all services before. With TIDEMARK_KAFKA, it compares the position of each captured table with its
    topic. The capture itself reads changes that are missing, and makes missing tags again.

    \b
    Exit codes: 0 no problem, everything agrees, or the plan was carried out; 1 there is a problem, or a plan, or, with
                --apply, something that needs you. Warnings, and steps of the capture, do not count. 75 with --apply: a
                center runs, or the state store does not answer.
    With --json: {"healthy", "findings": [{"subject", "verdict", "found", "to_do"}]}; with --after-restore {"plan":
                 [{"do", "why", "names", "slices"}], "applied", "backfill": NUMBER | null}.
    """  # noqa: D301 - \b is click's mark for a verbatim paragraph
    if is_applied and not after_restore:
        raise click.UsageError("--apply needs --after-restore")
    if after_restore:
        from tidemark.console.after_restore import bring_together  # noqa: PLC0415 - keeps --help fast

        raise SystemExit(bring_together(is_applied=is_applied, as_json=as_json))
    findings = examine(os.environ)
    healthy = not any(finding.is_in_the_way for finding in findings)
    if as_json:
        print_json({"healthy": healthy, "findings": [finding.as_dict() for finding in findings]})
    else:
        _print(findings, healthy=healthy)
    raise SystemExit(ExitCode.OK if healthy else ExitCode.FAILED)


def examine(env: Mapping[str, str]) -> list[Finding]:
    """All findings about this machine with the settings in `env`. Raises SettingsError."""
    from tidemark.console.dagster_server.dagster_home import dagster_home  # noqa: PLC0415 - keeps --help fast
    from tidemark.console.dagster_server.server import DEFAULT_PORT, HOST  # noqa: PLC0415
    from tidemark.console.preflight import machine  # noqa: PLC0415
    from tidemark.console.preflight.capture import capture  # noqa: PLC0415
    from tidemark.console.preflight.dagster_storage import dagster_storage  # noqa: PLC0415
    from tidemark.console.preflight.port import port  # noqa: PLC0415
    from tidemark.console.preflight.shared_state import shared_state  # noqa: PLC0415
    from tidemark.console.preflight.zone_rules import zone_rules  # noqa: PLC0415
    from tidemark.system.check_finding import Finding  # noqa: PLC0415
    from tidemark.system.errors import NoProjectError  # noqa: PLC0415
    from tidemark.system.settings import Settings  # noqa: PLC0415

    ui_port = port(HOST, DEFAULT_PORT)
    if ui_port.verdict == "problem":
        # `tidemark up` may use the port.
        ui_port = replace(ui_port, verdict="warning")
    programs = [machine.python(), machine.java(env), machine.account(), machine.jars(), machine.class_archive()]
    rest = [machine.memory(), ui_port]
    try:
        settings = Settings.load(env)
    except NoProjectError as error:
        return [*programs, *rest, Finding("Project", "warning", error.found or error.message, _HERE)]
    folders = [
        machine.writable("Data", settings.data, "TIDEMARK_DATA"),
        machine.writable("Dagster's storage", dagster_home(settings, env), "DAGSTER_HOME"),
        machine.private("Dagster's runs", dagster_home(settings, env)),
        machine.disk_space(settings.data),
    ]
    stored = [*shared_state(settings), *dagster_storage(settings, dagster_home(settings, env), env)]
    return [*programs, *zone_rules(settings, env), *folders, *rest, *stored, *capture(settings)]


def _print(findings: list[Finding], *, healthy: bool) -> None:
    print_table(
        ["", "subject", "found", "to do"],
        [[finding.verdict, finding.subject, finding.found, finding.to_do] for finding in findings],
        [_STYLES[finding.verdict] for finding in findings],
    )
    print_line(
        "Everything is fine. Next: tidemark demo" if healthy else "Fix the problems, then run the command again."
    )
