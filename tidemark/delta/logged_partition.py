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


def logged_value(text: str | None, like: PartitionValue) -> PartitionValue | None:
    """A value of the log in the type of `like`; the text itself if it is not a value of this type."""
    if text is None or isinstance(like, str):
        return text
    try:
        return int(text) if isinstance(like, int) else date.fromisoformat(text)
    except ValueError:
        return text


def _may_be(text: str | None, wanted: PartitionValue) -> bool:
    value = logged_value(text, wanted)
    is_unknown = isinstance(value, str) and not isinstance(wanted, str)
    return is_unknown or value == wanted
