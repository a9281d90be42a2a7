"""What the Dockerfile copies and runs, in folders in place of an image's: the environment is made, its commands start.

An engine would do the same as root of a file system of its own; here it is the same scripts on this machine's Python.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from tests.deploy.chart import rendered
from tests.deploy.dockerfile import Stage, stages
from tests.project import CHECKOUT

if TYPE_CHECKING:
    from pathlib import Path

_SECONDS = 1800
STAGES = stages()


def copy(stage: Stage, root: Path) -> None:
    """What a stage copies, below `root`; relative targets are below its working folder, which is `root` itself."""
    for sources, target in stage.copied():
        place = root / target.removeprefix("/project/").removeprefix("./")
        for source in sources:
            given = CHECKOUT / source
            if given.is_dir():
                shutil.copytree(given, place, symlinks=True, ignore=shutil.ignore_patterns("__pycache__"))
            else:
                into = place / given.name if target.endswith("/") else place
                into.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(given, into)


@pytest.mark.long
@pytest.mark.timeout(2400)
def test_the_environment_of_the_image_is_made_and_its_commands_start(tmp_path: Path) -> None:
    build, target, project = tmp_path / "build", tmp_path / "opt", tmp_path / "project"
    copy(STAGES["build"], build)
    (run,) = STAGES["build"].all("RUN")
    assert run == 'sh deploy/install.sh /opt/tidemark "$OBJECT_STORES"'
    (argument,) = STAGES["build"].all("ARG")
    name, _, stores = argument.partition("=")
    assert name == "OBJECT_STORES"
    python = os.path.dirname(os.path.realpath(sys.executable))  # noqa: PTH120 - not that of this environment
    plain = {"PATH": f"{python}:{os.environ['PATH']}", "HOME": str(tmp_path), "LANG": "C.UTF-8"}
    done = subprocess.run(
        ["sh", "deploy/install.sh", str(target), stores],
        cwd=build, env=plain, capture_output=True, text=True, check=False, timeout=_SECONDS,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "jars for Spark" in done.stdout
    assert "jars for S3" in done.stdout
    assert done.stdout.count("jars for") == 2, "the image has no jars that nobody asked for"
    assert list((target / "share" / "tidemark").glob("classes-*.jsa"))

    shutil.rmtree(build)  # an image's last stage has none of it
    copy(STAGES["project"], project)
    _make_read_only(target, project)
    env = {
        **plain,
        "PATH": f"{target / 'bin'}:{os.environ['PATH']}",
        "PYTHONDONTWRITEBYTECODE": "1", "PYTHONPATH": str(project), "TIDEMARK_ROOT": str(project),
        "TIDEMARK_DATA": str(tmp_path / "private" / "data"), "DAGSTER_HOME": str(tmp_path / "private"),
    }  # fmt: skip
    made = rendered("whole")
    commands = {
        tuple(container["args"])
        for _, container in made.containers()
        if container["name"] != "proxy" and "args" in container
    }
    commands |= {("dagster", "api", "execute_run"), ("dagster-daemon", "liveness-check"), ("tidemark", "health", "up")}
    for command in sorted(commands):
        shown = subprocess.run([*command, "--help"], env=env, capture_output=True, text=True, check=False, timeout=120)
        assert shown.returncode == 0, (command, shown.stderr)
    checked = subprocess.run(["tidemark", "check"], env=env, capture_output=True, text=True, check=False, timeout=600)
    assert checked.returncode == 0, checked.stdout + checked.stderr


def _make_read_only(*folders: Path) -> None:
    for folder in folders:
        for path in (folder, *folder.rglob("*")):
            if not path.is_symlink():
                path.chmod(path.stat().st_mode & ~0o222)
