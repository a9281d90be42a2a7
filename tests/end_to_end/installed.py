"""The wheel, built from a copy of the sources and installed where nothing of the checkout is in reach.

Libraries are those of the test's own environment, made visible by a .pth file: nothing is downloaded. A .pth file in a
folder that is only on the path is not read, so the checkout's editable install stays out of reach.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
import venv
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from tests.project import CHECKOUT

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_SOURCES: Final = ("tidemark", "warehouse_assets", "sensors", "resources")
_FILES: Final = (
    "pyproject.toml",
    "README.md",
    "LICENSE",
    "workspace.yaml",
    "tidemark.yaml",
    "dagster_home/dagster.yaml",
)
_SECONDS: Final = 600


@dataclass(frozen=True)
class Installed:
    """A Python environment that has the wheel."""

    prefix: Path

    @property
    def python(self) -> Path:
        return self.prefix / "bin" / "python"

    @property
    def env(self) -> Mapping[str, str]:
        """What a new user's shell has: nothing of this process's settings or paths."""
        kept = {name: value for name, value in os.environ.items() if name in {"HOME", "JAVA_HOME", "LANG", "TMPDIR"}}
        return {**kept, "PATH": f"{self.prefix / 'bin'}{os.pathsep}{os.environ['PATH']}"}

    def run(self, folder: Path, *command: str) -> str:
        """What a command says; the test fails where the command does."""
        done = self.call(folder, *command)
        assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
        return done.stdout

    def call(self, folder: Path, *command: str) -> subprocess.CompletedProcess[str]:
        return _call(command, folder, self.env)


def build(folder: Path) -> Path:
    """The wheel, in a folder: what is built lies in no checkout."""
    source = folder / "source"
    for name in _SOURCES:
        shutil.copytree(CHECKOUT / name, source / name, symlinks=True, ignore=shutil.ignore_patterns("__pycache__"))
    for name in _FILES:
        (source / name).parent.mkdir(exist_ok=True)
        shutil.copyfile(CHECKOUT / name, source / name)
    command = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(folder / "dist")]
    done = _call(command, source, {name: value for name, value in os.environ.items() if name != "PYTHONPATH"})
    assert done.returncode == 0, done.stdout + done.stderr
    shutil.rmtree(source)
    (wheel,) = (folder / "dist").iterdir()
    return wheel


def install(wheel: Path, prefix: Path) -> Installed:
    """The wheel in a new environment, with the libraries and Spark's jars of this one."""
    venv.create(prefix, symlinks=True)
    made = Installed(prefix)
    own = Path(
        made.run(prefix, str(made.python), "-c", "import sysconfig; print(sysconfig.get_path('purelib'))").strip()
    )
    libraries = sorted({sysconfig.get_path("purelib"), sysconfig.get_path("platlib")})
    (own / "libraries.pth").write_text("\n".join(libraries) + "\n")
    shared = Path(sys.prefix) / "share" / "tidemark"
    (prefix / "share").mkdir(exist_ok=True)
    (prefix / "share" / "tidemark").symlink_to(shared)
    pip = [sys.executable, "-m", "pip", "--python", str(made.python), "install", "--no-deps", "--no-index", str(wheel)]
    done = _call([*pip, "--ignore-installed"], prefix, dict(made.env))
    assert done.returncode == 0, done.stdout + done.stderr
    return made


def _call(command: Sequence[str], folder: Path, env: Mapping[str, str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command, cwd=folder, env=dict(env), capture_output=True, text=True, timeout=_SECONDS, check=False
    )
