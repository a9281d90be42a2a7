"""`tidemark probe`: look at one external slice, now."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import click

from tidemark.console.entity_argument import entity_argument
from tidemark.console.exit_codes import ExitCode
from tidemark.console.output import json_option, print_json, print_line
from tidemark.system.utc_clock import utc_now

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tidemark.center.detectors.slice_rules import RuleVerdict
    from tidemark.dependency_model.arrival.sighting import Sight
    from tidemark.dependency_model.slice import Slice
    from tidemark.warehouse.warehouse import Warehouse


@click.command()
@entity_argument()
@click.argument("slice_key", metavar="[SLICE]", required=False)
@click.option("--part", "parts", multiple=True, metavar="DIMENSION=VALUE", help="One sub-partition; may be repeated.")
@click.option("--now", "is_asked", is_flag=True, help="The center looks, too, and takes what it sees at once.")
@json_option
def probe(entity: str, slice_key: str | None, *, parts: Sequence[str], is_asked: bool, as_json: bool) -> None:
    """Look at one slice of an external table now, as the center does, and show what is there.

    Without SLICE it is the newest one that has ended. Nothing is stored or started, so you can use it to test a new
    `probe:` or `source:`. The center accepts a result that it has seen twice, unchanged for `settle_for`. With --now it
    looks within seconds, and one look is enough. A slice that has not ended is never accepted.

    \b
      tidemark probe partner_clicks 2026-03-29
      tidemark probe --now partner_clicks
      tidemark probe partner_clicks 2026-03-29T03 --part region=cn

    \b
    Exit codes: 0 it is there and its rules passed; 1 it is not there, a rule failed, or the slice or probe does not
    exist; 2 wrong usage; 75 the source did not answer.
    With --json: {"slice", "is_there", "why", "rows", "version", "watermark", "rules": [{"name", "passed", "reason"}],
                  "asked": whether the center was asked, "without_center": a warning that no center runs, or empty}.
    """  # noqa: D301 - \b is click's mark for a verbatim paragraph
    from tidemark.center.detectors.slice_rules import judge  # noqa: PLC0415 - keeps --help fast
    from tidemark.center.outside_world import newest_slice  # noqa: PLC0415
    from tidemark.console.part_options import parts_of  # noqa: PLC0415
    from tidemark.dependency_model.entity.copied_source import outside_name  # noqa: PLC0415
    from tidemark.dependency_model.slice import Slice  # noqa: PLC0415
    from tidemark.system.settings import Settings  # noqa: PLC0415
    from tidemark.warehouse.warehouse import load_warehouse  # noqa: PLC0415

    warehouse = load_warehouse(Settings.load())
    outside = outside_name(entity)
    name = outside if outside in warehouse.graph else entity
    declared = warehouse.graph.entity(name)
    if declared.probe is None:
        raise click.ClickException(
            f"{entity} has neither a 'source:' nor a 'probe:' in its YAML (docs/sources.md, docs/probes.md)"
        )
    slice_ = Slice(name, slice_key, parts_of(parts)) if slice_key else newest_slice(warehouse.graph, name, utc_now())
    has_ended = warehouse.graph.window(slice_).end <= utc_now() or declared.is_static
    if is_asked and not has_ended:
        raise click.ClickException(f"{slice_} has not ended yet: the center takes no slice before its end")
    sight = _look(warehouse, slice_)
    verdicts = judge(declared, sight) if sight.is_there else ()
    without_center = _ask(warehouse, slice_) if is_asked else ""
    if as_json:
        asked = {"asked": is_asked, "without_center": without_center}
        print_json({**_as_data(slice_, sight, verdicts), **asked})
    else:
        _print(slice_, sight, verdicts)
        if is_asked:
            print_line(without_center or "the center looks now, too, and takes what it sees: tidemark status")
    is_good = sight.is_there and all(verdict.passed for verdict in verdicts)
    raise SystemExit(ExitCode.OK if is_good else ExitCode.FAILED)


def _ask(warehouse: Warehouse, slice_: Slice) -> str:
    """Ask the center to look, unless none runs: then the answer says so."""
    from tidemark.api.warehouse_status import WarehouseStatus  # noqa: PLC0415 - keeps --help fast
    from tidemark.state_store.probe_looks import probe_requests  # noqa: PLC0415
    from tidemark.state_store.store import StateStore  # noqa: PLC0415
    from tidemark.system.account import account_name  # noqa: PLC0415

    store = StateStore.of(warehouse.settings)
    without_center = WarehouseStatus(warehouse, store, utc_now()).without_center
    if not without_center:
        probe_requests(store.database).put({str(slice_): account_name()})
    store.close()
    return without_center


def _look(warehouse: Warehouse, slice_: Slice) -> Sight:
    import dagster as dg  # noqa: PLC0415 - keeps --help fast

    from tidemark.center.detectors.observed_in_dagster import MaterializedAssets  # noqa: PLC0415
    from tidemark.center.outside_world import look_once  # noqa: PLC0415
    from tidemark.console.dagster_server.dagster_home import dagster_home, prepare_home  # noqa: PLC0415
    from tidemark.crawl.connection_secrets import ConnectionSecrets  # noqa: PLC0415
    from tidemark.state_store.database import Database  # noqa: PLC0415
    from tidemark.state_store.record_counts import RecordCounts  # noqa: PLC0415

    secrets, counts = (
        ConnectionSecrets.of(warehouse.settings, os.environ),
        RecordCounts(Database.of(warehouse.settings)),
    )
    home = dagster_home(warehouse.settings, os.environ)
    prepare_home(warehouse.settings, home)
    with dg.DagsterInstance.from_config(str(home)) as instance:
        return look_once(warehouse.graph, slice_, secrets, MaterializedAssets(instance), counts)


def _as_data(slice_: Slice, sight: Sight, verdicts: Sequence[RuleVerdict]) -> dict[str, object]:
    return {
        "slice": str(slice_),
        "is_there": sight.is_there,
        "why": sight.why,
        "rows": sight.rows,
        "version": sight.version,
        "watermark": sight.watermark,
        "rules": [verdict._asdict() for verdict in verdicts],
    }


def _print(slice_: Slice, sight: Sight, verdicts: Sequence[RuleVerdict]) -> None:
    print_line(
        f"{slice_} {'is there' if sight.is_there else 'is not there'}: {sight.why}", _style(is_good=sight.is_there)
    )
    for verdict in verdicts:
        word = "holds" if verdict.passed else "is broken"
        print_line(f"  {verdict.name} {word}: {verdict.reason}", _style(is_good=verdict.passed))


def _style(*, is_good: bool) -> str:
    return "green" if is_good else "yellow"
