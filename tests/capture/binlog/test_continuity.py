"""The judgement of runs against one that looks at every record, and the words for what was found."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.capture.binlog.logs import Log, binlog_of, logs
from tidemark.capture.binlog.consecutive_records import Run, Seen, runs_of
from tidemark.capture.binlog.continuity import BinlogProgress, judge
from tidemark.capture.binlog.finding import FindingKind
from tidemark.capture.binlog.gtid_policy import SPARSE, BinlogPolicy
from tidemark.capture.binlog.position import BinlogFile, Gtid, Position
from tidemark.capture.planning.continuity_of_scan import judge_binlogs
from tidemark.capture.source.scan_summary import Summary


@dataclass
class Reference:
    """Record by record: what is skipped, and the first that may not follow."""

    dense: bool
    high: Seen | None = None
    newest_ms: int = 0
    sequence: int = 0
    skipped: set[int] = field(default_factory=set)
    finding_at: tuple[int, FindingKind] | None = None

    def take(self, piece: list[Seen]) -> None:
        """What came at a time."""
        for place, seen in enumerate(piece):
            if self.finding_at is None:
                kind = None if self.high is None else self._kind(self.high, seen)
                if kind is not None:
                    self.finding_at = seen.offset, kind
                else:
                    self._go_on(seen, piece[place:])

    def _is_another_servers(self, high: Position, rest: list[Seen]) -> bool:
        """Whether the newest transaction, of which `rest` is what is left, is not where it was."""
        for before, after in pairwise(rest):
            assert after.gtid is not None
            follows = after.position > before.position and after.position.file <= before.position.file + 1
            if not follows:
                return after.gtid.sequence > self.sequence and before.position < high
            if after.gtid.sequence > self.sequence:
                return before.position < high or after.position <= high
        return rest[-1].position < high

    def _kind(self, high: Seen, seen: Seen) -> FindingKind | None:
        assert seen.gtid is not None
        if seen.position <= high.position:
            if seen.gtid.sequence > self.sequence:
                return None if seen.gtid.sequence == self.sequence + 1 else FindingKind.OTHER_LOG
            return FindingKind.REGRESSED if seen.event_ms > self.newest_ms else None
        if seen.position.file > high.position.file + 1 and seen.gtid.sequence != self.sequence + 1:
            return FindingKind.FILES_MISSING
        return FindingKind.GTIDS_MISSING if self.dense and seen.gtid.sequence > self.sequence + 1 else None

    def _go_on(self, seen: Seen, rest: list[Seen]) -> None:
        assert seen.gtid is not None
        if self.high is None or seen.position > self.high.position:
            self.high = seen
        elif seen.gtid.sequence > self.sequence or (
            seen.gtid.sequence == self.sequence and self._is_another_servers(self.high.position, rest)
        ):
            self.high, self.newest_ms = seen, 0
        else:
            self.skipped.add(seen.offset)
        self.newest_ms = max(self.newest_ms, seen.event_ms)
        self.sequence = max(self.sequence, seen.gtid.sequence)


@given(logs(), st.data())
def test_runs_are_judged_as_their_records_are_however_they_were_cut(log: Log, data: st.DataObject) -> None:
    reference, policy = Reference(log.dense), BinlogPolicy(dense_gtids=log.dense)
    progress, skipped, finding_at = None, set[int](), None
    cuts = sorted(data.draw(st.lists(st.integers(0, len(log.topic)), max_size=3)))
    for start, end in zip([0, *cuts], [*cuts, len(log.topic)], strict=True):
        piece = log.topic[start:end]
        reference.take(piece)
        judged = judge("a", progress, list(runs_of(piece, policy, progress.gtids if progress else {})), policy)
        skipped |= {
            entry.offset for entry in piece for again in judged.again if again.holds(entry.offset, entry.position)
        }
        finding_at = judged.finding
        if finding_at is not None:
            break
        progress = judged.progress(progress)
    assert reference.finding_at == ((finding_at.offset, finding_at.kind) if finding_at else None)
    limit = finding_at.offset if finding_at else 10**9
    assert {offset for offset in skipped if offset < limit} == reference.skipped
    if finding_at is None:
        assert progress is not None
        assert reference.high is not None
        assert (progress.position, progress.event_ms) == (reference.high.position, reference.newest_ms)


@given(logs())
def test_a_healthy_log_with_repetitions_is_read_once_and_whole(log: Log) -> None:
    judged = judge("a", None, list(runs_of(log.topic, SPARSE, {})), SPARSE)
    if judged.finding is None:
        kept = [
            entry.position
            for entry in log.topic
            if not any(again.holds(entry.offset, entry.position) for again in judged.again)
        ]
        assert kept == [entry.position for entry in log.written]


def test_a_topic_that_is_redelivered_as_a_whole_is_one_repetition() -> None:
    written = [Seen(number, "binlog", Position(1, number), number * 60_000) for number in range(50)]
    again = [Seen(50 + entry.offset, entry.base, entry.position, entry.event_ms) for entry in written]
    judged = judge("a", None, list(runs_of([*written, *again], SPARSE, {})), SPARSE)
    assert judged.finding is None
    assert [(skipped.start, skipped.end, skipped.until) for skipped in judged.again] == [(50, None, Position(1, 49))]


def run(start: int, file: int, pos: int, ms: int, base: str = "binlog") -> Run:
    return Run(start, base, Position(file, pos), Position(file, pos), ms, ms)


BEFORE = BinlogProgress("binlog", Position(7, 900), 5_000)


@pytest.mark.parametrize(
    ("came", "kind", "words"),
    [
        (run(40, 10, 4, 6_000), FindingKind.FILES_MISSING, "binlog.000008 to binlog.000009 did not arrive"),
        (run(40, 9, 4, 6_000), FindingKind.FILES_MISSING, "binlog.000008 did not arrive between binlog.000007:900"),
        (
            run(40, 1, 4, 6_000),
            FindingKind.REGRESSED,
            "the next position is binlog.000001:4, which the server wrote later",
        ),
        (run(40, 8, 4, 6_000, "mysql-bin"), FindingKind.OTHER_LOG, "the next position is mysql-bin.000008:4"),
    ],
)
def test_a_finding_is_described_and_halts_until_it_is_accepted(came: Run, kind: FindingKind, words: str) -> None:
    judged = judge("a", BEFORE, [came], SPARSE)
    assert judged.finding is not None
    assert (judged.finding.offset, judged.finding.kind) == (40, kind)
    assert words in str(judged.finding)
    accepted = judge("a", BEFORE, [came], SPARSE, accepted={40})
    assert accepted.finding is None
    assert accepted.again == []
    assert accepted.steps[-1].progress_after(came).position == came.last


@pytest.mark.parametrize(
    ("origin", "sequence", "gtids", "is_gap"),
    [
        ("1", 43, {"1": 42}, False),
        ("1", 44, {"1": 42}, True),
        ("2", 43, {"1": 42}, True),
        ("1", 43, {"1": 42, "2": 7}, True),
        (None, 0, {}, True),
    ],
)
def test_files_between_one_transaction_and_the_next_were_empty(
    origin: str | None, sequence: int, gtids: dict[str, int], is_gap: bool
) -> None:
    came = replace(run(40, 10, 4, 6_000), origin=origin, first_sequence=sequence, last_sequence=sequence)
    judged = judge("a", replace(BEFORE, gtids=gtids), [came], SPARSE)
    assert (judged.finding is not None) is is_gap


def transactions(start: int, base: str, place: tuple[int, int], gtids: tuple[str, int, int], ms: int) -> Run:
    """A run of an origin's transactions `first` to `last`."""
    origin, first, last = gtids
    end = Position(place[0], place[1] + last - first)
    return Run(start, base, Position(*place), end, ms, ms, origin, first, last)


def gtids_of(progress: BinlogProgress | None) -> dict[str, int]:
    assert progress is not None
    return dict(progress.gtids)


READ = BinlogProgress("binlog", Position(7, 900), 5_000, {"0": 500})


@pytest.mark.parametrize(
    ("base", "place"), [("binlog", (3, 4)), ("binlog", (7, 900)), ("binlog", (7, 4)), ("replica-bin", (9, 4))]
)
def test_the_next_transaction_on_another_server_is_taken_in_whatever_its_file_is_called(
    base: str, place: tuple[int, int]
) -> None:
    runs = [
        transactions(40, base, place, ("0", 501, 502), 5_000),
        transactions(50, base, (9, 90), ("0", 503, 503), 6_000),
    ]
    judged = judge("a", READ, runs, SPARSE)
    assert (judged.finding, judged.again) == (None, [])
    assert judged.progress(READ) == BinlogProgress(base, Position(9, 90), 6_000, {"0": 503})


@pytest.mark.parametrize(
    ("gtids", "said"),
    [
        (("0", 503, 504), "with transaction 0:503, not 0:501"),
        (("8", 1, 2), "with transaction 8:1, not one of 0"),
    ],
)
def test_a_transaction_on_another_server_that_is_not_the_next_one_halts(gtids: tuple[str, int, int], said: str) -> None:
    judged = judge("a", READ, [transactions(40, "binlog", (3, 4), gtids, 5_000)], SPARSE)
    assert judged.finding is not None
    assert (judged.finding.kind, judged.finding.offset) == (FindingKind.OTHER_LOG, 40)
    assert said in str(judged.finding)


def test_transactions_repeated_by_another_server_are_skipped() -> None:
    copy = transactions(40, "replica-bin", (1, 4), ("0", 498, 500), 4_900)
    following = transactions(50, "replica-bin", (1, 90), ("0", 501, 501), 6_000)
    judged = judge("a", READ, [copy, following], SPARSE)
    assert judged.finding is None
    (again,) = judged.again
    assert again.holds(42, Position(1, 6))
    assert not again.holds(50, Position(1, 90))
    assert gtids_of(judged.progress(READ)) == {"0": 501}


def test_each_mariadb_domain_has_separate_progress() -> None:
    read = replace(READ, gtids={"0": 500, "7": 20})
    runs = [
        transactions(40, "replica-bin", (1, 4), ("7", 21, 21), 5_000),
        transactions(41, "replica-bin", (1, 90), ("0", 501, 501), 5_000),
    ]
    judged = judge("a", read, runs, SPARSE)
    assert judged.finding is None
    assert gtids_of(judged.progress(read)) == {"0": 501, "7": 21}


def test_a_hole_inside_a_file_is_found_where_every_transaction_is_captured() -> None:
    later = [transactions(40, "binlog", (7, 950), ("0", 600, 601), 6_000)]
    assert judge("a", READ, later, SPARSE).finding is None
    finding = judge("a", READ, later, BinlogPolicy(dense_gtids=True)).finding
    assert finding is not None
    assert (finding.kind, "0 goes from 500 to 600" in str(finding)) == (FindingKind.GTIDS_MISSING, True)


@settings(deadline=None)  # the first example loads what Arrow computes with
@given(logs(), st.data())
def test_progress_at_an_offset_equals_that_of_the_records_before_it(log: Log, data: st.DataObject) -> None:
    """Wherever a commit ends: what it says to have read are the records before it, none behind."""
    topic = [replace(seen, gtid=Gtid("1-1", seen.gtid.sequence if seen.gtid else 0)) for seen in log.topic]
    order = judge_binlogs(Summary([], {"a": binlog_of(topic)}), {}, SPARSE, {})
    end = data.draw(st.integers(0, min([finding.offset for finding in order.findings] or [topic[-1].offset + 1])))
    before = [seen for seen in topic if seen.offset < end]
    reached = order.progress_at("a", end, None)
    expected = judge("a", None, list(runs_of(before, SPARSE, {})), SPARSE).progress(None)
    if len({seen.position for seen in before}) == len(before):
        assert reached == expected
    elif reached is not None:
        # Where the newest transaction is sent again, what is behind it decides whether it is merged again.
        assert gtids_of(reached) == gtids_of(expected)


def test_names_and_numbers_are_read() -> None:
    assert BinlogFile.parse("mysql-bin.000012") == BinlogFile("mysql-bin", 12)
    assert BinlogFile.parse("binlog") is None
    assert Gtid.parse("0-1-42") == Gtid("0-1", 42)
    assert Gtid.parse("3e11fa47-71ca-11e1-9e33-c80aa9429562:23") == Gtid("3e11fa47-71ca-11e1-9e33-c80aa9429562", 23)
    assert Gtid.parse(None) is None
    assert Gtid.parse("1-2") is None
