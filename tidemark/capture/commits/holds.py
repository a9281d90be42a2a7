"""Holds: a table's rows may differ from the source, so its slices are not tagged.

A load or a person ends a hold. A version that ends a slice during a hold is made like any other, without a tag. A load
that was requested after the hold has read every row again when it ends. A row that it did not read is no longer in the
source.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final, Literal, NamedTuple, Self, TypeVar

from tidemark.capture.binlog.finding import BinlogFinding, FindingKind

AcceptedOffsets = Mapping[str, Collection[int]]
NOTHING_ACCEPTED: Final[AcceptedOffsets] = {}
_Entry = TypeVar("_Entry")
_MOST: Final = 100
"""The most holds of a table. Beyond it, the newest replaces the last."""
_MOST_ENDED: Final = 10
"""The most ended loads of a shard without a known request; the newest are kept."""


class AskedLoad(NamedTuple):
    """A load that a signal with this id requested, for all rows of a shard or some.

    The id is empty in older commits.
    """

    id: str
    is_whole: bool


@dataclass(frozen=True, order=True)
class Hold:
    """From `offset` of its topic on, the rows of `shard` (`a.school.orders_3`) may differ from the source.

    The hold ends with the `loads`-th load to end. Loads before that may have begun before the hold.
    """

    shard: str
    offset: int
    kind: FindingKind
    detail: str
    loads: int = 1

    @property
    def instance(self) -> str:
        """The shard's instance."""
        return self.shard.partition(".")[0]

    @property
    def finding(self) -> BinlogFinding:
        """The finding that a person sees and accepts."""
        return BinlogFinding(self.instance, self.offset, self.kind, self.detail, self.shard)

    def is_accepted(self, accepted: AcceptedOffsets) -> bool:
        """Whether a person accepted the hold."""
        return self.offset in accepted.get(self.instance, ())


class HoldEvent(NamedTuple):
    """An event of a shard at `offset` of its topic: a hold begins, or a load is requested, ends or fails.

    `load` is the id of the signal that requested the load. A `failed` load has not read all rows. `known_by` replaces
    the offset of a hold if that offset was already accepted for another finding.
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
    """Open holds, and by shard the requested loads that have not ended.

    `ended` has, by shard, the loads that ended before the topic showed their request.
    """

    open: tuple[Hold, ...] = ()
    loading: Mapping[str, tuple[AskedLoad, ...]] = field(default_factory=dict)
    ended: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def after(self, event: HoldEvent) -> Self:
        """The holds after the event."""
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
            # A load without a request proves nothing.
            return self
        counted = self._counted_down(event.shard, is_whole=self.is_whole(event))
        return replace(self, open=counted, loading=_put(self.loading, event.shard, asked[1:]))

    def ends_a_load(self, event: HoldEvent) -> bool:
        """Whether a requested load, of all rows or some, ends with the event."""
        if event.what in {"asked", "asked in part"}:
            return event.load in self.ended.get(event.shard, ())
        is_end = event.what == "loaded" or (event.what == "loaded early" and self._is_known(event))
        return is_end and event.shard in self.loading

    def is_whole(self, event: HoldEvent) -> bool:
        """Whether a load of all rows of the shard ends with the event.

        Loads of a shard end in the order of their requests. The connector names only the last request, and earlier
        loads may have ended with it. So each of them must be a load of all rows.
        """
        asked = self.loading.get(event.shard, ())
        if event.what == "asked":
            return event.load in self.ended.get(event.shard, ())
        if event.what not in {"loaded", "loaded early"} or not asked:
            return False
        place = next((at for at, load in enumerate(asked) if load.id == event.load), 0)
        return all(load.is_whole for load in asked[: place + 1])

    def _asked(self, event: HoldEvent) -> Self:
        """The holds after a request.

        For a table without matching rows, the connector reports the end before the request.
        """
        asked, ended = self.loading.get(event.shard, ()), self.ended.get(event.shard, ())
        if event.load not in ended:
            load = AskedLoad(event.load, event.what == "asked")
            return replace(self, loading=_put(self.loading, event.shard, (*asked, load)))
        counted = self._counted_down(event.shard, is_whole=self.is_whole(event))
        left = tuple(other for other in ended if other != event.load)
        return replace(self, open=counted, ended=_put(self.ended, event.shard, left))

    def _is_known(self, event: HoldEvent) -> bool:
        """Whether the request of that load was seen, for any shard of the instance."""
        of_instance = (loads for shard, loads in self.loading.items() if shard.startswith(f"{event.instance}."))
        return any(event.load == load.id for loads in of_instance for load in loads)

    def of_others(self, shards: Collection[str]) -> Self:
        """The holds without those of some shards, which start again and read all their rows."""
        loading = {shard: loads for shard, loads in self.loading.items() if shard not in shards}
        ended = {shard: ids for shard, ids in self.ended.items() if shard not in shards}
        left = tuple(hold for hold in self.open if hold.shard not in shards)
        return replace(self, open=left, loading=loading, ended=ended)

    def holds_ending_with(self, event: HoldEvent) -> tuple[Hold, ...]:
        """The holds that end with the event."""
        left = {(hold.shard, hold.offset, hold.kind) for hold in self.after(event).open}
        return tuple(hold for hold in self.open if (hold.shard, hold.offset, hold.kind) not in left)

    def without(self, accepted: AcceptedOffsets) -> Self:
        """The holds without the accepted ones."""
        return replace(self, open=self.holds_to_accept(accepted))

    def without_kind(self, shard: str, kind: FindingKind) -> Self:
        """The holds without those of this shard and kind."""
        return replace(self, open=tuple(hold for hold in self.open if (hold.shard, hold.kind) != (shard, kind)))

    def holds_to_accept(self, accepted: AcceptedOffsets) -> tuple[Hold, ...]:
        """The open holds that are not accepted."""
        return tuple(hold for hold in self.open if not hold.is_accepted(accepted))

    def _counted_down(self, shard: str, *, is_whole: bool) -> tuple[Hold, ...]:
        """The holds after the end of a load. A load of some rows ends no hold."""
        least = 0 if is_whole else 1
        counted = (
            replace(hold, loads=max(least, hold.loads - 1)) if hold.shard == shard else hold for hold in self.open
        )
        return tuple(hold for hold in counted if hold.loads)

    def to_json(self) -> dict[str, Any]:
        """The form that a commit stores."""
        return {
            "holds": [[hold.shard, hold.offset, hold.kind.value, hold.detail, hold.loads] for hold in self.open],
            "loading": {shard: [list(load) for load in loads] for shard, loads in self.loading.items()},
            **({"ended": {shard: list(ids) for shard, ids in self.ended.items()}} if self.ended else {}),
        }

    @classmethod
    def from_json(cls, entry: Mapping[str, Any]) -> Self:
        """The holds of a value from `to_json`."""
        return cls(
            tuple(Hold(shard, at, FindingKind(kind), *rest) for shard, at, kind, *rest in entry.get("holds", ())),
            {shard: tuple(map(_asked_load, loads)) for shard, loads in entry.get("loading", {}).items()},
            {shard: tuple(ids) for shard, ids in entry.get("ended", {}).items()},
        )


def holds_at(before: Holds, events: Iterable[HoldEvent], starts: Mapping[str, int], ends: Mapping[str, int]) -> Holds:
    """The holds before the offsets `ends` (by instance), after the events from `starts` on."""
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
    """Reads a stored load; older commits only have whether it is a load of all rows."""
    return AskedLoad("", entry) if isinstance(entry, bool) else AskedLoad(*entry)


def _put(
    of_shards: Mapping[str, tuple[_Entry, ...]], shard: str, values: tuple[_Entry, ...]
) -> dict[str, tuple[_Entry, ...]]:
    others = {other: waiting for other, waiting in of_shards.items() if other != shard}
    return {**others, shard: values} if values else others
