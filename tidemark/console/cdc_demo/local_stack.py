"""Everything together: started in order, watched, stopped in the opposite order."""

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
from tidemark.console.cdc_demo.replay_speed import Pace
from tidemark.console.cdc_demo.servers import Servers, servers
from tidemark.console.cdc_demo.sql_replay import DATABASE, Player, prepare
from tidemark.console.demo.ad_partner_process import AdPartner
from tidemark.console.project_files import SAMPLE
from tidemark.console.servers.errors import ComponentFailedError
from tidemark.system.free_port import LOOPBACK, free_port
from tidemark.system.kafka_client import KafkaSecurity
from tidemark.system.project_root import ROOT_VARIABLE
from tidemark.system.settings import ENV_PREFIX, Settings
from tidemark.system.token_variable import TOKEN_VARIABLE
from tidemark.warehouse.warehouse import load_warehouse

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from tidemark.console.servers.server_process import ServerProcess

FOLDER: Final = "kafka"
_CAPTURE_SECONDS: Final = "10"
_SERVES_PAGES: Final = "dagster"
_UI_SECONDS: Final = 240.0
_SPARK_MEMORY: Final = "1g"


@dataclass
class Chain:
    """What runs. `player` and `partner` play at the pace; `url` is Dagster's."""

    servers: Servers
    children: tuple[ServerProcess, ...]
    player: Player
    partner: AdPartner
    pace: Pace
    environment: Mapping[str, str]
    url: str

    def watch(self) -> None:
        """Let happen what is due. Raises ComponentFailedError, PartnerError when something has ended by itself."""
        for server in (*self.servers.processes, *self.children):
            if server.process.poll() is not None:
                raise ComponentFailedError(server.name, f"ended with {server.process.returncode}", server.log_tail())
        now = self.pace.at(time.monotonic())
        self.player.play(now)
        self.partner.pass_time(datetime.fromtimestamp(now, UTC))

    def where(self) -> dict[str, Any]:
        """What listens where, and how to reach it."""
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
    """Start the chain with its data in a folder of the settings' data; port 0 of the UI is a free one.

    Raises ComponentMissingError, ComponentFailedError.
    """
    data = settings.data / FOLDER
    with ExitStack() as stack:
        running = stack.enter_context(servers(data, say))
        player = _player(stack, running, SAMPLE / "changes")
        # Where all has been played, the recorded days are over.
        pace = Pace(player.at or int(time.time()), time.monotonic(), day_seconds)
        # The tables are declared before anybody looks for them.
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
    """In the order in which they are started; whatever they are cut off from, the next start begins again."""
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
    """The advertising partner's program, which writes where the chain's probes look."""
    return AdPartner(load_warehouse(Settings.at(Path(env["TIDEMARK_DATA"]), root=settings.root)))


def _environment(root: Path, data: Path, running: Servers) -> dict[str, str]:
    """What every command of the chain has to be told; no heartbeats of today: the databases live in March."""
    return {
        # They start in folders of their own, which need not be below the project's.
        ROOT_VARIABLE: str(root),
        "TIDEMARK_DATA": str(data),
        "DAGSTER_HOME": str(data / "dagster_home"),
        "TIDEMARK_KAFKA": running.kafka.bootstrap_servers,
    }


def _nothing_else(data: Path) -> dict[str, str]:
    """What the environment may say of another warehouse is not of this one."""
    settings = {name.upper(): "" for name in ("canal", "databases", "state")}
    settings |= {f"KAFKA_{name.upper()}": "" for name in KafkaSecurity.model_fields}
    settings |= {"OLAP": "duckdb", "LANDING": str(data / "landing"), "WAREHOUSE": str(data / "warehouse")}
    settings |= {"STATE_DB": str(data / "state.db")}
    settings |= {"SPARK_MEMORY": os.environ.get(f"{ENV_PREFIX}SPARK_MEMORY", _SPARK_MEMORY)}
    return {"PYTHONUNBUFFERED": "1", **{ENV_PREFIX + name: value for name, value in settings.items()}}


def _token_of(command: str) -> dict[str, str]:
    """The token, for the command that serves pages."""
    token = os.environ.get(TOKEN_VARIABLE)
    return {TOKEN_VARIABLE: token} if token and command == _SERVES_PAGES else {}


def _wait(started: Chain, stopped: Callable[[], bool]) -> None:
    """Until the UI says that it is there; what is due happens meanwhile."""
    deadline = time.monotonic() + _UI_SECONDS
    dagster = started.children[-1]
    while not stopped() and not _is_ready(dagster):
        started.watch()
        if time.monotonic() > deadline:
            raise ComponentFailedError(dagster.name, f"not ready after {_UI_SECONDS:.0f} s", dagster.log_tail())
        time.sleep(0.25)


def _is_ready(dagster: ServerProcess) -> bool:
    """Whether `up --json` has said its line since it was started."""
    for line in reversed(dagster.log.read_text(errors="replace").splitlines()):
        if line.startswith('{"url"'):
            return bool(json.loads(line)["pid"] == dagster.pid)
    return False
