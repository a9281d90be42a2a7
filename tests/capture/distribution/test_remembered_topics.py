"""Notes of topics: values that other programs write between them change nothing."""

from __future__ import annotations

import pytest

from tidemark.capture.distribution.remembered_topics import Topic


def test_a_note_is_read_again() -> None:
    assert Topic.decode(Topic("abc", 3).encode()) == Topic("abc", 3)


@pytest.mark.parametrize(
    "value",
    [
        *(b"", b"{", b"\xff", b"null", b"5", b"[]", b'"id"', b"{}", b"[" * 100_000),
        *(b'{"id": 5, "partitions": 3}', b'{"id": "a", "partitions": "3"}', b'{"id": "a", "partitions": true}'),
        *(b'{"id": "a", "partitions": -1}', b'{"id": "a", "partitions": 1e9}', b'{"id": "a", "partitions": 99999999}'),
    ],
    ids=range(15),
)
def test_values_that_are_not_notes_are_skipped(value: bytes) -> None:
    assert Topic.decode(value) is None
