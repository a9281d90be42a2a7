"""The page shows what `tidemark engines` prints for readers of Iceberg's metadata."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

import pytest

from tests.project import CHECKOUT
from tidemark.engines.engine_names import ICEBERG_ENGINES
from tidemark.engines.iceberg_text import IcebergTag, iceberg_text
from tidemark.system.s3_access import S3Access
from tidemark.system.table_location import ObjectLocation

_PAGE: Final = CHECKOUT / "docs" / "engines.md"
_TAG: Final = IcebergTag(Path("/data/warehouse/_iceberg/dws_course_orders_1d"), "2026-03-29", 1 << 62)


@pytest.mark.parametrize("engine", ICEBERG_ENGINES)
def test_the_page_shows_what_is_printed(engine: str) -> None:
    page = _PAGE.read_text(encoding="utf-8")
    section = re.search(rf"^### .* \(`{engine}`\)\n(.*?)(?=^##|\Z)", page, re.MULTILINE | re.DOTALL)
    assert section is not None
    blocks = re.findall(r"^```(\w+)\n(.*?)^```", section[1], re.MULTILINE | re.DOTALL)
    assert blocks == [iceberg_text(engine, _TAG)[::2]]


def test_a_year_is_no_snapshot_of_that_number() -> None:
    text = iceberg_text("iceberg-spark", _TAG._replace(name="2026")).text
    assert f"VERSION AS OF {1 << 62};" in text


def test_an_object_store_is_named_as_the_reader_names_it() -> None:
    tag = _TAG._replace(table=ObjectLocation("lake", "w/_iceberg/t", S3Access("eu", "")))
    assert "'s3://lake/w/_iceberg/t'" in iceberg_text("iceberg-duckdb", tag).text
    assert "warehouse = s3a://lake/w/_iceberg\n" in iceberg_text("iceberg-spark", tag).text
