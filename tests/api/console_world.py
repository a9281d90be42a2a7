"""A small lake behind the console's server: the main project's declarations, and a store that is written directly."""

from __future__ import annotations

import sys
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Final
from urllib.request import urlopen

from tests.console.commands.slices_there import report
from tidemark.api.options import ApiOptions
from tidemark.api.server import serve_in_thread
from tidemark.center.baseline import CenterForecast
from tidemark.center.center import DependencyCenter
from tidemark.center.pools import Pools
from tidemark.state_store.store import StateStore
from tidemark.system.settings import Settings
from tidemark.warehouse.warehouse import load_warehouse

if TYPE_CHECKING:
    from collections.abc import Iterator

TOKEN: Final = "0123456789abcdef"


@dataclass(frozen=True)
class ConsoleWorld:
    """A served lake; what is reported to it, another process might have."""

    settings: Settings
    store: StateStore
    url: str
    port: int


@contextmanager
def console_world(folder: Path, token: str | None = TOKEN, port: int = 0) -> Iterator[ConsoleWorld]:
    """Slices of late March are there; served until the block ends."""
    settings = Settings.at(folder)
    if not settings.state_db.exists():
        report(settings)
    warehouse, store = load_warehouse(settings), StateStore.of(settings)
    center = DependencyCenter(
        warehouse.graph, store, since=datetime(2026, 3, 22, tzinfo=UTC), clock=lambda: datetime.now(UTC)
    )
    forecast = CenterForecast(center, Pools({"default": 2}), lambda: datetime.now(UTC))
    with serve_in_thread(center, forecast, ApiOptions(port=port, token=token), warehouse=warehouse) as url:
        yield ConsoleWorld(settings, store, url, int(url.rpartition(":")[2]))
    store.close()


def main() -> None:
    """Print the description of the HTTP interface, of which `make web` makes the console's types."""
    with (
        TemporaryDirectory() as folder,
        console_world(Path(folder), token=None) as world,
        urlopen(f"{world.url}/openapi.json", timeout=30) as answer,  # noqa: S310 - our own server
    ):
        sys.stdout.buffer.write(answer.read())


if __name__ == "__main__":
    main()
