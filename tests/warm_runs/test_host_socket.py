"""The host of warm workers is found by its folder, also after its temporary folder was cleaned away."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING

import pytest

from tidemark.warm_runs.errors import WorkersDownError
from tidemark.warm_runs.host_socket import HostAddress, ask
from tidemark.warm_runs.worker_host import _serve_questions

if TYPE_CHECKING:
    import socket


class Echo:
    """Answers each question by itself, and raises what it is asked for."""

    def answer(self, asked: dict[str, str]) -> dict[str, str]:
        if "raise" in asked:
            raise RuntimeError(asked["raise"])
        return asked


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))  # a short path, and one that nobody else cleans
    return tmp_path


def serve(listener: socket.socket) -> None:
    _serve_questions(listener, Echo())  # type: ignore[arg-type]


def test_a_cleaned_folder_is_made_again(folder: Path) -> None:
    address = HostAddress(folder, serve)
    try:
        assert ask(folder, {"do": "status"}) == {"do": "status"}
        shutil.rmtree(Path((folder / "address").read_text()).parent)
        with pytest.raises(WorkersDownError):
            ask(folder, {"do": "status"})
        address.look()
        assert ask(folder, {"do": "again"}) == {"do": "again"}
        address.look()
        assert ask(folder, {"do": "still"}) == {"do": "still"}
    finally:
        address.close()
    with pytest.raises(WorkersDownError):
        ask(folder, {"do": "status"})


def test_an_unexpected_request_ends_no_other_one(folder: Path) -> None:
    address = HostAddress(folder, serve)
    try:
        with pytest.raises(WorkersDownError):
            ask(folder, {"raise": "unforeseen"})
        assert ask(folder, {"do": "status"}) == {"do": "status"}
    finally:
        address.close()


def test_a_thread_that_waits_for_questions_ends_with_its_socket(folder: Path) -> None:
    threads: list[Thread] = []

    def serve_in(listener: socket.socket) -> None:
        from tidemark.warm_runs.worker_host import _answer

        threads.append(Thread(target=_answer, args=[listener, Echo()], daemon=True))
        threads[-1].start()

    address = HostAddress(folder, serve_in)
    ask(folder, json.loads("{}"))
    address.close()
    threads[0].join(30)
    assert not threads[0].is_alive()
