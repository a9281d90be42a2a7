"""Compares a file's partition, as text in the log, with wanted values."""

from __future__ import annotations

from datetime import date
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tidemark.dependency_model.time.partition_columns import PartitionValue


def may_be_in(texts: Mapping[str, str | None], partitions: Sequence[Mapping[str, PartitionValue]]) -> bool:
    """Whether a file, with its partition as in the log, may have rows of one of `partitions`.

    Other programs write other forms, such as `07` for 7. So texts are compared by their meaning.
    """
    return any(all(_may_be(texts[name], value) for name, value in partition.items()) for partition in partitions)


def _may_be(text: str | None, value: PartitionValue) -> bool:
    if text is None or isinstance(value, str):
        return text == value
    try:
        return (int(text) if isinstance(value, int) else date.fromisoformat(text)) == value
    except ValueError:
        return True
