"""`tidemark capture check`: whether the settings allow capture."""

from __future__ import annotations

from typing import Final

import click

from tidemark.console.exit_codes import ExitCode
from tidemark.console.output import json_option, print_json, print_line, print_table

_STYLES: Final = {"ok": "", "warning": "yellow", "unreachable": "bold red", "problem": "bold red"}


@click.command()
@json_option
def check(*, as_json: bool) -> None:
    """Check whether Kafka, the databases and the connectors allow capture, and say what to change.

    Each physical table belongs to one logical table. TIDEMARK_KAFKA answers, and has a topic with one partition for
    each instance, without compaction. Each database of TIDEMARK_DATABASES accepts the login, writes whole rows into its
    binlog, keeps it, and allows heartbeats. Nothing is written, and no password is shown.

    `tidemark up`, `center`, `capture run` and `doctor` make the same check.

    \b
    Exit codes: 0 no problem, 1 there is a problem, or a server does not answer. Warnings do not count.
    With --json: {"sound": true, "findings": [{"subject", "verdict", "found", "to_do"}]}.
    """  # noqa: D301 - \b is click's mark for a verbatim paragraph
    from tidemark.capture.operations.preflight.all_checks import examine  # noqa: PLC0415 - keeps --help fast
    from tidemark.system.settings import Settings  # noqa: PLC0415
    from tidemark.warehouse.warehouse import load_warehouse  # noqa: PLC0415

    settings = Settings.load()
    findings = examine(settings, load_warehouse(settings).source_tables())
    sound = not any(finding.is_in_the_way for finding in findings)
    if as_json:
        print_json({"sound": sound, "findings": [finding.as_dict() for finding in findings]})
    else:
        print_table(
            ["", "subject", "found", "to do"],
            [[finding.verdict, finding.subject, finding.found, finding.to_do] for finding in findings],
            [_STYLES[finding.verdict] for finding in findings],
        )
        print_line("Everything is fine." if sound else "Fix the problems, then run the command again.")
    raise SystemExit(ExitCode.OK if sound else ExitCode.FAILED)
