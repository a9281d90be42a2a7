"""Why a finished slice gets no tag, by the table's own log, even long after a reload."""

from collections.abc import Iterable
from typing import Final

from tidemark.capture.commits.commit_state import Commit
from tidemark.capture.commits.holds import Hold

_SHOWN: Final = 3


def untagged_reason(commits: Iterable[Commit], entity: str, slice_key: str, end_ms: int) -> str | None:
    """One sentence, or None while the slice may still be tagged, or is.

    `commits` are newest first, `end_ms` is the slice's end (epoch ms).
    """
    is_over = False
    for commit in commits:
        is_over |= commit.state.closed.get(entity, 0) >= end_ms
        if any((slice_end.entity, slice_end.slice) == (entity, slice_key) for slice_end in commit.state.closes):
            return _held(commit.state.holds.open) if commit.state.holds.open else None
        if commit.state.closed.get(entity, 0) < end_ms:
            break
    if not is_over:
        return None
    return (
        "this snapshot can never be tagged: when its time ended, earlier rows were missing, or changes of "
        f"later times were merged. Set `start:` of {entity} to a later slice, so that no slice waits for this one"
    )


def _held(holds: tuple[Hold, ...]) -> str:
    why = "; ".join(str(hold.finding) for hold in holds[:_SHOWN])
    ways = " ".join(f"tidemark capture accept {hold.instance} {hold.offset}" for hold in holds[:_SHOWN])
    return (
        f"never tagged: the table was held when it ended ({why}), and a later load corrected the slices after it; "
        f"{ways} tags the version of that time"
    )
