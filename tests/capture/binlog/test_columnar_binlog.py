"""Runs cut by columns against those that are cut record by record."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.capture.binlog.logs import SCHEMA, Log, logs
from tidemark.capture.binlog.columnar_binlog import COLUMNS, binlogs_of
from tidemark.capture.binlog.consecutive_records import runs_of
from tidemark.capture.binlog.gtid_policy import BinlogPolicy
from tidemark.capture.binlog.position import Gtid

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tidemark.capture.binlog.consecutive_records import Seen

SERVER = "3e11fa47-71ca-11e1-9e33-c80aa9429562"
FORMS = ("1-7-{}", "2-7-{}", SERVER + ":{}", "1-{}", None)
Placed = tuple["Seen", str | None]
"""A record and its GTID as the server writes it."""


@st.composite
def placed(draw: st.DrawFn) -> list[Placed]:
    """What one topic shows of a server with GTIDs of one form, or of several, or of a log that changes its name."""
    topic = draw(logs()).topic
    chance = draw(st.randoms(use_true_random=False))
    forms = draw(st.lists(st.sampled_from(FORMS), min_size=1, max_size=2))
    renamed = draw(st.integers(0, 2 * len(topic)))
    placed_records: list[Placed] = []
    for number, place in enumerate(topic):
        assert place.gtid is not None
        form = chance.choice(forms)
        # Now and then a number goes back though the log goes on.
        text = None if form is None else form.format(place.gtid.sequence - chance.choice([0, 0, 0, 2]))
        base = place.base if number < renamed else "mysql-bin"
        placed_records.append((replace(place, base=base, gtid=Gtid.parse(text)), text))
    return placed_records


def batch(instance: str, records: Sequence[Placed]) -> pa.RecordBatch:
    rows = [
        (instance, place.offset, place.event_ms, f"{place.base}.{place.position.file:06d}", *place.position[1:], text)
        for place, text in records
    ]
    return pa.RecordBatch.from_pylist([dict(zip(COLUMNS, row, strict=True)) for row in rows], SCHEMA)


@pytest.mark.slow
@settings(deadline=None)  # the first example loads what Arrow computes with
@given(st.dictionaries(st.sampled_from("ab"), placed()), st.data())
def test_columns_are_cut_as_records_are_in_whatever_batches_they_come(
    topics: dict[str, list[Placed]], data: st.DataObject
) -> None:
    """Batches of tasks in any order; the end of one may be the beginning of another, as in files that overlap."""
    batches = []
    for instance, records in topics.items():
        cuts = sorted(data.draw(st.sets(st.integers(0, len(records)), max_size=4)))
        pieces = zip([0, *cuts], [*cuts, len(records)], strict=True)
        batches += [
            batch(instance, records[max(0, start - data.draw(st.integers(0, 3))) : end]) for start, end in pieces
        ]
    placed_records = binlogs_of(pa.Table.from_batches(data.draw(st.permutations(batches)), SCHEMA))
    policy = BinlogPolicy(dense_gtids=data.draw(st.booleans()))
    end = data.draw(st.integers(0, 200))
    known = data.draw(st.dictionaries(st.sampled_from(["1-7", "2-7", SERVER]), st.integers(0, 12)))
    assert placed_records.keys() == topics.keys()
    for instance, records in topics.items():
        seen = [place for place, _ in records]
        places = {entry.offset: entry.position for entry in seen}
        assert placed_records[instance].positions(range(end)) == [places.get(offset) for offset in range(end)]
        assert placed_records[instance].runs(policy, known) == list(runs_of(seen, policy, known))
        assert placed_records[instance].before(end).runs(policy, known) == list(
            runs_of([entry for entry in seen if entry.offset < end], policy, known)
        )


@given(logs())
def test_a_server_that_writes_for_others_too_makes_no_more_runs(log: Log) -> None:
    """Else each transaction would be one, and many records as slow as if they were looked at one by one."""
    without = [replace(entry, gtid=None) for entry in log.topic]
    holes = sum(1 for place, other in zip(log.topic, log.topic[1:], strict=False) if _hole(place, other))
    sparse, dense = (
        len(list(runs_of(log.topic, BinlogPolicy(dense_gtids=is_dense), {}))) for is_dense in (False, True)
    )
    assert len(list(runs_of(without, BinlogPolicy(), {}))) <= sparse <= dense <= sparse + holes


def _hole(before: Seen, other: Seen) -> bool:
    assert before.gtid is not None
    assert other.gtid is not None
    return other.gtid.sequence > before.gtid.sequence + 1
