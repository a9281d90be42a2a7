"""A real HDFS on loopback: a name node and a data node, each of which may be killed and started again.

The servers run as HDFS's superuser, and clients as another user, who owns the lake's folder and nothing else.
"""

from __future__ import annotations

import shutil
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final
from xml.etree.ElementTree import Element, SubElement, tostring

import pytest
from hdfs_native import Client, WriteOptions

from tests.components import hdfs_jars
from tidemark.console.servers.errors import ComponentFailedError
from tidemark.console.servers.server_process import ServerProcess, run, start
from tidemark.system.free_port import LOOPBACK, free_port
from tidemark.system.table_location import HdfsLocation

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

USER: Final = "tidemark"
_LAKE: Final = "lake"
_SUPERUSER: Final = "hdfs"
_PACKAGE: Final = "org.apache.hadoop.hdfs.server"
_NAME_NODE: Final = f"{_PACKAGE}.namenode.NameNode"
_DATA_NODE: Final = f"{_PACKAGE}.datanode.DataNode"
_START_SECONDS: Final = 120.0
_LOGGING: Final = """\
log4j.rootLogger=WARN,console
log4j.appender.console=org.apache.log4j.ConsoleAppender
log4j.appender.console.layout=org.apache.log4j.PatternLayout
log4j.appender.console.layout.ConversionPattern=%d %p %c{1}: %m%n
"""


def require_hdfs() -> None:
    """Skip the calling test or fixture without the servers' jars, also with CI=true: some 70 MB."""
    if not hdfs_jars.are_there():
        pytest.skip("HDFS's servers are not here: python -m tests.components.hdfs_jars (needs Maven)")
    if shutil.which("java") is None:
        pytest.skip("HDFS's servers need Java 17 or later")


@dataclass
class Node:
    """One of both servers, with its data in `folder`."""

    name: str
    command: Sequence[str]
    folder: Path
    server: ServerProcess

    @classmethod
    def started(cls, name: str, command: Sequence[str], folder: Path) -> Node:
        return cls(name, command, folder, _start(name, command, folder))

    def kill(self) -> None:
        """It dies as by `kill -9`."""
        self.server.kill()

    def start_again(self) -> None:
        """The same with the same ports and data, after it ended."""
        self.server = _start(self.name, self.command, self.folder)


@dataclass(frozen=True)
class HdfsServer:
    """A running HDFS."""

    port: int
    folder: Path
    name_node: Node
    data_node: Node

    @property
    def environment(self) -> dict[str, str]:
        """The variables by which Spark, delta-rs and the file store reach it."""
        return {"HADOOP_CONF_DIR": str(self.folder / "conf"), "HADOOP_USER_NAME": USER}

    def location(self, key: str) -> HdfsLocation:
        """A folder of the user's."""
        return HdfsLocation(f"{LOOPBACK}:{self.port}", f"{_LAKE}/{key}")

    def wait_until_it_takes_files(self) -> None:
        """After a start the name node waits for what the data node has."""
        self.name_node.server.wait_until(self._takes_files, _START_SECONDS)

    def _takes_files(self) -> bool:
        if self.data_node.server.process.poll() is not None:
            raise ComponentFailedError(self.data_node.name, "ended", self.data_node.server.log_tail())
        try:
            client = self.as_superuser()
            # One that could not be ended is there, and open.
            with client.create("/started", WriteOptions(overwrite=True)) as file:
                file.write(b"x")
            return client.delete("/started")
        except (OSError, RuntimeError):
            return False

    def as_superuser(self) -> Client:
        """A client that may do everything, and gives up at once. Raises OSError while the name node is dead."""
        client = Client(f"hdfs://{LOOPBACK}:{self.port}", config={"dfs.client.failover.max.attempts": "0"})
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("HADOOP_USER_NAME", _SUPERUSER)
            # It asks who it is as it connects, which is with its first question.
            client.get_file_info("/")
        return client


@contextmanager
def hdfs_server(folder: Path, further: Mapping[str, str] | None = None) -> Iterator[HdfsServer]:
    """An HDFS whose data are in `folder`, and whose configuration has `further` as well; skips without the jars."""
    require_hdfs()
    port = free_port()
    _configure(folder, port, further or {})
    java = ["java", "-Xmx256m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Djava.net.preferIPv4Stack=true"]
    java += ["-cp", f"{folder / 'conf'}:{folder / 'server'}:{hdfs_jars.hdfs_jars()}/*"]
    superuser = {"HADOOP_USER_NAME": _SUPERUSER}
    run("the name node's format", [*java, _NAME_NODE, "-format", "-nonInteractive"], folder, environment=superuser)
    nodes: list[Node] = []
    try:
        for name, main in (("the name node", _NAME_NODE), ("the data node", _DATA_NODE)):
            nodes.append(Node.started(name, [*java, main], folder / main.rpartition(".")[2]))
        running = HdfsServer(port, folder, *nodes)
        running.wait_until_it_takes_files()
        _give_lake(running.as_superuser())
        yield running
    finally:
        for node in reversed(nodes):
            node.server.stop()


def _start(name: str, command: Sequence[str], folder: Path) -> ServerProcess:
    return start(name, command, folder, {"HADOOP_USER_NAME": _SUPERUSER})


def _give_lake(client: Client) -> None:
    client.mkdirs(f"/{_LAKE}", permission=0o700)
    client.set_owner(f"/{_LAKE}", owner=USER)


def _configure(folder: Path, port: int, further: Mapping[str, str]) -> None:
    # Their pages are not part of the jars, and both ask for the folder.
    for page in ("hdfs", "datanode", "static"):
        (folder / "server" / "webapps" / page).mkdir(parents=True)
    (folder / "server" / "log4j.properties").write_text(_LOGGING)
    (folder / "conf").mkdir()
    # As a cluster's own configuration has it: what a path without a scheme means.
    core = {"fs.defaultFS": f"hdfs://{LOOPBACK}:{port}", "hadoop.tmp.dir": str(folder / "tmp")}
    for file, settings in (("core-site.xml", core), ("hdfs-site.xml", {**_hdfs_site(folder), **further})):
        (folder / "conf" / file).write_bytes(_site(settings))


def _hdfs_site(folder: Path) -> dict[str, str]:
    addresses = {
        "dfs.namenode.http-address": LOOPBACK,
        "dfs.datanode.address": LOOPBACK,
        "dfs.datanode.ipc.address": LOOPBACK,
        "dfs.datanode.http.address": LOOPBACK,
    }
    return {
        **{name: f"{host}:{free_port()}" for name, host in addresses.items()},
        "dfs.namenode.name.dir": (folder / "names").as_uri(),
        "dfs.datanode.data.dir": (folder / "blocks").as_uri(),
        "dfs.replication": "1",
        "dfs.datanode.hostname": LOOPBACK,
        "dfs.namenode.datanode.registration.ip-hostname-check": "false",
        # It leaves safe mode with the last block that it knows of, and hears of a data node within a second.
        "dfs.namenode.safemode.extension": "0",
        "dfs.heartbeat.interval": "1",
    }


def _site(settings: Mapping[str, str]) -> bytes:
    root = Element("configuration")
    for name, value in settings.items():
        entry = SubElement(root, "property")
        SubElement(entry, "name").text = name
        SubElement(entry, "value").text = value
    return tostring(root)
