"""Fail-overs to replicas whose logs have other positions, under the same file names or others: every change counts."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from hypothesis import given
from hypothesis import strategies as st

from tidemark.capture.binlog.consecutive_records import Seen, runs_of
from tidemark.capture.binlog.continuity import BinlogProgress, judge
from tidemark.capture.binlog.gtid_policy import SPARSE
from tidemark.capture.binlog.position import Gtid, Position

if TYPE_CHECKING:
    import random

Change = tuple[int, int]
"""The transaction's number and the row's in it."""


@dataclass
class Servers:
    """Transactions of one domain, and the topic of who follows one server after the other; servers share no position.

    `covered` is whether each new server began at or before the transaction that was sent last.
    """

    chance: random.Random
    bases: list[str]
    transactions: list[tuple[int, int, int]] = field(default_factory=list)
    writers: dict[int, int] = field(default_factory=dict)
    topic: list[tuple[Seen, Change]] = field(default_factory=list)
    covered: bool = True
    server: int = 1

    def write(self, count: int) -> None:
        """Transactions of one to four rows; others, that nobody captures, lie between."""
        sequence, _, clock_ms = self.transactions[-1] if self.transactions else (0, 0, 100 * 60_000)
        for _ in range(count):
            sequence += self.chance.choice([1, 1, 2])
            clock_ms += self.chance.choice([0, 0, 1_000, 70_000])
            self.transactions.append((sequence, self.chance.randrange(1, 5), clock_ms))
            self.writers[sequence] = self.server

    def send(self, start: int, *, is_cut: bool) -> int:
        """A server sends from a transaction on, and may die within one; the place of the last one that was sent."""
        log = self._log(self.chance.choice(self.bases))
        first = next(place for place, (_, (of, _)) in enumerate(log) if of == self.transactions[start][0])
        end = self.chance.randrange(first + 1, len(log) + 1) if is_cut else len(log)
        for seen, change in log[first:end]:
            self.topic.append((replace(seen, offset=len(self.topic)), change))
        sent = self.topic[-1][1][0]
        return next(place for place, (sequence, _, _) in enumerate(self.transactions) if sequence == sent)

    def _log(self, base: str) -> list[tuple[Seen, Change]]:
        at, log = self.chance.choice([4, 40, 400]), list[tuple[Seen, Change]]()
        for sequence, rows, clock_ms in self.transactions:
            at += self.chance.randrange(1, 30)
            for row in range(rows):
                seen = Seen(0, base, Position(1, at, row), clock_ms, Gtid(f"7-{self.writers[sequence]}", sequence))
                log.append((seen, (sequence, row)))
        return log


@st.composite
def fail_overs(draw: st.DrawFn) -> Servers:
    servers = Servers(draw(st.randoms(use_true_random=True)), draw(st.sampled_from([["binlog"], ["binlog", "other"]])))
    servers.write(draw(st.integers(1, 6)))
    last = servers.send(0, is_cut=True)
    for again in range(draw(st.integers(1, 3)), 0, -1):
        servers.server = draw(st.integers(1, 3))
        servers.write(draw(st.integers(0, 4)))
        back = draw(st.integers(0, last + 1))
        is_whole = servers.topic[-1][1][1] + 1 == servers.transactions[last][1]
        is_next = is_whole and last + 1 < len(servers.transactions) and draw(st.booleans())
        start = last + 1 if is_next else last - min(back, last)
        servers.covered = servers.covered and not is_next
        last = servers.send(start, is_cut=again > 1)
    return servers


def test_new_transactions_at_positions_read_on_the_earlier_server_are_not_copies() -> None:
    """All within one second, and in files of one name: only their numbers tell."""
    read = BinlogProgress("binlog", Position(1, 5_000), 7_000, {"7-1": 100})
    places = {98: 2_900, 99: 2_950, 100: 3_000, 101: 3_100, 103: 3_200}
    came = [
        Seen(number, "binlog", Position(1, at), 7_000, Gtid("7-1" if sequence < 101 else "7-2", sequence))
        for number, (sequence, at) in enumerate(places.items())
    ]
    judged = judge("a", read, list(runs_of(came, SPARSE, read.gtids)), SPARSE)
    assert judged.finding is None
    kept = [seen for seen in came if not any(again.holds(seen.offset, seen.position) for again in judged.again)]
    assert [seen.gtid and seen.gtid.sequence for seen in kept] == [100, 101, 103]


@given(fail_overs(), st.data())
def test_every_change_counts_whichever_server_sends_it_where(servers: Servers, data: st.DataObject) -> None:
    progress, taken, is_halted = None, list[Change](), False
    cuts = sorted(data.draw(st.lists(st.integers(0, len(servers.topic)), max_size=1)))
    for start, end in zip([0, *cuts], [*cuts, len(servers.topic)], strict=True):
        piece = servers.topic[start:end]
        runs = list(runs_of([seen for seen, _ in piece], SPARSE, progress.gtids if progress else {}))
        judged = judge("a", progress, runs, SPARSE)
        limit = judged.finding.offset if judged.finding else len(servers.topic)
        taken += [
            change
            for seen, change in piece
            if seen.offset < limit and not any(again.holds(seen.offset, seen.position) for again in judged.again)
        ]
        is_halted = judged.finding is not None
        if is_halted:
            break
        progress = judged.progress(progress)
    written = [(sequence, row) for sequence, rows, _ in servers.transactions for row in range(rows)]
    if is_halted:
        assert not servers.covered or cuts
    else:
        assert set(taken) == set(written)
        # The last one that is merged is the newest, of whatever rows.
        for start in range(1, 4):
            newest = {change[0] % start: change for change in written}
            assert {change[0] % start: change for change in taken} == newest
