"""The real chain under chaos: `python -m tests.components.chain SEED [--changes N] [--injections N] [--json]`.

Two MariaDB servers, Debezium on Kafka Connect, Kafka, the distribution service and a capture process, all of which are
killed, restarted and made to repeat themselves while changes flow. In the end every table and every hour's snapshot has
to hold exactly what the database answered: 0 lost, 0 doubled, 0 torn. Ends with 1 if it does not. The same seed is the
same story again, but for the machine's own timing.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from pathlib import Path

from tests.components.chain.play import play
from tests.components.chain.story import Story


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.components.chain", description=__doc__)
    parser.add_argument("seed", type=int)
    parser.add_argument("--changes", type=int, default=1_000_000, help="about; default %(default)s")
    parser.add_argument("--injections", type=int, default=100, help="default %(default)s")
    parser.add_argument("--hours", type=int, default=24, help="of simulated time, a snapshot each; default %(default)s")
    parser.add_argument("--rate", type=float, default=1000.0, help="changes a second at most; default %(default)s")
    parser.add_argument("--folder", type=Path, help="keep everything there; default: a temporary one")
    parser.add_argument("--json", action="store_true", help="the summary as one line of JSON")
    given = parser.parse_args(arguments)
    story, begun = Story(given.seed, given.changes, given.injections, given.hours), time.monotonic()

    def say(line: str) -> None:
        print(f"{time.monotonic() - begun:7.1f} s  {line}", file=sys.stderr, flush=True)

    command = (
        f"python -m tests.components.chain {given.seed} --changes {given.changes} --injections {given.injections} "
        f"--hours {given.hours} --rate {given.rate:g}"
    )
    with tempfile.TemporaryDirectory(prefix="tidemark-chain-", ignore_cleanup_errors=True) as temporary:
        told = play(story, (given.folder or Path(temporary)).absolute(), given.rate, say, command)
    print(told.as_json() if given.json else told)
    return 1 if told.problems else 0


if __name__ == "__main__":
    sys.exit(main())
