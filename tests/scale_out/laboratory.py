"""A store, a cluster and a driver that can be killed, each, and are brought back."""

from __future__ import annotations

import threading
import time
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, Literal

import psutil

from tests.components.s3_proxy import S3Proxy, s3_proxy
from tests.components.s3_server import BUCKET, S3Server, s3_server
from tests.processes import command_line
from tests.scale_out.driver_process import DriverDied, DriverProcess
from tests.spark.standalone_cluster import StandaloneCluster, standalone_cluster

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

Victim = Literal["worker", "store", "driver"]
VICTIMS: Final[tuple[Victim, ...]] = ("worker", "store", "driver")
CONF: Final = """\
spark.executor.memory 512m
spark.executor.cores 1
# Each start of a JVM is paid for again: small jobs do not earn back what compiling them costs.
spark.executor.extraJavaOptions -XX:+UseSerialGC -XX:TieredStopAtLevel=1
spark.driver.extraJavaOptions -XX:+UseSerialGC -XX:TieredStopAtLevel=1
spark.sql.shuffle.partitions 2
spark.sql.codegen.wholeStage false
spark.sql.codegen.factoryMode NO_CODEGEN
"""
_ATTEMPTS: Final = 6
_GONE_SECONDS: Final = 60.0
_EXECUTOR: Final = "org.apache.spark.executor.CoarseGrainedExecutorBackend"


@dataclass
class Laboratory:
    """What is killed, and what has to go on."""

    folder: Path
    store: S3Server
    proxy: S3Proxy
    cluster: StandaloneCluster
    driver: DriverProcess = field(init=False)
    _returning: list[threading.Thread] = field(default_factory=list)
    _one_start: threading.Lock = field(default_factory=threading.Lock)

    def __post_init__(self) -> None:
        (self.folder / "spark.conf").write_text(CONF)
        self.driver = DriverProcess(self.environment, self.folder / "driver.log")

    @property
    def root(self) -> Path:
        return self.folder / "project"

    @property
    def data(self) -> Path:
        return self.folder / "data"

    @property
    def environment(self) -> dict[str, str]:
        """By which commands use the store, over the proxy, and the cluster."""
        return {
            **self.store.environment,
            "AWS_ENDPOINT_URL": self.proxy.endpoint,
            "TIDEMARK_ROOT": str(self.root),
            "TIDEMARK_DATA": str(self.data),
            "DAGSTER_HOME": str(self.folder / "dagster_home"),
            "TIDEMARK_WAREHOUSE": f"s3://{BUCKET}/warehouse",
            "TIDEMARK_SPARK_MASTER": self.cluster.master,
            "TIDEMARK_SPARK_CONF": str(self.folder / "spark.conf"),
            "TIDEMARK_SPARK_MEMORY": "1g",
        }

    def table(self, name: str) -> Path:
        """Where the store keeps a table."""
        return self.store.folder / BUCKET / "warehouse" / name

    def kill_worker(self, number: int) -> None:
        """The worker with its executors; it is back a moment later."""
        self.cluster.kill_worker(number)
        self._soon(lambda: self.cluster.start_worker_again(number))

    def kill_store(self, refused: int) -> None:
        """It is back when so many requests have found nobody."""
        self.store.kill()
        self.proxy.refuse(refused, self._store_again)

    def _store_again(self) -> None:
        with self._one_start:
            if self.store.server.process.poll() is not None:
                self.store = self.store.started_again()

    def _soon(self, action: Callable[[], None]) -> None:
        thread = threading.Thread(target=action)
        thread.start()
        self._returning.append(thread)

    def bring_back(self) -> None:
        """Everything that died is there again, but the driver."""
        while self._returning:
            self._returning.pop().join()
        self.proxy.rest()
        self._store_again()

    def done(self, what: str, die_at: str, **order: Any) -> list[dict[str, Any]]:
        """Let the driver do something, again until it is done; what it told each time, nothing where it died."""
        answers: list[dict[str, Any]] = []
        for attempt in range(_ATTEMPTS):
            try:
                answers.append(self.driver.ask(what, **order, die_at="" if attempt else die_at))
            except DriverDied:
                answers.append({})
            self.bring_back()
            if not answers[-1]:
                self.driver.start()
            elif "error" not in answers[-1] and not answers[-1].get("failed"):
                return answers
        raise AssertionError(f"{what} {order}: not done after {_ATTEMPTS} attempts: {answers}")

    def require_no_application(self) -> None:
        """Executors of drivers that are gone go as well."""
        end = time.monotonic() + _GONE_SECONDS
        while left := self.applications():
            assert time.monotonic() < end, f"executors of {sorted(left)} are there still"
            time.sleep(0.5)

    def applications(self) -> set[str]:
        """Those of which executors run on the cluster."""
        lines = [command_line(process) for process in psutil.process_iter()]
        own = [line for line in lines if _EXECUTOR in line and self._is_own(line)]
        return {line[line.index("--app-id") + 1] for line in own}

    def _is_own(self, executor: Sequence[str]) -> bool:
        """Executors say in their command whose they are by their application, which has a folder with the worker."""
        return any(self.folder.glob(f"work_*/{executor[executor.index('--app-id') + 1]}"))


@contextmanager
def laboratory(folder: Path) -> Iterator[Laboratory]:
    """One of two workers; the driver is not started yet."""
    with s3_server(folder / "s3") as store, s3_proxy(store.port) as proxy:
        environment = {**store.environment, "AWS_ENDPOINT_URL": proxy.endpoint}
        with standalone_cluster(folder, environment=environment) as cluster:
            built = Laboratory(folder, store, proxy, cluster)
            try:
                yield built
            finally:
                built.driver.end()
                built.bring_back()
                built.store.server.stop()
