"""The partition of a file as the log writes it, compared with the values that are wanted."""

from __future__ import annotations

from datetime import date
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tidemark.dependency_model.time.partition_columns import PartitionValue


def may_be_in(texts: Mapping[str, str | None], partitions: Sequence[Mapping[str, PartitionValue]]) -> bool:
    """Whether a file, its partition given as the log writes it, may have rows of one of `partitions`.

    What other programs wrote in another form, as `07` for 7, is compared as what it means.
    """
    return any(all(_may_be(texts[name], value) for name, value in partition.items()) for partition in partitions)


def _may_be(text: str | None, value: PartitionValue) -> bool:
    if text is None or isinstance(value, str):
        return text == value
    try:
        return (int(text) if isinstance(value, int) else date.fromisoformat(text)) == value
    except ValueError:
        return True
