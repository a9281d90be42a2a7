"""A free TCP port for a server that is about to start."""

from __future__ import annotations

import socket

LOOPBACK = "127.0.0.1"


def free_port(host: str = LOOPBACK) -> int:
    """A port of `host` that no process uses, and that the system gives to no other process for a minute.

    A port that was only bound and closed may be given to the next caller at once, and two servers start with the same
    port. So a connection is made and closed from the port's side, which leaves the port in TIME-WAIT (RFC 9293, section
    3.6). The system does not choose such a port. A server that requests it by number, with SO_REUSEADDR as usual, gets
    it. Raises OSError if no port is left or `host` is not this machine.
    """
    with socket.create_server((host, 0)) as listening, socket.create_connection(listening.getsockname()) as client:
        accepted, _ = listening.accept()
        accepted.close()
        client.recv(1)
        port: int = listening.getsockname()[1]
        return port
