"""The versions of a table to keep, with reasons: the last ones, the young ones, and those with a claim."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta


@dataclass(frozen=True)
class Retention:
    """The last `versions` are kept, and all versions that were current at some time within `age`."""

    versions: int = 10
    age: timedelta = timedelta(days=7)


@dataclass(frozen=True)
class Claim:
    """A need for a version: by a tagged snapshot, a reader or a replication."""

    version: int
    reason: str


@dataclass(frozen=True)
class KeptVersion:
    """A version that stays readable, with all reasons."""

    version: int
    reasons: tuple[str, ...]


def kept_versions(
    commits: Sequence[tuple[int, datetime]], retention: Retention, claims: Iterable[Claim], now: datetime
) -> tuple[KeptVersion, ...]:
    """The versions among `commits` (version, time; aware, the newest last) to keep. Claims on others are ignored."""
    reasons: dict[int, list[str]] = {}
    newest = commits[-1][0]
    for version, _ in commits[-max(1, retention.versions) :]:
        reasons[version] = ["the newest" if version == newest else f"one of the last {retention.versions}"]
    for version in _young(commits, now - retention.age) if retention.age else ():
        reasons.setdefault(version, []).append(f"readable in the last {_words(retention.age)}")
    known = {version for version, _ in commits}
    for claim in claims:
        if claim.version in known:
            reasons.setdefault(claim.version, []).append(claim.reason)
    return tuple(KeptVersion(version, tuple(reasons[version])) for version in sorted(reasons))


def _young(commits: Sequence[tuple[int, datetime]], since: datetime) -> list[int]:
    """The version that was current at `since`, and all later ones."""
    before = [at for at, (_, when) in enumerate(commits) if when <= since]
    return [version for version, _ in commits[max(before, default=0) :]]


def _words(age: timedelta) -> str:
    hours = age / timedelta(hours=1)
    return f"{hours:g} hours" if hours % 24 else f"{hours / 24:g} days"
