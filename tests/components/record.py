"""The recorder: `python -m tests.components.record` plays the workload on real servers and writes the sample.

MariaDB executes the workload, Debezium captures it through Kafka into `changes/`, and at each slice's end MariaDB
itself answers what is in its tables and what the figures are: `oracle.json.xz`.
"""

from __future__ import annotations

import argparse
import json
import lzma
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import date
from pathlib import Path

from tests.components.errors import RecordingError
from tests.components.oracle.ask import Oracle
from tests.components.oracle.slices import slices
from tests.components.recording import Recorded, Tally, record_topic
from tests.components.stack import Stack, capture_stack
from tests.components.workload import clock
from tests.components.workload.changes import Change, RowChange, Settings
from tests.components.workload.plan import last_beat, plan
from tests.components.workload.player import Player
from tests.components.workload.schema import HEARTBEAT, INSTANCES, Instance
from tests.components.workload.sql import statements
from tidemark.capture.source_table import topic_of
from tidemark.console.project_files import SAMPLE

MEGABYTE = 1_000_000

Progress = Callable[[str], None]


@dataclass(frozen=True)
class Recording:
    """A finished recording: per instance what was recorded, and what the workload had done."""

    directory: Path
    recorded: dict[Instance, Recorded]
    played: dict[Instance, Tally]

    @property
    def changes(self) -> int:
        """Row changes besides heartbeats."""
        tallies = (recorded.changes for recorded in self.recorded.values())
        return sum(count for tally in tallies for (table, _), count in tally.items() if table != HEARTBEAT)


def record(settings: Settings, out: Path, work: Path, progress: Progress) -> Recording:
    """Start the servers in `work`, play, and write the recording to `out`; RecordingError when it is not complete."""
    with capture_stack(work, progress) as stack:
        changes = list(plan(settings))
        oracle = play(stack, settings, changes, progress)
        progress("writing what arrived in Kafka")
        recording = Recording(out, _collect(stack, settings, out), _tallies(changes))
    _check_complete(recording)
    answers = {
        "time_zone": clock.ZONE.key,
        "changes": recording.changes,
        "snapshots": oracle.snapshots,
        "metrics": oracle.metrics,
    }
    with lzma.open(out / "oracle.json.xz", "wt", encoding="utf-8", preset=9 | lzma.PRESET_EXTREME) as file:
        json.dump(answers, file, ensure_ascii=False, indent=1)
    return recording


def play(stack: Stack, settings: Settings, changes: Sequence[Change], progress: Progress) -> Oracle:
    """Execute the changes on the sources, and ask the oracle whenever a slice ends."""
    oracle = Oracle(stack.replica, stack.sources, settings.first_day)
    oracle.start()
    with ExitStack() as stacked:
        sessions = {
            instance: stacked.enter_context(source.connect())
            for instance, source in zip(INSTANCES, stack.sources, strict=True)
        }
        player, prepared, due = Player(sessions), False, slices(settings)
        for statement in statements(changes):
            while due and statement.at >= due[0].end:
                player.flush()
                if not prepared:
                    oracle.prepare()
                    prepared = True
                own = due.pop(0)
                oracle.ask(own)
                if own.period == "day":
                    progress(f"{own.name} played: {player.changes:,} changes so far")
            player.play(statement)
        player.flush()
    return oracle


def _collect(stack: Stack, settings: Settings, out: Path) -> dict[Instance, Recorded]:
    def collect(instance: Instance, topic: str) -> Recorded:
        directory = out / "changes" / instance
        return record_topic(stack.kafka.bootstrap_servers, topic, last_beat(settings, instance), directory)

    topics = [topic_of(source.name) for source in stack.sources]
    with ThreadPoolExecutor(len(topics)) as threads:
        return dict(zip(INSTANCES, threads.map(collect, INSTANCES, topics), strict=True))


def _tallies(changes: Iterable[Change]) -> dict[Instance, Tally]:
    tallies: dict[Instance, Tally] = {instance: Counter() for instance in INSTANCES}
    for change in changes:
        if isinstance(change, RowChange):
            tallies[change.instance][change.table, change.operation] += 1
    return tallies


def _check_complete(recording: Recording) -> None:
    for instance, recorded in recording.recorded.items():
        played = recording.played[instance]
        if recorded.changes != played:
            raise RecordingError(
                f"the recording of instance {instance} is not what was played",
                expected=f"{dict(played - recorded.changes)} more",
                found=f"{dict(recorded.changes - played)} too many",
                hint="record again",
            )


def _arguments(arguments: Sequence[str] | None) -> argparse.Namespace:
    default = Settings()
    parser = argparse.ArgumentParser(prog="python -m tests.components.record", description=__doc__)
    parser.add_argument("--days", type=int, default=default.days, help="Paris days to play (default %(default)s)")
    parser.add_argument("--first-day", type=date.fromisoformat, default=default.first_day, help="default %(default)s")
    parser.add_argument(
        "--changes-per-day", type=int, default=default.changes_per_day, help="about, default %(default)s"
    )
    parser.add_argument("--seed", type=int, default=default.seed, help="default %(default)s")
    parser.add_argument("--out", type=Path, default=SAMPLE, help="default: the sample of the repository")
    return parser.parse_args(arguments)


def main(arguments: Sequence[str] | None = None) -> None:
    """Record, with a line of progress a step."""
    given, started = _arguments(arguments), time.monotonic()

    def progress(line: str) -> None:
        print(f"{time.monotonic() - started:6.1f} s  {line}", flush=True)

    settings = Settings(given.first_day, given.days, given.changes_per_day, given.seed)
    with tempfile.TemporaryDirectory(prefix="tidemark-record-") as work:
        recording = record(settings, given.out, Path(work), progress)
    size = sum(file.stat().st_size for file in given.out.rglob("*.xz"))
    progress(f"{recording.changes:,} changes recorded in {given.out}: {size / MEGABYTE:.2f} MB")


if __name__ == "__main__":
    main()
