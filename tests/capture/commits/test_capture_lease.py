"""The newer of two data folders with one warehouse captures; the older one is refused with a message."""

import shutil
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import pytest

from tests.lake_folder import lake_folder
from tidemark.capture.commits.capture_lease import TABLE, CaptureLease, forget_lease, renew_lease
from tidemark.capture.errors import FencedCaptureError
from tidemark.state_store.database import Database
from tidemark.system.settings import Settings

NOW = datetime(2026, 3, 23, 10, tzinfo=UTC)


def folders(tmp_path: Path) -> tuple[Settings, Settings]:
    shared = str(tmp_path / "warehouse")
    return Settings.at(tmp_path / "old", warehouse=shared), Settings.at(tmp_path / "new", warehouse=shared)


def test_the_newer_data_folder_has_the_next_token_and_the_older_one_is_refused(tmp_path: Path) -> None:
    old, new = folders(tmp_path)
    first = CaptureLease.obtain(old, Database.of(old), NOW)
    assert CaptureLease.obtain(old, Database.of(old), NOW) == first
    second = CaptureLease.obtain(new, Database.of(new), NOW)
    assert (first.fencing_token, second.fencing_token) == (1, 2)
    for _ in range(2):
        with pytest.raises(FencedCaptureError, match=r"another capture took over.*fencing token 2.*take-over"):
            CaptureLease.obtain(old, Database.of(old), NOW)
    assert "fencing token 2" in CaptureLease.later_holder(old, Database.of(old))
    assert CaptureLease.obtain(new, Database.of(new), NOW) == second


def test_an_older_copy_of_a_state_store_gets_a_later_token_than_it_ever_had(tmp_path: Path) -> None:
    settings, _ = folders(tmp_path)
    with closing(Database.of(settings)) as database:
        CaptureLease.obtain(settings, database, NOW)
    shutil.copy(settings.state_db, tmp_path / "yesterday")
    with closing(Database.of(settings)) as database:
        for _ in range(2):
            with database.writing() as connection:
                renew_lease(settings, database, connection, NOW)
        assert CaptureLease.obtain(settings, database, NOW).fencing_token == 3
    for file in settings.state_db.parent.glob("state.db*"):
        file.unlink()
    shutil.copy(tmp_path / "yesterday", settings.state_db)
    with closing(Database.of(settings)) as database:
        assert [CaptureLease.obtain(settings, database, NOW).fencing_token for _ in range(2)] == [4, 4]
        assert CaptureLease.later_holder(settings, database) == ""


def test_take_over_gets_the_lease_back(tmp_path: Path) -> None:
    old, new = folders(tmp_path)
    CaptureLease.obtain(old, Database.of(old), NOW)
    CaptureLease.obtain(new, Database.of(new), NOW)
    forget_lease(old, Database.of(old))
    assert CaptureLease.obtain(old, Database.of(old), NOW).fencing_token == 3
    with pytest.raises(FencedCaptureError, match="fencing token 3"):
        CaptureLease.obtain(new, Database.of(new), NOW)


def test_two_leases_with_one_token_are_distinguished_by_their_holders(tmp_path: Path) -> None:
    old, new = folders(tmp_path)
    first = CaptureLease.obtain(old, Database.of(old), NOW)
    other = CaptureLease(first.fencing_token, "another", "host", NOW.isoformat())
    other.write_to(new.warehouse)
    with pytest.raises(FencedCaptureError, match="another on host"):
        CaptureLease.obtain(old, Database.of(old), NOW)


def test_a_holder_that_died_before_it_wrote_its_lease_writes_it(tmp_path: Path) -> None:
    old, new = folders(tmp_path)
    first = CaptureLease.obtain(old, Database.of(old), NOW)
    before = CaptureLease(first.fencing_token - 1, "before", "host", NOW.isoformat())
    before.write_to(old.warehouse)
    assert CaptureLease.obtain(old, Database.of(old), NOW) == first
    assert lake_folder(new.warehouse / TABLE).is_dir()
    assert CaptureLease.obtain(new, Database.of(new), NOW).fencing_token == 2
