"""A record's place in a server's binlog (file, position, row), and the transaction's GTID."""

import re
from dataclasses import dataclass
from typing import NamedTuple, Self

_FILE = re.compile(r"^(?P<base>.*)\.(?P<number>\d{1,18})$")
_DOMAIN = re.compile(r"^(?P<domain>\d+)-\d+$")
MARIADB = re.compile(r"^(?P<origin>\d+-\d+)-(?P<sequence>\d{1,18})$")
MYSQL = re.compile(r"^(?P<origin>[0-9a-fA-F-]{36}):(?P<sequence>\d{1,18})$")


class Position(NamedTuple):
    """A row of a binlog event. Positions of one server grow with its log; `file` is the file's number.

    `row` grows within the event. It need not be the row's number, because a row may be several records.
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
        """The parsed name; None if it has no number, so that its order is unknown."""
        match = _FILE.match(name)
        return cls(match["base"], int(match["number"])) if match else None


class BinlogPlace(NamedTuple):
    """A position and the name of its log, such as `binlog`."""

    base: str
    position: Position

    @classmethod
    def parse(cls, file: str | None, pos: int | None) -> "BinlogPlace | None":
        """The place in a file by the server's name for it; None if the name has no number."""
        parsed = BinlogFile.parse(file or "")
        return None if parsed is None or pos is None else cls(parsed.base, Position(parsed.number, pos))

    def is_within(self, read: "BinlogPlace") -> bool:
        """Whether the log was read up to this place or further."""
        return self.base == read.base and self.position <= read.position


@dataclass(frozen=True)
class Gtid:
    """A transaction's number at its origin, the server that wrote it first.

    In MariaDB `0-1-42` is number 42 of origin `0-1`. In MySQL `uuid:42` is number 42 of that uuid.
    """

    origin: str
    sequence: int

    @classmethod
    def parse(cls, text: str | None) -> Self | None:
        """The parsed GTID; None if there is none, or it has neither server's form."""
        for form in (MARIADB, MYSQL):
            match = form.match(text or "")
            if match:
                return cls(match["origin"], int(match["sequence"]))
        return None


def domain_of(origin: str) -> str | None:
    """MariaDB's domain, else None.

    All servers of a domain continue the same numbers, and each server's own numbers grow.
    """
    match = _DOMAIN.match(origin)
    return match["domain"] if match else None


def sequence_of(origin: str) -> str:
    """The name of the number sequence: the domain, which other servers continue, or the origin itself."""
    return domain_of(origin) or origin
