"""`tidemark backfills decide`: rebuild or keep slices with `reprocess: ask`."""

from __future__ import annotations

import click

from tidemark.console.action_command import ActionCommand
from tidemark.console.exit_codes import ExitCode
from tidemark.console.output import json_option, print_json, print_line


@click.command(cls=ActionCommand)
@click.argument("number", type=click.IntRange(min=1))
@click.option("--rebuild/--keep", "rebuild", default=None, help="Compute the slices again, or keep them.")
@click.option(
    "--slice",
    "texts",
    multiple=True,
    metavar="SLICE",
    help="Only this slice, such as ads_gmv@2026-03-29; may be repeated.",
)
@json_option
def decide(number: int, *, rebuild: bool | None, texts: tuple[str, ...], as_json: bool) -> None:
    """Decide about slices of a backfill with `reprocess: ask` whose input has changed.

    \b
    Exit codes: 0 decided, also if no slice asks; 1 the backfill does not exist; 2 wrong usage;
                75 the state store does not answer.
    With --json: {"number", "decided", "rebuild"}; decided is the number of slices.
    """  # noqa: D301 - \b is click's mark for a verbatim paragraph
    from tidemark.console.commands.backfills.stored_backfills import stored_backfills  # noqa: PLC0415 - keeps --help fast
    from tidemark.dependency_model.slice import Slice  # noqa: PLC0415

    if rebuild is None:
        raise click.UsageError("give --rebuild or --keep")
    slices = {Slice.parse(text) for text in texts} if texts else None
    with stored_backfills() as stored:
        decided = stored.answer(number, slices, rebuild=rebuild)
    if as_json:
        print_json({"number": number, "decided": decided, "rebuild": rebuild})
    else:
        print_line(f"{decided:,} slices are {'to be rebuilt' if rebuild else 'kept'}")
    raise SystemExit(ExitCode.OK)
