"""The login of all Kafka clients: TLS and SASL, from environment variables.

    TIDEMARK_KAFKA_SECURITY_PROTOCOL   PLAINTEXT (default), SSL, SASL_PLAINTEXT, SASL_SSL;
    TIDEMARK_KAFKA_SASL_MECHANISM      PLAIN, SCRAM-SHA-256, SCRAM-SHA-512 (default);
    TIDEMARK_KAFKA_USERNAME, TIDEMARK_KAFKA_PASSWORD
    TIDEMARK_KAFKA_CA                  PEM file of the authorities that sign the brokers' certificates;
    TIDEMARK_KAFKA_CERTIFICATE, TIDEMARK_KAFKA_KEY   PEM files of our own certificate, if brokers require one

The same settings are converted for librdkafka (confluent-kafka) and for the Java client (Spark's reader, Kafka
Connect). They apply to the whole process, like libpq's. TIDEMARK_KAFKA has the brokers; these variables the login.
"""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Final, Literal, Self

from pydantic import BaseModel, ConfigDict, FilePath, SecretStr, ValidationError, model_validator

from tidemark.system.errors import SettingsError

PREFIX: Final = "TIDEMARK_KAFKA_"
_LOGIN_MODULE: Final = {
    "PLAIN": "org.apache.kafka.common.security.plain.PlainLoginModule",
    "SCRAM-SHA-256": "org.apache.kafka.common.security.scram.ScramLoginModule",
    "SCRAM-SHA-512": "org.apache.kafka.common.security.scram.ScramLoginModule",
}


class KafkaSecurity(BaseModel):
    """The TLS and SASL settings of a process's Kafka clients."""

    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)

    security_protocol: Literal["PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL"] = "PLAINTEXT"
    sasl_mechanism: Literal["PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512"] = "SCRAM-SHA-512"
    username: str = ""
    password: SecretStr = SecretStr("")
    ca: FilePath | None = None
    certificate: FilePath | None = None
    key: FilePath | None = None

    @classmethod
    def load(cls, env: Mapping[str, str] = os.environ) -> Self:
        """Read the variables; empty ones count as absent. Raises SettingsError, which contains no value."""
        given = {name: value for name in cls.model_fields if (value := env.get(PREFIX + name.upper()))}
        try:
            return cls.model_validate(given)
        except ValidationError as error:
            raise _unusable(error) from None

    @model_validator(mode="after")
    def _is_complete(self) -> Self:
        if self._has_sasl and not (self.username and self.password.get_secret_value()):
            raise ValueError(f"{self.security_protocol} needs {PREFIX}USERNAME and {PREFIX}PASSWORD")
        if (self.certificate is None) != (self.key is None):
            raise ValueError(f"{PREFIX}CERTIFICATE and {PREFIX}KEY belong together")
        tls = [name for name in ("ca", "certificate") if getattr(self, name)]
        if tls and not self._has_tls:
            raise ValueError(f"{PREFIX}{tls[0].upper()} is for SSL and SASL_SSL, not for {self.security_protocol}")
        if self.username and not self._has_sasl:
            raise ValueError(f"{PREFIX}USERNAME is for SASL_SSL and SASL_PLAINTEXT, not for {self.security_protocol}")
        return self

    @property
    def _has_sasl(self) -> bool:
        return self.security_protocol.startswith("SASL_")

    @property
    def _has_tls(self) -> bool:
        return self.security_protocol.endswith("SSL")

    def librdkafka(self) -> dict[str, str]:
        """Settings of confluent-kafka's clients; empty for PLAINTEXT."""
        if self.security_protocol == "PLAINTEXT":
            return {}
        settings: dict[str, str] = {"security.protocol": self.security_protocol}
        if self._has_sasl:
            settings["sasl.mechanism"] = self.sasl_mechanism
            settings |= {"sasl.username": self.username, "sasl.password": self.password.get_secret_value()}
        files = {"ssl.ca.location": self.ca, "ssl.certificate.location": self.certificate, "ssl.key.location": self.key}
        return settings | {name: str(file) for name, file in files.items() if file}

    def java(self, prefix: str = "") -> dict[str, str]:
        """Settings of the Java client, each name after `prefix` (`kafka.` for Spark's reader); empty for PLAINTEXT."""
        if self.security_protocol == "PLAINTEXT":
            return {}
        settings: dict[str, str] = {"security.protocol": self.security_protocol}
        if self._has_sasl:
            settings |= {"sasl.mechanism": self.sasl_mechanism, "sasl.jaas.config": self._jaas()}
        if self.ca:
            settings |= {"ssl.truststore.type": "PEM", "ssl.truststore.location": str(self.ca)}
        if self.certificate and self.key:
            settings |= {"ssl.keystore.type": "PEM", "ssl.keystore.certificate.chain": _text(self.certificate)}
            settings["ssl.keystore.key"] = _text(self.key)
        return {prefix + name: value for name, value in settings.items()}

    def _jaas(self) -> str:
        names = {"username": self.username, "password": self.password.get_secret_value()}
        options = " ".join(f'{name}="{_escape(value)}"' for name, value in names.items())
        return f"{_LOGIN_MODULE[self.sasl_mechanism]} required {options};"


def librdkafka(servers: str) -> dict[str, str | int | bool]:
    """Settings of every confluent-kafka client: the brokers and this process's login. Raises SettingsError."""
    return {"bootstrap.servers": servers, **KafkaSecurity.load().librdkafka()}


def _escape(value: str) -> str:
    """The value for the double quotes of a JAAS configuration."""
    return value.replace("\\", "\\\\").replace('"', '\\"')


def _text(file: Path) -> str:
    return file.read_text(encoding="ascii")


def _unusable(error: ValidationError) -> SettingsError:
    first = error.errors(include_input=False)[0]
    variable = PREFIX + (str(first["loc"][0]).upper() if first["loc"] else "SECURITY_PROTOCOL")
    return SettingsError(
        "the setting cannot be used",
        found=first["msg"],
        where=variable,
        hint=f"correct the environment variable {variable}, or unset it",
    )
