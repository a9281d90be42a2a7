"""The environment of processes that are not web servers."""

from __future__ import annotations

from tidemark.system.token_variable import without_token


def test_the_token_is_left_out_and_nothing_else() -> None:
    assert without_token({"TIDEMARK_TOKEN": "s", "TIDEMARK_DATA": "/d", "PATH": "/bin"}) == {
        "TIDEMARK_DATA": "/d",
        "PATH": "/bin",
    }
