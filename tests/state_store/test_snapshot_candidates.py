"""Candidates for tags: exactly what was judged is tagged, and what came meanwhile waits for its own verdict."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pytest

from tidemark.state_store.errors import SnapshotTagTakenError
from tidemark.state_store.snapshot_candidates import CandidateVerdict
from tidemark.state_store.snapshot_registry import SnapshotRegistry, TaggedSnapshot

if TYPE_CHECKING:
    from tidemark.state_store.database import Database

NOW = datetime(2026, 3, 24, 0, 5, tzinfo=UTC)
FIRST = TaggedSnapshot("ods_orders", "day", "2026-03-23", 4, 10, datetime(2026, 3, 24, 0, 0, 5, tzinfo=UTC))
SECOND = replace(FIRST, slice="2026-03-24", version=9)


@pytest.fixture
def registry(database: Database) -> SnapshotRegistry:
    return SnapshotRegistry(database)


def pending(registry: SnapshotRegistry) -> TaggedSnapshot:
    (candidate,) = registry.candidates.of("ods_orders")
    assert candidate.verdict is CandidateVerdict.PENDING
    return candidate.snapshot


def test_a_candidate_is_hidden_before_it_is_published(registry: SnapshotRegistry) -> None:
    for _ in range(2):
        registry.candidates.propose([FIRST])
        assert (registry.of("ods_orders"), registry.get(*FIRST.key)) == ((), None)
        assert registry.newest(*FIRST.key) == pending(registry) == FIRST
    for _ in range(2):
        registry.candidates.publish(FIRST, NOW)
        assert registry.of("ods_orders") == (replace(FIRST, tagged_at=NOW),)
        assert registry.candidates.of("ods_orders") == ()
    registry.candidates.propose([FIRST])
    assert (registry.candidates.of("ods_orders"), registry.newest(*FIRST.key)) == ((), replace(FIRST, tagged_at=NOW))


def test_a_slice_is_proposed_as_one_version_only(registry: SnapshotRegistry) -> None:
    registry.candidates.propose([FIRST])
    with pytest.raises(SnapshotTagTakenError, match="version 5, found version 4"):
        registry.candidates.propose([SECOND, replace(FIRST, version=5)])
    registry.candidates.publish(FIRST, NOW)
    with pytest.raises(SnapshotTagTakenError, match="version 5, found version 4"):
        registry.candidates.propose([replace(FIRST, version=5)])
    assert registry.candidates.of("ods_orders") == ()


@pytest.mark.parametrize(
    ("verdict", "said"),
    [
        (CandidateVerdict.REFUSED, "version 4 is not tagged: a blocking rule failed: not_null: 3 rows"),
        (
            CandidateVerdict.UNKNOWN,
            "version 4 is not tagged: the result of its blocking rules is unknown: not_null: 3 rows",
        ),
    ],
)
def test_a_held_candidate_has_a_reason_and_may_be_judged_again(
    registry: SnapshotRegistry, verdict: CandidateVerdict, said: str
) -> None:
    registry.candidates.propose([FIRST])
    registry.candidates.hold_back(FIRST, verdict, "not_null: 3 rows")
    held = registry.candidates.get(*FIRST.key)
    assert held is not None
    assert (held.verdict, held.reason, registry.of("ods_orders")) == (verdict, said, ())
    registry.candidates.propose([FIRST])
    assert registry.candidates.get(*FIRST.key) == held
    registry.candidates.publish(FIRST, NOW)
    assert (registry.candidates.of("ods_orders"), len(registry.of("ods_orders"))) == ((), 1)


def test_a_restatement_of_a_tag_is_a_candidate_and_the_tag_stays(registry: SnapshotRegistry) -> None:
    registry.tag([FIRST])
    (restated,) = registry.restate([FIRST.key], 7, audited={"ods_orders"})
    assert restated == replace(FIRST, generation=2, late_batch=7, restatement=1)
    assert registry.restate([FIRST.key], 7, audited={"ods_orders"}) == ()
    assert (registry.of("ods_orders"), pending(registry)) == ((FIRST,), restated)
    assert registry.restatements_after(0) == (restated,)
    registry.candidates.publish(restated, NOW)
    assert registry.of("ods_orders") == (replace(restated, tagged_at=NOW),)
    # A run of before that ends only now tags nothing that is older.
    registry.candidates.publish(FIRST, NOW)
    assert registry.of("ods_orders") == (replace(restated, tagged_at=NOW),)


def test_late_changes_during_a_judgement_are_judged_separately(registry: SnapshotRegistry) -> None:
    """Publishing the whole candidate here would tag late changes that no rule has looked at."""
    registry.candidates.propose([FIRST])
    (restated,) = registry.restate([FIRST.key], 7, audited={"ods_orders"})
    registry.candidates.hold_back(FIRST, CandidateVerdict.REFUSED, "of the version alone")
    assert pending(registry) == restated
    registry.candidates.publish(FIRST, NOW)
    assert (registry.of("ods_orders"), pending(registry)) == ((replace(FIRST, tagged_at=NOW),), restated)


def test_a_refused_one_is_pending_again_once_late_changes_or_a_repair_came(registry: SnapshotRegistry) -> None:
    registry.candidates.propose([FIRST])
    registry.candidates.hold_back(FIRST, CandidateVerdict.REFUSED, "not_null: 3 rows")
    registry.restate([FIRST.key], 7, audited={"ods_orders"})
    late = pending(registry)
    registry.candidates.hold_back(late, CandidateVerdict.REFUSED, "not_null: 2 rows")
    registry.candidates.repaired(FIRST, 5, 9)
    held = registry.candidates.get(*FIRST.key)
    assert held is not None
    assert (held.verdict, held.snapshot) == (CandidateVerdict.REFUSED, late), "a repair of an older one is none of this"
    registry.candidates.repaired(late, 5, 9)
    assert pending(registry) == replace(late, version=5, rows=9, generation=3, restatement=2)


def test_candidates_wait_for_late_changes_and_go_with_their_tags(registry: SnapshotRegistry) -> None:
    registry.candidates.propose([replace(FIRST, late_until=1000)])
    assert registry.restate([FIRST.key], 7, audited={"ods_orders"}) == ()
    assert pending(registry) == replace(FIRST, late_until=1000, late_batch=7)
    registry.stop_waiting([FIRST.key])
    assert pending(registry) == replace(FIRST, late_batch=7)
    registry.tag([SECOND, replace(SECOND, slice="2026-03-25", version=12)])
    registry.keep("ods_orders", "day", 2)
    assert pending(registry).slice == FIRST.slice
    registry.keep("ods_orders", "day", 1)
    assert (len(registry.of("ods_orders")), registry.candidates.of("ods_orders")) == (1, ())
    registry.candidates.propose([FIRST])
    registry.forget("ods_orders")
    assert (registry.of("ods_orders"), registry.candidates.of("ods_orders")) == ((), ())
