"""A TCP port for a server that is about to start."""

from __future__ import annotations

import socket

LOOPBACK = "127.0.0.1"


def free_port(host: str = LOOPBACK) -> int:
    """A port of `host` that nobody listens on, and that the system gives to nobody else for a minute.

    A port that was only bound and closed may be given to the next caller at once, here or in another process: two
    servers then start with the same port. So a connection is made and closed from the port's side, which leaves the
    port in TIME-WAIT (RFC 9293, section 3.6): the system does not choose it meanwhile, and a server that asks for it by
    number, with SO_REUSEADDR as servers do, gets it. Raises OSError when no port is left or `host` is not this machine.
    """
    with socket.create_server((host, 0)) as listening, socket.create_connection(listening.getsockname()) as client:
        accepted, _ = listening.accept()
        accepted.close()
        client.recv(1)
        port: int = listening.getsockname()[1]
        return port
