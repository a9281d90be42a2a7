"""The built wheel runs a project of its own, from an empty folder, with nothing of this checkout in reach."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import zipfile
from typing import TYPE_CHECKING

import pytest

from tests.end_to_end.installed import Installed, build, install
from tests.project import CHECKOUT

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = [pytest.mark.components, pytest.mark.xdist_group("wheel"), pytest.mark.timeout(1200)]

QUERY = (
    "SELECT u.city, count(*) AS orders FROM dwd_orders AS o\n"
    "JOIN ods_users AS u ON u.user_id = o.user_id AND u.dt = o.dt\nWHERE o.dt = :biz_date GROUP BY u.city\n"
)


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(tmp_path_factory.mktemp("wheel"))


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Installed:
    return install(wheel, tmp_path_factory.mktemp("environment") / "venv")


def test_it_puts_one_name_into_an_environment_and_may_be_uploaded(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
    tops = {name.partition("/")[0] for name in names}
    assert {top for top in tops if not top.endswith(".dist-info")} == {"tidemark"}
    assert not [name for name in names if "__pycache__" in name]
    command = [sys.executable, "-m", "twine", "check", "--strict", str(wheel)]
    checked = subprocess.run(command, capture_output=True, text=True, check=False)
    assert checked.returncode == 0, checked.stdout


def test_nothing_of_the_checkout_is_in_reach(installed: Installed, tmp_path: Path) -> None:
    script = (
        "import importlib.util, json, tidemark;"
        "names = ['warehouse_assets', 'sensors', 'resources', 'tests', 'benchmarks'];"
        "print(json.dumps([tidemark.__file__, [name for name in names if importlib.util.find_spec(name)]]))"
    )
    file, others = json.loads(installed.run(tmp_path, str(installed.python), "-c", script))
    assert file.startswith(str(installed.prefix))
    assert others == []
    assert "PYTHONPATH" not in installed.env
    assert not tmp_path.is_relative_to(CHECKOUT)
    outside = installed.call(tmp_path, "tidemark", "check")
    assert (outside.returncode, "tidemark init" in outside.stderr) == (1, True), outside.stderr


def test_an_empty_project_is_sound(installed: Installed, tmp_path: Path) -> None:
    installed.run(tmp_path, "tidemark", "init", "shop", "--empty")
    shop = tmp_path / "shop"
    assert "no problems" in installed.run(shop / "sensors", "tidemark", "check")
    assert "no problems" in installed.run(tmp_path, "tidemark", "check", "--root", "shop")
    installed.run(shop, str(installed.python), "-m", "pytest", "-q", "-p", "no:cacheprovider")


@pytest.mark.long
def test_a_table_is_added_to_the_sample(installed: Installed, tmp_path: Path) -> None:
    installed.run(tmp_path, "tidemark", "init", "my_warehouse", "--sample", "school")
    root = tmp_path / "my_warehouse"
    assert "no problems" in installed.run(root, "tidemark", "check")

    (tmp_path / "city.sql").write_text(QUERY)
    new = ["tidemark", "new", "dws_city_orders_1d", "--query", str(tmp_path / "city.sql"), "--json"]
    written = json.loads(installed.run(root, *new))
    assert [entry["entity"] for entry in written["depends_on"]] == ["dwd_orders", "ods_users"]
    assert all(file.startswith(str(root)) for file in written["files"])
    assert "no problems" in installed.run(root, "tidemark", "check")


@pytest.mark.long
def test_the_sample_is_computed_and_served_from_another_folder(installed: Installed, tmp_path: Path) -> None:
    installed.run(tmp_path, "tidemark", "init", "my_warehouse", "--sample", "school")
    root = tmp_path / "my_warehouse"
    first_day = ["demo", "--root", str(root), "--until", "2026-03-23", "--json"]
    demo = json.loads(installed.run(tmp_path, "tidemark", *first_day))
    assert demo["slices_computed"] > 0
    assert (demo["snapshots_equal"], demo["differences"]) == (demo["snapshots_checked"], [])

    serve(installed, tmp_path, root)
    assert [path.name for path in tmp_path.iterdir()] == ["my_warehouse"]


def serve(installed: Installed, folder: Path, root: Path) -> None:
    """`up` from another folder: it comes up with its code location loaded, answers, and ends."""
    command = [str(installed.prefix / "bin" / "tidemark"), "--root", str(root), "up", "--port", "0", "--json"]
    with subprocess.Popen(command, cwd=folder, env=dict(installed.env), stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout
            line = process.stdout.readline()
            assert line, f"it ended with {process.wait(60)}"
            announced = json.loads(line)
            assert announced["load_errors"] == []
            script = f"import urllib.request; print(urllib.request.urlopen('{announced['url']}/server_info').status)"
            assert installed.run(folder, str(installed.python), "-c", script).strip() == "200"
        finally:
            process.send_signal(signal.SIGINT)
            ended = process.wait(120)
    assert ended == 0
