"""The image's Dockerfile: linted, pinned, without root, and made of what is there. No engine builds it here."""

from __future__ import annotations

import fnmatch
import json
import re
import subprocess
import tomllib
from importlib.metadata import distribution, packages_distributions
from importlib.util import find_spec
from pathlib import Path, PurePosixPath

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from deploy import image_requirements
from tests.deploy.chart import rendered
from tests.deploy.dockerfile import DOCKERFILE, stages
from tests.deploy.test_chart_pods import KNOWN
from tests.deploy.tools import HADOLINT, require
from tests.project import CHECKOUT

STAGES = stages()
PROJECT = tomllib.loads((CHECKOUT / "pyproject.toml").read_text())
OBJECT_STORES = "tidemark.spark.object_store"
LOCK = (CHECKOUT / "requirements.lock").read_text()


def test_the_linter_finds_nothing() -> None:
    done = subprocess.run([require(HADOLINT), str(DOCKERFILE)], capture_output=True, text=True, check=False, timeout=60)
    assert done.stdout == ""
    assert done.returncode == 0


def test_one_base_is_pinned_and_the_stages_follow() -> None:
    assert {name: stage.base for name, stage in STAGES.items()} == {
        "base": STAGES["base"].base, "build": "base", "engine": "base", "project": "engine",
    }  # fmt: skip
    assert re.fullmatch(r"python:3\.11\.\d+-slim-bookworm", STAGES["base"].base)


def test_copied_files_exist_and_are_not_ignored() -> None:
    kept = [line[1:] for line in _ignore_lines() if line.startswith("!")]
    copied = {source for stage in STAGES.values() for sources, _ in stage.copied() for source in sources}
    assert all((CHECKOUT / source).exists() for source in copied)
    assert copied == set(kept)
    assert _ignore_lines()[0] == "*"


def test_nothing_secret_or_made_goes_into_the_image() -> None:
    tracked = subprocess.run(["git", "ls-files"], cwd=CHECKOUT, capture_output=True, text=True, check=True, timeout=60)
    kept = [line[1:] for line in _ignore_lines() if line.startswith("!")]
    let_through = [
        path for path in tracked.stdout.splitlines() if any(PurePosixPath(path).is_relative_to(place) for place in kept)
    ]
    assert let_through
    assert not [
        path for path in let_through if fnmatch.fnmatch(path, "*.pem") or ".env" in path or path.startswith("tests")
    ]


def test_it_runs_as_the_user_of_the_pods_and_writes_where_volumes_are() -> None:
    engine = STAGES["engine"]
    (user,) = engine.all("USER")
    security = rendered("plain").pods["center"]["spec"]["securityContext"]
    assert user == f"{security['runAsUser']}:{security['runAsGroup']}"
    assert engine.instructions[-3][0] == "USER", "what follows needs no root"
    assert f"--uid {security['runAsUser']}" in " ".join(engine.all("RUN"))
    assert not STAGES["project"].all("USER")
    (lines,) = engine.all("ENV")
    given = dict(part.split("=", 1) for part in lines.split())
    mounts = {mount["mountPath"] for mount in rendered("plain").pods["center"]["spec"]["containers"][0]["volumeMounts"]}
    assert given["HOME"] in mounts
    assert given["DAGSTER_HOME"] in mounts
    assert {name for name in given if name.startswith("TIDEMARK_")} <= KNOWN
    assert json.loads(engine.all("ENTRYPOINT")[0]) == ["/usr/bin/tini", "--"]
    assert given["TIDEMARK_ROOT"] == given["PYTHONPATH"] == engine.all("WORKDIR")[0]


def test_the_project_is_where_the_settings_look_for_it() -> None:
    targets = [target for _, target in STAGES["project"].copied()]
    assert all(target.startswith("/project/") for target in targets)
    copied = {source for sources, _ in STAGES["project"].copied() for source in sources}
    assert {"tidemark.yaml", "workspace.yaml", "warehouse_assets"} <= copied


@pytest.mark.parametrize(
    ("stores", "modules"),
    [("s3", ["s3_jars"]), ("", []), ("s3 gs  abfss", ["s3_jars", "gcs_jars", "azure_jars"]), ("abfss", ["azure_jars"])],
)
def test_the_jars_are_those_of_the_named_stores(stores: str, modules: list[str], tmp_path: Path) -> None:
    """The script with a Python that notes what it is asked for: jars are fetched by the long test."""
    done, asked = installed(tmp_path, stores)
    assert done.returncode == 0, done.stderr
    fetched = [line.rpartition(".")[2] for line in asked if line.startswith(f"-m {OBJECT_STORES}.")]
    assert fetched == modules
    assert asked.index("-m tidemark.spark.jars") < asked.index("-m tidemark.spark.write_class_archive")


def test_the_modules_of_all_stores_are_there() -> None:
    script = (CHECKOUT / "deploy" / "install.sh").read_text()
    modules = re.findall(r'modules="\$modules (\w+)"', script)
    assert len(modules) == 3
    assert [name for name in modules if find_spec(f"{OBJECT_STORES}.{name}") is None] == []


@pytest.mark.parametrize("stores", ["azure", "s3,gs", "s3 gcs", "S3"])
def test_a_store_that_is_not_known_ends_the_build_before_anything_is_made(stores: str, tmp_path: Path) -> None:
    done, asked = installed(tmp_path, stores)
    assert done.returncode == 2
    assert asked == []
    assert "OBJECT_STORES: expected s3, gs, abfss or several of them with blanks between; found '" in done.stderr
    assert f"in '{stores}'" in done.stderr


def installed(folder: Path, stores: str) -> tuple[subprocess.CompletedProcess[str], list[str]]:
    """deploy/install.sh with a Python that does nothing, and what that was asked for."""
    notes, python = folder / "asked", folder / "python3"
    notes.touch()
    python.write_text(
        f'#!/bin/sh\necho "$@" >> {notes}\nif [ "$2" = venv ]; then mkdir -p "$3/bin"; cp $0 "$3/bin/python"; fi\n'
    )
    python.chmod(0o755)
    command = ["sh", str(CHECKOUT / "deploy" / "install.sh"), str(folder / "opt"), stores]
    plain = {"PATH": f"{folder}:/usr/bin:/bin"}
    done = subprocess.run(command, env=plain, cwd=CHECKOUT, capture_output=True, text=True, check=False, timeout=60)
    return done, notes.read_text().splitlines()


def test_the_environment_has_exactly_the_needed_packages() -> None:
    chosen = image_requirements.selected(LOCK, PROJECT)
    names = set(re.findall(r"^([a-z0-9][a-z0-9.-]*)==", chosen, re.MULTILINE))
    assert {"dagster", "dagster-k8s", "pyspark", "deltalake", "setuptools"} <= names
    assert not names & {"pytest", "mypy", "ruff", "selenium", "hypothesis", "wheel", "twine"}
    # As the installed packages say it of themselves.
    direct = [*PROJECT["project"]["dependencies"], *PROJECT["project"]["optional-dependencies"]["kubernetes"]]
    needed = _closure([*direct, *PROJECT["build-system"]["requires"]])
    assert needed <= names
    installed = {canonicalize_name(name) for many in packages_distributions().values() for name in many}
    of_an_extra = {"pysocks"}  # the lock does not say that it is the tests' browser alone that asks urllib3 for it
    assert (names - needed) & installed <= of_an_extra
    entries = re.split(r"^(?=[a-z0-9])", chosen, flags=re.MULTILINE)[1:]
    assert all("--hash=sha256:" in entry for entry in entries)


def test_a_lock_that_lacks_something_is_refused() -> None:
    with pytest.raises(ValueError, match=r"requirements\.lock lacks dagster-k8s: lock it again"):
        image_requirements.selected(re.sub(r"^dagster-k8s==", "dagster-k9s==", LOCK, flags=re.MULTILINE), PROJECT)


def _ignore_lines() -> list[str]:
    text = DOCKERFILE.with_name("Dockerfile.dockerignore").read_text(encoding="utf-8")
    return [line for line in text.splitlines() if line and not line.startswith("#")]


def _closure(lines: list[str]) -> set[str]:
    """The names of packages, with all that they need here; of extras those that something asks for."""
    needed: set[tuple[str, frozenset[str]]] = set()
    waiting = [Requirement(line) for line in lines]
    while waiting:
        wanted = waiting.pop()
        key = (canonicalize_name(wanted.name), frozenset(wanted.extras))
        if key in needed:
            continue
        needed.add(key)
        for text in distribution(wanted.name).requires or ():
            inner = Requirement(text)
            extras = wanted.extras or {""}
            if inner.marker is None or any(inner.marker.evaluate({"extra": extra}) for extra in extras):
                waiting.append(inner)
    return {str(name) for name, _ in needed}
