"""A database server dies and its replica takes its place: the same transactions, at other positions of other files."""

from __future__ import annotations

import json
import re
from contextlib import suppress
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, ClassVar, Final

import pymysql

from tests.components.chain.story_clock import DATED, SURVIVES
from tests.components.chain.tables import INSTANCES
from tests.until import until
from tidemark.capture.binlog.accepted_findings import AcceptedFindings
from tidemark.capture.binlog.finding import FindingKind
from tidemark.capture.binlog.halted_sources import HaltedSources
from tidemark.capture.source_table import topic_of
from tidemark.console.servers.mariadb import USER, MariaDb, mariadb, write_private
from tidemark.state_store.database import Database
from tidemark.system.free_port import LOOPBACK

if TYPE_CHECKING:
    import random

    from tests.components.chain.injections.ground import Ground

_CATCH_UP_SECONDS: Final = 300
_MOST_FILES: Final = 4
_OF_OTHER_FILES: Final = (FindingKind.OTHER_LOG, FindingKind.FILES_MISSING)
"""What the names of the new primary's files look like, where its first transaction is not the very next one."""


class FailOver:
    """Nothing that the old primary committed is lost; what Debezium sends again comes from other places."""

    number: ClassVar[int] = 0

    def perform(self, ground: Ground, chance: random.Random) -> None:
        FailOver.number += 1
        self.instance = chance.choice(INSTANCES)
        # Their rows are redelivered at other positions.
        ground.uncounted.update(table.name for table in ground.tables())
        replica = self._replica(ground, chance.randrange(_MOST_FILES))
        self._mark = ground.steps()
        ground.writer.between(lambda _, __: self._take_over(ground, replica))

    def _replica(self, ground: Ground, files: int) -> MariaDb:
        """One that has read the primary's binlogs from their beginning; its own begin with so many empty ones."""
        primary, domain = ground.world.databases[self.instance], INSTANCES.index(self.instance) + 1
        folder = primary.directory.with_name(f"{self.instance}-{FailOver.number}")
        for file in ("password", "root.password"):
            write_private(folder / file, (primary.directory / file).read_text(encoding="ascii"))
        options = (SURVIVES, DATED, f"--gtid-domain-id={domain}", "--log-slave-updates=ON")
        self._server = domain + 100 * FailOver.number
        replica = ground.world.stack.enter_context(mariadb(self.instance, self._server, folder, *options))
        _execute(
            replica,
            *["FLUSH BINARY LOGS"] * files,
            f"CHANGE MASTER TO MASTER_HOST = '{LOOPBACK}', MASTER_PORT = {primary.port}, MASTER_USER = '{USER}', "
            f"MASTER_PASSWORD = '{primary.password}', MASTER_USE_GTID = slave_pos",
            "START SLAVE",
        )
        _catch_up(primary, replica)
        return replica

    def _take_over(self, ground: Ground, replica: MariaDb) -> None:
        """Between two transactions of the story; others wait for a lock, and lose their sessions."""
        primary = ground.world.databases[self.instance]
        with suppress(pymysql.err.MySQLError), primary.connect() as session, session.cursor() as cursor:
            cursor.execute("FLUSH TABLES WITH READ LOCK")
            _catch_up(primary, replica)
            primary.server.kill()
        _execute(replica, "STOP SLAVE", "RESET SLAVE ALL")
        replica.server.stop()
        replica.command[:] = [
            f"--port={primary.port}" if option.startswith("--port=") else option for option in replica.command
        ]
        replica.port = primary.port
        replica.start_again()
        ground.world.databases[self.instance] = replica

    def expect(self, ground: Ground) -> None:
        """The instance is read on, at once or after somebody has looked at a log of which nothing is known."""
        self._accepted = set[int]()
        ground.wait(f"{self.instance} read on after its fail-over", lambda: self._is_read_on(ground))
        ground.writer.between(lambda _, __: self._give_new_history(ground))
        ground.world.failed_over.add(topic_of(self.instance))

    def _is_read_on(self, ground: Ground) -> bool:
        halted = [
            finding
            for finding in HaltedSources(Database.of(ground.settings)).read()
            if finding.instance == self.instance
        ]
        for finding in halted:
            if finding.kind in _OF_OTHER_FILES and finding.offset not in self._accepted:
                self._accepted.add(finding.offset)
                ground.say(f"accepted: {finding}")
                because = "nothing was lost in the fail-over"
                AcceptedFindings(Database.of(ground.settings)).add(
                    self.instance, finding.offset, datetime.now(UTC), "operator", because
                )
        offsets = ground.world.offsets(topic_of(self.instance))
        return not halted and self._is_of_the_replica(offsets) and self._newest_server(ground) == self._server

    def _give_new_history(self, ground: Ground) -> None:
        """What docs/capture.md asks for after a fail-over: else the connector's next start knows no table.

        Nothing is written meanwhile: Debezium takes the tables as they are now for those of its position.
        """
        world, name = ground.world, topic_of(self.instance)
        world.settle()
        written = self._written(ground)
        ground.move()
        until(lambda: self._place_of(world.offsets(name)) >= written, "the connector has read all")
        world.connect.ask("PUT", f"{name}/stop")
        world.connect.wait_until("STOPPED", name)
        topic = f"schema-history.{self.instance}.{FailOver.number}"
        again = {"schema.history.internal.kafka.topic": topic, "snapshot.mode": "recovery"}
        before = world.connect.ask("GET", f"{name}/config")["snapshot.mode"]
        world.connect.configure(name, again)
        world.connect.ask("PUT", f"{name}/resume")
        world.settle()
        ground.move()
        until(lambda: self._place_of(world.offsets(name)) > written, "the connector goes on")
        world.connect.configure(name, {"snapshot.mode": before})
        world.settle()

    def _written(self, ground: Ground) -> int:
        """The number of the newest transaction."""
        ((place,),) = _execute(ground.world.databases[self.instance], "SELECT @@gtid_binlog_pos")
        return int(place.rpartition("-")[2])

    def _place_of(self, offsets: Any) -> int:
        """The number of the newest transaction that the connector's offset holds; -1 where nobody answers."""
        numbers = re.findall(rf"-{self._server}-(\d+)", json.dumps(offsets))
        return max(map(int, numbers), default=-1)

    def _is_of_the_replica(self, offsets: Any) -> bool:
        return f"-{self._server}-" in json.dumps(offsets)

    def _newest_server(self, ground: Ground) -> int:
        """The newest server whose transactions a table's commits know."""
        states = [ground.state(table) for table in ground.tables()]
        read = [state.positions[self.instance] for state in states if self.instance in state.positions]
        origins = {origin for progress in read for origin in progress.gtids}
        return max((int(origin.partition("-")[2]) for origin in origins), default=0)


def _execute(server: MariaDb, *statements: str) -> Any:
    with server.connect() as session, session.cursor() as cursor:
        for statement in statements:
            cursor.execute(statement)
        return cursor.fetchall()


def _catch_up(primary: MariaDb, replica: MariaDb) -> None:
    ((place,),) = _execute(primary, "SELECT @@gtid_binlog_pos")
    ((answer,),) = _execute(replica, f"SELECT MASTER_GTID_WAIT('{place}', {_CATCH_UP_SECONDS})")
    assert answer == 0, f"the replica of {primary.name} did not reach {place}"
