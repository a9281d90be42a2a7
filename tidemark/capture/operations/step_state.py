"""The results of a capture step so far, and the position of each table after each pass."""

from collections import Counter, defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Self

from tidemark.capture.binlog.finding import BinlogFinding
from tidemark.capture.commits.capture_lease import CaptureLease
from tidemark.capture.commits.commit_state import CommitState
from tidemark.capture.errors import UnexpectedTableError
from tidemark.capture.planning.commit_planner import OpenSliceEnd
from tidemark.capture.source.intake import Due, ReadUnit
from tidemark.capture.source.kafka.errors import OffsetsLostError, TopicReplacedError, TopicShrunkError
from tidemark.capture.source_table import SourceTable, topic_of
from tidemark.errors import TidemarkError
from tidemark.state_store.held_leases import HeldLeases
from tidemark.state_store.snapshot_registry import TaggedSnapshot
from tidemark.system.errors import CaptureError


@dataclass
class StepResult:
    """The results of a step so far.

    `refused` has the offset of an unusable file by instance, `stopped` the failed tables, `blocked` the (table,
    instance) pairs whose next records are missing. A pass that advances none of its tables was too small: `scale` makes
    the next one bigger.
    """

    lease: CaptureLease
    held: HeldLeases
    changes: Counter[str] = field(default_factory=Counter)
    late: Counter[str] = field(default_factory=Counter)
    commits: int = 0
    closed: list[TaggedSnapshot] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    problems: list[TidemarkError] = field(default_factory=list)
    refused: dict[str, int] = field(default_factory=dict)
    blocked: set[tuple[str, str]] = field(default_factory=set)
    stopped: set[str] = field(default_factory=set)
    scale: defaultdict[tuple[str, ...], int] = field(default_factory=lambda: defaultdict(lambda: 1))
    beats: dict[str, int] = field(default_factory=dict)

    def hear(self, beats: Mapping[str, int]) -> None:
        """Add the heartbeats (epoch ms) of a pass. The pass may be of lagging tables, so newer ones stay."""
        self.beats |= {name: max(beat, self.beats.get(name, beat)) for name, beat in beats.items()}

    def stop(self, table: str, error: Exception) -> None:
        """Stop the table for this step because of an error. Others go on."""
        self.stopped.add(table)
        self.problems.append(error if isinstance(error, TidemarkError) else UnexpectedTableError.of(table, error))


@dataclass(frozen=True)
class StepPosition:
    """The position of the tables after a pass, by their own logs, and the pass's decisions about each.

    `versions` are the tables' versions when their states were read, `units` the last units of a group of tables,
    `stopped` the tables that failed in the last step and have not gone on since. A step begins at the end of the last
    step in the same process, after a check that the position is still valid.
    """

    states: Mapping[str, CommitState] = field(default_factory=dict)
    versions: Mapping[str, int | None] = field(default_factory=dict)
    waiting: Mapping[str, tuple[OpenSliceEnd, ...]] = field(default_factory=dict)
    halted: Mapping[str, tuple[BinlogFinding, ...]] = field(default_factory=dict)
    accepted: Mapping[str, frozenset[int]] = field(default_factory=dict)
    units: Mapping[tuple[str, ...], Sequence[ReadUnit]] = field(default_factory=dict)
    stopped: frozenset[str] = frozenset()

    def with_table_at(self, table: str, state: CommitState, version: int | None) -> Self:
        """The position with the table at that state and version."""
        return replace(self, states={**self.states, table: state}, versions={**self.versions, table: version})

    def is_at(self, table: str, version: int | None, lease: CaptureLease) -> bool:
        """Whether the table's version and capture's lease are unchanged."""
        state = self.states.get(table)
        return state is not None and self.versions[table] == version and state.lease == lease

    def offsets(self, sources: Sequence[SourceTable]) -> dict[str, dict[str, int]]:
        """The next offset by table and instance."""
        return {
            source.name: {name: self.states[source.name].offsets.get(topic_of(name), 0) for name in source.instances}
            for source in sources
        }

    def next_offsets(self, sources: Sequence[SourceTable], blocked: Collection[tuple[str, str]]) -> dict[str, int]:
        """By instance, the lowest next offset of the tables, without blocked pairs."""
        lowest: dict[str, int] = {}
        for table, offsets in self.offsets(sources).items():
            for instance, offset in offsets.items():
                if (table, instance) not in blocked:
                    lowest[instance] = min(offset, lowest.get(instance, offset))
        return dict(sorted(lowest.items()))

    @property
    def findings(self) -> tuple[BinlogFinding, ...]:
        """The findings that halt instances and hold tables, in the order of the binlogs."""
        distinct = {finding for findings in self.halted.values() for finding in findings}
        holds = (state.holds.holds_to_accept(self.accepted) for state in self.states.values())
        distinct |= {hold.finding for table_holds in holds for hold in table_holds}
        return tuple(sorted(distinct, key=lambda finding: (finding.instance, finding.offset)))


def state_of_topics(state: CommitState, source: SourceTable, due: Due) -> CommitState:
    """The state with the ids of the topics that are read now. The next commit stores them."""
    ids = {topic_of(name): due.topic_ids[name] for name in source.instances if due.topic_ids.get(name)}
    return replace(state, topic_ids={**state.topic_ids, **ids})


def problem_of_instance(state: CommitState, instance: str, due: Due) -> CaptureError | None:
    """Why a table's next record of an instance cannot be read: the topic is another one, or lacks the record."""
    topic = topic_of(instance)
    known, now = state.topic_ids.get(topic), due.topic_ids.get(instance)
    if known and now and known != now:
        return TopicReplacedError.of(topic, known, now)
    problem, offset = due.problems.get(instance), state.offsets.get(topic, 0)
    is_readable = (isinstance(problem, OffsetsLostError) and offset >= problem.low) or (
        isinstance(problem, TopicShrunkError) and offset <= problem.high
    )
    return None if is_readable else problem
