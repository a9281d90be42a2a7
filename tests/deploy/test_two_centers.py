"""Two pods of the center, played by processes with a volume each: the chart's configuration, words and probes are real.

PostgreSQL and the folder of the lake are all that they share. Their workers start no Spark: nothing is computed.
"""

from __future__ import annotations

import functools
import json
import os
import subprocess
import sys
from contextlib import ExitStack, closing
from typing import TYPE_CHECKING, Any
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import psutil
import psycopg2
import pytest
import yaml

from tests.deploy.chart import rendered
from tests.project import CHECKOUT
from tests.until import until

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.components.postgres import Postgres

TOKEN = "0123456789abcdef"
SERVICE = "prod-tidemark-center.data.svc"
pytestmark = [pytest.mark.components, pytest.mark.long, pytest.mark.xdist_group("postgresql"), pytest.mark.timeout(600)]


@pytest.fixture
def databases(postgres_server: Postgres) -> Iterator[dict[str, str]]:
    """The keys of the Secret, with a database of their own each."""
    names = {"TIDEMARK_STATE": "chart_state", "TIDEMARK_OLAP": "chart_olap", "DAGSTER_POSTGRES_URL": "chart_dagster"}
    with closing(psycopg2.connect(postgres_server.dsn)) as session:
        session.autocommit = True
        with session.cursor() as cursor:
            for name in names.values():
                cursor.execute(f"CREATE DATABASE {name}")
        urls = {key: postgres_server.url.removesuffix("postgres") + name for key, name in names.items()}
        yield {**urls, "TIDEMARK_TOKEN": TOKEN}
        with session.cursor() as cursor:
            for name in names.values():
                cursor.execute(f"DROP DATABASE {name} WITH (FORCE)")


class Pod:
    """A center that listens on loopback, started by what the chart gives its container."""

    def __init__(self, number: int, folder: Path, secret: dict[str, str]) -> None:
        made, home = rendered("plain"), folder / f"pod-{number}"
        (container,) = made.pods["center"]["spec"]["containers"]
        home.mkdir()
        dagster = made.dagster_yaml()
        dagster["run_launcher"]["config"] |= {"spark": False, "workers": 1}
        (home / "dagster.yaml").write_text(yaml.safe_dump(dagster))
        given = {
            variable["name"]: secret[variable["name"]] if "valueFrom" in variable else variable["value"]
            for variable in container["env"]
        }
        place = {"TIDEMARK_DATA": str(home / "data"), "DAGSTER_HOME": str(home), "TIDEMARK_ROOT": str(CHECKOUT)}
        lake = {"TIDEMARK_WAREHOUSE": str(folder / "warehouse"), "TIDEMARK_KAFKA": ""}
        words = [{"0.0.0.0": "127.0.0.1", "3080": "0"}.get(word, word) for word in container["args"][1:]]  # noqa: S104 - taken out
        with (folder / f"pod-{number}.log").open("wb") as errors:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "tidemark.console", *words, "--json"],
                env={**os.environ, **given, **place, **lake}, stdout=subprocess.PIPE, stderr=errors,
            )  # fmt: skip

    @functools.cached_property
    def url(self) -> str:
        """Where it listens, once it does."""
        assert self.process.stdout is not None
        url: str = json.loads(self.process.stdout.readline())["url"]
        return url

    def stop(self) -> None:
        """As Kubernetes does; whatever becomes of it, nothing of it is left."""
        family = psutil.Process(self.process.pid) if self.process.poll() is None else None
        started = [family, *family.children(recursive=True)] if family else []
        self.process.terminate()
        _, alive = psutil.wait_procs(started, 60)
        for left in alive:
            left.kill()
        self.process.wait()
        if self.process.stdout is not None:
            self.process.stdout.close()


@pytest.fixture
def pods(tmp_path: Path, databases: dict[str, str]) -> Iterator[list[Pod]]:
    """Both at once, on empty databases, as an installation begins."""
    with ExitStack() as both:
        started = []
        for number in range(2):
            started.append(Pod(number, tmp_path, databases))
            both.callback(started[-1].stop)
        yield started


def ask(url: str, path: str, body: Any = None) -> tuple[int, Any]:
    """As one asks through the Service: its name, and the token."""
    headers = {"Host": SERVICE, "Content-Type": "application/json", "Authorization": f"Bearer {TOKEN}"}
    data = None if body is None else json.dumps(body).encode()
    try:
        with urlopen(Request(url + path, data, headers), timeout=60) as answer:  # noqa: S310 - our own server
            return answer.status, json.load(answer)
    except HTTPError as error:
        with error:
            return error.code, json.load(error)


def active(pods: list[Pod]) -> list[Pod]:
    """Those that are, of those whose probe says that they work."""
    told = [(pod, ask(pod.url, "/health")) for pod in pods]
    assert {status for _, (status, _) in told} == {200}
    return [pod for pod, (_, health) in told if health["active"]]


def test_one_is_active_both_are_well_and_the_other_takes_over(pods: list[Pod]) -> None:
    report = {
        "subject": "table=partner_ads&&dt=20260329&&region=reunion", "event": "observed", "event_id": "chart-1",
        "event_time": "2026-03-30T00:00:30+02:00",
    }  # fmt: skip
    until(lambda: len(active(pods)) == 1, "one active center")
    (first,) = active(pods)
    (second,) = (pod for pod in pods if pod is not first)
    assert ask(second.url, "/v1/reports", report)[0] == 503
    assert ask(first.url, "/v1/reports", report)[0] == 200
    first.stop()
    until(lambda: active([second]) == [second], "the other center")
    status, receipt = ask(second.url, "/v1/reports", report)
    assert (status, receipt["new"]) == (200, 0), "what the first one took in is known to the second"
