"""The console's endpoints and the commands give one answer: the same models, of the same moment."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any
from urllib.error import HTTPError
from urllib.parse import quote
from urllib.request import urlopen

import pytest
from click.testing import CliRunner

from tests.api.console_world import ConsoleWorld, console_world
from tests.console.commands.slices_there import DONE, report
from tidemark.api import slice_matrix
from tidemark.console.main import main
from tidemark.dependency_model.entity.sub_partition import WHOLE, Sub
from tidemark.dependency_model.graph.node import Node
from tidemark.dependency_model.status import Event

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tidemark.dependency_model.slice import Slice

BROKEN = "orders_complete_1h@2026-03-30T10"
FAILED = "dws_course_orders_1d@2026-03-27"
WAITING = "ads_gmv_course@2026-03-29"


@pytest.fixture(scope="module")
def lake(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ConsoleWorld]:
    with console_world(tmp_path_factory.mktemp("answers"), token=None) as world:
        report(world.settings, [BROKEN], [*DONE, Event.QUALITY_FAILED], "row_count: 2 rows, expected 20")
        report(world.settings, [FAILED], [Event.STARTED, Event.FAILED], "division by zero")
        yield world


@pytest.fixture(autouse=True)
def _of_the_lake(lake: ConsoleWorld, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TIDEMARK_DATA", str(lake.settings.data))


def asked(lake: ConsoleWorld, path: str) -> Any:
    with urlopen(f"{lake.url}{path}", timeout=60) as answer:  # noqa: S310 - our own server
        return json.load(answer)


def printed(*arguments: str) -> Any:
    return json.loads(CliRunner().invoke(main, [*arguments, "--json"]).stdout)


@pytest.mark.parametrize("name", [WAITING, BROKEN, FAILED, "ods_orders@2026-03-29", "ods_courses@2026-03-28"])
def test_a_page_gets_the_same_data_as_explain(lake: ConsoleWorld, name: str) -> None:
    entity, _, key = name.partition("@")
    assert asked(lake, f"/v1/explanation?slice={quote(name)}") == printed("explain", entity, key)


@pytest.mark.parametrize(
    ("text", "status"),
    [("no_entity@2026-03-29", 404), ("ods_orders", 400), ("ods_orders@then", 400), ("x" * 9_000, 400)],
)
def test_an_invalid_slice_is_refused(lake: ConsoleWorld, text: str, status: int) -> None:
    with pytest.raises(HTTPError) as refused:
        asked(lake, f"/v1/explanation?slice={text}")
    assert refused.value.code == status
    refused.value.close()


def test_the_today_page_gets_the_same_data_as_status(lake: ConsoleWorld) -> None:
    told, command = asked(lake, "/v1/status"), printed("status")
    assert {**told, "now": ""} == {**command, "now": ""}
    assert {entry["entity"] for entry in told["entities"]} >= {"ods_orders", "ads_gmv_course"}


def test_many_pages_that_ask_at_the_same_moment_are_all_answered(lake: ConsoleWorld) -> None:
    with ThreadPoolExecutor(50) as pages:
        told = list(pages.map(lambda _: asked(lake, "/v1/status")["pressing"], range(50)))
    assert told == told[:1] * 50


def test_problems_have_one_line_for_each_cause_worst_first(lake: ConsoleWorld) -> None:
    lines = asked(lake, "/v1/status")["pressing"]
    kinds = [line["kind"] for line in lines]
    assert kinds == sorted(kinds, key=["late", "failed", "invalid", "foreign", "absent", "tainted"].index)
    late = [line for line in lines if line["kind"] == "late"]
    assert len({line["slice"] for line in late}) == len(late)
    stands = {entry["entity"]: entry for entry in asked(lake, "/v1/status")["entities"]}
    assert sum(line["slices"] for line in late) == sum(len(entry["late"]) for entry in stands.values())
    by_slice = {line["slice"]: line for line in lines if line["kind"] != "late"}
    assert by_slice[FAILED]["why"][0] == "failed: division by zero"
    assert by_slice[FAILED]["command"] == "tidemark backfill dws_course_orders_1d 2026-03-27 --approve"
    assert by_slice[BROKEN]["why"] == ["its rules are broken", f"{BROKEN}: row_count: 2 rows, expected 20"]
    assert by_slice[FAILED]["promises"] == 2  # its own, and that of ads_gmv_course


def test_a_matrix_has_the_worst_slice_of_each_column(lake: ConsoleWorld) -> None:
    told = asked(lake, "/v1/matrix?by=day&until=2026-03-30&columns=4")
    assert told["columns"] == ["2026-03-27", "2026-03-28", "2026-03-29", "2026-03-30"]
    cells = {row["entity"]: row["cells"] for row in told["rows"]}
    failed, hours = cells["dws_course_orders_1d"][0], cells["orders_complete_1h"]
    assert (failed["state"], failed["slices"], failed["slice"]) == ("failed", 1, FAILED)
    assert [cell and cell["slices"] for cell in hours] == [None, None, None, 24], "it begins on the 30th"
    assert (hours[3]["flags"], hours[3]["slice"]) == (["invalid"], BROKEN)
    (row,) = asked(lake, "/v1/matrix?by=hour&until=2026-03-30T11&columns=3&search=orders_COMPLETE_1h")["rows"]
    assert [cell and cell["slice"].partition("@")[2] for cell in row["cells"]] == [
        f"2026-03-30T{hour:02}" for hour in (9, 10, 11)
    ]
    (row,) = asked(lake, "/v1/matrix?by=month&until=2026-04&columns=3&search=dws_course_orders_1d")["rows"]
    assert [cell and cell["slices"] for cell in row["cells"]] == [None, 9, None], "the project ends with March"


def test_a_matrix_says_of_each_slice_what_its_explanation_says(lake: ConsoleWorld) -> None:
    told = asked(lake, "/v1/matrix?by=day&until=2026-03-30&columns=8")
    alone = [cell for row in told["rows"] for cell in row["cells"] if cell and cell["slices"] == 1]
    assert len(alone) > 20
    for cell in alone[::5]:
        status = asked(lake, f"/v1/explanation?slice={quote(cell['slice'])}")["status"]
        assert cell["state"] in (status["run_state"], "to come")
        assert ("invalid" in cell["flags"]) == bool(status["issues"])
        assert cell["completed"] == (status["run_state"] == "completed")


def test_a_matrix_leaves_out_entities_with_too_many_slices_before_it_lists_them(
    lake: ConsoleWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    listed, slice_of = list[str](), Node.slice

    def noted(node: Node, ordinal: int, sub: Sub = WHOLE) -> Slice:
        listed.append(node.name)
        return slice_of(node, ordinal, sub)

    monkeypatch.setattr(Node, "slice", noted)
    monkeypatch.setattr(slice_matrix, "_MOST_SLICES", 23)
    told = asked(lake, "/v1/matrix?by=day&until=2026-03-30&columns=1")
    rows = {row["entity"] for row in told["rows"]}
    assert {"orders_complete_1h", "ods_orders_1h"} <= {*told["too_fine"]}
    assert {"orders_complete_1d", "ods_courses"} <= rows
    assert not rows & {*told["too_fine"]}
    assert {*listed} <= rows
    assert len(listed) <= 23


@pytest.mark.parametrize(
    "wrong", ["by=week", "columns=0", "columns=63", "until=2026-13-01", "until=then", "by=hour&until=2026-03-29"]
)
def test_a_wrong_matrix_is_refused(lake: ConsoleWorld, wrong: str) -> None:
    with pytest.raises(HTTPError) as refused:
        asked(lake, f"/v1/matrix?{wrong}")
    with refused.value as answer:
        assert answer.code == 400
