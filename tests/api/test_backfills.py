"""Backfills over HTTP: planned, approved, paused, resumed, cancelled and shown; refused requests change nothing."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import pytest

from tests.api.client import TOKEN, Client, serving
from tests.center.launchers import MemoryLauncher
from tests.center.test_backfills import BackfillWorld
from tidemark.api.options import ApiOptions
from tidemark.api.server import serve_in_thread
from tidemark.dependency_model.backfill import BackfillPhase, SliceProgress
from tidemark.state_store.backfills import Backfills
from tidemark.state_store.fence import Fence
from tidemark.state_store.lease import CENTER

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

DAY = "2024-06-02"
TEXTS = {
    "ods": "{period: day, kind: Virtual}",
    "a": "{period: day, depends_on: [ods]}",
    "b": "{period: day, reprocess: if_changed, depends_on: [ods]}",
    "top": "{period: day, depends_on: [a, b]}",
}
MEMBERS = [f"{name}@{DAY}" for name in TEXTS]
ORDER = {"subject": f"table=ods&&dt={DAY.replace('-', '')}", "who": "ann", "why": "the feed repeated itself"}
ACTIONS = ("approve", "pause", "resume", "cancel")


@pytest.fixture
def client(tmp_path: Path) -> Iterator[Client]:
    with everything_computed(tmp_path) as opened:
        yield opened


@contextmanager
def everything_computed(folder: Path) -> Iterator[Client]:
    """Of the day."""
    with serving(folder, ApiOptions(token=TOKEN, writes_per_second=1e9), texts=TEXTS) as opened:
        opened.world.tell(MEMBERS[0], "observed")
        for name in MEMBERS[1:]:
            opened.world.run(name, f"run of {name}")
        yield opened


def plan(client: Client, **told: Any) -> dict[str, Any]:
    status, answer = client.ask("POST", "/v1/backfills", {**ORDER, **told})
    assert status == 200, answer
    return dict(answer)


def act(client: Client, number: object, action: str) -> tuple[int, Any]:
    return client.ask("POST", f"/v1/backfills/{number}/{action}", raw=b"")


def numbers(client: Client) -> list[int]:
    status, answer = client.ask("GET", "/v1/backfills")
    assert status == 200
    return [backfill["number"] for backfill in answer["backfills"]]


def test_a_dry_run_says_waves_slices_and_how_long_and_keeps_nothing(client: Client) -> None:
    told = plan(client, dry_run=True)
    assert (told["number"], told["phase"], told["dry_run"]) == (None, None, True)
    assert [(slice_["slice"], slice_["wave"], slice_["policy"]) for slice_ in told["slices"]] == list(
        zip(MEMBERS, (0, 1, 1, 2), ("always", "always", "if_changed", "always"), strict=True)
    )
    assert [(slice_["root"], slice_["given"]) for slice_ in told["slices"][:2]] == [(True, True), (False, False)]
    assert (told["waves"], told["runs"], told["estimate"]["slices"], told["also_in"]) == (3, 3, 3, {})
    assert 0 < told["estimate"]["p50_seconds"] <= told["estimate"]["p90_seconds"] <= told["estimate"]["p99_seconds"]
    assert numbers(client) == []


def test_a_plan_is_kept_with_who_and_why_and_goes_from_phase_to_phase(client: Client) -> None:
    told = plan(client)
    assert (told["number"], told["phase"], told["dry_run"]) == (1, "planned", False)
    phases = {"approve": "running", "pause": "paused", "resume": "running", "cancel": "cancelling"}
    for action, phase in phases.items():
        assert act(client, 1, action) == (200, {"number": 1, "phase": phase})
    status, page = client.ask("GET", "/v1/backfills/1")
    assert (status, page["phase"], page["slices"]) == (200, "cancelling", {"pending": 4})
    assert (page["who"], page["why"], page["asked"]) == (
        "ann, by token:TIDEMARK_TOKEN",
        "the feed repeated itself",
        ORDER["subject"],
    )
    assert [far["slice"] for far in page["progress"]] == MEMBERS
    assert plan(client, approve=True)["phase"] == "running"
    assert numbers(client) == [2, 1]
    second = client.ask("GET", "/v1/backfills/2?skip=1&limit=2")[1]["progress"]
    assert [(far["slice"], far["wave"], far["progress"], far["after"]) for far in second] == [
        (MEMBERS[1], 1, "pending", 1), (MEMBERS[2], 1, "pending", 1),
    ]  # fmt: skip
    assert plan(client, dry_run=True)["also_in"] == {"1": 4, "2": 4}


def test_downstream_slices_that_begin_later_are_omitted(client: Client) -> None:
    assert len(plan(client, until="2024-06-02T00:00:00Z", dry_run=True)["slices"]) == len(MEMBERS)
    assert len(plan(client, until="2024-06-01T00:00:00Z", dry_run=True)["slices"]) == 1
    assert len(plan(client, subject=f"a@{DAY}", dry_run=True)["slices"]) == 2


def test_progress_is_shown_with_its_reason(client: Client) -> None:
    plan(client, approve=True)
    Backfills(client.world.store.database).note(1, [(2, SliceProgress.ASKING, "its policy is to ask a person")])
    _, page = client.ask("GET", "/v1/backfills/1?limit=1&skip=2")
    assert page["progress"] == [
        {"slice": MEMBERS[2], "wave": 1, "progress": "asking", "why": "its policy is to ask a person", "after": None}
    ]
    assert page["slices"] == {"pending": 3, "asking": 1}


@pytest.mark.parametrize(
    ("phase", "allowed"),
    [
        (BackfillPhase.PLANNED, {"approve", "cancel"}),
        (BackfillPhase.RUNNING, {"pause", "cancel"}),
        (BackfillPhase.PAUSED, {"resume", "cancel"}),
        (BackfillPhase.CANCELLING, set()),
        (BackfillPhase.CANCELLED, set()),
        (BackfillPhase.DONE, set()),
    ],
)
def test_a_phase_that_cannot_follow_is_409_and_changes_nothing(
    client: Client, phase: BackfillPhase, allowed: set[str]
) -> None:
    stored = Backfills(client.world.store.database)
    request = stored.row(plan(client)["number"]).request
    for action in ACTIONS:
        number = stored.add(stored.load(1).plan, request, phase)
        status, answer = act(client, number, action)
        assert (status == 200) == (action in allowed)
        if status != 200:
            assert (status, answer["error"]["found"]) == (409, f"it is {phase.value}")
            assert answer["error"]["message"].startswith(f"backfill {number} cannot be ")
            assert (stored.row(number).phase, stored.row(number).revision) == (phase, 1)


def test_one_of_many_simultaneous_approvals_is_accepted(client: Client) -> None:
    plan(client)
    with ThreadPoolExecutor(8) as pool:
        statuses = list(pool.map(lambda _: act(client, 1, "approve")[0], range(8)))
    assert sorted(statuses) == [200, *[409] * 7]
    assert Backfills(client.world.store.database).row(1).revision == 2


def test_a_repeated_event_id_makes_no_new_plan(client: Client) -> None:
    first = plan(client, event_id="import-4711", approve=True)
    with ThreadPoolExecutor(4) as pool:
        again = list(pool.map(lambda _: plan(client, event_id="import-4711"), range(4)))
    assert {(told["number"], told["phase"], len(told["slices"])) for told in again} == {(1, "running", 4)}
    assert (first["number"], numbers(client)) == (1, [1])
    assert plan(client, event_id="import-4711", dry_run=True)["number"] is None
    assert plan(client, event_id="import-4712")["number"] == 2


def test_a_body_that_is_too_long_is_413(client: Client) -> None:
    for size in (65_537, 8 * 1024 * 1024 + 1):
        assert client.ask("POST", "/v1/backfills", raw=b" " * size)[0] == 413
    assert plan(client, why="x" * 4_096)["number"] == 1


@pytest.mark.slow
def test_ten_years_by_mistake_are_asked_about_first(client: Client) -> None:
    decade = {**ORDER, "subject": "table=a&&dt=20240602..20340602"}
    for more in ({}, {"dry_run": True}, {"approve": True}, {"yes": False}):
        status, answer = client.ask("POST", "/v1/backfills", {**decade, **more})
        error = answer["error"]
        assert (status, error["found"], error["expected"]) == (400, "3,653", "at most 1,000 without confirmation")
        assert error["message"] == "table=a&&dt=20240602..20340602 means 3,653 slices"
        assert '"yes": true' in error["hint"]
    assert numbers(client) == []
    assert len(plan(client, subject=decade["subject"], yes=True)["slices"]) == 3_654
    assert numbers(client) == [1]


def test_more_than_a_person_may_mean_downstream_is_asked_about_before_it_is_kept(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tidemark.api.backfill_queries.MAX_SLICES", 2)
    status, answer = client.ask("POST", "/v1/backfills", ORDER)
    assert (status, answer["error"]["message"]) == (400, "3 slices would be rebuilt")
    assert numbers(client) == []
    assert plan(client, dry_run=True)["estimate"]["slices"] == 3
    assert plan(client, yes=True)["number"] == 1


def test_more_than_one_answer_holds_downstream_is_refused_with_how_many(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tidemark.api.backfill_queries.MOST_PLANNED", 2)
    status, answer = client.ask("POST", "/v1/backfills", {**ORDER, "yes": True})
    assert (status, answer["error"]["found"]) == (400, "3 of 3 entities")
    assert numbers(client) == []


@pytest.mark.parametrize("path", ["/v1/backfills", *(f"/v1/backfills/1/{action}" for action in ACTIONS)])
def test_without_the_token_or_for_another_page_nothing_is_done(client: Client, path: str) -> None:
    plan(client)
    for token in (None, "", "wrong"):
        assert client.ask("POST", path, ORDER, token=token)[0] == 401
    foreign = ({"Host": "evil.example"}, {"Origin": "http://evil.example"}, {"Sec-Fetch-Site": "cross-site"})
    for headers in foreign:
        assert client.ask("POST", path, ORDER, headers=headers, token=None)[0] in (401, 403)
    assert client.ask("POST", path, ORDER, headers={"Content-Type": "text/plain"})[0] == 415
    assert client.ask("GET", "/v1/backfills/1", token=None)[0] == 401
    assert numbers(client) == [1]
    assert client.ask("GET", "/v1/backfills/1")[1]["phase"] == "planned"


def test_too_many_writes_are_answered_with_429(tmp_path: Path) -> None:
    with serving(tmp_path, ApiOptions(token=TOKEN, writes_per_second=0.2)) as client:
        assert [act(client, 1, "cancel")[0] for _ in range(4)] == [404, 404, 429, 429]
        assert client.ask("POST", "/v1/backfills", ORDER)[0] == 429


def test_one_that_stands_by_plans_and_approves_for_the_active_one(client: Client) -> None:
    """As the command line does on any machine: the center that is active carries it out."""
    client.world.store.write.fence = Fence(CENTER, 0, "")
    assert plan(client)["number"] == 1
    assert act(client, 1, "approve")[0] == 200


def test_the_center_executes_an_approved_backfill_and_stops_while_it_is_paused(tmp_path: Path) -> None:
    launcher = MemoryLauncher()
    world = BackfillWorld(tmp_path, launcher)
    world.fill()
    launcher.runs.clear()
    with serve_in_thread(world.center, world.forecast(), ApiOptions(token=TOKEN)) as url:
        client = Client(world, url)
        told = plan(client, subject="a@2024-06-01")
        assert (told["number"], told["waves"], len(told["slices"]), world.step()) == (1, 4, 6, 0)
        assert act(client, 1, "approve")[0] == 200
        assert world.step() == 1
        assert act(client, 1, "pause")[0] == 200
        world.finish()
        assert (world.step(), world.center.under_way()) == (0, {})
        assert client.ask("GET", "/v1/backfills/1")[1]["slices"] == {"rebuilt": 1, "pending": 5}
        assert act(client, 1, "resume")[0] == 200
        world.work()
        asked = ("POST", "/v1/backfills/1/decide")
        assert client.ask(*asked, {"rebuild": False, "slices": ["a@2024-06-01"]})[1]["decided"] == 0
        assert client.ask(*asked, {"rebuild": "no"})[0] == 400
        assert client.ask("POST", "/v1/backfills/2/decide", {"rebuild": False})[0] == 404
        assert client.ask(*asked, {"rebuild": False}) == (200, {"number": 1, "decided": 1, "rebuild": False})
        world.work()
        page = client.ask("GET", "/v1/backfills/1")[1]
        assert (page["phase"], page["slices"]) == ("done", {"rebuilt": 5, "kept": 1})
        assert act(client, 1, "cancel")[0] == 409
