"""GET /v1/impact: what a subject's slices touch, and what is refused."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.api.client import GOOD, Client, serving

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture
def client(tmp_path: Path) -> Iterator[Client]:
    with serving(tmp_path) as opened:
        yield opened


def test_downstream_slices_of_a_subject_are_listed_with_their_needs(client: Client) -> None:
    client.report(GOOD)
    status, body = client.ask("GET", "/v1/impact?subject=ods@2024-06-02&until=2024-06-04T00:00:00Z")
    assert (status, body["causes"]) == (200, ["ods@2024-06-02"])
    (first, *_) = body["downstream"]
    assert (first["slice"], first["need"], first["run_state"]) == ("dwd@2024-06-02", "nothing", "ready")


def test_slices_of_a_task_are_filtered_by_who_asked_for_them(tmp_path: Path) -> None:
    texts = {"ods": "{period: day, kind: Virtual}", "dwd": "{period: day, task_id: 1234, depends_on: [ods]}"}
    subject = "taskId=1234%26%26bizDate=20240601,20240602"
    with serving(tmp_path, texts=texts) as client:
        for day in ("20240601", "20240602"):
            client.report({**GOOD, "subject": f"table=ods&&dt={day}", "event_id": f"ods {day}"})
            client.world.run(f"dwd@{day[:4]}-{day[4:6]}-{day[6:]}", f"run {day}")
        again = {**GOOD, "subject": "taskId=1234&&bizDate=20240602", "event": "backfill_requested", "event_id": "ann"}
        assert client.report(again)[0] == 200

        def slices(more: str) -> list[str]:
            return [told["slice"] for told in client.ask("GET", f"/v1/slices?subject={subject}{more}")[1]["slices"]]

        assert slices("") == ["dwd@2024-06-01", "dwd@2024-06-02"]
        assert slices("%26%26instance=scheduled") == ["dwd@2024-06-01"]
        assert slices("%26%26instance=manual") == ["dwd@2024-06-02"]
        assert client.report({**again, "subject": f"{again['subject']}&&instance=manual", "event_id": "bob"})[0] == 400


@pytest.mark.parametrize(
    ("query", "status"),
    [
        ("subject=odds@2024-06-02", 404),
        ("subject=ods@banana", 400),
        ("subject=ods@2024-06-02&until=banana", 400),
        ("subject=table=ods%26%26dt=20240101..20501231", 400),
    ],
)
def test_an_unknown_subject_is_refused(client: Client, query: str, status: int) -> None:
    assert client.ask("GET", f"/v1/impact?{query}")[0] == status
