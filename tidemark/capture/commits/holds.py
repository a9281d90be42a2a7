"""What keeps a table's versions from being tagged: its rows may not be the source's, until a load or a person's word.

A version that ends a slice while a hold is open is made as any other, and its slice gets no tag. A load that was asked
for after the hold has read every row anew when it ends: what it did not read is not in the source any more.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final, Literal, NamedTuple, Self

from tidemark.capture.binlog.finding import BinlogFinding, FindingKind

AcceptedOffsets = Mapping[str, Collection[int]]
NOTHING_ACCEPTED: Final[AcceptedOffsets] = {}
_MOST: Final = 100
"""Holds of a table: of more the newest takes the place of the last."""


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
    """At `offset` of its topic a shard is held, a load of it is asked for (whole or of some rows), or one has ended."""

    instance: str
    offset: int
    shard: str
    what: Literal["held", "asked", "asked in part", "loaded"]
    kind: FindingKind = FindingKind.NO_ROW_EVENTS
    detail: str = ""


@dataclass(frozen=True)
class Holds:
    """Open holds, and per shard the loads that were asked for and have not ended: whether each is one of all rows."""

    open: tuple[Hold, ...] = ()
    loading: Mapping[str, tuple[bool, ...]] = field(default_factory=dict)

    def after(self, event: HoldEvent) -> Self:
        """What is held behind the event."""
        loads = self.loading.get(event.shard, ())
        if event.what == "held":
            hold = Hold(event.shard, event.offset, event.kind, event.detail, len(loads) + 1)
            return replace(self, open=_added(self.open, hold))
        if event.what == "loaded":
            return replace(self, open=self._counted_down(event.shard), loading=_put(self.loading, event, loads[1:]))
        return replace(self, loading=_put(self.loading, event, (*loads, event.what == "asked")))

    def of_others(self, shards: Collection[str]) -> Self:
        """Without those of shards that begin anew: their rows are gone, and all of them are asked for."""
        loading = {shard: loads for shard, loads in self.loading.items() if shard not in shards}
        return replace(self, open=tuple(hold for hold in self.open if hold.shard not in shards), loading=loading)

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

    def _counted_down(self, shard: str) -> tuple[Hold, ...]:
        """A load of some rows ends no hold; one that nobody was seen to ask for is of all."""
        is_whole = (self.loading.get(shard) or (True,))[0]
        least = 0 if is_whole else 1
        counted = (
            replace(hold, loads=max(least, hold.loads - 1)) if hold.shard == shard else hold for hold in self.open
        )
        return tuple(hold for hold in counted if hold.loads)

    def to_json(self) -> dict[str, Any]:
        """As it travels in a commit."""
        return {
            "holds": [[hold.shard, hold.offset, hold.kind.value, hold.detail, hold.loads] for hold in self.open],
            "loading": {shard: list(loads) for shard, loads in self.loading.items()},
        }

    @classmethod
    def from_json(cls, entry: Mapping[str, Any]) -> Self:
        """What `to_json` gave."""
        return cls(
            tuple(Hold(shard, at, FindingKind(kind), *rest) for shard, at, kind, *rest in entry.get("holds", ())),
            {shard: tuple(loads) for shard, loads in entry.get("loading", {}).items()},
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


def _put(
    loading: Mapping[str, tuple[bool, ...]], event: HoldEvent, loads: tuple[bool, ...]
) -> dict[str, tuple[bool, ...]]:
    others = {shard: waiting for shard, waiting in loading.items() if shard != event.shard}
    return {**others, event.shard: loads} if loads else others
