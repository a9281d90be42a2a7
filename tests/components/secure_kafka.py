"""A Kafka broker that lets nobody in without TLS and a password; its certificate is signed by itself."""

from __future__ import annotations

import uuid
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from tidemark.console.servers.kafka import lines, settings
from tidemark.console.servers.server_process import accepts_connections, run, start
from tidemark.system.free_port import LOOPBACK, free_port

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tidemark.console.servers.jars import Jars

USER: Final = "tide"
PASSWORD: Final = 'se"cret\\tide'
_JAAS: Final = (
    'org.apache.kafka.common.security.plain.PlainLoginModule required username="broker" password="own" '
    'user_broker="own" user_tide="se\\"cret\\\\tide";'
)


@dataclass(frozen=True)
class SecureKafka:
    """Where it listens, and the certificate by which one knows it."""

    bootstrap_servers: str
    ca: Path

    @property
    def environment(self) -> dict[str, str]:
        """What a process needs to get in."""
        return {
            "TIDEMARK_KAFKA_SECURITY_PROTOCOL": "SASL_SSL",
            "TIDEMARK_KAFKA_SASL_MECHANISM": "PLAIN",
            "TIDEMARK_KAFKA_USERNAME": USER,
            "TIDEMARK_KAFKA_PASSWORD": PASSWORD,
            "TIDEMARK_KAFKA_CA": str(self.ca),
        }


@contextmanager
def secure_kafka(jars: Jars, directory: Path) -> Iterator[SecureKafka]:
    """Start a broker of one listener, SASL_SSL with PLAIN; stop it in the end."""
    port, controller_port, certificate = free_port(), free_port(), _certificate(directory)
    properties = directory / "server.properties"
    # In a .properties file a backslash escapes what follows.
    broker = {
        **settings(directory / "log", port, controller_port),
        **_security_settings(directory / "broker.pem"),
        "listeners": f"SASL_SSL://{LOOPBACK}:{port},CONTROLLER://{LOOPBACK}:{controller_port}",
        "advertised.listeners": f"SASL_SSL://{LOOPBACK}:{port}",
    }
    properties.write_text(lines({name: value.replace("\\", "\\\\") for name, value in broker.items()}))
    java = ["java", "-Xmx512m", "-Dlog4j2.level=WARN", "-cp", jars.classpath]
    cluster = uuid.uuid4().hex[:22]
    run("Kafka", [*java, "kafka.tools.StorageTool", "format", "-t", cluster, "-c", str(properties)], directory)
    server = start("Kafka", [*java, "kafka.Kafka", str(properties)], directory)
    try:
        server.wait_until(lambda: accepts_connections(port), 90.0)
        yield SecureKafka(f"{LOOPBACK}:{port}", certificate)
    finally:
        server.stop()


def _security_settings(keystore: Path) -> dict[str, str]:
    return {
        "listener.security.protocol.map": "CONTROLLER:PLAINTEXT,SASL_SSL:SASL_SSL",
        "inter.broker.listener.name": "SASL_SSL",
        "sasl.enabled.mechanisms": "PLAIN",
        "sasl.mechanism.inter.broker.protocol": "PLAIN",
        "listener.name.sasl_ssl.plain.sasl.jaas.config": _JAAS,
        "ssl.keystore.type": "PEM",
        "ssl.keystore.location": str(keystore),
        "ssl.truststore.type": "PEM",
        "ssl.truststore.location": str(keystore.with_name("ca.pem")),
    }


def _certificate(directory: Path) -> Path:
    """A key and the certificate that it signs itself; `broker.pem` holds both."""
    directory.mkdir(parents=True, exist_ok=True)
    key, certificate = directory / "key.pem", directory / "ca.pem"
    command = [
        "openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", f"/CN={LOOPBACK}",
        "-addext", f"subjectAltName=IP:{LOOPBACK}", "-keyout", str(key), "-out", str(certificate),
    ]  # fmt: skip
    run("openssl", command, directory)
    directory.joinpath("broker.pem").write_text(key.read_text() + certificate.read_text())
    return certificate
