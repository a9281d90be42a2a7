"""The story's time on the servers: what the connector and the loader write is dated by it, not by the machine."""

from __future__ import annotations

from typing import Final

from tests.components.chain.tables import DATABASE
from tidemark.capture.initial_load.signal_table import CREATE as SIGNALS
from tidemark.capture.initial_load.signal_table import TABLE as SIGNAL
from tidemark.system.free_port import LOOPBACK

CLOCK: Final = "story.clock"
LOADER: Final = "loader"


def clock(at: int, password: str) -> list[str]:
    """The statements that make it."""
    now = f"SET TIMESTAMP = (SELECT at FROM {CLOCK})"  # noqa: S608 - our own name
    return [
        "CREATE DATABASE story",
        f"CREATE TABLE {CLOCK} (id INT PRIMARY KEY, at BIGINT NOT NULL)",
        f"INSERT INTO {CLOCK} VALUES (1, {at})",  # noqa: S608 - a number
        SIGNALS,
        *(
            f"CREATE TRIGGER dated_{when} BEFORE {when} ON {DATABASE}.{SIGNAL} FOR EACH ROW {now}"
            for when in ("INSERT", "DELETE")
        ),
        f"CREATE USER {LOADER}@'{LOOPBACK}' IDENTIFIED BY '{password}'",
        f"GRANT SELECT, INSERT, CREATE ON {DATABASE}.* TO {LOADER}@'{LOOPBACK}'",
        f"GRANT SELECT ON {CLOCK} TO {LOADER}@'{LOOPBACK}'",
    ]


DATED: Final = f"--init-connect=SET TIMESTAMP = (SELECT at FROM {CLOCK})"  # noqa: S608 - our own name
"""Sessions of accounts that may not do everything begin at the story's time."""

# What the machine's death would cost is not at stake here.
SURVIVES: Final = "--innodb-flush-log-at-trx-commit=2"
"""What is committed is in the files when the server is killed."""
