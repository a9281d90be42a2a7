"""TLS and SASL from the environment, in both clients' forms; what does not fit together is refused without a value."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tidemark.system.errors import SettingsError
from tidemark.system.kafka_client import PREFIX, KafkaSecurity, librdkafka

if TYPE_CHECKING:
    from pathlib import Path

CANARY = 'can"ary\\1'


def _env(**given: object) -> dict[str, str]:
    return {PREFIX + name.upper(): str(value) for name, value in given.items()}


def _sasl(**others: object) -> KafkaSecurity:
    return KafkaSecurity.load(_env(security_protocol="SASL_SSL", username="tide", password=CANARY, **others))


def test_without_settings_nothing_is_added(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in KafkaSecurity.model_fields:
        monkeypatch.setenv(PREFIX + name.upper(), "")
    assert librdkafka("broker:9092") == {"bootstrap.servers": "broker:9092"}
    assert KafkaSecurity.load().java("kafka.") == {}


def test_confluent_kafkas_form(tmp_path: Path) -> None:
    (tmp_path / "ca.pem").write_text("authority")
    assert _sasl(ca=tmp_path / "ca.pem", sasl_mechanism="PLAIN").librdkafka() == {
        "security.protocol": "SASL_SSL",
        "sasl.mechanism": "PLAIN",
        "sasl.username": "tide",
        "sasl.password": CANARY,
        "ssl.ca.location": str(tmp_path / "ca.pem"),
    }


def test_the_java_clients_form(tmp_path: Path) -> None:
    for name in ("ca", "certificate", "key"):
        (tmp_path / name).write_text(f"the {name}")
    security = _sasl(ca=tmp_path / "ca", certificate=tmp_path / "certificate", key=tmp_path / "key")
    assert security.java("kafka.") == {
        "kafka.security.protocol": "SASL_SSL",
        "kafka.sasl.mechanism": "SCRAM-SHA-512",
        "kafka.sasl.jaas.config": "org.apache.kafka.common.security.scram.ScramLoginModule required "
        'username="tide" password="can\\"ary\\\\1";',
        "kafka.ssl.truststore.type": "PEM",
        "kafka.ssl.truststore.location": str(tmp_path / "ca"),
        "kafka.ssl.keystore.type": "PEM",
        "kafka.ssl.keystore.certificate.chain": "the certificate",
        "kafka.ssl.keystore.key": "the key",
    }


@pytest.mark.parametrize(
    ("given", "variable", "problem"),
    [
        ({"security_protocol": "TLS"}, "SECURITY_PROTOCOL", "'PLAINTEXT', 'SSL'"),
        ({"security_protocol": "SASL_SSL", "username": "tide"}, "SECURITY_PROTOCOL", "needs TIDEMARK_KAFKA_USERNAME"),
        ({"username": "tide", "password": CANARY}, "SECURITY_PROTOCOL", "not for PLAINTEXT"),
        ({"ca": "/no/such.pem", "security_protocol": "SSL"}, "CA", "does not point to a file"),
        ({"certificate": __file__, "security_protocol": "SSL"}, "SECURITY_PROTOCOL", "belong together"),
        ({"ca": __file__}, "SECURITY_PROTOCOL", "TIDEMARK_KAFKA_CA is for SSL"),
        ({"sasl_mechanism": CANARY}, "SASL_MECHANISM", "'PLAIN'"),
    ],
)
def test_contradicting_settings_are_refused_by_name(given: dict[str, str], variable: str, problem: str) -> None:
    with pytest.raises(SettingsError) as refused:
        KafkaSecurity.load(_env(**given))
    assert refused.value.where == PREFIX + variable
    assert refused.value.found is not None
    assert problem in refused.value.found
    assert CANARY not in str(refused.value)


def test_the_password_is_not_printed() -> None:
    assert CANARY not in repr(_sasl())
    assert CANARY not in str(_sasl())
