"""The partner's program as a process: each region after its own midnight, once, also when it was killed."""

from __future__ import annotations

from datetime import date, datetime
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo

import pytest

from tidemark.console.demo.ad_partner_process import TABLE, AdPartner
from tidemark.console.demo.errors import PartnerError
from tidemark.delta.open_table import open_table
from tidemark.system.settings import Settings
from tidemark.warehouse.warehouse import Warehouse, load_warehouse

if TYPE_CHECKING:
    from pathlib import Path

    from tests.components.s3_server import S3Server

PARIS = ZoneInfo("Europe/Paris")
LAST = date(2026, 3, 24)


@pytest.fixture
def warehouse(tmp_path: Path) -> Warehouse:
    return load_warehouse(Settings.at(tmp_path / "data"))


def partitions(warehouse: Warehouse) -> set[tuple[str, str]]:
    return {(part["dt"], part["region"]) for part in open_table(warehouse.table_path(TABLE)).partitions()}


@pytest.mark.slow
def test_each_region_is_written_after_its_own_midnight_and_once(warehouse: Warehouse) -> None:
    with AdPartner(warehouse, LAST) as partner:
        assert partner.pass_time(datetime(2026, 3, 23, 20, 59, tzinfo=PARIS)) == 0
        assert partner.pass_time(datetime(2026, 3, 23, 21, tzinfo=PARIS)) == 1, "midnight of La Reunion"
        assert partner.pass_time(datetime(2026, 3, 24, tzinfo=PARIS)) == 1
        assert partitions(warehouse) == {("2026-03-23", "reunion"), ("2026-03-23", "metropole")}
    with AdPartner(warehouse, LAST) as another:
        assert another.pass_time(datetime(2026, 3, 24, 5, tzinfo=PARIS)) == 1, "Martinique, and none of before again"
        assert another.pass_time(datetime(2026, 4, 2, tzinfo=PARIS)) == 3, "nothing after its last day"
    table = open_table(warehouse.table_path(TABLE))
    assert (table.version(), table.to_pyarrow_table().num_rows) == (5, 18)


def test_a_dead_program_is_an_error(warehouse: Warehouse) -> None:
    with AdPartner(warehouse, LAST) as partner:
        assert partner.pass_time(datetime(2026, 3, 23, tzinfo=PARIS)) == 0
        assert partner._process is not None
        partner._process.kill()
        partner._process.wait()
        with pytest.raises(PartnerError, match="does not answer"):
            partner.pass_time(datetime(2026, 3, 24, tzinfo=PARIS))


@pytest.mark.long
@pytest.mark.components
def test_it_writes_into_an_object_store(object_store: S3Server, tmp_path: Path) -> None:
    stored = load_warehouse(Settings.at(tmp_path / "data", warehouse=object_store.location("partner")))
    with AdPartner(stored, LAST) as partner:
        assert partner.pass_time(datetime(2026, 3, 23, 21, tzinfo=PARIS)) == 1
    assert partitions(stored) == {("2026-03-23", "reunion")}
