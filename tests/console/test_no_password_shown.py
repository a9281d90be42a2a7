"""A password in every setting and every form of it: no command prints it, whatever goes wrong with it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Final

import click
import psutil
import pytest
from click.testing import CliRunner

from tests.examples import each
from tests.processes import command_line
from tests.project import CHECKOUT, write_project
from tidemark.console.main import main

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from tests.components.s3_server import S3Server

CANARY: Final = "c4nary"
PASSWORD: Final = "c4nary%2F8f%40"
_SERVERS: Final = {("demo",), ("up",), ("up-kafka",), ("center",), ("capture", "run"), ("capture", "distribute")}
_ARGUMENTS: Final = {
    "place": "center_b",
    "center": "center_a",
    "target": "cache",
    "folder": "elsewhere",
    "entity": "dws_total",
    "name": "dws_total",
    "table": "ods_sales",
    "slice_key": "2026-03-23",
    "slices": "2026-03-23",
    "partition": "dt=2026-03-23",
    "instance": "a",
    "offset": "1",
    "shell": "bash",
    "tables": "ods_sales",
    "entities": "dws_total",
    "number": "1",
    "service": "capture",
    "which": "dws_total",
}
_OPTIONS: Final[dict[tuple[str, ...], list[str]]] = {
    ("capture", "audit"): ["--once"],
    ("capture", "accept"): ["--because", "it is known"],
    ("delta", "repair"): ["--from-version", "1"],
    ("taint",): ["--reason", "it is known"],
    ("backfills", "decide"): ["--keep"],
    ("alerts",): ["--test", "hook"],
    ("token", "create"): ["--scope", "read"],
    ("engines",): ["--for", "spark"],
}
_DECLARED: Final = {
    "project.yaml": "start: 2026-03-23\nowner: o@s.example\n",
    "ods/ods_sales.yaml": "period: day\nkey: [id]\npartition_by: dt\nsource: {table: school.sales, instances: [a]}\n",
    "dws/dws_total.yaml": "period: day\nexport: true\ndepends_on: [ods_sales]\n",
    "dws/dws_total.sql": "SELECT count(*) AS n FROM ods_sales\n",
}
_COUNT: Final = '{"of": "clicks", "at": "2026-03-29T15:58:00Z", "side": "lake", "part": "a", "records": 4}\n'
STORES: Final = {
    "user": "postgresql+psycopg2://u:{}@127.0.0.1:1/db",
    "parameter": "postgresql+psycopg2://127.0.0.1:1/db?user=u&password={}",
    "key": "postgresql://u@127.0.0.1:1/db?sslmode=require&sslpassword={}",
    "misspelt": "postgresql://u@127.0.0.1:1/db?pasword={}",
    "port": "postgresql://u:{}@127.0.0.1:port/db",
    "driver": "oracle+none://u:{}@127.0.0.1:1/db",
    "bare": "{}",
    "kafka": "postgresql+psycopg2://u:{}@127.0.0.1:1/db",
}
DATABASES: Final = {
    "user": "a=mysql://u:{}@127.0.0.1:1/school",
    "parameter": "a=mysql://u@127.0.0.1:1/school?password={}",
    "key": "a=mysql://u:{}@127.0.0.1:1/school?ssl_ca=/none/there",
    "misspelt": "a:mysql://u:{}@127.0.0.1:1/school",
    "port": "a=mysql://u:{}@127.0.0.1:port/school",
    "driver": "a=oracle://u:{}@127.0.0.1:1/school",
    "bare": "{}",
    "kafka": "a=mysql://u:{}@127.0.0.1:1/school",
}
CHANNELS: Final = {
    "user": f"json://u:{PASSWORD}@127.0.0.1:1/{PASSWORD}",
    "misspelt": f"slak://u:{PASSWORD}@{PASSWORD}/x",
    "port": f"https://u:{PASSWORD}@127.0.0.1:{PASSWORD}/x",
    "bare": PASSWORD,
}
_IN_AZURE: Final = "abfss://lake@company.dfs.core.windows.net/w"
LAKES: Final = {
    "hdfs": {"TIDEMARK_WAREHOUSE": f"hdfs://u:{PASSWORD}@host:1/w"},
    "user": {"TIDEMARK_WAREHOUSE": f"s3://u:{PASSWORD}@lake/w"},
    "parameter": {"TIDEMARK_WAREHOUSE": f"s3://lake/w?secret={PASSWORD}"},
    "bare": {"TIDEMARK_WAREHOUSE": f"s3://{PASSWORD}"},
    "endpoint": {"TIDEMARK_WAREHOUSE": "s3://lake/w", "AWS_ENDPOINT_URL": f"http://u:{PASSWORD}@127.0.0.1:1"},
    "lock": {"TIDEMARK_WAREHOUSE": "s3://lake/w", "AWS_REGION": "a", "AWS_S3_LOCKING_PROVIDER": PASSWORD},
    "azure": {"TIDEMARK_WAREHOUSE": _IN_AZURE, "AZURE_STORAGE_SAS_TOKEN": PASSWORD},
    "two users": {
        "TIDEMARK_WAREHOUSE": _IN_AZURE,
        **dict.fromkeys(("AZURE_CLIENT_SECRET", "AZURE_FEDERATED_TOKEN_FILE"), PASSWORD),
    },
}
CREDENTIALS: Final = ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN")
KAFKA: Final = {
    "kafka": {"KAFKA": "127.0.0.1:1", "KAFKA_SECURITY_PROTOCOL": "SASL_PLAINTEXT", "KAFKA_USERNAME": "u"},
    "misspelt": {"KAFKA": "127.0.0.1:1", "KAFKA_SECURITY_PROTOCOL": "SASL", "KAFKA_USERNAME": "u"},
    "bare": {"KAFKA_SECURITY_PROTOCOL": "PLAINTEXT", "KAFKA_USERNAME": "u"},
}


def environment(form: str, folder: Path) -> dict[str, str]:
    """Every setting that may hold a password has it, in this form."""
    given = {
        "STATE": STORES[form].format(PASSWORD),
        "OLAP": STORES[form].format(PASSWORD),
        "DATABASES": DATABASES[form].format(PASSWORD),
        "TOKEN": f"{PASSWORD}-{PASSWORD}",
        "KAFKA_PASSWORD": PASSWORD,
        "CAPTURE_PASSWORD": PASSWORD,
        "CHANNELS": "hook",
        "CHANNEL_HOOK": CHANNELS.get(form, f"https://u:{PASSWORD}@127.0.0.1:1/{PASSWORD}?token={PASSWORD}"),
        **KAFKA.get(form, {}),
        "DATA": str(folder / "data"),
        "ROOT": str(folder / "project"),
    }
    return {f"TIDEMARK_{name}": value for name, value in given.items()} | {"DAGSTER_HOME": str(folder / "home")}


def commands(group: click.Command, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], click.Command]]:
    if not isinstance(group, click.Group):
        yield path, group
        return
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        assert command is not None
        yield from commands(command, (*path, name))


def line_of(path: tuple[str, ...], command: click.Command, folder: Path) -> list[str]:
    places = {"folder": "elsewhere", "file": "counts.jsonl", "to": "backup", "backup": "backup"}
    given = {**_ARGUMENTS, **{name: str(folder / place) for name, place in places.items()}}
    wanted = [given[str(entry.name)] for entry in command.params if isinstance(entry, click.Argument)]
    return [*path, *wanted, *_OPTIONS.get(path, [])]


# A Kafka that does not answer is waited for by every command that asks it.
_FORMS: Final = each(4, STORES)


_LAKE_FORMS: Final = each(4, LAKES)


@pytest.mark.spark
@pytest.mark.parametrize("form", _FORMS)
def test_no_command_prints_it(form: str, tmp_path: Path) -> None:
    run_every_command(environment(form, tmp_path), tmp_path)


@pytest.mark.spark
@pytest.mark.parametrize("form", _LAKE_FORMS)
def test_no_command_prints_credentials_of_the_lake(form: str, tmp_path: Path) -> None:
    run_every_command(in_object_store(tmp_path, LAKES[form]), tmp_path)


@pytest.mark.spark
@pytest.mark.components
def test_no_command_prints_credentials_that_a_store_refuses(object_store: S3Server, tmp_path: Path) -> None:
    lake = {"TIDEMARK_WAREHOUSE": "s3://lake/w", **object_store.environment, **dict.fromkeys(CREDENTIALS, PASSWORD)}
    run_every_command(in_object_store(tmp_path, lake), tmp_path)


def in_object_store(folder: Path, lake: Mapping[str, str]) -> dict[str, str]:
    """Whatever is not the lake is as by default, so that commands get to it."""
    places = {"TIDEMARK_DATA": "data", "TIDEMARK_ROOT": "project", "DAGSTER_HOME": "home"}
    of_project = {name: str(folder / place) for name, place in places.items()}
    return {**dict.fromkeys(CREDENTIALS, PASSWORD), **of_project, **lake}


def run_every_command(env: Mapping[str, str], tmp_path: Path) -> None:
    write_project(tmp_path / "project", _DECLARED)
    (tmp_path / "counts.jsonl").write_text(_COUNT, encoding="utf-8")
    ran = 0
    for path, command in commands(main):
        if path in _SERVERS:
            continue
        for options in ([], ["--debug"]):
            result = CliRunner().invoke(main, [*options, *line_of(path, command, tmp_path)], env=env)
            assert CANARY not in result.output, (path, result.output)
            assert CANARY not in repr(result.exception), path
            ran += 1
    assert ran > 30
    assert_in_no_file(tmp_path)


@pytest.mark.long
@pytest.mark.parametrize("form", ["user", "parameter", "misspelt", "kafka"])
def test_no_server_prints_it_or_has_it_in_its_command_line(form: str, tmp_path: Path) -> None:
    write_project(tmp_path / "project", _DECLARED)
    env = {**os.environ, **environment(form, tmp_path), "PYTHONPATH": str(CHECKOUT)}
    lines = [["capture", "run"], ["capture", "distribute"], ["center", "--port", "0"]]
    for line in lines:
        output = serve_for_seconds(line, env, tmp_path / f"{line[0]}-{line[-1]}.log")
        assert output
        assert CANARY not in output, (line, output)
    assert_in_no_file(tmp_path)


@pytest.mark.long
@pytest.mark.timeout(600)
def test_no_worker_has_it_in_its_command_line(tmp_path: Path) -> None:
    """With a state store that there is, the center goes on to start its workers."""
    env = {**os.environ, **environment("user", tmp_path), "PYTHONPATH": str(CHECKOUT), "TIDEMARK_ROOT": str(CHECKOUT)}
    del env["TIDEMARK_STATE"], env["TIDEMARK_DATABASES"]
    output = serve_for_seconds(["center", "--port", "0"], env, tmp_path / "center.log")
    assert '"event": "listening"' in output or "http://127.0.0.1" in output, output
    assert CANARY not in output
    assert_in_no_file(tmp_path)


def serve_for_seconds(line: Sequence[str], env: Mapping[str, str], log: Path) -> str:
    """What a server writes in some seconds; its processes show nothing to `ps`."""
    with log.open("wb") as out:
        process = subprocess.Popen(
            [sys.executable, "-m", "tidemark.console", *line], env=env, stdout=out, stderr=subprocess.STDOUT
        )
        deadline = time.monotonic() + 25
        while process.poll() is None and time.monotonic() < deadline:
            with suppress(psutil.NoSuchProcess):
                family = [psutil.Process(process.pid), *psutil.Process(process.pid).children(recursive=True)]
                assert CANARY not in " ".join(word for member in family for word in command_line(member))
            time.sleep(0.5)
        process.send_signal(signal.SIGTERM)
        try:
            process.wait(60)
        finally:
            process.kill()
    return log.read_text()


def assert_in_no_file(folder: Path) -> None:
    """Logs, Dagster's storage, caches: whatever was written."""
    shown = [path for path in folder.rglob("*") if path.is_file() and CANARY.encode() in path.read_bytes()]
    assert shown == []
