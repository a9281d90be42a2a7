"""Where a record is in a server's binlog: file, position and row, and the transaction's GTID."""

import re
from dataclasses import dataclass
from typing import NamedTuple, Self

_FILE = re.compile(r"^(?P<base>.*)\.(?P<number>\d{1,18})$")
_DOMAIN = re.compile(r"^(?P<domain>\d+)-\d+$")
MARIADB = re.compile(r"^(?P<origin>\d+-\d+)-(?P<sequence>\d{1,18})$")
MYSQL = re.compile(r"^(?P<origin>[0-9a-fA-F-]{36}):(?P<sequence>\d{1,18})$")


class Position(NamedTuple):
    """A row of a binlog event; positions of one server grow with its log. `file` is the file's number.

    `row` grows within the event; it need not be the row's number, as a row may be several records.
    """

    file: int
    pos: int
    row: int = 0


class BinlogFile(NamedTuple):
    """`binlog.000012` is number 12 of `binlog`."""

    base: str
    number: int

    @classmethod
    def parse(cls, name: str) -> "BinlogFile | None":
        """None for a name without a number: nothing can be said of its order."""
        match = _FILE.match(name)
        return cls(match["base"], int(match["number"])) if match else None


class BinlogPlace(NamedTuple):
    """A position and the log that it is in: `binlog`."""

    base: str
    position: Position

    @classmethod
    def parse(cls, file: str | None, pos: int | None) -> "BinlogPlace | None":
        """Of a file as the server names it; None where its name has no number."""
        parsed = BinlogFile.parse(file or "")
        return None if parsed is None or pos is None else cls(parsed.base, Position(parsed.number, pos))

    def is_within(self, read: "BinlogPlace") -> bool:
        """Whether the log was read to there, or farther."""
        return self.base == read.base and self.position <= read.position


@dataclass(frozen=True)
class Gtid:
    """A transaction's number among those of its origin: the server that wrote it first.

    In MariaDB's domains (`0-1-42`: the origin is `0-1`); in MySQL by its uuid (`uuid:42`).
    """

    origin: str
    sequence: int

    @classmethod
    def parse(cls, text: str | None) -> Self | None:
        """None where there is none, or in a form that is neither server's."""
        for form in (MARIADB, MYSQL):
            match = form.match(text or "")
            if match:
                return cls(match["origin"], int(match["sequence"]))
        return None


def domain_of(origin: str) -> str | None:
    """MariaDB's domain, in which all servers go on with the same numbers, and each server's own grow; else None."""
    match = _DOMAIN.match(origin)
    return match["domain"] if match else None


def sequence_of(origin: str) -> str:
    """Whose numbers go on when another server writes: the domain's, or the origin's own."""
    return domain_of(origin) or origin
