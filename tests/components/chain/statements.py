"""Random statements, each of several rows, that need to know nothing of what the tables hold.

So that a server may die in the middle of one: what became of it the database itself says afterwards.
"""

from __future__ import annotations

import random
from datetime import date, timedelta
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from tests.components.chain.tables import TABLES, ChainTable
from tests.components.test_both_captures import EXAMPLES
from tests.components.workload.sql import literal

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

_FIRST_DAY: Final = date(2026, 3, 20)
_DAYS: Final = 6
_STATUSES: Final = ("new", "paid", "returned")
# Changes of a row of all types cost as much as ten of the others.
_WEIGHTS: Final = {"ods_orders": 1, "ods_payments": 5, "ods_lessons": 3, "ods_logins": 2}
_EXAMPLES: Final = {**EXAMPLES, "long_note": ["n" * 700, ""]}
_ROWS: Final = (20, 120)
_TRANSACTION: Final = 4


class Statement(NamedTuple):
    """SQL and how many changes it makes: `per_row` a row that the server says it changed, or `changes` in all."""

    sql: str
    per_row: int = 1
    changes: int | None = None


class Statements:
    """Draws by one random source; one for each instance, so that the story of one does not hang on the other's."""

    def __init__(self, seed: str, tables: Sequence[ChainTable] = TABLES) -> None:
        self._chance = random.Random(seed)
        self.tables = list(tables)
        self.altered = False

    def transaction(self, at: int) -> list[Statement]:
        """One to four statements on shards of any table, at an instant (epoch seconds)."""
        weights = [_WEIGHTS.get(table.name, 2) for table in self.tables]
        tables = self._chance.choices(self.tables, weights, k=self._chance.randint(1, _TRANSACTION))
        return [self._statement(table, at) for table in tables]

    def _statement(self, table: ChainTable, at: int) -> Statement:
        kinds: list[Callable[[ChainTable, str, int], Statement]] = [
            self._upsert,
            self._replace,
            self._update,
            self._delete,
            self._move,
        ]
        make = self._chance.choices(kinds, [10, 2, 5, 3, 1])[0]
        return make(table, self._chance.choice(table.shards), at)

    def _upsert(self, table: ChainTable, shard: str, at: int) -> Statement:
        columns, rows = self._rows(table, at)
        again = ", ".join(f"{name} = VALUES({name})" for name in columns if name not in table.key)
        return Statement(
            f"{_insert('INSERT', shard, columns, rows)} ON DUPLICATE KEY UPDATE {again}", changes=len(rows)
        )

    def _replace(self, table: ChainTable, shard: str, at: int) -> Statement:
        columns, rows = self._rows(table, at)
        return Statement(_insert("REPLACE", shard, columns, rows), changes=len(rows))

    def _update(self, table: ChainTable, shard: str, at: int) -> Statement:
        changed = {
            "ods_orders": f"plain = {at % 1000}, day = '{self._day()}', made = NULL",
            "ods_logins": f"note = CONCAT(LEFT(COALESCE(note, ''), 100), '+'), seen_at = FROM_UNIXTIME({at}.25)",
        }.get(
            table.name, f"amount = COALESCE(amount, 0) + 0.01, updated_at = FROM_UNIXTIME({at}.5), user_id = {at % 99}"
        )
        return Statement(f"UPDATE {shard} SET {changed} WHERE {self._some(table)}")  # noqa: S608 - our own names and numbers

    def _delete(self, table: ChainTable, shard: str, _: int) -> Statement:
        return Statement(f"DELETE FROM {shard} WHERE {self._some(table)}")  # noqa: S608 - our own names and numbers

    def _move(self, table: ChainTable, shard: str, _: int) -> Statement:
        """Rows get another key; where it is taken they keep theirs."""
        where = self._some(table)
        key = table.key[-1]
        moved = f"{key} = {key} + {table.keys}" if key == "id" else f"{key} = CONCAT({key}, 'm')"
        where += f" AND id < {table.keys}" if key == "id" else ""
        return Statement(f"UPDATE IGNORE {shard} SET {moved} WHERE {where}", per_row=2)  # noqa: S608 - our own names and numbers

    def _some(self, table: ChainTable) -> str:
        """A range of keys."""
        first, count = self._chance.randrange(table.keys), self._chance.randint(*_ROWS) * table.keys // 2500 + 1
        if table.key == ("id",):
            # Those that moved lie behind the others: some of them go, too.
            first += self._chance.choice((0, 0, 0, table.keys))
            return f"id BETWEEN {first} AND {first + count}"
        return f"tenant = {first % 10} AND login BETWEEN 'user{first % 250:03d}' AND 'user{first % 250 + 10:03d}z'"

    def _rows(self, table: ChainTable, at: int) -> tuple[list[str], list[str]]:
        make = {"ods_orders": self._order, "ods_logins": self._login}.get(table.name, self._narrow)
        most = max(2, _ROWS[1] * table.keys // 2500)
        rows = [make(table, at) for _ in range(self._chance.randint(2, most))]
        return list(rows[0]), ["(" + ", ".join(row.values()) + ")" for row in rows]

    def _order(self, table: ChainTable, _: int) -> dict[str, str]:
        values: dict[str, Any] = {name: self._chance.choice([None, *some]) for name, some in _EXAMPLES.items()}
        return {"id": str(self._chance.randrange(table.keys))} | {
            f"`{name}`": literal(value) for name, value in values.items()
        }

    def _narrow(self, table: ChainTable, at: int) -> dict[str, str]:
        chance = self._chance
        row = {
            "id": str(chance.randrange(table.keys)),
            "user_id": str(chance.randrange(100_000)),
            "amount": f"{chance.randrange(10_000_000) / 100:.2f}",
            "status": f"'{chance.choice(_STATUSES)}'",
            "day": f"'{self._day()}'",
            "updated_at": f"FROM_UNIXTIME({at}.{chance.randrange(1000):03d})",
        }
        return {**row, "channel": f"'c{chance.randrange(9)}'"} if self.altered and table.name == "ods_payments" else row

    def _login(self, _: ChainTable, at: int) -> dict[str, str]:
        number = self._chance.randrange(2500)
        return {
            "tenant": str(number % 10),
            "login": f"'user{number // 10:03d}'",
            "seen_at": f"FROM_UNIXTIME({at}.{self._chance.randrange(1_000_000):06d})",
            "note": self._chance.choice(("NULL", "''", "'a|b'", "'zwei\\nZeilen'", "'\U0001f389'")),
        }

    def _day(self) -> date:
        return _FIRST_DAY + timedelta(days=self._chance.randrange(_DAYS))


def alterations() -> list[str]:
    """A column comes in the middle of the story, in one shard after the other."""
    (payments,) = (table for table in TABLES if table.name == "ods_payments")
    return [f"ALTER TABLE {shard} ADD COLUMN IF NOT EXISTS channel VARCHAR(8) NULL" for shard in payments.shards]


def _insert(verb: str, shard: str, columns: list[str], rows: list[str]) -> str:
    return f"{verb} INTO {shard} ({', '.join(columns)}) VALUES {', '.join(rows)}"
