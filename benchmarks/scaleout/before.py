"""Local disk now against an older commit: a process of each, in turns."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from statistics import median
from typing import TYPE_CHECKING, Any, Final

from tests.project import CHECKOUT

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

_OWN: Final = "benchmarks/scaleout"
_STEP_FILES: Final = ("local_steps.py", "world.py")
"""What an older commit runs of this benchmark: the rest imports what that does not have."""
_WARM: Final = 4
_STEPS: Final = ("slice", "merge")


@dataclass
class _Version:
    """A process of one state of the code, and what each step took it: wall and processor seconds."""

    process: subprocess.Popen[str]
    took: dict[str, list[tuple[float, float]]] = field(default_factory=lambda: {step: [] for step in _STEPS})

    def answer(self) -> str:
        assert self.process.stdout is not None
        line = self.process.stdout.readline().strip()
        if not line:
            raise RuntimeError("a process of the comparison has ended")
        return line

    def do(self, step: str, number: int) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(f"{step} {number}\n")
        self.process.stdin.flush()
        wall, cpu = self.answer().split()
        self.took[step].append((float(wall), float(cpu)))


def local_ratios(folder: Path, commit: str, rounds: int) -> dict[str, Any]:
    """`local_ratio_before` and `local_cpu_ratio_before`: a slice and a merge together, now / then, medians of turns."""
    with ExitStack() as stack:
        versions = {
            "before": stack.enter_context(_running(_checked_out(folder / "code", commit), folder / "before")),
            "now": stack.enter_context(_running(CHECKOUT, folder / "now")),
        }
        for version in versions.values():
            version.answer()
        for number in range(_WARM + rounds):
            # Who is first in a turn alternates.
            for version in list(versions.values())[:: 1 if number % 2 else -1]:
                for step in _STEPS:
                    version.do(step, number)
            sys.stderr.write(f"  turn {number + 1} of {_WARM + rounds}\n")
    return {"local_before": commit, **_ratios(versions)}


def _ratios(versions: Mapping[str, _Version]) -> dict[str, Any]:
    figures: dict[str, Any] = {}
    for name, at in (("local_ratio_before", 0), ("local_cpu_ratio_before", 1)):
        turns = {
            version: [sum(took[at] for took in steps) for steps in zip(*told.took.values(), strict=True)][_WARM:]
            for version, told in versions.items()
        }
        pairs = zip(turns["now"], turns["before"], strict=True)
        figures[name] = round(median(now / before for now, before in pairs), 3)
    return figures


def _checked_out(target: Path, commit: str) -> Path:
    """The code of a commit, with this benchmark in it."""
    subprocess.run(["git", "clone", "--quiet", "--no-checkout", str(CHECKOUT), str(target)], check=True)
    subprocess.run(["git", "-C", str(target), "checkout", "--quiet", "--detach", commit], check=True)
    own = target / _OWN
    shutil.rmtree(own, ignore_errors=True)
    own.mkdir()
    own.joinpath("__init__.py").touch()
    for name in _STEP_FILES:
        shutil.copy(CHECKOUT / _OWN / name, own / name)
    return target


@contextmanager
def _running(code: Path, folder: Path) -> Iterator[_Version]:
    command = [sys.executable, "-m", "benchmarks.scaleout.local_steps", str(folder)]
    env = {**os.environ, "PYTHONPATH": str(code)}
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True, env=env, cwd=code) as process:
        yield _Version(process)
        assert process.stdin is not None
        process.stdin.close()
