"""The replayed stream arrives as it was recorded: whole, in order, once."""

import gzip
import json
import lzma
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tidemark.console.demo.change_feed import ChangeFeed
from tidemark.console.demo.errors import SampleError

START = datetime(2026, 3, 23, tzinfo=UTC)


def write_sample(folder: Path, instance: str, minutes: list[int | None], split: int) -> None:
    """A recording of events at these minutes, None standing for a tombstone, in two files cut at `split`."""
    target = folder / "changes" / instance
    target.mkdir(parents=True)
    lines = []
    for offset, minute in enumerate(minutes):
        at = None if minute is None else int((START + timedelta(minutes=minute)).timestamp() * 1000)
        lines.append(json.dumps({"offset": offset, "value": None if at is None else {"source": {"ts_ms": at}}}) + "\n")
    for name, part in (("2026-03-23", lines[:split]), ("2026-03-24", lines[split:])):
        with lzma.open(target / f"{name}.jsonl.xz", "wt") as file:
            file.writelines(part)


def landed_offsets(landing: Path, instance: str) -> list[int]:
    """Offsets in the order of the landed files' names."""
    offsets = []
    for path in sorted((landing / instance).glob("*.jsonl.gz")):
        with gzip.open(path, "rt") as file:
            in_file = [json.loads(line)["offset"] for line in file]
        assert path.name == f"{in_file[0]:012d}.jsonl.gz"
        offsets += in_file
    return offsets


def test_records_before_the_moment_land_and_a_tombstone_with_its_delete(tmp_path: Path) -> None:
    write_sample(tmp_path, "a", [0, 5, None, 10, 15], split=3)
    feed = ChangeFeed(tmp_path, tmp_path / "landing")
    assert feed.land(START + timedelta(minutes=10)) == 3
    assert landed_offsets(tmp_path / "landing", "a") == [0, 1, 2]
    assert feed.land(START + timedelta(minutes=60)) == 2
    assert landed_offsets(tmp_path / "landing", "a") == [0, 1, 2, 3, 4]


@settings(max_examples=40, deadline=None)
@given(
    minutes=st.lists(st.integers(0, 100), min_size=1, max_size=30).map(sorted),
    stops=st.lists(st.integers(0, 120), min_size=1, max_size=6).map(sorted),
    restart_after=st.integers(0, 6),
)
def test_any_stops_and_a_restart_land_everything_once(
    tmp_path_factory: pytest.TempPathFactory, minutes: list[int], stops: list[int], restart_after: int
) -> None:
    folder = tmp_path_factory.mktemp("feed")
    write_sample(folder, "a", list(minutes), split=len(minutes) // 2)
    feed = ChangeFeed(folder, folder / "landing")
    for stop in stops[:restart_after]:
        feed.land(START + timedelta(minutes=stop))
    again = ChangeFeed(folder, folder / "landing")
    for stop in [*stops, 200]:
        again.land(START + timedelta(minutes=stop))
    assert landed_offsets(folder / "landing", "a") == list(range(len(minutes)))


def test_a_broken_recording_names_the_file_and_the_fix(tmp_path: Path) -> None:
    write_sample(tmp_path, "a", [0, 5], split=1)
    broken = tmp_path / "changes" / "a" / "2026-03-24.jsonl.xz"
    broken.write_bytes(broken.read_bytes()[:-12])
    with pytest.raises(SampleError, match=r"2026-03-24.jsonl.xz.*git checkout -- sample"):
        ChangeFeed(tmp_path, tmp_path / "landing").land(START + timedelta(days=1))


def test_an_empty_recording_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "changes").mkdir()
    with pytest.raises(SampleError, match="the recording is empty"):
        ChangeFeed(tmp_path, tmp_path / "landing")
