"""Starts all parts in order, watches them, and stops them in reverse order."""

from __future__ import annotations

import json
import os
import time
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from tidemark.console.cdc_demo.child_command import ChildCommand, children
from tidemark.console.cdc_demo.recording import Recording
from tidemark.console.cdc_demo.sql_replay import DATABASE, Player, prepare
from tidemark.console.demo.ad_partner_process import AdPartner
from tidemark.console.preflight.port import free_or
from tidemark.console.project_files import SAMPLE
from tidemark.console.servers.errors import ComponentFailedError
from tidemark.console.servers.jars import jars
from tidemark.console.servers.kafka import Kafka, kafka
from tidemark.console.servers.kafka_connect import Connect, connect
from tidemark.console.servers.mariadb import MariaDb, mariadb
from tidemark.system.free_port import LOOPBACK, free_port
from tidemark.system.kafka_client import KafkaSecurity
from tidemark.system.project_root import ROOT_VARIABLE
from tidemark.system.settings import ENV_PREFIX, Settings
from tidemark.system.token_variable import TOKEN_VARIABLE
from tidemark.warehouse.warehouse import load_warehouse

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from tidemark.console.servers.server_process import ServerProcess


INSTANCES: Final = {"a": 3311, "b": 3312}
_KAFKA_PORT: Final = 9092
_CONNECT_PORT: Final = 8083


@dataclass(frozen=True)
class Servers:
    """All servers, running."""

    databases: tuple[MariaDb, ...]
    kafka: Kafka
    connect: Connect

    @property
    def processes(self) -> tuple[ServerProcess, ...]:
        return (*(database.server for database in self.databases), self.kafka.server, self.connect.server)


@contextmanager
def servers(directory: Path, say: Callable[[str], None]) -> Iterator[Servers]:
    """Start the servers with their data in `directory`, where the next start finds it; stop them at the end.

    Each listens on its usual port of the loopback interface, or on a free one. Raises ComponentMissingError,
    ComponentFailedError.
    """
    with ExitStack() as stack:
        say("starting MariaDB, two instances")
        databases = tuple(
            stack.enter_context(mariadb(name, number, directory / name, port=free_or(LOOPBACK, port)))
            for number, (name, port) in enumerate(INSTANCES.items(), 1)
        )
        say("starting Kafka (its jars are fetched the first time)")
        broker = stack.enter_context(kafka(jars(), directory / "kafka", free_or(LOOPBACK, _KAFKA_PORT)))
        say("starting Kafka Connect with Debezium")
        port = free_or(LOOPBACK, _CONNECT_PORT)
        worker = connect(jars(), broker, databases, DATABASE, directory / "connect", port=port)
        yield Servers(databases, broker, stack.enter_context(worker))


_DAY_SECONDS = 86_400


@dataclass(frozen=True)
class Pace:
    """Replays a day in `day_seconds`.

    `begun` (monotonic seconds) is the time at which `first` (epoch seconds) is played.
    """

    first: int
    begun: float
    day_seconds: float

    def at(self, now: float) -> int:
        """The recorded time (epoch seconds) at `now`."""
        return self.first + int((now - self.begun) * _DAY_SECONDS / self.day_seconds)


FOLDER: Final = "kafka"
_CAPTURE_SECONDS: Final = "10"
_SERVES_PAGES: Final = "dagster"
_UI_SECONDS: Final = 240.0
_SPARK_MEMORY: Final = "1g"


@dataclass
class Chain:
    """The running parts. `player` and `partner` replay at the pace; `url` is Dagster's address."""

    servers: Servers
    children: tuple[ServerProcess, ...]
    player: Player
    partner: AdPartner
    pace: Pace
    environment: Mapping[str, str]
    url: str

    def watch(self) -> None:
        """Replay what is due. Raises ComponentFailedError or PartnerError if a part has ended."""
        for server in (*self.servers.processes, *self.children):
            if server.process.poll() is not None:
                raise ComponentFailedError(server.name, f"ended with {server.process.returncode}", server.log_tail())
        now = self.pace.at(time.monotonic())
        self.player.play(now)
        self.partner.pass_time(datetime.fromtimestamp(now, UTC))

    def where(self) -> dict[str, Any]:
        """Addresses of all parts, and how to log in."""
        return {
            "url": self.url,
            "databases": {
                server.name: f"mariadb --defaults-extra-file={server.client_options} {DATABASE}"
                for server in self.servers.databases
            },
            "kafka": self.servers.kafka.bootstrap_servers,
            "connect": f"http://{LOOPBACK}:{self.servers.connect.port}",
            "data": self.environment["TIDEMARK_DATA"],
            "environment": dict(self.environment),
        }


@contextmanager
def chain(
    settings: Settings, port: int, day_seconds: float, say: Callable[[str], None], stopped: Callable[[], bool]
) -> Iterator[Chain]:
    """Start the chain with its data below the data folder; UI port 0 takes a free one.

    Raises ComponentMissingError, ComponentFailedError.
    """
    data = settings.data / FOLDER
    with ExitStack() as stack:
        running = stack.enter_context(servers(data, say))
        player = _player(stack, running, SAMPLE / "changes")
        # The recorded days are over after the last statement.
        pace = Pace(player.at or int(time.time()), time.monotonic(), day_seconds)
        # Declare the tables before another part looks for them.
        player.play(pace.first)
        env = _environment(settings.root, data, running)
        say("starting distribution, capture and Dagster")
        port = port or free_port(LOOPBACK)
        commands = stack.enter_context(children(_commands(data, env, port), data))
        partner = stack.enter_context(_partner(settings, env))
        started = Chain(running, commands, player, partner, pace, env, f"http://{LOOPBACK}:{port}")
        _wait(started, stopped)
        yield started


def _commands(data: Path, env: Mapping[str, str], port: int) -> list[ChildCommand]:
    """The commands in order of their start. After an interruption, the next start continues their work."""
    words_and_graces = {
        "distribution": (["capture", "distribute"], 10.0),
        "capture": (["capture", "run", "--every", _CAPTURE_SECONDS], 6.0),
        _SERVES_PAGES: (["up", "--json", "--port", str(port)], 16.0),
    }
    return [
        ChildCommand(name, words, grace, {**_nothing_else(data), **env, **_token_of(name)})
        for name, (words, grace) in words_and_graces.items()
    ]


def _player(stack: ExitStack, running: Servers, changes: Path) -> Player:
    instances = {}
    for server in running.databases:
        session = stack.enter_context(server.connect())
        instances[server.name] = (session, Recording(changes / server.name, prepare(session)))
    return Player(instances)


def _partner(settings: Settings, env: Mapping[str, str]) -> AdPartner:
    """The program of the advertising partner; it writes into the folder that the probes read."""
    return AdPartner(load_warehouse(Settings.at(Path(env["TIDEMARK_DATA"]), root=settings.root)))


def _environment(root: Path, data: Path, running: Servers) -> dict[str, str]:
    """Environment of every command. The heartbeat writer is off: the databases live in March."""
    return {
        # They start in their own folders, which may be outside of the project.
        ROOT_VARIABLE: str(root),
        "TIDEMARK_DATA": str(data),
        "DAGSTER_HOME": str(data / "dagster_home"),
        "TIDEMARK_KAFKA": running.kafka.bootstrap_servers,
    }


def _nothing_else(data: Path) -> dict[str, str]:
    """Variables of the environment that could name another warehouse, emptied."""
    settings = {name.upper(): "" for name in ("canal", "databases", "state")}
    settings |= {f"KAFKA_{name.upper()}": "" for name in KafkaSecurity.model_fields}
    settings |= {"OLAP": "duckdb", "LANDING": str(data / "landing"), "WAREHOUSE": str(data / "warehouse")}
    settings |= {"STATE_DB": str(data / "state.db")}
    settings |= {"SPARK_MEMORY": os.environ.get(f"{ENV_PREFIX}SPARK_MEMORY", _SPARK_MEMORY)}
    return {"PYTHONUNBUFFERED": "1", **{ENV_PREFIX + name: value for name, value in settings.items()}}


def _token_of(command: str) -> dict[str, str]:
    """The token, only for the command that serves pages."""
    token = os.environ.get(TOKEN_VARIABLE)
    return {TOKEN_VARIABLE: token} if token and command == _SERVES_PAGES else {}


def _wait(started: Chain, stopped: Callable[[], bool]) -> None:
    """Wait for the UI, and replay what is due in the meantime."""
    deadline = time.monotonic() + _UI_SECONDS
    dagster = started.children[-1]
    while not stopped() and not _is_ready(dagster):
        started.watch()
        if time.monotonic() > deadline:
            raise ComponentFailedError(dagster.name, f"not ready after {_UI_SECONDS:.0f} s", dagster.log_tail())
        time.sleep(0.25)


def _is_ready(dagster: ServerProcess) -> bool:
    """Whether `up --json` has printed its line since its start."""
    for line in reversed(dagster.log.read_text(errors="replace").splitlines()):
        if line.startswith('{"url"'):
            return bool(json.loads(line)["pid"] == dagster.pid)
    return False
