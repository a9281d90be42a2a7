"""From the setting to the store."""

from __future__ import annotations

from pathlib import Path

import pytest

from tidemark.olap import open_store
from tidemark.olap.duckdb_store import DuckDbStore
from tidemark.olap.errors import OlapSettingError
from tidemark.olap.postgres_store import PostgresStore

DATA = Path("/data")


def test_the_embedded_store_is_a_file_in_the_data_folder() -> None:
    assert open_store("duckdb", DATA) == DuckDbStore(DATA / "olap.duckdb")


@pytest.mark.parametrize("driver", ["postgresql", "postgresql+psycopg2"])
def test_a_url_names_a_server(driver: str) -> None:
    store = open_store(f"{driver}://bi:s3cret@db.example:5433/warehouse", DATA)

    assert isinstance(store, PostgresStore)
    assert store.where == "postgresql+psycopg2://bi:***@db.example:5433/warehouse"
    assert "s3cret" not in repr(store)


@pytest.mark.parametrize(
    ("setting", "shown"),
    [
        ("clickhouse", "the text is not a URL"),
        ("", "the text is not a URL"),
        ("postgresql://u:s3cret@host:no-port/db", "the text is not a URL"),
        ("mysql://u:s3cret@host/db", r"mysql://u:\*\*\*@host/db"),
        ("postgresql://u:s3cret@host", r"postgresql\+psycopg2://u:\*\*\*@host"),
        ("mysql://u@host/db?password=s3cret", r"mysql://u@host/db\?password=\*\*\*"),
    ],
)
def test_other_settings_are_refused_with_the_password_masked(setting: str, shown: str) -> None:
    with pytest.raises(
        OlapSettingError, match=f"^TIDEMARK_OLAP: the setting does not name an OLAP store.* found {shown}$"
    ) as refused:
        open_store(setting, DATA)
    assert "s3cret" not in str(refused.value)
