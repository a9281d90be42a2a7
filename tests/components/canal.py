"""A real Canal server: reads binlogs as a replica does, and writes flat messages to Kafka, a topic an instance.

The jars carry no configuration of an instance; what is written here names the parts of Canal's own wiring.

Canal 1.1.4, the newest one that Maven has, stumbles over the transaction number that MariaDB writes beside DDL since
10.6: tables have to be there before the binlog file from which it starts.
"""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING
from xml.etree.ElementTree import Element, SubElement, tostring

from tidemark.console.servers import mariadb
from tidemark.console.servers.server_process import ServerProcess, start
from tidemark.system.free_port import LOOPBACK, free_port

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from tidemark.console.servers.kafka import Kafka

_START_TIMEOUT_SECONDS = 60.0
_PACKAGE = "com.alibaba.otter.canal"
_SPRING = "http://www.springframework.org/schema/beans"
_XSI = "http://www.w3.org/2001/XMLSchema-instance"
_OPENED = ("lang", "util", "net", "nio")


@dataclass(frozen=True)
class Canal:
    """A running server."""

    server: ServerProcess


def topic_of(instance: mariadb.MariaDb) -> str:
    """The topic with everything of an instance: not the one that Debezium writes to."""
    return f"cdc.canal_{instance.name}"


@contextmanager
def canal(
    classpath: str, kafka: Kafka, instances: Sequence[mariadb.MariaDb], database: str, directory: Path
) -> Iterator[Canal]:
    """Start a server that captures `database` of each instance from its newest binlog file on.

    Started once more in the same directory it goes on where it was.
    """
    directory.mkdir(parents=True, exist_ok=True)
    names = [instance.name for instance in instances]
    for instance in instances:
        _wiring(instance, database, directory).write_bytes(_instance(instance, database, directory))
    settings = directory / "canal.properties"
    settings.write_text("".join(f"{name}={value}\n" for name, value in _server(kafka, names, directory).items()))
    opened = [f"--add-opens=java.base/java.{part}=ALL-UNNAMED" for part in _OPENED]
    logging = directory / "logback.xml"
    logging.write_bytes(_logging())
    properties = [f"-Dcanal.conf={settings}", f"-Dlogback.configurationFile={logging}"]
    java = ["java", "-Xmx512m", *opened, *properties, "-cp", classpath]
    server = start("Canal", [*java, f"{_PACKAGE}.deployer.CanalLauncher"], directory)
    try:
        server.wait_until(lambda: _reads(server, names), _START_TIMEOUT_SECONDS)
        yield Canal(server)
    finally:
        server.stop()


def _reads(server: ServerProcess, names: Sequence[str]) -> bool:
    """Whether every instance's binlog is being read: the server says of itself that it runs when none is."""
    said = server.log.read_text(errors="replace")
    return all(f"the MQ producer: {name} is running now" in said for name in names)


def _server(kafka: Kafka, names: Sequence[str], directory: Path) -> dict[str, str]:
    return {
        "canal.serverMode": "kafka",
        "canal.mq.servers": kafka.bootstrap_servers,
        "canal.mq.flatMessage": "true",
        "canal.mq.acks": "all",
        "canal.mq.retries": "3",
        "canal.mq.lingerMs": "5",
        "canal.mq.batchSize": "16384",
        "canal.mq.maxRequestSize": "1048576",
        "canal.mq.bufferMemory": "33554432",
        "canal.mq.compressionType": "none",
        "canal.mq.canalBatchSize": "200",
        "canal.mq.canalGetTimeout": "100",
        "canal.mq.transaction": "false",
        "canal.ip": LOOPBACK,
        "canal.metrics.pull.port": str(free_port()),
        "canal.destinations": ",".join(names),
        "canal.auto.scan": "false",
        "canal.instance.global.mode": "spring",
        "canal.instance.global.lazy": "false",
        **{f"canal.instance.{name}.spring.xml": f"file:{directory / name}.xml" for name in names},
    }


def _wiring(instance: mariadb.MariaDb, database: str, directory: Path) -> Path:
    return directory / f"{instance.name}.xml"


def _instance(instance: mariadb.MariaDb, database: str, directory: Path) -> bytes:
    """Spring's XML: the parser of the binlog, its filter, what it keeps in memory, and the file with its position."""
    beans = _Beans()
    _add_memory(beans, database, directory)
    _add_server(beans, instance, database)
    _add_parser(beans, instance)
    beans.bean("queue", "instance.core.CanalMQConfig", topic=topic_of(instance), partition="0")
    beans.bean(
        "instance",
        "instance.spring.CanalInstanceWithSpring",
        destination=instance.name,
        eventParser="@parser",
        eventSink="@sink",
        eventStore="@store",
        metaManager="@meta",
        alarmHandler="@alarm",
        mqConfig="@queue",
    )
    return beans.text()


def _add_memory(beans: _Beans, database: str, directory: Path) -> None:
    beans.bean("alarm", "common.alarm.LogAlarmHandler")
    beans.bean("meta", "meta.FileMixedMetaManager", dataDir=str(directory / "positions"), period="200")
    beans.bean("store", "store.memory.MemoryEventStoreWithBuffer", bufferSize="16384", bufferMemUnit="1024")
    beans.bean("sink", "sink.entry.EntryEventSink", eventStore="@store", filterTransactionEntry="true")
    beans.bean("filter", "filter.aviater.AviaterRegexFilter", f"{database}\\..*")
    beans.bean("recent", "parse.index.MemoryLogPositionManager")
    beans.bean("kept", "parse.index.MetaLogPositionManager", "@meta")
    beans.bean("places", "parse.index.FailbackLogPositionManager", "@recent", "@kept")


def _add_server(beans: _Beans, instance: mariadb.MariaDb, database: str) -> None:
    beans.bean("address", "java.net.InetSocketAddress", LOOPBACK, str(instance.port))
    beans.bean(
        "master",
        "parse.support.AuthenticationInfo",
        address="@address",
        username=mariadb.USER,
        password=instance.password,
        defaultDatabaseName=database,
    )
    beans.bean("standby", "parse.ha.HeartBeatHAController", detectingRetryTimes="3", switchEnable="false")
    beans.bean("first", "protocol.position.EntryPosition", instance.binlogs()[-1].name, "4")


def _add_parser(beans: _Beans, instance: mariadb.MariaDb) -> None:
    beans.bean(
        "parser",
        "parse.inbound.mysql.MysqlEventParser",
        destination=instance.name,
        slaveId=str(2000 + instance.server_id),
        alarmHandler="@alarm",
        eventSink="@sink",
        haController="@standby",
        eventFilter="@filter",
        logPositionManager="@places",
        masterInfo="@master",
        masterPosition="@first",
        connectionCharset="UTF-8",
        detectingEnable="false",
        enableTsdb="false",
        filterQueryDml="true",
        parallel="false",
        supportBinlogFormats="ROW",
        supportBinlogImages="FULL",
    )


def _logging() -> bytes:
    """Canal's own words and others' warnings, to the server's output."""
    root = Element("configuration")
    out = SubElement(root, "appender", {"name": "out", "class": "ch.qos.logback.core.ConsoleAppender"})
    SubElement(SubElement(out, "encoder"), "pattern").text = "%d %-5level %logger{20} - %msg%n"
    SubElement(root, "logger", name=_PACKAGE, level="INFO")
    SubElement(SubElement(root, "root", level="WARN"), "appender-ref", ref="out")
    return bytes(tostring(root, "utf-8"))


class _Beans:
    """Spring's beans; `@name` refers to another one."""

    def __init__(self) -> None:
        self._root = Element(
            "beans", {"xmlns": _SPRING, f"{{{_XSI}}}schemaLocation": f"{_SPRING} {_SPRING}/spring-beans.xsd"}
        )

    def bean(self, name: str, kind: str, *arguments: str, **properties: str) -> None:
        kind = kind if kind.startswith("java.") else f"{_PACKAGE}.{kind}"
        bean = SubElement(self._root, "bean", {"id": name, "class": kind})
        for argument in arguments:
            SubElement(bean, "constructor-arg", _value(argument))
        for setting, value in properties.items():
            SubElement(bean, "property", {"name": setting, **_value(value)})

    def text(self) -> bytes:
        return bytes(tostring(self._root, "utf-8", xml_declaration=True))


def _value(text: str) -> dict[str, str]:
    return {"ref": text[1:]} if text.startswith("@") else {"value": text}
