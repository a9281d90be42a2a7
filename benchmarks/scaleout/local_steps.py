"""Slices and merges on disk, a step a line: `python -m benchmarks.scaleout.local_steps FOLDER`.

Each line of its input is `slice` or `merge` and a number; the answer is the wall and processor seconds that it took.
"""

from __future__ import annotations

import sys
from pathlib import Path

from benchmarks.scaleout.world import SmallLake
from benchmarks.timing import Timer


def main() -> None:
    lake = SmallLake.at(Path(sys.argv[1]))
    lake.start()
    lake.begin()
    _say("ready")
    for line in sys.stdin:
        step, number = line.split()
        timer = Timer(0)
        if step == "slice":
            lake.fill(int(number))
            timer.run(lambda number=number: lake.compute(int(number)))  # type: ignore[misc]
        else:
            lake.change()
            timer.run(lake.merge)
        _say(f"{timer.wall[-1]} {timer.cpu[-1]}")


def _say(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
