"""Folders that suppliers fill: nothing unpacks by its name, no link leads out, no message shows what a file holds."""

from __future__ import annotations

import gzip
from typing import TYPE_CHECKING

import pytest

from tests.crawl.probed_rules import DAY
from tests.crawl.source_world import look
from tidemark.crawl.errors import ProbeError

if TYPE_CHECKING:
    from pathlib import Path

CANARY = "db_password=hunter2"
RULES = "quality: [{not_null: [id]}]\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "drop" / DAY
    made.mkdir(parents=True)
    return made


def probe_of(folder: Path, more: str = "") -> str:
    return f"files: {{path: '{folder.parent}/{{key}}'{more}}}"


@pytest.mark.parametrize("ending", ["gz", "bz2", "zst", "lz4"])
def test_a_manifest_is_read_without_decompression(folder: Path, ending: str) -> None:
    (folder / "a.csv").write_text("id\n1\n")
    (folder / f"MANIFEST.{ending}").write_bytes(gzip.compress(b"a.csv\n" * 3_000_000))
    assert not look(probe_of(folder, f", manifest: MANIFEST.{ending}"), DAY).is_there


def test_a_line_of_a_manifest_is_shown_as_one_bounded_line(folder: Path) -> None:
    (folder / "a.csv").write_text("id\n1\n")
    (folder / "M").write_text("\x1b[2J" + "x" * 10_000)
    why = look(probe_of(folder, ", manifest: M"), DAY).why
    assert why.isprintable()
    assert len(why) < 300


@pytest.mark.parametrize("target", ["other.csv", "/etc/hostname", "..", "/", "nowhere"])
def test_a_link_out_of_the_folder_is_refused(folder: Path, target: str) -> None:
    (folder.parent.parent / "other.csv").write_text(f"id\n{CANARY}\n")
    (folder / "a.csv").symlink_to(folder.parent.parent / target)
    (folder / "b.csv").write_text("id\n1\n")
    with pytest.raises(ProbeError, match="a link leads out of the folder") as caught:
        look(probe_of(folder), DAY, more=RULES)
    assert CANARY not in str(caught.value)


def test_a_link_within_the_folder_and_the_folder_itself_may_be_links(folder: Path, tmp_path: Path) -> None:
    (folder / "a.csv").write_text("id\n1\n")
    (folder / "b.csv").symlink_to(folder / "a.csv")
    (tmp_path / "link").symlink_to(folder.parent)
    sight = look(f"files: {{path: '{tmp_path}/link/{{key}}'}}", DAY, more=RULES)
    assert (sight.is_there, dict(sight.measured)) == (True, {"not_null": 0})


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.csv", f"id,b,c\n{CANARY} in a line\n"),
        ("a.csv", f"id\n1\n{CANARY},2,3\n"),
        ("a.json", f'{{"id": 1}}\n{{"id": "{CANARY}"\n'),
        ("a.json", f'{{"id": 1}}\n["{CANARY}"]\n'),
        ("a.json", f"{CANARY}\n"),
        ("a.parquet", CANARY),
        ("a.csv", f"{CANARY},1\n"),
    ],
)
def test_no_message_shows_the_content_of_a_file(folder: Path, name: str, text: str) -> None:
    (folder / name).write_text(text)
    with pytest.raises(ProbeError) as caught:
        look(probe_of(folder), DAY, more=RULES)
    assert "hunter2" not in str(caught.value)


@pytest.mark.parametrize("column", ["user", "current_date", "session_user", "[foo]", "current_timestamp", "rowid"])
def test_a_missing_column_is_not_a_function(folder: Path, column: str) -> None:
    (folder / "a.csv").write_text("id\n1\n")
    for rule in ("not_null: ['{}']", "unique: ['{}']", "range: {{column: '{}', min: 0}}"):
        with pytest.raises(ProbeError, match="use columns that the rows do not have"):
            look(probe_of(folder), DAY, more=f"quality: [{{{rule.format(column)}}}]\n")
