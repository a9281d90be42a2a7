"""A server in a process of its own that may open few files: `python -m tests.api.limited_server`.

Its arguments are FOLDER FILES [SECONDS]. It prints its URL, lets the clock work on its center all the time, counts that
in its metrics, and ends by SIGTERM.
"""

from __future__ import annotations

import resource
import sys
import time
from pathlib import Path

from tests.center.test_center import CHAIN, CenterWorld
from tidemark.api.connection_limits import DEADLINES, Connections, Phase
from tidemark.api.options import ApiOptions
from tidemark.api.server import serve_in_thread
from tidemark.console.stop_signals import stop_signals


def main(folder: str, files: str, seconds: str = "") -> None:
    """Serve until SIGTERM, with other deadlines than usual where they are given."""
    limit = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (int(files), limit))
    deadlines = dict.fromkeys(Phase, float(seconds)) if seconds else DEADLINES
    world, figures = CenterWorld(Path(folder), **CHAIN), {"ticks": 0}
    with (
        stop_signals() as signals,
        serve_in_thread(
            world.center,
            world.forecast(),
            ApiOptions(),
            status=lambda: figures,
            connections=Connections(deadlines=deadlines),
        ) as url,
    ):
        sys.stdout.write(f"{url}\n")
        sys.stdout.flush()
        while not signals:
            world.center.tick()
            figures["ticks"] += 1
            time.sleep(0.05)


if __name__ == "__main__":
    main(*sys.argv[1:])
