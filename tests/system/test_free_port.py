"""Ports for servers: no two callers get the same port, and a server gets the requested one."""

from __future__ import annotations

import socket
import subprocess
import sys
from contextlib import ExitStack

from tidemark.system.free_port import LOOPBACK, free_port

PORTS = 300
ASK = f"from tidemark.system.free_port import free_port; print(*(free_port() for _ in range({PORTS})))"


def test_no_two_callers_get_the_same_port_in_whatever_process_they_are() -> None:
    others = [subprocess.Popen([sys.executable, "-c", ASK], stdout=subprocess.PIPE, text=True) for _ in range(2)]
    ports = [free_port() for _ in range(PORTS)]
    for other in others:
        answer, _ = other.communicate()
        ports += [int(word) for word in answer.split()]

    assert len(ports) == 3 * PORTS
    assert len(set(ports)) == len(ports)


def test_the_system_gives_the_port_to_no_other_process() -> None:
    ports = {free_port() for _ in range(PORTS)}

    with ExitStack() as opened:
        for _ in range(PORTS):
            probe = opened.enter_context(socket.socket())
            probe.bind((LOOPBACK, 0))
            assert probe.getsockname()[1] not in ports


def test_a_server_gets_the_requested_port() -> None:
    for host in (LOOPBACK, "localhost"):
        port = free_port(host)
        with socket.create_server((host, port)) as server:
            assert server.getsockname()[1] == port
