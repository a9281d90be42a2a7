"""Captures with one state store: each instance is with exactly one that lives, and nothing is lost on the way."""

from __future__ import annotations

import signal
import subprocess
import sys
from contextlib import ExitStack
from dataclasses import replace
from typing import TYPE_CHECKING, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.capture.operations.test_bad_input import TABLES
from tidemark.capture.operations.ingestion_report import IngestReport
from tidemark.capture.operations.shared_capture import SharedCapture, instance_groups, owner
from tidemark.capture.source_table import instances_of
from tidemark.state_store.database import Database
from tidemark.state_store.schema import LEASES

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from tidemark.capture.operations.ingestion import Ingestion
    from tidemark.capture.source_table import SourceTable

MEMBERS = st.frozensets(st.integers(1, 12), min_size=1)
INSTANCES = st.lists(st.frozensets(st.sampled_from("abcdefgh"), min_size=1, max_size=3), max_size=8)

DYING = """
import sys, time
from contextlib import ExitStack
from tests.capture.operations.test_shared_capture import member
from tidemark.state_store.database import Database
with ExitStack() as stack:
    capture, taken = member(Database(sys.argv[1]), stack)
    capture.step()
    print(*sorted(taken), flush=True)
    time.sleep(60)
"""


def tables_in(*instances: Sequence[str]) -> list[SourceTable]:
    return [replace(TABLES[0], name=f"t{place}", instances=tuple(names)) for place, names in enumerate(instances)]


class Noted:
    """A capture that notes what it was asked to take in."""

    def __init__(self, tables: Sequence[SourceTable], taken: set[str]) -> None:
        self._tables, self._taken = tables, taken

    def step(self) -> IngestReport:
        self._taken.clear()
        self._taken.update(instances_of(self._tables))
        return IngestReport({table.name: 1 for table in self._tables}, {}, 0, (), (), (), 0.0)


def member(database: Database, stack: ExitStack) -> tuple[SharedCapture, set[str]]:
    """A member of a capture of twenty instances, and which of them it took in last."""
    taken = set[str]()
    tables = tables_in(*((f"i{number}",) for number in range(20)))
    return SharedCapture(database, tables, lambda mine: cast("Ingestion", Noted(mine, taken)), stack), taken


def step(capture: SharedCapture, taken: set[str]) -> set[str]:
    if not capture.step().changes:
        taken.clear()
    return set(taken)


@given(INSTANCES)
def test_tables_that_share_an_instance_belong_together(instances: list[frozenset[str]]) -> None:
    tables = tables_in(*map(sorted, instances))
    groups = instance_groups(tables)
    assert sorted(table.name for group in groups for table in group) == sorted(table.name for table in tables)
    by_instance = [set(instances_of(group)) for group in groups]
    assert sum(map(len, by_instance)) == len(set().union(*by_instance)), "no instance is in two groups"
    for group in groups:
        reached = set(group[0].instances)
        for _ in group:
            reached |= {name for table in group if reached & set(table.instances) for name in table.instances}
        assert reached == set(instances_of(group)), "and none is larger than it has to be"


@given(MEMBERS, st.integers(1, 12))
def test_when_a_member_goes_only_its_groups_change_hands(members: frozenset[int], gone: int) -> None:
    groups = [[table] for table in tables_in(*((f"i{number}",) for number in range(30)))]
    before = [owner(group, members) for group in groups]
    after = [owner(group, members - {gone}) for group in groups]
    for was, now in zip(before, after, strict=True):
        assert was in members
        assert was in (now, gone)


def test_members_share_the_instances_and_take_over_those_of_an_ended_member(tmp_path: Path) -> None:
    database = Database.at(tmp_path / "state.db")
    everything = {f"i{number}" for number in range(20)}
    with ExitStack() as first_stack:
        first, first_taken = member(database, first_stack)
        assert step(first, first_taken) == everything
        with ExitStack() as second_stack:
            second, second_taken = member(database, second_stack)
            shares = step(first, first_taken), step(second, second_taken)
            assert shares[0] | shares[1] == everything
            assert not shares[0] & shares[1]
            assert min(map(len, shares)) >= 4
        assert step(first, first_taken) == everything


@pytest.mark.slow
def test_the_instances_of_a_killed_member_are_taken_over_at_once(tmp_path: Path) -> None:
    database = Database.at(tmp_path / "state.db")
    with ExitStack() as stack:
        capture, taken = member(database, stack)
        command = [sys.executable, "-c", DYING, str(database.url)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as other:
            assert other.stdout is not None
            its = set(other.stdout.readline().split())
            assert its
            assert not step(capture, taken) & its
            other.send_signal(signal.SIGKILL)
            other.wait(timeout=30)
        assert step(capture, taken) >= its


def test_a_member_whose_number_another_one_has_takes_another_number(tmp_path: Path) -> None:
    database = Database.at(tmp_path / "state.db")
    with ExitStack() as stack, ExitStack() as others:
        stopped, stopped_taken = member(database, stack)
        with database.writing() as connection:
            connection.execute(LEASES.update().values(until=1, process="elsewhere 1 1"))
        other, other_taken = member(database, others)
        stopped._held.renew()
        shares = step(stopped, stopped_taken), step(other, other_taken)
        assert not shares[0] & shares[1]
        assert len(shares[0] | shares[1]) == 20
