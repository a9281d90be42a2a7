"""The console's endpoints and the commands give one answer: the same models, of the same moment."""

from __future__ import annotations

import gzip
import json
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any
from urllib.error import HTTPError
from urllib.parse import quote
from urllib.request import Request, urlopen

import pytest
from click.testing import CliRunner

from tests.api.console_world import ConsoleWorld, console_world
from tests.console.commands.slices_there import DONE, report
from tidemark.api import slice_matrix
from tidemark.console.main import main
from tidemark.dependency_model.entity.sub_partition import WHOLE, Sub
from tidemark.dependency_model.graph.node import Node
from tidemark.dependency_model.status import Event
from tidemark.warehouse.warehouse import EXPORT_LAYER

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


def declared(told: dict[str, Any]) -> dict[str, Any]:
    """Without the exports, which a center adds to the declared entities."""
    entities = [entity for entity in told["entities"] if entity["layer"] != EXPORT_LAYER]
    names = {entity["name"] for entity in entities}
    return {"entities": entities, "dependencies": [edge for edge in told["dependencies"] if edge["down"] in names]}


def test_a_part_of_the_graph_is_what_the_command_prints(lake: ConsoleWorld) -> None:
    assert declared(asked(lake, "/v1/graph")) == printed("graph")
    assert asked(lake, "/v1/graph?entity=dwd_orders&up=1&down=1") == printed(
        "graph", "dwd_orders", "--up", "1", "--down", "1"
    )
    assert asked(lake, "/v1/graph?layer=ods&tag=product=shop") == printed(
        "graph", "--layer", "ods", "--tag", "product=shop"
    )
    ways = asked(lake, "/v1/graph?entity=ods_courses&to=ads_gmv_course")
    assert ways == printed("graph", "ods_courses", "--to", "ads_gmv_course")
    names = [entity["name"] for entity in ways["entities"]]
    assert names == ["ods_courses", "dwd_orders", "dws_course_orders_1d", "ads_gmv_course"]
    assert asked(lake, "/v1/graph?entity=ads_gmv_course&to=ods_courses")["entities"] == []


def test_the_picture_has_each_entity_at_its_own_place_and_each_dependency_to_the_right(lake: ConsoleWorld) -> None:
    told, whole = asked(lake, "/v1/graph/picture"), asked(lake, "/v1/graph")
    names = told["names"]
    assert sorted(names) == sorted(entity["name"] for entity in whole["entities"])
    edges = {(names[up], names[down]) for up, down in zip(told["up"], told["down"], strict=True)}
    pairs = {(edge["up"], edge["down"]) for edge in whole["dependencies"]}
    assert edges == {(up, down) for up, down in pairs if up != down}
    assert len({*zip(told["columns"], told["rows"], strict=True)}) == len(names)
    assert all(told["columns"][up] < told["columns"][down] for up, down in zip(told["up"], told["down"], strict=True))
    by_name = {entity["name"]: entity for entity in whole["entities"]}
    facets = {facet["name"]: [facet["values"][value] for value in facet["of"]] for facet in told["facets"]}
    assert facets["layer"] == [by_name[name]["layer"] for name in names]
    assert facets["tag product"] == [by_name[name]["tags"].get("product", "") for name in names]


def test_the_picture_is_sent_once(lake: ConsoleWorld) -> None:
    request = Request(f"{lake.url}/v1/graph/picture", headers={"Accept-Encoding": "gzip"})  # noqa: S310 - our own
    with urlopen(request, timeout=60) as answer:  # noqa: S310
        tag, told = answer.headers["ETag"], gzip.decompress(answer.read())
    assert json.loads(told) == asked(lake, "/v1/graph/picture")
    request.add_header("If-None-Match", tag)
    with pytest.raises(HTTPError) as unchanged:
        urlopen(request, timeout=60)  # noqa: S310
    with unchanged.value as answer:
        assert answer.code == 304


def test_the_states_of_a_day_are_those_of_the_matrix(lake: ConsoleWorld) -> None:
    told, matrix = asked(lake, "/v1/graph/states?at=2026-03-29"), asked(lake, "/v1/matrix?until=2026-03-29&columns=1")
    letters = dict(zip(asked(lake, "/v1/graph/picture")["names"], told["states"], strict=True))
    daily = {row["entity"]: row["cells"][0] for row in matrix["rows"] if row["period"] == "day"}
    assert len(daily) > 10
    for entity, cell in daily.items():
        expected = "late" if "late" in cell["flags"] else cell["state"]
        assert told["words"][letters[entity]] == expected, entity
    assert {letters["ods_orders"], letters["ads_gmv_course"]} == {"c", "l"}
    hours = asked(lake, "/v1/graph/states?at=2026-03-27")["states"]
    assert dict(zip(letters, hours, strict=True))["dws_course_orders_1d"] == "f"
    assert dict(zip(letters, hours, strict=True))["orders_complete_1h"] == "-", "it begins on the 30th"


def test_the_past_graph_has_the_states_then(lake: ConsoleWorld) -> None:
    before, after = "as_of=2026-03-01T00:00:00Z", "as_of=2199-01-01T00:00:00Z"
    assert asked(lake, f"/v1/graph/picture?{before}")["names"] == []
    assert asked(lake, f"/v1/graph/states?at=2026-03-29&{before}")["states"] == ""
    names = asked(lake, f"/v1/graph/picture?{after}")["names"]
    now = dict(
        zip(
            asked(lake, "/v1/graph/picture")["names"],
            asked(lake, "/v1/graph/states?at=2026-03-29")["states"],
            strict=True,
        )
    )
    then = dict(zip(names, asked(lake, f"/v1/graph/states?at=2026-03-29&{after}")["states"], strict=True))
    assert {"ods_orders", "dws_course_orders_1d"} <= {*names}
    assert then == {name: now[name] for name in names}


@pytest.mark.parametrize(
    ("wrong", "status"),
    [
        ("?entity=none", 404),
        ("?to=ods_orders", 400),
        ("?tag=shop", 400),
        ("/states?at=then", 400),
        ("/picture?as_of=x", 400),
    ],
)
def test_a_wrong_question_about_the_graph_is_refused(lake: ConsoleWorld, wrong: str, status: int) -> None:
    with pytest.raises(HTTPError) as refused:
        asked(lake, f"/v1/graph{wrong}")
    with refused.value as answer:
        assert answer.code == status
