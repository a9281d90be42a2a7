"""The image's Dockerfile: linted, pinned, without root, and made of what is there. No engine builds it here."""

from __future__ import annotations

import fnmatch
import json
import re
import subprocess
import tomllib
from importlib.metadata import distribution, packages_distributions
from pathlib import PurePosixPath

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


def test_what_is_copied_is_there_and_let_through() -> None:
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


def test_the_environment_is_what_the_project_needs_and_no_more() -> None:
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
