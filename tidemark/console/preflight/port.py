"""Checks whether a TCP port is free, who uses it, and which one is free."""

from __future__ import annotations

import errno
import socket
from typing import Final

import psutil

from tidemark.system.check_finding import Finding
from tidemark.system.free_port import free_port

_TRIES: Final = 50


def port(host: str, number: int) -> Finding:
    """Whether a server can listen on host:number now."""
    error = _bind_error(host, number)
    if error is None:
        return Finding("Port", "ok", f"{number} on {host} is free")
    if error.errno == errno.EADDRINUSE:
        to_do = f"stop it, or choose another port: tidemark up --port {_next_free(host, number)}"
        return Finding("Port", "problem", f"{number} on {host} is in use by {_holder(number)}", to_do)
    return Finding("Port", "problem", f"{number} on {host}: {error.strerror}", "choose another port with --port")


def free_or(host: str, wanted: int) -> int:
    """`wanted` if it is free, else another free port."""
    return wanted if _bind_error(host, wanted) is None else free_port(host)


def _bind_error(host: str, number: int) -> OSError | None:
    with socket.socket() as probe:
        # As servers do: a recently closed connection does not block the port.
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, number))
        except OSError as error:
            return error
    return None


def _next_free(host: str, taken: int) -> int:
    candidates = range(taken + 1, min(taken + _TRIES, 65536))
    return next((number for number in candidates if _bind_error(host, number) is None), 0) or free_port(host)


def _holder(number: int) -> str:
    """`python3.11 (PID 12)`, if this account may see it."""
    try:
        listening = [
            connection
            for connection in psutil.net_connections("tcp")
            if connection.status == psutil.CONN_LISTEN and connection.laddr[1:] == (number,) and connection.pid
        ]
        if listening:
            return f"{psutil.Process(listening[0].pid).name()} (PID {listening[0].pid})"
    except psutil.Error:
        pass
    return "another program"
