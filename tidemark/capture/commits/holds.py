"""What keeps a table's versions from being tagged: its rows may not be the source's, until a load or a person's word.

A version that ends a slice while a hold is open is made as any other, and its slice gets no tag. A load that was asked
for after the hold has read every row anew when it ends: what it did not read is not in the source any more.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final, Literal, NamedTuple, Self, TypeVar

from tidemark.capture.binlog.finding import BinlogFinding, FindingKind

AcceptedOffsets = Mapping[str, Collection[int]]
NOTHING_ACCEPTED: Final[AcceptedOffsets] = {}
_Entry = TypeVar("_Entry")
_MOST: Final = 100
"""Holds of a table: of more the newest takes the place of the last."""
_MOST_ENDED: Final = 10
"""Loads of a shard of which nobody asked for: the newest are kept."""


class AskedLoad(NamedTuple):
    """A load that a signal with that id asked for, of all rows of a shard or of some; an older commit has no id."""

    id: str
    is_whole: bool


@dataclass(frozen=True, order=True)
class Hold:
    """Rows of `shard` (`a.school.orders_3`) may be others than the source's from `offset` of its topic on.

    It ends with the load that is the `loads`-th to end: those before it may have begun before the hold.
    """

    shard: str
    offset: int
    kind: FindingKind
    detail: str
    loads: int = 1

    @property
    def instance(self) -> str:
        """The shard's."""
        return self.shard.partition(".")[0]

    @property
    def finding(self) -> BinlogFinding:
        """As it is told and accepted."""
        return BinlogFinding(self.instance, self.offset, self.kind, self.detail, self.shard)

    def is_accepted(self, accepted: AcceptedOffsets) -> bool:
        """Whether a person said to go on."""
        return self.offset in accepted.get(self.instance, ())


class HoldEvent(NamedTuple):
    """At `offset` of its topic a shard is held, a load of it is asked for (whole or of some rows), or one has ended.

    `load` is the id of the signal by which the load was asked for. One that `failed` has not read all rows. A hold is
    `known_by` another offset where its own one was accepted for something else.
    """

    instance: str
    offset: int
    shard: str
    what: Literal["held", "asked", "asked in part", "loaded", "loaded early", "failed"]
    kind: FindingKind = FindingKind.NO_ROW_EVENTS
    detail: str = ""
    load: str = ""
    known_by: int | None = None


@dataclass(frozen=True)
class Holds:
    """Open holds, and per shard the loads that were asked for and have not ended.

    `ended` are per shard the loads that ended before the topic said that they were asked for.
    """

    open: tuple[Hold, ...] = ()
    loading: Mapping[str, tuple[AskedLoad, ...]] = field(default_factory=dict)
    ended: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def after(self, event: HoldEvent) -> Self:
        """What is held behind the event."""
        asked = self.loading.get(event.shard, ())
        if event.what == "held":
            offset = event.offset if event.known_by is None else event.known_by
            hold = Hold(event.shard, offset, event.kind, event.detail, len(asked) + 1)
            return replace(self, open=_added(self.open, hold))
        if event.what in {"asked", "asked in part"}:
            return self._asked(event)
        if event.what == "loaded early" and not self._is_known(event):
            ended = (*self.ended.get(event.shard, ()), event.load)[-_MOST_ENDED:]
            return replace(self, ended=_put(self.ended, event.shard, ended))
        if not asked:
            # What nobody asked for proves nothing.
            return self
        counted = self._counted_down(event.shard, is_whole=self.is_whole(event))
        return replace(self, open=counted, loading=_put(self.loading, event.shard, asked[1:]))

    def ends_a_load(self, event: HoldEvent) -> bool:
        """Whether a load that was asked for, of all rows or of some, has ended with the event."""
        if event.what in {"asked", "asked in part"}:
            return event.load in self.ended.get(event.shard, ())
        is_end = event.what == "loaded" or (event.what == "loaded early" and self._is_known(event))
        return is_end and event.shard in self.loading

    def is_whole(self, event: HoldEvent) -> bool:
        """Whether a load of all rows of the shard has ended with the event.

        Loads of a shard end in the order in which they were asked for. The connector names the last load that it was
        asked for by whichever signal: an older one may be over, so none of them may be one of some rows.
        """
        asked = self.loading.get(event.shard, ())
        if event.what == "asked":
            return event.load in self.ended.get(event.shard, ())
        if event.what not in {"loaded", "loaded early"} or not asked:
            return False
        place = next((at for at, load in enumerate(asked) if load.id == event.load), 0)
        return all(load.is_whole for load in asked[: place + 1])

    def _asked(self, event: HoldEvent) -> Self:
        """Of a table without such rows the connector says that it was read before it says that somebody asked."""
        asked, ended = self.loading.get(event.shard, ()), self.ended.get(event.shard, ())
        if event.load not in ended:
            load = AskedLoad(event.load, event.what == "asked")
            return replace(self, loading=_put(self.loading, event.shard, (*asked, load)))
        counted = self._counted_down(event.shard, is_whole=self.is_whole(event))
        left = tuple(other for other in ended if other != event.load)
        return replace(self, open=counted, ended=_put(self.ended, event.shard, left))

    def _is_known(self, event: HoldEvent) -> bool:
        """Whether somebody was seen to ask for that load, of whatever shard."""
        of_instance = (loads for shard, loads in self.loading.items() if shard.startswith(f"{event.instance}."))
        return any(event.load == load.id for loads in of_instance for load in loads)

    def of_others(self, shards: Collection[str]) -> Self:
        """Without those of shards that begin anew: their rows are gone, and all of them are asked for."""
        loading = {shard: loads for shard, loads in self.loading.items() if shard not in shards}
        ended = {shard: ids for shard, ids in self.ended.items() if shard not in shards}
        left = tuple(hold for hold in self.open if hold.shard not in shards)
        return replace(self, open=left, loading=loading, ended=ended)

    def holds_ending_with(self, event: HoldEvent) -> tuple[Hold, ...]:
        """The holds that end with the event."""
        left = {(hold.shard, hold.offset, hold.kind) for hold in self.after(event).open}
        return tuple(hold for hold in self.open if (hold.shard, hold.offset, hold.kind) not in left)

    def without(self, accepted: AcceptedOffsets) -> Self:
        """Without what was accepted."""
        return replace(self, open=self.holds_to_accept(accepted))

    def without_kind(self, shard: str, kind: FindingKind) -> Self:
        """Without those of the shard that are of that kind."""
        return replace(self, open=tuple(hold for hold in self.open if (hold.shard, hold.kind) != (shard, kind)))

    def holds_to_accept(self, accepted: AcceptedOffsets) -> tuple[Hold, ...]:
        """The open ones that nobody accepted."""
        return tuple(hold for hold in self.open if not hold.is_accepted(accepted))

    def _counted_down(self, shard: str, *, is_whole: bool) -> tuple[Hold, ...]:
        """A load of some rows ends no hold."""
        least = 0 if is_whole else 1
        counted = (
            replace(hold, loads=max(least, hold.loads - 1)) if hold.shard == shard else hold for hold in self.open
        )
        return tuple(hold for hold in counted if hold.loads)

    def to_json(self) -> dict[str, Any]:
        """As it travels in a commit."""
        return {
            "holds": [[hold.shard, hold.offset, hold.kind.value, hold.detail, hold.loads] for hold in self.open],
            "loading": {shard: [list(load) for load in loads] for shard, loads in self.loading.items()},
            **({"ended": {shard: list(ids) for shard, ids in self.ended.items()}} if self.ended else {}),
        }

    @classmethod
    def from_json(cls, entry: Mapping[str, Any]) -> Self:
        """What `to_json` gave."""
        return cls(
            tuple(Hold(shard, at, FindingKind(kind), *rest) for shard, at, kind, *rest in entry.get("holds", ())),
            {shard: tuple(map(_asked_load, loads)) for shard, loads in entry.get("loading", {}).items()},
            {shard: tuple(ids) for shard, ids in entry.get("ended", {}).items()},
        )


def holds_at(before: Holds, events: Iterable[HoldEvent], starts: Mapping[str, int], ends: Mapping[str, int]) -> Holds:
    """What is held before the offsets `ends` (per instance), of events from `starts` on."""
    holds = before
    for event in sorted(events, key=lambda event: event[:3]):
        if starts.get(event.instance, 0) <= event.offset < ends.get(event.instance, 0):
            holds = holds.after(event)
    return holds


def _added(holds: Sequence[Hold], hold: Hold) -> tuple[Hold, ...]:
    others = [
        other for other in holds if (other.shard, other.offset, other.kind) != (hold.shard, hold.offset, hold.kind)
    ]
    return (*others[: _MOST - 1], hold)


def _asked_load(entry: Any) -> AskedLoad:
    """An older commit says of a load only whether it is one of all rows."""
    return AskedLoad("", entry) if isinstance(entry, bool) else AskedLoad(*entry)


def _put(
    of_shards: Mapping[str, tuple[_Entry, ...]], shard: str, values: tuple[_Entry, ...]
) -> dict[str, tuple[_Entry, ...]]:
    others = {other: waiting for other, waiting in of_shards.items() if other != shard}
    return {**others, shard: values} if values else others
