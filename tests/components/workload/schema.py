"""The tables of the played company: on which instance they are, and how they are created.

Shard of a user's rows = user_id % 4; shards 0 and 1 are on instance a, 2 and 3 on instance b.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from typing import Literal

Instance = Literal["a", "b"]
INSTANCES: tuple[Instance, ...] = ("a", "b")
DATABASE = "school"
SHARDS = 4
HEARTBEAT = "heartbeat"
COUPON_COLUMN = "coupon_code"
COUPON_DDL = "ALTER TABLE {table} ADD COLUMN coupon_code VARCHAR(32) NULL"
COUPON_DAY = date(2026, 3, 26)
COUPON_TIMES = ((11, 3, 10), (11, 7, 42), (14, 21, 5), (16, 40, 30))


@dataclass(frozen=True)
class LogicalTable:
    """A table as the warehouse sees it; `columns` is the body of its CREATE TABLE."""

    name: str
    key: str
    sharded: bool
    columns: str

    @property
    def physical(self) -> tuple[str, ...]:
        """The names of its tables in the databases."""
        return tuple(f"{self.name}_{shard}" for shard in range(SHARDS)) if self.sharded else (self.name,)


USERS = LogicalTable(
    "users",
    "user_id",
    sharded=False,
    columns="user_id BIGINT PRIMARY KEY, nickname VARCHAR(64) NULL, city VARCHAR(32) NULL, "
    "channel VARCHAR(16) NOT NULL, registered_at DATETIME NOT NULL, updated_at TIMESTAMP NOT NULL",
)
COURSES = LogicalTable(
    "courses",
    "course_id",
    sharded=False,
    columns="course_id INT PRIMARY KEY, title VARCHAR(128) NOT NULL, subject VARCHAR(32) NOT NULL, "
    "grade TINYINT NOT NULL, list_price DECIMAL(10,2) NOT NULL, updated_at TIMESTAMP NOT NULL",
)
LESSONS = LogicalTable(
    "lessons",
    "lesson_id",
    sharded=False,
    columns="lesson_id BIGINT PRIMARY KEY, course_id INT NOT NULL, lesson_date DATE NOT NULL, "
    "starts_at DATETIME NOT NULL, duration_min SMALLINT NOT NULL, status VARCHAR(16) NOT NULL, "
    "updated_at TIMESTAMP NOT NULL",
)
ORDERS = LogicalTable(
    "orders",
    "order_id",
    sharded=True,
    columns="order_id BIGINT PRIMARY KEY, user_id BIGINT NOT NULL, course_id INT NOT NULL, "
    "status VARCHAR(16) NOT NULL, amount DECIMAL(10,2) NOT NULL, discount DECIMAL(10,2) NULL, "
    "note VARCHAR(255) NULL, order_date DATE NOT NULL, created_at DATETIME NOT NULL, paid_at DATETIME NULL, "
    "updated_at TIMESTAMP NOT NULL",
)
ATTENDANCE = LogicalTable(
    "lesson_attendance",
    "attendance_id",
    sharded=True,
    columns="attendance_id BIGINT PRIMARY KEY, lesson_id BIGINT NOT NULL, user_id BIGINT NOT NULL, "
    "lesson_date DATE NOT NULL, attended TINYINT(1) NOT NULL, joined_at DATETIME NULL, minutes DECIMAL(6,2) NULL, "
    "rating DECIMAL(3,1) NULL, updated_at TIMESTAMP NOT NULL",
)
TABLES = (USERS, COURSES, LESSONS, ORDERS, ATTENDANCE)
HEARTBEAT_COLUMNS = "id INT PRIMARY KEY, beat_at TIMESTAMP NOT NULL"

KEYS: dict[str, str] = {physical: table.key for table in TABLES for physical in table.physical} | {HEARTBEAT: "id"}


def instance_of(physical: str) -> Instance:
    """The instance that a physical table (not the heartbeat, which is on each) is on."""
    return "b" if physical.endswith(("_2", "_3")) else "a"


def shard_name(physical: str) -> str:
    """How a shard is named in the warehouse and in checksums, such as a.school.orders_0."""
    return f"{instance_of(physical)}.{DATABASE}.{physical}"


def orders_shard(user_id: int) -> str:
    return f"orders_{user_id % SHARDS}"


def attendance_shard(user_id: int) -> str:
    return f"lesson_attendance_{user_id % SHARDS}"


def creation(instance: Instance) -> list[tuple[str, str]]:
    """(table, CREATE TABLE statement) of each table of an instance, in order."""
    bodies = {physical: table.columns for table in TABLES for physical in table.physical}
    own = [(name, body) for name, body in bodies.items() if instance_of(name) == instance]
    return [(name, f"CREATE TABLE {name} ({body})") for name, body in [*own, (HEARTBEAT, HEARTBEAT_COLUMNS)]]
