"""The effects of a scan's statements and loads on one table: changed rows without row events, and holds."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from tidemark.capture.binlog.dropped_shards import Dropped
from tidemark.capture.binlog.finding import FindingKind
from tidemark.capture.commits.commit_state import CommitState
from tidemark.capture.commits.holds import HoldEvent
from tidemark.capture.heartbeat.heartbeat_record import KNOWN, NULL
from tidemark.capture.planning.continuity_of_scan import BinlogOrder
from tidemark.capture.planning.table_forms import TableForms, table_forms
from tidemark.capture.planning.table_loads import asked_and_ended
from tidemark.capture.schema.column_form import TableForm
from tidemark.capture.schema.ddl.recorded_statement import RecordedStatement
from tidemark.capture.schema.ddl.unlogged_row_effects import ColumnsSet, Emptied, StatementEffect, Unproven
from tidemark.capture.source.scan import Scan
from tidemark.capture.source_table import SourceTable, topic_of


@dataclass(frozen=True)
class Swept:
    """Rows of `physical` that no record from offset `before` on has written are no longer in the source."""

    physical: str
    before: int


class RowEffect(NamedTuple):
    """At `offset`, rows of a shard change without row events."""

    instance: str
    offset: int
    effect: Emptied | ColumnsSet | Swept

    @property
    def shard(self) -> str:
        """The shard: `a.school.orders_3`."""
        return f"{self.instance}.{self.effect.physical}"


@dataclass(frozen=True)
class TableEffects:
    """Effects on rows and events of holds, both in order of (instance, offset)."""

    rows: Sequence[RowEffect] = ()
    holds: Sequence[HoldEvent] = ()


def table_effects(source: SourceTable, scan: Scan, order: BinlogOrder, state: CommitState) -> TableEffects:
    """The effects after the table's offsets, without redelivered statements."""
    shards = _known_shards(source, scan, state)
    changed = [*_statements(source, scan, order, state, shards)]
    events = sorted(
        [
            *(change for change in changed if isinstance(change, HoldEvent)),
            *asked_and_ended(source, scan.summary, state, shards),
            *_altered(scan, state, shards),
            *_accepted_gaps(order, state, shards),
        ],
        key=lambda event: event[:3],
    )
    rows = [
        *(change for change in changed if isinstance(change, RowEffect)),
        *_dropped(source, scan, order, state, shards),
    ]
    return TableEffects(sorted([*rows, *_swept(state, events)], key=lambda effect: effect[:2]), events)


def _known_shards(source: SourceTable, scan: Scan, state: CommitState) -> dict[str, list[str]]:
    """By instance, the physical tables that have rows, or get rows in the scan."""
    come = {f"{instance}.{physical}" for instance, physical in scan.summary.first_changes}
    shards: dict[str, list[str]] = {instance: [] for instance in source.instances}
    for name in sorted(come.union(state.watermarks)):
        instance, _, physical = name.partition(".")
        if source.holds(instance, physical):
            shards[instance].append(physical)
    return shards


def _statements(
    source: SourceTable, scan: Scan, order: BinlogOrder, state: CommitState, shards: Mapping[str, Sequence[str]]
) -> Iterator[RowEffect | HoldEvent]:
    forms = table_forms(source, scan.summary, order, state.columns.forms)
    for statement in scan.summary.statements:
        place = statement.instance, statement.offset
        if place[0] not in source.instances or place[1] < state.offsets.get(topic_of(place[0]), 0):
            continue
        if order.was_read(*place, statement.position):
            continue
        if not statement.may_concern(source.shards.base.partition(".")[0]):
            continue
        for effect in _effects(source, statement, forms):
            for physical in _touched(source, statement.instance, effect, shards):
                yield _change(statement, effect, physical)


def _effects(source: SourceTable, statement: RecordedStatement, forms: TableForms) -> Sequence[StatementEffect]:
    """The statement's effects, by the earlier and later declarations of the table's shards."""

    def before(table: str) -> TableForm | None:
        return forms.before(_shard(table), statement.offset)

    def after(table: str) -> TableForm | None:
        return forms.after(_shard(table), statement.offset)

    def _shard(table: str) -> str:
        physical = table if source.holds(statement.instance, table) else table.lower()
        return f"{statement.instance}.{physical}"

    return statement.effects(before, after)


def _touched(
    source: SourceTable, instance: str, effect: StatementEffect, shards: Mapping[str, Sequence[str]]
) -> list[str]:
    """The shards of an effect. A server may write all names in lower case."""
    if effect.physical.endswith(".*"):
        return [name for name in shards[instance] if name.startswith(effect.physical.removesuffix("*"))]
    names = (effect.physical, effect.physical.lower())
    return [name for name in names if source.holds(instance, name)][:1]


def _change(statement: RecordedStatement, effect: StatementEffect, physical: str) -> RowEffect | HoldEvent:
    place = statement.instance, statement.offset
    if isinstance(effect, Unproven):
        at = f" at {statement.position}" if statement.position else ""
        detail = f"{statement.short_text}{at}: {effect.reason}"
        return HoldEvent(*place, f"{place[0]}.{physical}", "held", detail=detail)
    if isinstance(effect, Emptied):
        return RowEffect(*place, Emptied(physical))
    return RowEffect(*place, ColumnsSet(physical, effect.values))


def _altered(scan: Scan, state: CommitState, shards: Mapping[str, Sequence[str]]) -> Iterator[HoldEvent]:
    """A hold for each shard that does not have such a hold yet, if the connector changes values."""
    for instance, (offset, columns) in scan.summary.altered.items():
        if offset < state.offsets.get(topic_of(instance), 0):
            continue
        kind = FindingKind.NULLS_REPLACED if columns == {NULL.name} else FindingKind.VALUES_ALTERED
        settings = dict.fromkeys(known.setting for known in KNOWN if known.name in columns)
        detail = (
            f"the heartbeat's {', '.join(sorted(columns))} arrived with other values than were written: set "
            f"{', '.join(settings)} for the connector, restart it, then reload the table (tidemark capture reload)"
        )
        held = {hold.shard for hold in state.holds.open if hold.kind is kind}
        names = {f"{instance}.{physical}" for physical in shards.get(instance, ())} - held
        yield from (HoldEvent(instance, offset, name, "held", kind, detail) for name in sorted(names))


def _accepted_gaps(order: BinlogOrder, state: CommitState, shards: Mapping[str, Sequence[str]]) -> Iterator[HoldEvent]:
    """After an accepted gap, changes may be missing in each shard until it is loaded or a person accepts that too.

    The second acceptance is a separate one, so it has an offset of its own.
    """
    for instance, judged in order.judged.items():
        for gap in judged.gaps:
            if gap.offset >= state.offsets.get(topic_of(instance), 0):
                for physical in shards.get(instance, ()):
                    yield HoldEvent(
                        instance,
                        gap.offset,
                        f"{instance}.{physical}",
                        "held",
                        FindingKind.CHANGES_MISSING,
                        f"{gap.kind}: {gap.detail}",
                        known_by=gap.offset + 1,
                    )


def _dropped(
    source: SourceTable, scan: Scan, order: BinlogOrder, state: CommitState, shards: Mapping[str, Sequence[str]]
) -> Iterator[RowEffect]:
    """The effect of a dropped shard: its rows are deleted as by TRUNCATE. A person has accepted this before."""
    for drop in new_drops(source, scan, state, order):
        if drop.physical in shards[drop.instance]:
            yield RowEffect(drop.instance, drop.offset, Emptied(drop.physical))


def new_drops(source: SourceTable, scan: Scan, state: CommitState, order: BinlogOrder) -> list[Dropped]:
    """The drops of the table's shards after its offsets, without redelivered ones."""
    return [
        drop
        for drop in scan.summary.table_drops
        if source.holds(drop.instance, drop.physical)
        and drop.offset >= state.offsets.get(topic_of(drop.instance), 0)
        and not order.was_read(drop.instance, drop.offset, drop.position)
    ]


def _swept(state: CommitState, events: Sequence[HoldEvent]) -> Iterator[RowEffect]:
    holds = state.holds
    for event in events:
        released = holds.holds_ending_with(event)
        if released:
            physical = event.shard.partition(".")[2]
            yield RowEffect(event.instance, event.offset, Swept(physical, max(hold.offset for hold in released)))
        holds = holds.after(event)
