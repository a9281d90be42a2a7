"""How many requests each step of a small lake in an object store costs."""

from __future__ import annotations

import os
import sys
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Any, Final

from benchmarks.scaleout.proxy import Proxy, proxy
from benchmarks.scaleout.requests import Request, figures
from benchmarks.scaleout.world import SmallLake
from tests.components.azure_server import azure_server
from tests.components.gcs_server import gcs_server
from tests.components.s3_server import s3_server

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from contextlib import AbstractContextManager
    from pathlib import Path

    from tidemark.system.table_location import ObjectLocation

_WARM: Final = 3
"""Slices and merges before the ones that are counted: as a process has them that is up for a while."""


_SERVERS: Final[Mapping[str, Callable[[Path], AbstractContextManager[Any]]]] = {
    "s3": s3_server,
    "gs": gcs_server,
    "abfss": azure_server,
}
STORES: Final = tuple(_SERVERS)


@contextmanager
def watched_store(folder: Path, store: str) -> Iterator[tuple[Proxy, ObjectLocation]]:
    """A server behind a proxy, and a place in it for a lake; this process finds both in its environment."""
    with ExitStack() as stack:
        server = stack.enter_context(_SERVERS[store](folder))
        watched = stack.enter_context(proxy(server.port))
        behind = server.at(watched.port)
        before = dict(os.environ)
        os.environ.update(behind.environment)
        stack.callback(_restore, before)
        yield watched, behind.location("lake")


def _restore(before: dict[str, str]) -> None:
    os.environ.clear()
    os.environ.update(before)


def requests_by_step(folder: Path, watched: Proxy, location: ObjectLocation) -> dict[str, list[Request]]:
    """The requests of a start, and of a slice, a merge, a snapshot's name and a vacuum in a warm session."""
    told: dict[str, list[Request]] = {}
    lake = SmallLake.at(folder / "counted", location)
    watched.take()
    lake.start()
    told["start"] = watched.take()
    lake.begin()
    for number in range(_WARM + 1):
        lake.fill(number)
        watched.take()
        lake.compute(number)
        told["slice"] = watched.take()
    for _ in range(_WARM + 1):
        lake.change()
        watched.take()
        lake.merge()
        told["merge"] = watched.take()
    lake.pass_day(0)
    lake.merge()
    told["snapshot_name"] = watched.take()
    lake.vacuum()
    told["vacuum"] = watched.take()
    return told


def count(folder: Path, store: str, *, shown: bool) -> dict[str, Any]:
    """The figures; `shown`: each request on standard error as well."""
    with watched_store(folder, store) as (watched, location):
        told = requests_by_step(folder, watched, location)
    if shown:
        for name, requests in told.items():
            sys.stderr.write("".join([f"{name}\n", *(f"  {request}\n" for request in requests)]))
    return {key: value for name, requests in told.items() for key, value in figures(name, requests).items()}
