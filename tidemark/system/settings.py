"""Where things are and with what they run: one validated value, read from the environment once, at the edge."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Literal, Self
from zoneinfo import ZoneInfo

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, SecretStr, ValidationError

from tidemark.system.errors import SettingsError
from tidemark.system.pools import pool_capacities, valid_pools

ENV_PREFIX = "TIDEMARK_"
FROM_ENVIRONMENT = (
    "data",
    "landing",
    "kafka",
    "canal",
    "databases",
    "warehouse",
    "state_db",
    "state",
    "pools",
    "spark_master",
    "spark_memory",
    "spark_tuning",
    "olap",
    "time_zone",
)


def _known_zone(name: str) -> str:
    try:
        ZoneInfo(name)
    except (KeyError, ValueError, OSError) as error:
        raise ValueError(f"'{name}' is no IANA time zone, write one like Europe/Paris") from error
    return name


class Settings(BaseModel):
    """All settings of one process; paths are absolute.

    `state` is a `postgresql+psycopg2://` URL of the state store; without it the store is the SQLite file `state_db`.
    `pools` says how much runs at once, by pool: `default=2, heavy=1`. There are as many warm workers and slots of
    Dagster's queue as they have slots together.
    `kafka` are bootstrap servers (`host:9092,...`): changes come from their topics instead of files in `landing`.
    `canal` are the instances (`a,b`) that a Canal server captures; the others Debezium does.
    `databases` are the instances' addresses with passwords, for heartbeats: `a=mysql://user:password@host:3306/school`.
    `spark_tuning` is what a local JVM is started for: runs of seconds, or a process that takes in changes for days.
    `olap` is `duckdb` (a file under `data`) or a `postgresql+psycopg2://` URL. Days and hours begin by `time_zone`.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    root: Path
    data: Path
    landing: Path
    warehouse: Path
    state_db: Path
    state: Annotated[str, Field(repr=False)] = ""
    kafka: str = ""
    canal: str = ""
    databases: SecretStr = SecretStr("")
    pools: Annotated[str, AfterValidator(valid_pools)] = "default=2"
    spark_master: str = "local[*]"
    spark_memory: str = "2g"
    spark_tuning: Literal["latency", "throughput"] = "latency"
    olap: Annotated[str, Field(repr=False)] = "duckdb"
    time_zone: Annotated[str, AfterValidator(_known_zone)] = "Europe/Paris"

    @classmethod
    def load(cls, env: Mapping[str, str] = os.environ) -> Self:
        """Read `TIDEMARK_DATA`, `TIDEMARK_SPARK_MASTER`, ... and fill in the rest. Raises SettingsError."""
        given = {name: env[key] for name in FROM_ENVIRONMENT if (key := ENV_PREFIX + name.upper()) in env}
        return cls.at(Path(given.pop("data", repository_root() / "data")), **given)

    @property
    def slots(self) -> int:
        """How many runs all pools take together."""
        return sum(pool_capacities(self.pools).values())

    @property
    def by_canal(self) -> frozenset[str]:
        """The instances that a Canal server captures."""
        return frozenset(name.strip() for name in self.canal.split(",") if name.strip())

    @classmethod
    def at(cls, data: Path, **others: str | Path) -> Self:
        """Settings that keep everything under `data`, except what is given by name. Raises SettingsError."""
        data = data.expanduser().absolute()
        defaults = {"landing": data / "landing", "warehouse": data / "warehouse", "state_db": data / "state.db"}
        try:
            return cls.model_validate({"root": repository_root(), "data": data, **defaults, **others})
        except ValidationError as error:
            raise SettingsError.of(error, ENV_PREFIX) from error


def repository_root() -> Path:
    """The folder that holds workspace.yaml and these packages."""
    return Path(__file__).resolve().parents[2]
