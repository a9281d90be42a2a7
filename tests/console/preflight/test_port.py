"""The process that uses a port, and the port to use instead."""

from __future__ import annotations

import os
import socket
from typing import TYPE_CHECKING

import psutil
import pytest

from tidemark.console.preflight.port import port
from tidemark.system.check_finding import Finding
from tidemark.system.free_port import free_port

if TYPE_CHECKING:
    from collections.abc import Iterator

HOST = "127.0.0.1"


@pytest.fixture
def taken() -> Iterator[int]:
    with socket.socket() as server:
        server.bind((HOST, 0))
        server.listen()
        yield server.getsockname()[1]


def test_a_free_port() -> None:
    number = free_port(HOST)
    assert port(HOST, number) == Finding("Port", "ok", f"{number} on {HOST} is free")


def test_a_port_in_use_comes_with_its_holder_and_another_port(taken: int) -> None:
    finding = port(HOST, taken)

    me = psutil.Process().name()
    assert finding.verdict == "problem"
    assert finding.found == f"{taken} on {HOST} is in use by {me} (PID {os.getpid()})"
    advice, _, other = finding.to_do.rpartition(" ")
    assert advice == "stop it, or choose another port: tidemark up --port"
    assert port(HOST, int(other)).verdict == "ok"


def test_a_holder_that_we_may_not_see(taken: int, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(kind: str) -> None:
        raise psutil.AccessDenied

    monkeypatch.setattr(psutil, "net_connections", refuse)

    assert port(HOST, taken).found == f"{taken} on {HOST} is in use by another program"


def test_a_host_that_is_not_this_machine() -> None:
    finding = port("192.0.2.1", 4000)
    assert finding == Finding(
        "Port", "problem", "4000 on 192.0.2.1: Cannot assign requested address", "choose another port with --port"
    )
