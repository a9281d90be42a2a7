"""Where things are and with what they run: one validated value, read once, at the edge.

A setting comes from the environment (`TIDEMARK_<NAME>`), else from the project's `tidemark.yaml`, else it is a default.
"""

import os
import socket
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Final, Literal, Self

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, SecretStr, ValidationError

from tidemark.dependency_model.time.date_grid import WEEK_DAYS
from tidemark.dependency_model.time.partition_columns import parse_partition_columns
from tidemark.dependency_model.time.workdays import known_workdays
from tidemark.dependency_model.time.zone import iana_name
from tidemark.errors import CalendarError, ParseError
from tidemark.system.declared_sql import FunctionsField, VariablesField
from tidemark.system.errors import SettingsError
from tidemark.system.location_error import LocationError
from tidemark.system.project_file import ProjectFile, read_project_file
from tidemark.system.project_root import DAGSTER_FOLDER, DECLARATIONS, project_root
from tidemark.system.proxy import ProxyField
from tidemark.system.refresh_target import RefreshTargetsField
from tidemark.system.replica_place import ReplicasField
from tidemark.system.run_pools import pool_capacities, valid_pools
from tidemark.system.table_location import TableLocation, is_uri, remote_location

ENV_PREFIX: Final = "TIDEMARK_"
_DAGSTER_HOME: Final = "DAGSTER_HOME"
_LOCATIONS: Final = ("data", "landing", "warehouse", "state_db", "dagster_home")
_PATHS: Final = (*_LOCATIONS, "spark_conf")


def _known_zone(name: str) -> str:
    try:
        iana_name(name)
    except CalendarError as error:
        raise ValueError(str(error)) from error
    return name


def _week_day(name: str) -> str:
    if name not in WEEK_DAYS:
        raise ValueError(f"'{name}' is no day of the week, write one of {', '.join(WEEK_DAYS)}")
    return name


def _known_holidays(name: str) -> str:
    try:
        return known_workdays(name) if name else ""
    except CalendarError as error:
        raise ValueError(str(error)) from error


def _names(given: object) -> object:
    """`ods, dwd` of the environment as the list that YAML has."""
    return tuple(name.strip() for name in given.split(",")) if isinstance(given, str) else given


def _forms(given: object) -> object:
    """`{ds: yyyyMMdd}`, or `ds=yyyyMMdd, hh=HH` of the environment, as pairs."""
    if isinstance(given, str):
        return tuple(tuple(word.strip() for word in part.split("=", 1)) for part in given.split(","))
    return tuple(given.items()) if isinstance(given, dict) else given


def _known_forms(forms: tuple[tuple[str, str], ...]) -> tuple[tuple[str, str], ...]:
    try:
        parse_partition_columns(dict(forms))
    except ParseError as error:
        raise ValueError(str(error)) from error
    return forms


Channel = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]{0,63}$")]
Layer = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]*$")]
HostName = Annotated[str, Field(pattern=r"^[0-9A-Za-z][0-9A-Za-z._-]{0,127}$")]


class Settings(BaseModel):
    """All settings of one process; paths are absolute. The `warehouse` may also be in an object store.

    `root` is the project's folder. `layers` are the folders of declarations below its `warehouse_assets`.
    `schemas` are names that may stand before a table's in a query, as its layer may: `prod.dwd_orders`.
    Days and hours begin by `time_zone`, weeks on `week_start`, `holidays` tells workdays: the defaults of every
    declaration.
    `partition_columns` are the columns that tell the slice of a row where a declaration names none: `{ds: yyyyMMdd}`.
    `variables` are constants that queries name as `:name`; `functions` what queries may call, as SQL over arguments.
    `channels` are the names, beside `log`, that a declaration's `notify` may have; addresses stand in
    `TIDEMARK_CHANNEL_<NAME>` alone. Promises are forecast every `forecast_seconds` at most.
    `replicas` are other lakes, by the names that a declaration's `replicate` may have.
    `refresh_targets` are databases, caches and receivers, by the names that a declaration's `refresh` may have; their
    addresses stand in `TIDEMARK_TARGET_<NAME>` alone.
    `state` is a `postgresql+psycopg2://` URL of the state store; without it the store is the SQLite file `state_db`.
    `pools` says how much runs at once, by pool: `default=2, heavy=1`. There are as many warm workers and slots of
    Dagster's queue as they have slots together. `host` is what this machine is called where several work together.
    `kafka` are bootstrap servers (`host:9092,...`): changes come from their topics instead of files in `landing`.
    `connect` is the address of Kafka Connect's interface (`http://host:8083`), which is asked how its connectors are.
    `reports_topic` is a topic of these servers from which the center's service takes in reports, too.
    `canal` are the instances (`a,b`) that a Canal server captures; the others Debezium does.
    `databases` are the instances' addresses with passwords, for heartbeats: `a=mysql://user:password@host:3306/school`.
    `spark_conf` is a file of further settings of Spark, in the form of `spark-defaults.conf`.
    `spark_tuning` is what a local JVM is started for: runs of seconds, or a process that takes in changes for days.
    `gtids` is `dense` where all transactions of the captured servers are captured: a missing number is a lost change.
    `history_days` is how long every transition of a slice is kept; of older ones what is needed.
    `audit_days` is how long the audit log is kept. `proxy` is a reverse proxy that says in a header who calls.
    `olap` is `duckdb` (a file under `data`) or a `postgresql+psycopg2://` URL.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    root: Path
    data: Path
    landing: Path
    warehouse: TableLocation
    state_db: Path
    dagster_home: Path
    layers: Annotated[tuple[Layer, ...], BeforeValidator(_names)] = ("ods", "dwd", "dws", "ads", "external")
    schemas: Annotated[tuple[Layer, ...], BeforeValidator(_names)] = ()
    channels: Annotated[tuple[Channel, ...], BeforeValidator(_names)] = ()
    forecast_seconds: Annotated[float, Field(gt=0)] = 15.0
    state: Annotated[str, Field(repr=False)] = ""
    kafka: str = ""
    connect: str = ""
    reports_topic: str = ""
    canal: str = ""
    databases: SecretStr = SecretStr("")
    pools: Annotated[str, AfterValidator(valid_pools)] = "default=2"
    host: HostName = Field(default_factory=socket.gethostname)
    spark_master: str = "local[*]"
    spark_memory: str = "2g"
    spark_conf: Path | None = None
    spark_tuning: Literal["latency", "throughput"] = "latency"
    gtids: Literal["sparse", "dense"] = "sparse"
    history_days: Annotated[int, Field(ge=1)] = 90
    audit_days: Annotated[int, Field(ge=1)] = 400
    proxy: ProxyField = None
    olap: Annotated[str, Field(repr=False)] = "duckdb"
    time_zone: Annotated[str, AfterValidator(_known_zone)] = "UTC"
    week_start: Annotated[str, AfterValidator(_week_day)] = "monday"
    holidays: Annotated[str, AfterValidator(_known_holidays)] = ""
    partition_columns: Annotated[
        tuple[tuple[str, str], ...], BeforeValidator(_forms), AfterValidator(_known_forms)
    ] = ()
    variables: VariablesField = ()
    functions: FunctionsField = ()
    replicas: ReplicasField = ()
    refresh_targets: RefreshTargetsField = ()

    @classmethod
    def load(cls, env: Mapping[str, str] = os.environ) -> Self:
        """The settings of the project that this process works for. Raises NoProjectError, SettingsError."""
        root = project_root(env)
        file = cls._project_file(root)
        from_file = {name: _from(root, name, value, env, file.places[name]) for name, value in file.values.items()}
        variables = {name: ENV_PREFIX + name.upper() for name in cls._names()}
        given = {name: env[variable] for name, variable in variables.items() if variable in env}
        if env.get(_DAGSTER_HOME):
            given["dagster_home"], variables["dagster_home"] = env[_DAGSTER_HOME], _DAGSTER_HOME
        here = Path.cwd()
        from_env = {name: _from(here, name, value, env, variables[name]) for name, value in given.items()}
        places = {name: place for name, place in file.places.items() if name not in from_env}
        return cls._of(root, {**from_file, **from_env}, places)

    @classmethod
    def at(cls, data: Path, **others: str | TableLocation) -> Self:
        """The project's settings with everything kept under `data`, except what is given by name.

        Raises NoProjectError, SettingsError.
        """
        root = Path(str(others.pop("root", "") or project_root()))
        file = cls._project_file(root)
        here = Path.cwd()
        from_file = {
            name: _from(root, name, value, os.environ, name)
            for name, value in file.values.items()
            if name not in _LOCATIONS
        }
        given = {name: _from(here, name, value, os.environ, name) for name, value in {"data": data, **others}.items()}
        return cls._of(root, {**from_file, **given}, file.places)

    @classmethod
    def _of(cls, root: Path, given: Mapping[str, Any], places: Mapping[str, str]) -> Self:
        data = given.get("data", root / "data")
        defaults = {
            "data": data,
            "landing": data / "landing",
            "warehouse": data / "warehouse",
            "state_db": data / "state.db",
            "dagster_home": root / DAGSTER_FOLDER,
        }
        try:
            return cls.model_validate({"root": root, **defaults, **given})
        except ValidationError as error:
            raise SettingsError.of(error, places, ENV_PREFIX) from error

    @classmethod
    def _project_file(cls, root: Path) -> ProjectFile:
        secret = {name for name, field in cls.model_fields.items() if field.annotation is SecretStr}
        return read_project_file(root, cls._names(), secret)

    @classmethod
    def _names(cls) -> frozenset[str]:
        """What may be set; the root is where the file is."""
        return frozenset(cls.model_fields) - {"root"}

    @property
    def declarations(self) -> Path:
        """The folder of the project's declarations."""
        return self.root / DECLARATIONS

    @property
    def declaration_defaults(self) -> dict[str, str | dict[str, str]]:
        """What declarations need not say each."""
        defaults: dict[str, str | dict[str, str]] = {
            "time_zone": self.time_zone,
            "week_start": self.week_start,
            "holidays": self.holidays,
        }
        return {**defaults, "partition_columns": dict(self.partition_columns)} if self.partition_columns else defaults

    @property
    def slots(self) -> int:
        """How many runs all pools take together."""
        return sum(pool_capacities(self.pools).values())

    @property
    def by_canal(self) -> frozenset[str]:
        """The instances that a Canal server captures."""
        return frozenset(name.strip() for name in self.canal.split(",") if name.strip())


def _from(folder: Path, name: str, value: Any, env: Mapping[str, str], where: str) -> Any:
    """A path as an absolute one, relative ones taken from `folder`, or one elsewhere; other settings as is."""
    if name not in _PATHS or not isinstance(value, (str, Path)):
        return value
    if is_uri(str(value)):
        if name != "warehouse":
            raise LocationError.local_only(where)
        return remote_location(str(value), env, where)
    return folder / Path(value).expanduser()
