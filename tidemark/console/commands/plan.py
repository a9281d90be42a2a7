"""`tidemark plan`: the effects of code changes on slices in the lake."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import click

from tidemark.console.entity_argument import declared_names
from tidemark.console.exit_codes import ExitCode
from tidemark.console.output import json_option, plural, print_json, print_line, print_table

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from tidemark.catalog.code_plan import CodePlan, PlannedEntity
    from tidemark.catalog.declared_changes import DeclaredChange
    from tidemark.center.widened_needs import WidenedSlice
    from tidemark.dependency_model.baseline.repair_time import RepairTime
    from tidemark.dependency_model.slice import Slice
    from tidemark.errors import EntityError, QueryError
    from tidemark.warehouse.warehouse import Warehouse

_STYLES: Final = {"breaking": "red", "changed": "yellow", "renamed": "yellow", "unknown": "yellow"}
_SHOWN: Final = 20
_FOLLOWS: Final = {
    "always": "computed again when all inputs are there (reprocess: always)",
    "if_changed": "computed again when all inputs are there (reprocess: if_changed)",
    "ask": "tainted when all inputs are there, until a person decides (reprocess: ask)",
    "never": "kept as partial (reprocess: never)",
}
"""Effect of an entity's policy on slices that need more inputs."""


class WidenedEntity(NamedTuple):
    """An entity whose slices need more than they have read, with the missing inputs by slice."""

    entity: str
    reprocess: str
    lacks: Mapping[Slice, tuple[Slice, ...]]


@click.command()
@click.argument("entities", nargs=-1, metavar="[ENTITY]...", shell_complete=declared_names)
@json_option
def plan(entities: tuple[str, ...], *, as_json: bool) -> None:
    """Show what the changed project does: tables that come and go, outdated slices, slices that need more.

    The project is compared with its state at the last start of the center. Entities may be added, removed, renamed (a
    new table with the code of a removed one), begin or end elsewhere, or have other sub-partitions or another period;
    the command counts the slices that are computed then. Tables that no entity declares any more stay in the lake.

    The code is compared with the code of each slice in the lake. A slice is outdated if older code computed it.

    It also shows slices that need more inputs than they have read: an input begins earlier or ends later, has another
    part or period, an offset reaches further, or a dependency is new. When the center starts with the changed project,
    it follows `reprocess` for these slices.

    The code is the query (its text and its tree), the Python function with the project modules that it imports, the
    declaration, and the columns of captured and external tables. Each change of code gets its most severe category:

    \b
    rules     other quality rules or waiting conditions: no row changes
    additive  a new column: NULL in existing slices until they are computed again
    renamed   a column has another name, and no downstream query reads it
    changed   another expression, another condition, another offset, another function
    breaking  a column that is read downstream is removed, or has another type
    unknown   the code of the slices was not stored

    A table is broken if no run can write it: its slices have another period than the declaration, or a changed query
    gives a column a type that Delta refuses; Spark analyses changed queries.

    Comments, spaces and the case of keywords are not changes. Slices downstream are affected only if they use a changed
    column, as far as column lineage knows. The estimate uses the runs of the last ninety days. Slices that an older
    version of Tidemark computed in UTC are outdated if the query depends on the entity's time zone (docs/clock.md).

    \b
    Examples:
      tidemark plan
      tidemark plan dws_course_attendance_1d --json
    \b
    Exit codes: 0 nothing changes; 1 unknown entity, or the declarations are wrong; 2 wrong usage;
                3 entities come, go or move, slices are outdated or need more, or a change is breaking;
                75 the state store does not answer.
    With --json: {"entities": [{"entity", "change", "columns": [...], "because": [...], "null_until_computed": [...],
                  "outdated": [...], "touched": {entity: [...]}, "untouched": [...]}], "unknown": {entity: count},
                  "broken": {entity: message},
                  "declared": [{"entity", "change", "before", "now", "slices", "first", "last", "gone"}],
                  "widened": [{"entity", "reprocess", "lacks": {slice: [...]}}],
                  "slices": count, "cost": {"p50_seconds", "p90_seconds", "work_seconds"}
                  | null}; slices are keys, columns ["*"] are all.
    """  # noqa: D301 - \b is click's mark for a verbatim paragraph
    from tidemark.catalog.code_plan import CodePlan, code_plan  # noqa: PLC0415 - keeps --help fast
    from tidemark.catalog.declared_changes import declared_changes  # noqa: PLC0415
    from tidemark.center.widened_needs import WidenedNeeds  # noqa: PLC0415
    from tidemark.console.spark_analysis import SparkAnalysis  # noqa: PLC0415
    from tidemark.state_store.code_registry import CodeRegistry  # noqa: PLC0415
    from tidemark.state_store.store import StateStore  # noqa: PLC0415
    from tidemark.system.settings import Settings  # noqa: PLC0415
    from tidemark.warehouse.tables_of_other_periods import tables_of_other_periods  # noqa: PLC0415
    from tidemark.warehouse.warehouse import load_warehouse  # noqa: PLC0415

    settings, now, wrong = Settings.load(), datetime.now(UTC), dict[str, "QueryError"]()
    warehouse = load_warehouse(settings, broken=wrong)
    computed = {*warehouse.queries, *warehouse.functions}
    others = tables_of_other_periods(settings, settings.declarations, warehouse.entities.values(), computed)
    broken: dict[str, EntityError] = {**wrong, **others}
    told, widened, declared, cost = CodePlan((), {}), list[WidenedEntity](), list["DeclaredChange"](), None
    for name in entities:
        warehouse.graph.entity(name)
    if settings.state or settings.state_db.exists():
        store = StateStore.of(settings)
        queries, codes = SparkAnalysis(warehouse), CodeRegistry(store.database)
        told = code_plan(warehouse, codes, store.read, now, entities, None, queries.goes_by_clock)
        broken |= queries.unwritable([planned.entity for planned in told.entities if planned.outdated])
        needs = WidenedNeeds(warehouse.graph, store.database, store.read)
        widened = _by_entity(warehouse, needs.slices(), entities)
        declared = _chosen(warehouse, declared_changes(warehouse, needs.extents_before, codes.codes(), now), entities)
        if told.slices:
            from tidemark.console.rebuild_cost import rebuild_cost  # noqa: PLC0415 - loads numpy

            changed = [planned.entity for planned in told.entities]
            cost = rebuild_cost(warehouse, store.database, told.slices, now, changed)
        store.close()
    if as_json:
        print_json(_as_data(told, widened, declared, broken, cost))
    else:
        _print(warehouse, told, widened, declared, broken, cost)
    raise SystemExit(ExitCode.OUTDATED if widened or declared or _is_open(told, broken) else ExitCode.OK)


def _is_open(told: CodePlan, broken: Mapping[str, EntityError]) -> bool:
    is_breaking = any(planned.change.kind.value == "breaking" for planned in told.entities)
    return bool(told.slices or broken or is_breaking)


def _by_entity(warehouse: Warehouse, widened: Iterable[WidenedSlice], chosen: Sequence[str]) -> list[WidenedEntity]:
    """Missing inputs of slices, by entity, in order of time; only of the chosen entities."""
    lacks: dict[str, dict[Slice, tuple[Slice, ...]]] = {}
    names = {warehouse.graph.entity(name).name for name in chosen}
    for slice_, needed, _ in widened:
        if not names or slice_.entity in names:
            lacks.setdefault(slice_.entity, {})[slice_] = needed
    return [
        WidenedEntity(name, warehouse.graph.entity(name).reprocess.value, dict(sorted(own.items())))
        for name, own in lacks.items()
    ]


def _chosen(warehouse: Warehouse, changes: Iterable[DeclaredChange], chosen: Sequence[str]) -> list[DeclaredChange]:
    names = {warehouse.graph.entity(name).name for name in chosen}
    return [change for change in changes if not names or change.entity in names]


def _as_data(
    told: CodePlan,
    widened: Sequence[WidenedEntity],
    declared: Sequence[DeclaredChange],
    broken: Mapping[str, EntityError],
    cost: RepairTime | None,
) -> dict[str, Any]:
    return {
        "entities": [_entity_as_data(planned) for planned in told.entities],
        "unknown": dict(told.unknown),
        "broken": {name: str(error) for name, error in broken.items()},
        "declared": [_declared_as_data(change) for change in declared],
        "widened": [
            {
                "entity": own.entity,
                "reprocess": own.reprocess,
                "lacks": {_key(slice_): [*map(str, lacks)] for slice_, lacks in own.lacks.items()},
            }
            for own in widened
        ],
        "slices": len(told.slices),
        "cost": {
            "p50_seconds": round(cost.p50),
            "p90_seconds": round(cost.p90),
            "work_seconds": round(cost.work),
        }
        if cost
        else None,
    }


def _declared_as_data(change: DeclaredChange) -> dict[str, Any]:
    first, last = change.ends or (None, None)
    return {
        "entity": change.entity,
        "change": change.kind.value,
        "before": change.before or None,
        "now": change.now or None,
        "slices": change.count,
        "first": first,
        "last": last,
        "gone": change.gone,
    }


def _entity_as_data(planned: PlannedEntity) -> dict[str, Any]:
    return {
        "entity": planned.entity,
        "change": planned.change.kind.value,
        "columns": sorted(planned.change.columns),
        "because": list(planned.change.words),
        "null_until_computed": list(planned.change.added) if planned.outdated else [],
        "outdated": [_key(slice_) for slice_ in planned.outdated],
        "touched": {name: [_key(slice_) for slice_ in slices] for name, slices in planned.touched.items()},
        "untouched": list(planned.untouched),
    }


def _print(
    warehouse: Warehouse,
    told: CodePlan,
    widened: Sequence[WidenedEntity],
    declared: Sequence[DeclaredChange],
    broken: Mapping[str, EntityError],
    cost: RepairTime | None,
) -> None:
    for change in declared:
        _print_declared(warehouse, change)
    for planned in told.entities:
        _print_entity(planned)
    for own in widened:
        _print_widened(own)
    for name, error in broken.items():
        print_line(f"{name} is broken: {error}", "red")
    if told.unknown:
        counted = sorted(told.unknown.items(), key=lambda item: -item[1])
        names = ", ".join(f"{name} {count:,}" for name, count in counted[:_SHOWN])
        more = f", and {len(counted) - _SHOWN} more entities" if len(counted) > _SHOWN else ""
        print_line(f"{sum(told.unknown.values()):,} slices have no recorded code: {names}{more}")
        print_line("  they count as up to date until they are computed again")
    if not told.slices:
        if not widened and not broken and not declared:
            print_line("no slice is outdated", "green")
        return
    outdated = sum(len(planned.outdated) for planned in told.entities)
    print_line(f"{outdated:,} slices are outdated, {len(told.slices) - outdated:,} more are downstream", "bold")
    if cost:
        took = f"about {_span(cost.p50)} (90 %: less than {_span(cost.p90)})"
        print_line(f"computing them again takes {took}, {_span(cost.work)} of work")


def _print_declared(warehouse: Warehouse, change: DeclaredChange) -> None:
    from tidemark.catalog.declared_changes import DeclaredChangeKind as Kind  # noqa: PLC0415 - keeps --help fast
    from tidemark.dependency_model.entity.entity import EntityKind  # noqa: PLC0415

    moved = (
        f" ({change.before or 'none'} -> {change.now or 'none'})"
        if change.kind not in (Kind.ADDED, Kind.REMOVED)
        else ""
    )
    print_line(f"{change.entity}: {change.kind.value}{moved}", "red" if change.kind is Kind.PERIOD else "yellow")
    if change.kind in (Kind.REMOVED, Kind.RENAMED):
        print_line(f"  the table {change.before or change.entity} stays in the lake, and nothing computes it any more")
    if change.ends:
        first, last = change.ends
        is_external = warehouse.graph.entity(change.entity).kind is EntityKind.VIRTUAL
        step = "look for" if is_external else "compute"
        print_line(f"  {plural(change.count, 'slice')} to {step}: {first if first == last else f'{first} .. {last}'}")
    if change.gone:
        print_line(f"  {plural(change.gone, 'slice')} no longer belong to it; they stay in the lake")


def _print_entity(planned: PlannedEntity) -> None:
    change = planned.change
    print_line(f"{planned.entity}: {change.kind.value}", _STYLES.get(change.kind.value))
    for word in change.words[:_SHOWN]:
        print_line(f"  {word}")
    if change.added and planned.outdated:
        print_line(f"  NULL until the slices are computed again: {', '.join(change.added)}")
    rows = [["  outdated", planned.entity, _ends(planned.outdated)]] if planned.outdated else []
    rows += [["  downstream", name, _ends(slices)] for name, slices in planned.touched.items()]
    rows += [["  not touched", name, "uses no changed column"] for name in planned.untouched]
    print_table(["", "entity", "slices"], rows)


def _print_widened(own: WidenedEntity) -> None:
    print_line(f"{own.entity}: needs more", "yellow")
    for slice_, lacks in list(own.lacks.items())[:_SHOWN]:
        print_line(f"  {_key(slice_)} has not read {_shortened(lacks)}")
    print_table(["", "entity", "slices"], [["  needs more", own.entity, _ends([*own.lacks])]])
    print_line(f"  when the center starts with this project, they are {_FOLLOWS[own.reprocess]}")


def _shortened(slices: Sequence[Slice]) -> str:
    more = f" and {len(slices) - 5:,} more" if len(slices) > 5 else ""
    return ", ".join(map(str, slices[:5])) + more


def _ends(slices: Sequence[Slice]) -> str:
    """`14: 2026-03-01 .. 2026-03-14`."""
    ends = _key(slices[0]) if len(slices) == 1 else f"{_key(slices[0])} .. {_key(slices[-1])}"
    return f"{len(slices):,}: {ends}"


def _key(slice_: Slice) -> str:
    return str(slice_).partition("@")[2]


def _span(seconds: float) -> str:
    return str(timedelta(seconds=max(1, round(seconds))))
