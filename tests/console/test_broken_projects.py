"""Projects with one fault each: the first screen of the command names the cause and its place."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import pytest
from click.testing import CliRunner

from tests.project import write_project
from tidemark.console.main import main

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.long

SCREEN: Final = 24
"""Lines of a terminal."""
FILES: Final = {
    "project.yaml": "start: 2026-03-23\nowner: o@s.example\n",
    "ods/feed.yaml": (
        "kind: Virtual\nperiod: day\ncolumns: [id, amount, region]\nprobe: {files: {path: '/in/dt={key}'}}\n"
    ),
    "dwd/orders.yaml": "period: day\nquality: [{not_null: [id]}]\n",
    "dwd/orders.sql": "SELECT id, amount, region FROM feed WHERE dt = :biz_date\n",
    "dws/totals.yaml": "period: day\n",
    "dws/totals.sql": "SELECT region, sum(amount) AS amount FROM orders WHERE dt = :biz_date GROUP BY region\n",
}
SETTINGS: Final = "time_zone: UTC\n"


@dataclass(frozen=True)
class Fault:
    """A file with other content, and the words that name the cause; `file` "" are the settings."""

    name: str
    file: str
    text: str
    says: tuple[str, ...]
    command: tuple[str, ...] = ("check",)


def sql(name: str, text: str, *says: str) -> Fault:
    return Fault(name, "dws/totals.sql", text, ("totals.sql", *says))


def yaml(name: str, text: str, *says: str) -> Fault:
    return Fault(name, "dws/totals.yaml", text, ("totals.yaml", *says))


TOTALS: Final = FILES["dws/totals.sql"]
FAULTS: Final = (
    yaml("a tab in YAML", "period:\tday\n  quality: [\n", "YAML"),
    yaml("an unknown key", "perod: day\n", "perod", "period"),
    yaml("a wrong period", "period: dayly\n", "dayly"),
    yaml("an unknown kind", "period: day\nkind: Cumulativ\n", "Cumulativ"),
    yaml("a wrong offset", "period: day\ndepends_on: [{entity: orders, offset: Sett -1}]\n", "Sett -1"),
    yaml("an unknown input", "period: day\ndepends_on: [{entity: ordes, offset: Set 0}]\n", "ordes"),
    yaml("a rule of no kind", "period: day\nquality: [{uniq: [region]}]\n", "uniq"),
    yaml("a rule of another form", "period: day\nquality: [{not_null: 5}]\n", "list of columns"),
    yaml("a rule without an end", "period: day\nquality: [{expression: {holds: 'abs(amount'}}]\n", "holds is not SQL"),
    yaml(
        "a rule on an unread table",
        "period: day\nquality: [{referential: {columns: [region], entity: feed}}]\n",
        "feed",
    ),
    yaml("an unknown time zone", "period: day\ntime_zone: Europe/Pariss\n", "Europe/Pariss"),
    yaml("an end before the start", "period: day\nstart: 2026-03-24\nend: 2026-03-23\n", "2026-03-2"),
    yaml("a wrong start", "period: day\nstart: 2026-13-45\n", "2026-13-45"),
    yaml("a wrong promise", "period: day\nready_by: '25:99'\n", "25:99"),
    yaml("an unknown policy", "period: day\nreprocess: allways\n", "allways"),
    yaml("a wrong duration", "period: day\nallowed_lateness: soon\n", "soon"),
    yaml("a channel that is not declared", "period: day\nnotify: [growth_chat]\n", "growth_chat"),
    yaml("an unknown reader", "period: day\nread_by: [excel]\n", "excel"),
    yaml("an unknown replica", "period: day\nreplicate: [other_lake]\n", "other_lake"),
    yaml("a time-series probe with a query", "period: day\nkind: Virtual\n", "nothing here computes it"),
    yaml("a duplicate key", "period: day\nperiod: hour\n", "period"),
    sql("a broken query", "SELECT region, FROM orders WHERE (dt = :biz_date\n"),
    sql("an unknown table", TOTALS.replace("FROM orders", "FROM orderz"), "orderz", "orders"),
    sql("an unknown column", TOTALS.replace("SELECT region", "SELECT regio"), "regio"),
    sql("an unknown parameter", TOTALS.replace(":biz_date", ":bizdate"), "bizdate"),
    sql("a placeholder of another system", TOTALS.replace(":biz_date", "'${bizdate}'"), "${bizdate}"),
    sql("two statements", f"{TOTALS};\nSELECT 1\n", "statement"),
    sql("a statement that is not a query", "DELETE FROM orders\n"),
    sql("an empty query", "-- nothing\n"),
    Fault("a query that reads itself", "dws/totals.sql", TOTALS.replace("orders", "totals"), ("totals.yaml", "itself")),
    Fault(
        "a cycle", "dwd/orders.sql", "SELECT 1 AS id, region FROM totals WHERE dt = :biz_date\n", ("orders", "totals")
    ),
    Fault("a query without a declaration", "dws/more.sql", TOTALS, ("more.sql", "more.yaml")),
    Fault("a declaration without a query", "dws/more.yaml", "period: day\n", ("more",)),
    Fault("two declarations of one name", "ads/totals.yaml", "period: day\n", ("totals", "ads")),
    Fault("a name with a dash", "dws/my-totals.yaml", "period: day\n", ("my-totals",)),
    Fault(
        "a probe with the same data for all slices",
        "ods/feed.yaml",
        FILES["ods/feed.yaml"].replace("dt={key}", "all"),
        ("feed.yaml", "the same data for every slice"),
    ),
    Fault(
        "a probe of two kinds",
        "ods/feed.yaml",
        "kind: Virtual\nperiod: day\nprobe: {files: {path: '/a/{key}'}, http: {url: 'https://a.example/{key}'}}\n",
        ("feed.yaml", "probe"),
    ),
    Fault(
        "a wrong address",
        "ods/feed.yaml",
        "kind: Virtual\nperiod: day\nprobe: {http: {url: 'ftp://a.example/{key}'}}\n",
        ("feed.yaml", "http"),
    ),
    Fault("an unknown setting", "", "time_zon: UTC\n", ("time_zon", "tidemark.yaml")),
    Fault("a wrong time zone of the project", "", "time_zone: Mars/Olympus\n", ("Mars/Olympus",)),
    Fault("wrong pools", "", "time_zone: UTC\npools: lots\n", ("pools", "lots")),
    Fault("an unknown command", "", SETTINGS, ("statu", "status"), ("statu",)),
    Fault("an unknown entity", "", SETTINGS, ("total", "totals"), ("explain", "total", "2026-03-23")),
    Fault("a key of another period", "", SETTINGS, ("2026-03",), ("explain", "totals", "2026-03")),
    Fault(
        "a slice before the start", "", SETTINGS, ("does not exist", "2026-03-23"), ("explain", "totals", "2026-03-01")
    ),
    Fault("files that are not there", "", SETTINGS, ("0 files", "/in/dt=2026-03-23"), ("probe", "feed", "2026-03-23")),
    Fault("nothing is computed", "", SETTINGS, ("nothing is computed yet",), ("backfill", "totals", "2026-03-23")),
)


def first_screen(root: Path, fault: Fault) -> str:
    files = {**FILES, **({fault.file: fault.text} if fault.file else {})}
    write_project(root, files, SETTINGS if fault.file else fault.text)
    env = {"TIDEMARK_ROOT": str(root), "TIDEMARK_DATA": str(root / "data"), "DAGSTER_HOME": str(root / "home")}
    result = CliRunner().invoke(main, [*fault.command], env=env)
    assert result.exit_code != 0, f"{fault.name}: {result.output}"
    return "\n".join(result.output.splitlines()[:SCREEN])


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.name)
def test_the_first_screen_names_the_cause(tmp_path: Path, fault: Fault) -> None:
    shown = first_screen(tmp_path, fault)
    assert [words for words in fault.says if words not in shown] == [], shown
    assert "Traceback" not in shown
    if fault.file == "ods/feed.yaml":
        assert "unknown table" not in shown, "what follows from the fault is not shown"
