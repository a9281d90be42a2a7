"""Addresses of source databases: read whole, or refused without showing a password."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tidemark.capture.heartbeat.errors import DatabaseAddressError
from tidemark.capture.heartbeat.source_databases import HeartbeatDatabase, databases
from tidemark.system.settings import Settings

if TYPE_CHECKING:
    from pathlib import Path


def test_addresses_are_read_with_everything_that_is_in_them() -> None:
    assert databases("a=mysql://tide:p%40s/s%2C@db-1:3307/school, b=mariadb://tide@db-2/school") == (
        HeartbeatDatabase("a", "db-1", 3307, "school", "tide", "p@s/s,"),
        HeartbeatDatabase("b", "db-2", 3306, "school", "tide", ""),
    )
    assert databases("") == ()


def test_an_authority_of_certificates_is_a_file(tmp_path: Path) -> None:
    (tmp_path / "ca.pem").touch()
    (database,) = databases(f"a=mysql://tide:p%C3%A9@db/school?ssl_ca={tmp_path}/ca.pem")
    assert (database.ca, database.password) == (f"{tmp_path}/ca.pem", "p\u00e9")


@pytest.mark.parametrize(
    ("setting", "problem"),
    [
        ("mysql://tide:secret@db/school", "instance before the sign ="),
        ("mysql://tide:secret=secret@db/school", "instance before the sign ="),
        ("a=postgresql://tide:secret@db/school", "postgresql+psycopg2://tide:***@db/school"),
        ("a=mysql://db/school", "user"),
        ("a=mysql://tide:secret@db/", "database after the host"),
        ("a=mysql://tide:secret@db:port/school", "not a URL"),
        ("a=mysql://tide@db/school?password=secret", "an option 'password'"),
        ("a=mysql://tide:secret@db/school?ssl_ca=/none/there.pem", "the file of ssl_ca does not exist"),
        *(
            (f"a=mysql://tide:hush@db/school{between}b=mysql://cap:secret@db2/school", "commas separate entries")
            for between in (";", " ", "|", "\n", "&", "%2C", "/")
        ),
        ("a=mysql://tide:hush@db/school?b=mysql://cap:secret@db2/school", "an option"),
        ("a=mysql://tide:hush@db b=mysql://cap:secret@db2/school", ""),
        ("a=mysql://tide:secret@db/s,a=mysql://tide:secret@db2/s", "two addresses"),
    ],
)
def test_an_invalid_address_is_refused_and_no_password_is_shown(setting: str, problem: str) -> None:
    with pytest.raises(DatabaseAddressError, match="TIDEMARK_DATABASES") as caught:
        databases(setting)
    assert problem in str(caught.value)
    assert "secret" not in str(caught.value)


def test_no_password_is_in_the_text_of_its_object() -> None:
    settings = Settings.load({"TIDEMARK_DATABASES": "a=mysql://tide:secret@db/school"})
    (database,) = databases(settings.databases.get_secret_value())
    assert database.password == "secret"
    assert "secret" not in f"{settings!r} {settings.model_dump_json()} {database!r} {database}"
