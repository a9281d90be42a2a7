"""Verifies that jars are the tested ones, by a committed list with the SHA-256 of each file of a folder.

The list has the form of `sha256sum`, so `sha256sum --check` can verify it too.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Final, Self

from tidemark.errors import TerminalError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

_LISTED_MAX: Final = 5


class ChecksumError(TerminalError):
    """The fetched jars differ from the list."""

    @classmethod
    def of(cls, folder: Path, listing: Path, differences: list[str]) -> Self:
        more = [f"and {len(differences) - _LISTED_MAX} more"] if len(differences) > _LISTED_MAX else []
        return cls(
            "fetched jars are not those that were tested",
            expected=f"the files of {listing.name}, each with its SHA-256",
            found="; ".join([*differences[:_LISTED_MAX], *more]),
            where=str(folder),
            hint="do not use them; look at the Maven mirror, or after a change of versions write "
            f"{listing.name} anew: python -m tidemark.system.checksums FOLDER PART... > {listing.name}",
        )


def require_checksums(folder: Path, listing: Path, parts: Sequence[str] = (".",)) -> None:
    """Raise ChecksumError unless the jars in these parts of `folder` are exactly those of the list."""
    wanted, actual = _parse_listing(listing), checksums(folder, parts)
    missing = [f"{name} is missing" for name in sorted(wanted.keys() - actual.keys())]
    unknown = [f"{name} is not in the list" for name in sorted(actual.keys() - wanted.keys())]
    changed = [
        f"{name} has {actual[name]}, not {wanted[name]}"
        for name in sorted(wanted.keys() & actual.keys())
        if wanted[name] != actual[name]
    ]
    if differences := [*changed, *unknown, *missing]:
        raise ChecksumError.of(folder, listing, differences)


def checksums(folder: Path, parts: Sequence[str] = (".",)) -> dict[str, str]:
    """The SHA-256 in hexadecimal of every jar below these parts of the folder, by its path there."""
    files = sorted(file for part in parts for file in (folder / part).rglob("*.jar"))
    return {file.relative_to(folder).as_posix(): _checksum(file) for file in files}


def lines(of: Mapping[str, str]) -> str:
    """The text of a list."""
    return "".join(f"{checksum}  {name}\n" for name, checksum in sorted(of.items()))


def _parse_listing(listing: Path) -> dict[str, str]:
    pairs = (line.split("  ", 1) for line in listing.read_text(encoding="utf-8").splitlines() if line)
    return {name: checksum for checksum, name in pairs}


def _checksum(file: Path) -> str:
    with file.open("rb") as content:
        return hashlib.file_digest(content, "sha256").hexdigest()


if __name__ == "__main__":
    import sys
    from pathlib import Path

    sys.stdout.write(lines(checksums(Path(sys.argv[1]), sys.argv[2:] or ["."])))
