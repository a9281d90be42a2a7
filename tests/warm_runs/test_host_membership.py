"""Hosts that share a state store: each run is executed by one of them, none is lost, and a late result is refused."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule, run_state_machine_as_test

from tests.components.fixtures import ON_POSTGRESQL
from tests.examples import examples
from tests.state_store.conftest import empty_database
from tests.warm_runs.hosts_world import CODE, OTHER_CODE, HostsWorld
from tidemark.state_store.database import Database
from tidemark.state_store.errors import HostNameTakenError, RunLostError
from tidemark.state_store.schema import WORKER_HOSTS, WORKER_RUNS
from tidemark.state_store.worker_hosts import HOST_SECONDS
from tidemark.state_store.worker_runs import Stop

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.components.postgres import Postgres

NAMES = st.sampled_from("abc")


@pytest.fixture(params=["sqlite", ON_POSTGRESQL])
def database(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Database]:
    server = request.getfixturevalue("postgres_server").url if request.param == "postgresql" else ""
    opened = Database(empty_database(server, tmp_path))
    yield opened
    opened.close()


@pytest.fixture
def world(database: Database) -> HostsWorld:
    return HostsWorld(database)


def test_runs_go_to_the_hosts_with_room_and_as_many_at_once_as_all_have_slots(world: HostsWorld) -> None:
    hosts = [world.join(name) for name in "ab"]
    for number in range(5):
        world.ask(f"slice {number}")
    for host in hosts:
        host.step()
    assert [len(host.running) for host in hosts] == [2, 2]
    hosts[1].finish(hosts[1].running[0])
    hosts[1].step()
    assert len(hosts[1].running) == 2
    world.settle()
    assert set(world.published.values()) == {1}


def test_runs_of_this_host_are_known_to_others_and_lost_with_the_host(world: HostsWorld) -> None:
    here, other = world.join("a"), world.join("b")
    world.to_launch.append("slice")
    world.launch("a")
    (run_id,) = here.running
    other.step()
    assert other.running == []
    assert world.runs.is_open(run_id)
    world.kill("a")
    world.now += HOST_SECONDS
    other.step()
    world.look()
    assert world.to_launch == ["slice"]
    assert not world.runs.is_open(run_id)
    world.launch("")
    other.step()
    assert other.running == ["slice try 1"]


def test_a_host_that_wakes_late_publishes_nothing_and_joins_again(world: HostsWorld) -> None:
    late, other = world.join("a"), world.join("b")
    world.to_launch.append("slice")
    world.launch("a")
    (run_id,) = late.running
    world.now += HOST_SECONDS
    other.step()
    world.look()
    with pytest.raises(RunLostError, match="its host a sent no heartbeat for too long"):
        world.runs.require_kept(run_id)
    assert late.membership.fencing_token == 1
    late.step()
    assert (late.running, late.membership.fencing_token) == ([], 2)
    world.settle()
    assert world.published == {"slice": 1}


def test_a_second_host_of_the_same_name_is_refused_while_the_first_is_alive(world: HostsWorld) -> None:
    world.join("a", identity="one home")
    with pytest.raises(HostNameTakenError, match=r"other warm workers have the name a: .* TIDEMARK_HOST"):
        world.join("a", identity="another home")
    world.now += HOST_SECONDS
    second = world.join("a", identity="another home")
    assert second.membership.fencing_token == 2


def test_a_host_that_starts_again_takes_its_own_place_and_its_runs_are_lost(world: HostsWorld) -> None:
    first = world.join("a")
    world.to_launch.append("slice")
    world.launch("a")
    assert len(first.running) == 1
    world.join("a")
    world.look()
    assert world.to_launch == ["slice"]
    world.settle()
    assert world.published == {"slice": 1}


def test_a_host_with_other_code_takes_nothing(world: HostsWorld) -> None:
    own, other = world.join("a"), world.join("b", OTHER_CODE)
    world.ask("slice")
    other.step()
    assert other.running == []
    assert world.told[-1] == f"b leaves runs of code {CODE} to others: its own is {OTHER_CODE}"
    own.step()
    assert len(own.running) == 1


def test_a_run_is_stopped_where_it_is(world: HostsWorld) -> None:
    host = world.join("a")
    world.ask("running")
    host.step()
    (run_id,) = host.running
    world.stopped.add(run_id)
    assert world.runs.stop(run_id) is Stop.ASKED
    host.step()
    assert host.running == []
    host.step()
    assert world.runs.stop(run_id) is Stop.UNKNOWN
    world.ask("waiting")
    assert world.runs.stop("waiting try 0") is Stop.ENDED
    host.step()
    assert host.running == []


def test_a_run_waits_for_a_host_with_its_code_for_so_long(world: HostsWorld) -> None:
    world.join("a")
    world.ask("slice")
    world.join("a", OTHER_CODE)
    world.now += 15
    assert world.unattended.lose_without_host(20) == 0
    assert world.unattended.waiting(10) == ["slice try 0"]
    world.now += 15
    assert world.unattended.lose_without_host(20) == 1
    world.look()
    assert world.to_launch == ["slice"]


class HostsMachine(RuleBasedStateMachine):
    """What may happen to hosts and runs, in any order."""

    database: Database

    def __init__(self) -> None:
        super().__init__()
        with self.database.writing() as connection:
            for table in (WORKER_HOSTS, WORKER_RUNS):
                connection.execute(table.delete())
        self.world, self.asked = HostsWorld(self.database), 0

    @rule(at=st.sampled_from(["", "a", "b", "c"]))
    def ask(self, at: str) -> None:
        self.world.to_launch.append(f"slice {self.asked}")
        self.asked += 1
        self.world.launch(at)

    @rule(name=NAMES)
    def start(self, name: str) -> None:
        """Start a host, or start it again: the former one was killed."""
        self.world.join(name)

    @precondition(lambda self: self.world.living)
    @rule(data=st.data())
    def kill(self, data: st.DataObject) -> None:
        self.world.kill(data.draw(st.sampled_from(sorted(self.world.living))))

    @precondition(lambda self: any(host.running for host in self.world.living.values()))
    @rule(data=st.data())
    def is_not_heard(self, data: st.DataObject) -> None:
        """A host that runs something is given up, and does not know it."""
        running = [name for name, host in sorted(self.world.living.items()) if host.running]
        self.world.pass_without(data.draw(st.sampled_from(running)))

    @precondition(lambda self: self.world.living)
    @rule(data=st.data(), is_frozen=st.booleans())
    def freeze_or_wake(self, data: st.DataObject, is_frozen: bool) -> None:
        self.world.living[data.draw(st.sampled_from(sorted(self.world.living)))].is_frozen = is_frozen

    @precondition(lambda self: self.world.awake())
    @rule(data=st.data())
    def step(self, data: st.DataObject) -> None:
        data.draw(st.sampled_from(self.world.awake())).step()

    @precondition(lambda self: any(host.running for host in self.world.awake()))
    @rule(data=st.data())
    def finish(self, data: st.DataObject) -> None:
        """A worker that goes on ends its run: also one whose host has not noticed that it was given up."""
        running = [(host, run_id) for host in self.world.awake() for run_id in host.running]
        host, run_id = data.draw(st.sampled_from(running))
        host.finish(run_id)

    @precondition(lambda self: self.world.awake())
    @rule(data=st.data(), code=st.sampled_from([CODE, OTHER_CODE]))
    def change_code(self, data: st.DataObject, code: str) -> None:
        """Sources change while nothing runs there."""
        host = data.draw(st.sampled_from(self.world.awake()))
        if not host.warm_workers.taken:
            host.code = code
            host.membership._renewed_at = float("-inf")
            host.step()

    @rule(seconds=st.sampled_from([1, 5, 21]))
    def time_passes(self, seconds: int) -> None:
        self.world.now += seconds

    @rule(at=st.sampled_from(["", "a", "b"]))
    def somebody_looks(self, at: str) -> None:
        self.world.look()
        self.world.launch(at)

    @invariant()
    def each_slice_is_published_once_at_most(self) -> None:
        assert max(self.world.published.values(), default=0) <= 1

    @invariant()
    def no_host_has_more_than_its_slots(self) -> None:
        assert all(len(host.running) <= 2 for host in self.world.living.values())

    def teardown(self) -> None:
        """In the end every slice is there, computed once, and no run is open."""
        self.world.settle()
        assert self.world.published == {f"slice {number}": 1 for number in range(self.asked)}
        assert not any(self.world.runs.is_open(run_id) for run_id in self.world.slices)


def run_machine(database: Database, count: int) -> None:
    machine = type("Machine", (HostsMachine,), {"database": database})
    checks = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much]
    given = settings(examples(count), stateful_step_count=40, deadline=None, suppress_health_check=checks)
    run_state_machine_as_test(machine, settings=given)


@pytest.mark.slow
def test_each_run_is_executed_by_one_host_and_none_is_lost() -> None:
    database = Database("sqlite://")
    run_machine(database, 25)
    database.close()


@pytest.mark.components
@pytest.mark.long
def test_the_same_on_a_server(postgres_server: Postgres, tmp_path: Path) -> None:
    database = Database(empty_database(postgres_server.url, tmp_path))
    run_machine(database, 6)
    database.close()
