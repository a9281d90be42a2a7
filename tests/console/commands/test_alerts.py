"""`tidemark alerts`: open and finished alerts and their channels; `--test`; channels that `check` refuses."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import pytest
from click.testing import CliRunner

from tests.alerts.receiver import receiving
from tests.project import write_project
from tidemark.alerts.alert import AlertKind, Trouble
from tidemark.alerts.alert_book import AlertBook
from tidemark.alerts.outbox import Outbox
from tidemark.console.main import main
from tidemark.state_store.database import Database

if TYPE_CHECKING:
    from pathlib import Path

    from click.testing import Result

NOW = datetime(2026, 3, 28, 23, 10, tzinfo=UTC)
LATE = "ods_orders@2026-03-29 has not arrived in its usual time"


def _run(*arguments: str, code: int, env: dict[str, str] | None = None) -> Result:
    result = CliRunner().invoke(main, arguments, env=env)
    assert result.exit_code == code, result.output
    return result


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("TIDEMARK_DATA", str(tmp_path))
    return tmp_path


def _two_alerts(folder: Path) -> None:
    database = Database.at(folder / "state.db")
    book, outbox = AlertBook(database), Outbox(database)
    over = Trouble("dwd_users breaks a blocking rule", "2 rows are null", ("dwd_users@2026-03-29",), ("log",))
    late = Trouble(LATE, f"{LATE} (0:40:00)", ("ads_a@2026-03-29", "ads_b@2026-03-29"), ("oncall",))
    book.reconcile(AlertKind.RULE, [over], NOW)
    book.reconcile(AlertKind.RULE, [], NOW)
    book.reconcile(AlertKind.BASELINE, [late], NOW)
    delivery = outbox.next("oncall", NOW)
    assert delivery is not None
    outbox.begin(delivery, NOW)
    outbox.fail(delivery, "it answered 503")
    database.close()


def test_nothing_was_ever_raised(data: Path) -> None:
    assert _run("alerts", code=0).stdout == "0 open\n"
    assert json.loads(_run("alerts", "--json", code=0).stdout) == {"alerts": []}


def test_open_alerts_come_first_with_their_channels(data: Path) -> None:
    _two_alerts(data)
    told: dict[str, Any] = json.loads(_run("alerts", "--json", code=1).stdout)
    first, second = told["alerts"]
    assert (first["number"], first["kind"], first["state"], first["cause"]) == (2, "baseline", "open", LATE)
    assert first["slices"] == ["ads_a@2026-03-29", "ads_b@2026-03-29"]
    assert first["told"] == [
        {"channel": "oncall", "event": "raised", "state": "pending", "attempts": 1, "problem": "it answered 503"}
    ]
    assert (second["state"], [delivery["event"] for delivery in second["told"]]) == (
        "recovered",
        ["raised", "recovered"],
    )
    lines = _run("alerts", code=1).stdout.splitlines()
    assert lines[0].split("\t") == ["alert", "state", "since", "cause", "slices", "told"]
    assert lines[1].split("\t") == ["2", "open", "2026-03-29 00:10", LATE, "2", "oncall raised pending"]
    assert lines[3] == f"2: {LATE} (0:40:00)"
    assert lines[-2:] == ["2: not delivered (1 times): it answered 503", "1 open"]
    assert [
        alert["number"] for alert in json.loads(_run("alerts", "--limit", "0", "--json", code=1).stdout)["alerts"]
    ] == [2]


def test_a_channel_is_tried_out(data: Path) -> None:
    with receiving() as receiver:
        env = {"TIDEMARK_CHANNELS": "oncall", "TIDEMARK_CHANNEL_ONCALL": receiver.url}
        assert _run("alerts", "--test", "oncall", code=0, env=env).stdout == "oncall accepted the message\n"
        assert json.loads(_run("alerts", "--test", "oncall", "--json", code=0, env=env).stdout) == {"sent_to": "oncall"}
        receiver.status = 500
        refused = _run("alerts", "--test", "oncall", code=75, env=env)
    assert [message["cause"] for message in receiver.got] == ["a test of this channel"] * 3
    assert "it answered 500" in refused.output
    assert (
        "TIDEMARK_CHANNEL_ONCALL"
        in _run("alerts", "--test", "oncall", code=1, env={"TIDEMARK_CHANNELS": "oncall"}).output
    )
    assert "did you mean 'oncall'?" in _run("alerts", "--test", "oncal", code=2, env=env).output


def test_a_channel_that_the_project_does_not_have_is_refused_with_file_and_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    declared = {
        "project.yaml": "start: 2026-03-23\nnotify: [log, growth]\n",
        "external/ext.yaml": "kind: Virtual\nperiod: day\n",
        "external/other.yaml": "kind: Virtual\nperiod: day\nnotify:\n  - log\n  - oncal\n",
        "external/odd.yaml": "kind: Virtual\nperiod: day\nnotify: [Log!]\n",
    }
    settings = "time_zone: UTC\nchannels: [oncall]\n"
    monkeypatch.setenv("TIDEMARK_ROOT", str(write_project(tmp_path / "project", declared, settings)))
    monkeypatch.setenv("TIDEMARK_DATA", str(tmp_path / "data"))
    told = json.loads(_run("check", "--json", code=1).stdout)
    where = {problem["where"]: problem for problem in told["problems"]}
    assert where["project.yaml:2"]["message"] == "this project has no channel with the name 'growth'"
    assert where["external/other.yaml:5"]["hint"] == "did you mean 'oncall'?"
    assert where["external/odd.yaml:3"]
    assert len(told["problems"]) == 3
