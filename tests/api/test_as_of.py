"""?as_of= of the catalog's page and of slices: the answers of that time; an invalid time is an error."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

import pytest

from tests.api.client import Client, serving
from tidemark.state_store.transition import Facts

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

AN_HOUR = timedelta(hours=1)
ODS, DWD = "ods@2024-06-02", "dwd@2024-06-02"


@pytest.fixture
def client(tmp_path: Path) -> Iterator[Client]:
    with serving(tmp_path) as opened:
        yield opened


@pytest.fixture(scope="module")
def unchanged(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    """For requests that only ask."""
    with serving(tmp_path_factory.mktemp("unchanged")) as opened:
        yield opened


def page(client: Client, entity: str, when: datetime | None = None) -> Any:
    query = f"?as_of={when.isoformat().replace('+', '%2B')}" if when else ""
    status, answer = client.ask("GET", f"/v1/catalog/{entity}{query}")
    assert status == 200, answer
    return answer


def past(client: Client, subject: str, when: datetime) -> dict[str, Any]:
    status, answer = client.ask("GET", f"/v1/slices?subject={subject}&as_of={when.isoformat().replace('+00:00', 'Z')}")
    assert status == 200, answer
    (told,) = answer["slices"]
    return dict(told)


def test_a_past_page_equals_the_answer_of_that_time(client: Client) -> None:
    world, answers = client.world, list[tuple[datetime, list[Any]]]()

    def look() -> None:
        answers.append((world.now + AN_HOUR / 2, [page(client, entity) for entity in ("ods", "dwd")]))
        world.now += AN_HOUR

    look()
    world.tell(ODS, "observed", data=Facts(snapshot_id="7", row_count=12))
    look()
    world.run(DWD, "run 1")
    look()
    world.tell(ODS, "quality_failed")
    world.tell("ods@2024-06-01", "observed")
    look()
    world.tell(ODS, "quality_ignored")
    world.run(DWD, "run 2")
    look()
    assert len({str(answer) for _, answer in answers}) == len(answers), "each step changes the answer"
    for when, answer in answers:
        assert [page(client, entity, when) for entity in ("ods", "dwd")] == answer


def test_a_past_slice_is_shown_with_its_inputs(client: Client) -> None:
    world, begin = client.world, client.world.now
    world.tell(ODS, "observed", data=Facts(snapshot_id="7"))
    world.run(DWD, "run 1")
    world.now += AN_HOUR
    world.tell(DWD, "tainted")
    assert past(client, DWD, begin - AN_HOUR)["run_state"] is None
    first, second = past(client, DWD, begin + AN_HOUR / 2), past(client, DWD, begin + 2 * AN_HOUR)
    assert (first["run_state"], first["tainted"], second["tainted"]) == ("completed", False, True)
    assert (first["run_id"], first["read"]) == ("run 1", [{"slice": ODS, "generation": 1, "version": "7"}])
    status, answer = client.ask(
        "GET", "/v1/slices?subject=table=dwd%26%26dt=20240601..20240602&as_of=2024-06-04T00:00:00Z"
    )
    assert (status, [told["slice"] for told in answer["slices"]]) == (200, ["dwd@2024-06-01", DWD])


@pytest.mark.parametrize(
    ("when", "says"),
    [
        ("banana", "datetime"),
        ("", "datetime"),
        ("2024-06-03T12:00:00", "timezone"),
        ("2024-06-03T12:00:00+02:00", "datetime"),  # the plus is a blank in an address
        ("2024-02-30T12:00:00Z", "day"),
        ("1969-12-31T23:59:59Z", "known from 1970 to 2199"),
        ("0001-01-01T00:00:00%2B14:00", "known from 1970 to 2199"),
        ("9999-12-31T23:59:59-14:00", "known from 1970 to 2199"),
        ("9" * 400, ""),
        ("2024-06-03T12:00:00Z%00", "datetime"),
    ],
)
@pytest.mark.parametrize("path", ["/v1/catalog/ods?", f"/v1/slices?subject={ODS}&"])
def test_an_invalid_time_is_400(unchanged: Client, path: str, when: str, says: str) -> None:
    status, answer = unchanged.ask("GET", f"{path}as_of={when}")
    assert (status, says in answer["error"]["message"]) == (400, True), answer
    assert answer["error"]["where"] == "query.as_of"


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("/v1/catalog/odss?as_of=2024-06-03T00:00:00Z", 404),
        ("/v1/catalog/ods?as_of=2024-06-03T00:00:00Z&limit=1001", 400),
        ("/v1/slices?subject=odss@2024-06-02&as_of=2024-06-03T00:00:00Z", 404),
        ("/v1/slices?subject=ods@banana&as_of=2024-06-03T00:00:00Z", 400),
        ("/v1/slices?subject=table=ods%26%26dt=1970..2199&as_of=2024-06-03T00:00:00Z", 400),
        ("/v1/catalog?as_of=2024-06-03T00:00:00Z", 400),
        ("/v1/impact?subject=ods@2024-06-02&until=0001-01-01T00:00:00%2B14:00", 400),
        ("/v1/impact?subject=ods@2024-06-02&until=9999-12-31T23:59:59-14:00", 400),
    ],
)
def test_an_unknown_slice_is_refused(unchanged: Client, path: str, status: int) -> None:
    assert unchanged.ask("GET", path)[0] == status
    assert unchanged.ask("GET", path, token=None)[0] == 401
