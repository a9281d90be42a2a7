"""The settings of a process: one validated value, read once.

A setting comes from the environment (`TIDEMARK_<NAME>`), else from the project's `tidemark.yaml`, else from its
default.
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
from tidemark.system.run_places import PlacesField, RunPlace
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
        raise ValueError(f"'{name}' is not a day of the week, write one of {', '.join(WEEK_DAYS)}")
    return name


def _known_holidays(name: str) -> str:
    try:
        return known_workdays(name) if name else ""
    except CalendarError as error:
        raise ValueError(str(error)) from error


def _names(given: object) -> object:
    """The list of a text such as `ods, dwd` from the environment; a list from YAML is unchanged."""
    return tuple(name.strip() for name in given.split(",")) if isinstance(given, str) else given


def _forms(given: object) -> object:
    """The pairs of `{ds: yyyyMMdd}`, or of `ds=yyyyMMdd, hh=HH` in the environment."""
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
    """All settings of one process. Paths are absolute; the `warehouse` may also be in an object store or in HDFS.

    - `root`: the project's folder. `layers`: the folders of declarations below its `warehouse_assets`.
    - `schemas`: names that may precede a table's name in a query, like its layer: `prod.dwd_orders`.
    - `time_zone`, `week_start`, `holidays`: the defaults of all declarations for days, weeks and workdays.
    - `partition_columns`: the columns with a row's slice, if a declaration names none: `{ds: yyyyMMdd}`.
    - `variables`: constants that queries use as `:name`. `functions`: functions for queries, as SQL over arguments.
    - `channels`: names for a declaration's `notify`, besides `log`. Addresses are only in `TIDEMARK_CHANNEL_<NAME>`.
    - `forecast_seconds`: the shortest time between two forecasts of promises.
    - `center`: the name of this center, for a declaration's `center`. `replicas`: other lakes, by name, for a
      declaration's `replicate`.
    - `refresh_targets`: databases, caches and webhooks, by name, for a declaration's `refresh`. Addresses are only in
      `TIDEMARK_TARGET_<NAME>`.
    - `state`: a `postgresql+psycopg2://` URL of the state store. Without it the SQLite file `state_db` is used.
    - `pools`: the parallel runs of each pool: `default=2, heavy=1`. Their sum is the number of warm workers and of
      slots in Dagster's queue. `host`: the name of this machine among several.
    - `places`: pools whose runs compute elsewhere, by name: a Spark master, a YARN queue, a Kubernetes namespace.
      `place`: the place of this process, which decides its Spark settings; a host of warm workers sets it.
    - `kafka`: bootstrap servers (`host:9092,...`). Changes come from their topics instead of files in `landing`.
    - `connect`: the address of Kafka Connect (`http://host:8083`), for the state of its connectors.
    - `reports_topic`: a topic of these servers with reports for the center's service.
    - `canal`: the instances (`a,b`) that a Canal server captures; Debezium captures the others.
    - `databases`: addresses of the instances with passwords, for heartbeats: `a=mysql://user:password@host:3306/school`.
    - `spark_conf`: a file with further Spark settings, in the form of `spark-defaults.conf`.
    - `spark_tuning`: the purpose of a local JVM: runs of seconds, or a process that captures changes for days.
    - `gtids`: `dense` if all transactions of the captured servers are captured: a missing number is a lost change.
    - `history_days`: how long all transitions of a slice are kept. Older ones are kept only if they are needed.
    - `runs_days`: how long Dagster keeps ended runs with their events and printed output; 0: for ever.
    - `audit_days`: how long the audit log is kept. `proxy`: a reverse proxy that names the caller in a header.
    - `olap`: `duckdb` (a file under `data`) or a `postgresql+psycopg2://` URL.
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
    places: PlacesField = ()
    place: str = ""
    host: HostName = Field(default_factory=socket.gethostname)
    spark_master: str = "local[*]"
    spark_memory: str = "2g"
    spark_conf: Path | None = None
    spark_tuning: Literal["latency", "throughput"] = "latency"
    gtids: Literal["sparse", "dense"] = "sparse"
    history_days: Annotated[int, Field(ge=1)] = 90
    runs_days: Annotated[int, Field(ge=0)] = 90
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
    center: Annotated[str, Field(pattern=r"^([a-z][a-z0-9_]{0,63})?$")] = ""
    replicas: ReplicasField = ()
    refresh_targets: RefreshTargetsField = ()

    @classmethod
    def load(cls, env: Mapping[str, str] = os.environ) -> Self:
        """The settings of this process's project. Raises NoProjectError, SettingsError."""
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
        """The project's settings with everything stored under `data`, except settings given by name.

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
            settings = cls.model_validate({"root": root, **defaults, **given})
        except ValidationError as error:
            raise SettingsError.of(error, places, ENV_PREFIX) from error
        here = settings.place_here
        return settings.model_copy(update=here.as_settings(root)) if here else settings

    @classmethod
    def _project_file(cls, root: Path) -> ProjectFile:
        secret = {name for name, field in cls.model_fields.items() if field.annotation is SecretStr}
        return read_project_file(root, cls._names(), secret)

    @classmethod
    def _names(cls) -> frozenset[str]:
        """The names of the settings; the root is the file's folder."""
        return frozenset(cls.model_fields) - {"root"}

    @property
    def declarations(self) -> Path:
        """The folder of the project's declarations."""
        return self.root / DECLARATIONS

    @property
    def declaration_defaults(self) -> dict[str, str | dict[str, str]]:
        """The defaults of all declarations."""
        defaults: dict[str, str | dict[str, str]] = {
            "time_zone": self.time_zone,
            "week_start": self.week_start,
            "holidays": self.holidays,
        }
        return {**defaults, "partition_columns": dict(self.partition_columns)} if self.partition_columns else defaults

    @property
    def place_here(self) -> RunPlace | None:
        """The place of this process, if it has one. Raises SettingsError for an unknown place."""
        known = {place.name: place for place in self.places}
        if self.place and self.place not in known:
            raise SettingsError("there is no such place", expected=f"one of {', '.join(known)}", found=self.place)
        return known.get(self.place)

    @property
    def slots(self) -> int:
        """The number of runs that all pools take together."""
        return sum(pool_capacities(self.pools).values())

    @property
    def by_canal(self) -> frozenset[str]:
        """The instances that a Canal server captures."""
        return frozenset(name.strip() for name in self.canal.split(",") if name.strip())


def _from(folder: Path, name: str, value: Any, env: Mapping[str, str], where: str) -> Any:
    """A path made absolute (relative to `folder`), or a remote location; other settings unchanged."""
    if name not in _PATHS or not isinstance(value, (str, Path)):
        return value
    if is_uri(str(value)):
        if name != "warehouse":
            raise LocationError.local_only(where)
        return remote_location(str(value), env, where)
    return folder / Path(value).expanduser()
