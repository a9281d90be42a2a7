"""`tidemark refresh`: a pass, what it says of each slice, and what is refused."""

from __future__ import annotations

import json
import os
import signal
import sys
from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner, Result

from tests.alerts.receiver import receiving
from tests.refresh.world import RefreshedProject
from tests.until import until
from tidemark.console.main import main
from tidemark.console.servers.server_process import start

if TYPE_CHECKING:
    from pathlib import Path

DAY = "2026-03-28"
SETTINGS = "time_zone: Europe/Paris\nrefresh_targets: {partner: {kind: webhook}}\n"
DECLARED = {
    "dwd/sales.yaml": "period: day\nstart: 2026-03-23\nowner: o@s.example\nrefresh: [{target: partner}]\n",
    "dwd/sales.sql": "SELECT 1 AS id, :biz_date AS day\n",
}
ADDRESS = "TIDEMARK_TARGET_PARTNER"


def run(root: Path, *arguments: str) -> Result:
    return CliRunner().invoke(main, [*arguments, "--root", str(root)])


@pytest.fixture
def project(tmp_path: Path) -> RefreshedProject:
    return RefreshedProject.at(tmp_path, DECLARED, SETTINGS)


def test_a_pass_and_its_report(project: RefreshedProject, monkeypatch: pytest.MonkeyPatch) -> None:
    slice_ = project.complete(DAY)
    with receiving() as receiver:
        monkeypatch.setenv(ADDRESS, receiver.url)
        told = json.loads(run(project.root, "refresh", "--json").stdout)
    assert told == {"targets": [{"target": "partner", "delivered": 1, "troubles": []}]}
    status = json.loads(run(project.root, "refresh", "partner", "--status", "--json").stdout)
    (delivery,) = status["deliveries"]
    assert (status["open"], delivery["slice"], delivery["state"]) == (0, f"sales@{DAY}", "delivered")
    assert (delivery["taken"]["generation"], delivery["taken"]["action"]) == (1, "refresh")
    assert "1 delivered, 0 open" in run(project.root, "refresh", "--status").stdout
    assert "refreshed    partner at " in run(project.root, "explain", "sales", DAY).stdout
    assert json.loads(run(project.root, "explain", "sales", DAY, "--json").stdout)["refreshed"] == [delivery]
    project.happen(slice_, "tainted")
    run(project.root, "refresh")
    assert "not yet partner: invalidate of generation 1: " in run(project.root, "explain", "sales", DAY).stdout


def test_failed_deliveries_are_reported_with_reasons(
    project: RefreshedProject, monkeypatch: pytest.MonkeyPatch
) -> None:
    project.complete(DAY)
    with receiving() as receiver:
        receiver.status = 404
        monkeypatch.setenv(ADDRESS, receiver.url.replace("//", "//u:c4nary@"))
        result = run(project.root, "refresh")
    assert result.exit_code == 1
    assert f"partner: sales@{DAY} is not refreshed" in result.stdout
    shown = run(project.root, "refresh", "--status").stdout
    assert "failed" in shown
    assert "it answered 404" in shown
    assert "c4nary" not in result.output + shown


def test_unknown_targets_are_clear_errors(project: RefreshedProject, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(ADDRESS, raising=False)
    assert (
        f"the address of the target 'partner' does not match its kind\n  where    {ADDRESS}"
        in run(project.root, "refresh").stderr
    )
    assert "this project has no target with the name 'c'" in run(project.root, "refresh", "c").stderr
    assert run(project.root, "refresh", "--status", "--follow").exit_code == 2
    (project.root / "tidemark.yaml").write_text("time_zone: Europe/Paris\n")
    assert "no refresh targets" in run(project.root, "refresh").stderr
    assert "this project has no target with the name 'partner'" in run(project.root, "check").output
    (project.root / "tidemark.yaml").write_text("refresh_targets: {partner: {kind: redis}}\n")
    checked = run(project.root, "check").output
    assert "a redis cannot refresh this" in checked
    assert "dwd/sales.yaml:4" in checked


@pytest.mark.slow
def test_it_follows_changes_until_it_is_stopped(project: RefreshedProject) -> None:
    with receiving() as receiver:
        command = [sys.executable, "-m", "tidemark.console", "refresh", "--follow", "--root", str(project.root)]
        server = start("refresh", command, project.root / "log", {ADDRESS: receiver.url})
        try:
            project.complete(DAY)
            receiver.wait_for(lambda got: [told["generation"] for told in got] == [1])
            project.complete(DAY)
            receiver.wait_for(lambda got: [told["generation"] for told in got] == [1, 2])
        finally:
            os.kill(server.pid, signal.SIGTERM)
            until(lambda: server.process.poll() is not None, "the end of the service")
    assert server.process.returncode == 0, server.log_tail()
