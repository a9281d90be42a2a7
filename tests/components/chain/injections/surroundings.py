"""What is around the tables: the heartbeats' clock, the topic, tables that come and go."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Final

from confluent_kafka.admin import AdminClient

from tests.components.chain.capture import declare_tables
from tests.components.chain.tables import DATABASE, INSTANCES, later_table
from tidemark.capture.source_table import topic_of

if TYPE_CHECKING:
    import random

    from tests.components.chain.injections.ground import Ground
    from tests.components.chain.tables import ChainTable

_HOUR: Final = 3600


class ClockJump:
    """The heartbeats' writer is an hour ahead until its next heartbeat."""

    def perform(self, ground: Ground, chance: random.Random) -> None:
        del chance
        self._mark = ground.steps()
        ground.writer.between(lambda _, __: ground.writer.beat(_HOUR))

    def expect(self, ground: Ground) -> None:
        ground.wait(
            "the jump of a clock told", lambda: ground.said_since(self._mark, "heartbeats' writer is 60 min ahead")
        )


class TopicRecreated:
    """An instance's topic is deleted and made again; what was in it and not read is lost, and every table says so."""

    def perform(self, ground: Ground, chance: random.Random) -> None:
        self.instance = chance.choice(INSTANCES)
        topic, world = topic_of(self.instance), ground.world
        world.end_distribution()
        ground.counts_topics = False
        self._mark = ground.steps()
        world.settle()
        world.connect.ask("PUT", f"{topic}/stop")
        world.connect.wait_until("STOPPED", topic)
        admin = AdminClient({"bootstrap.servers": world.broker.bootstrap_servers, "log_level": 3})
        for deleted in admin.delete_topics([topic]).values():
            deleted.result(60)
        ground.wait(f"{topic} gone", lambda: topic not in admin.list_topics(timeout=30).topics)
        world.broker.create_topic(topic)
        world.connect.ask("PUT", f"{topic}/resume")
        world.settle()

    def expect(self, ground: Ground) -> None:
        ground.wait("the new topic told", lambda: ground.said_since(self._mark, "TopicReplacedError"))
        for table, request in [(table, ground.order(table)) for table in ground.tables()]:
            ground.until_reloaded(table, request)


class TableAdded:
    """A table is made, written, and declared when it has rows already."""

    number: ClassVar[int] = 0

    def perform(self, ground: Ground, chance: random.Random) -> None:
        TableAdded.number += 1
        slices = ground.story.slices
        ended = sum(at <= ground.writer.at for at in ground.story.ends)
        self.table = later_table(TableAdded.number, slices[min(ended + 1, len(slices) - 1)])
        self._is_loaded = chance.random() < 0.5
        columns = "(id, user_id, amount, day) SELECT seq, seq, seq / 100, '2026-03-23'"
        rows = f"INSERT INTO {self.table.shards[0]} {columns} FROM seq_1_to_50"
        for instance in INSTANCES:
            ground.execute(instance, *self.table.create, rows)

        def write(_: Any, __: int) -> None:
            for statements in ground.writer.statements.values():
                statements.tables.append(self.table)
            ground.writer.tables.append(self.table)

        ground.writer.between(write)
        declare_tables(ground.declared, ground.tables())
        ground.world.taker.kill()

    def expect(self, ground: Ground) -> None:
        if self._is_loaded:
            ground.reload(self.table)
        ground.wait(f"{self.table.name} captured", lambda: ground.path(self.table).exists())


class TableDropped:
    """One that was added before is dropped on one instance: its rows go when somebody says so."""

    def perform(self, ground: Ground, chance: random.Random) -> None:
        if not _added_shards(ground):
            adding = TableAdded()
            adding.perform(ground, chance)
            adding.expect(ground)
        self.table, self.instance = chance.choice(_added_shards(ground))
        self.place = f"{self.instance}.{DATABASE}.{self.table.shards[0]}"
        ground.wait(f"{self.place} captured", lambda: self.place in ground.state(self.table).watermarks)

        def write(sessions: Any, at: int) -> None:
            statements = ground.writer.statements[self.instance]
            statements.tables[:] = [other for other in statements.tables if other != self.table]
            sessions.execute(self.instance, f"SET TIMESTAMP = {at}; DROP TABLE IF EXISTS {self.table.shards[0]}")

        self._mark = ground.steps()
        ground.writer.between(write)

    def expect(self, ground: Ground) -> None:
        ground.wait(f"{self.place} vanished", lambda: ground.said_since(self._mark, "shard vanished"))
        ground.reload(self.table, self.place)


def _added_shards(ground: Ground) -> list[tuple[ChainTable, str]]:
    """Tables that were added, each with an instance that still has it."""
    return [
        (table, instance)
        for instance in INSTANCES
        for table in ground.writer.statements[instance].tables
        if table.name.startswith("ods_later")
    ]
