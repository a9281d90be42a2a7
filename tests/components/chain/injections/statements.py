"""Statements that change rows without row events: what can be carried out is, everything else is held."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tests.components.chain.tables import DATABASE, EVENTS, INSTANCES, ChainTable
from tidemark.capture.binlog.finding import FindingKind
from tidemark.capture.operations.preflight.database import database

if TYPE_CHECKING:
    import random

    from tests.components.chain.injections.ground import Ground

_NARROW: Final = ("ods_payments", "ods_lessons")


class _OnShard:
    """Of one shard of one instance."""

    instance: str
    table: ChainTable
    shard: str

    def choose(self, ground: Ground, chance: random.Random, *names: str) -> None:
        self.instance = chance.choice(INSTANCES)
        self.table = chance.choice(ground.tables(*names))
        self.shard = chance.choice(self.table.shards)

    @property
    def place(self) -> str:
        return f"{self.instance}.{DATABASE}.{self.shard}"

    def expect(self, ground: Ground) -> None:
        """Nothing is held: the snapshots show whether it was carried out."""

    def reloaded(self, ground: Ground, chance: random.Random) -> None:
        """It is held, and then begins anew: all of it or the shard alone."""
        is_held = ground.wait(
            f"{self.place} held",
            lambda: any(hold.shard == self.place for hold in ground.state(self.table).holds.open),
        )
        if is_held:
            (kind, *_) = [hold.kind for hold in ground.state(self.table).holds.open if hold.shard == self.place]
            if kind is not FindingKind.NO_ROW_EVENTS:
                ground.problems.append(f"{self.place} is held for {kind}")
        ground.reload(self.table, self.place if chance.random() < 0.5 else None)


class Truncate(_OnShard):
    """Every row goes in one statement."""

    def perform(self, ground: Ground, chance: random.Random) -> None:
        self.choose(ground, chance)
        ground.execute(self.instance, f"TRUNCATE TABLE {self.shard}")


class AddColumnWithDefault(_OnShard):
    """Rows that are there get a value that no event brings."""

    def perform(self, ground: Ground, chance: random.Random) -> None:
        self.choose(ground, chance, *_NARROW)
        name, value = f"added_{chance.randrange(1000)}", chance.randrange(1, 100)
        ground.execute(
            self.instance, f"ALTER TABLE {self.shard} ADD COLUMN IF NOT EXISTS {name} INT NOT NULL DEFAULT {value}"
        )


class DropThenAdd(_OnShard):
    """The values of a column go, and a new one has its name."""

    def perform(self, ground: Ground, chance: random.Random) -> None:
        self.choose(ground, chance, *_NARROW)
        name = f"again_{chance.randrange(1000)}"
        for change in (f"ADD COLUMN {name} INT DEFAULT 7", f"DROP COLUMN {name}", f"ADD COLUMN {name} INT NULL"):
            ground.execute(self.instance, f"ALTER TABLE {self.shard} {change}")


class RenameSwap(_OnShard):
    """As online schema tools do it: another table takes the name, with other rows."""

    def perform(self, ground: Ground, chance: random.Random) -> None:
        self.choose(ground, chance, *_NARROW, "ods_logins")
        self._chance = chance
        new, old = f"{self.shard}_new", f"{self.shard}_old"
        ground.execute(
            self.instance,
            f"CREATE TABLE {new} LIKE {self.shard}",
            f"INSERT INTO {new} SELECT * FROM {self.shard} WHERE {self.table.key[0]} % 3 = 0",  # noqa: S608 - our names
            f"RENAME TABLE {self.shard} TO {old}, {new} TO {self.shard}",
            f"DROP TABLE {old}",
        )

    def expect(self, ground: Ground) -> None:
        self.reloaded(ground, self._chance)


class PartitionEmptied(_OnShard):
    """Rows of a range go with their partition, or come with another table's."""

    def perform(self, ground: Ground, chance: random.Random) -> None:
        self.choose(ground, chance, EVENTS.name)
        self._chance = chance
        partition, other = f"p{chance.randrange(3)}", f"exchanged_{chance.randrange(10**6)}"
        statements = chance.choice(
            (
                (f"ALTER TABLE events TRUNCATE PARTITION {partition}",),
                (
                    f"CREATE TABLE {other} LIKE events",
                    f"ALTER TABLE {other} REMOVE PARTITIONING",
                    f"ALTER TABLE events EXCHANGE PARTITION {partition} WITH TABLE {other}",
                    f"DROP TABLE {other}",
                ),
            )
        )
        ground.execute(self.instance, *statements)

    def expect(self, ground: Ground) -> None:
        self.reloaded(ground, self._chance)


class CascadeRefused(_OnShard):
    """A foreign key that changes rows of a captured table by itself is found by preflight, and taken away."""

    def perform(self, ground: Ground, chance: random.Random) -> None:
        self.instance = chance.choice(INSTANCES)
        (self.table,) = ground.tables("ods_lessons")
        self.shard = "lessons_9"
        ground.execute(
            self.instance,
            "CREATE TABLE parents (id INT PRIMARY KEY)",
            "CREATE TABLE lessons_9 (id BIGINT PRIMARY KEY, user_id INT, "
            "CONSTRAINT gone_with FOREIGN KEY (user_id) REFERENCES parents (id) ON DELETE CASCADE)",
        )

    def expect(self, ground: Ground) -> None:
        findings = database(ground.address(self.instance), [self.table.source()])
        if not any(entry.is_in_the_way and "gone_with" in str(entry) for entry in findings):
            ground.problems.append(f"preflight does not refuse the foreign key of {self.place}: {findings}")
        ground.execute(self.instance, "DROP TABLE lessons_9", "DROP TABLE parents")
