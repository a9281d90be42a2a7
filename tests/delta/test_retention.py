"""Which versions are kept, and why."""

from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from tidemark.delta.retention import Claim, Retention, kept_versions

NOW = datetime(2026, 3, 30, 12, tzinfo=UTC)
DAILY = [(version, NOW - timedelta(days=20 - version)) for version in range(21)]


def reasons_by_version(retention: Retention, *claims: Claim) -> dict[int, tuple[str, ...]]:
    return {kept_version.version: kept_version.reasons for kept_version in kept_versions(DAILY, retention, claims, NOW)}


def test_count_and_age_each_keep_their_versions() -> None:
    assert list(reasons_by_version(Retention(3, timedelta(0)))) == [18, 19, 20]
    assert list(reasons_by_version(Retention(1, timedelta(days=2)))) == [18, 19, 20]
    assert reasons_by_version(Retention(1, timedelta(0)))[20] == ("the newest",)


def test_the_newest_version_at_the_start_of_the_age_stays_readable() -> None:
    assert list(reasons_by_version(Retention(1, timedelta(hours=36)))) == [18, 19, 20], (
        "at noon 36 hours ago it was version 18"
    )


def test_claims_keep_old_versions_and_say_why() -> None:
    reasons = reasons_by_version(
        Retention(1, timedelta(0)), Claim(4, "tagged 2026-03-14 [day]"), Claim(4, "read by x"), Claim(99, "-")
    )
    assert reasons[4] == ("tagged 2026-03-14 [day]", "read by x")
    assert list(reasons) == [4, 20]


@given(st.integers(0, 30), st.integers(0, 30), st.lists(st.integers(0, 25)))
def test_the_newest_and_all_claims_are_kept(count: int, days: int, claimed: list[int]) -> None:
    reasons = reasons_by_version(Retention(count, timedelta(days=days)), *(Claim(version, "x") for version in claimed))
    assert 20 in reasons
    assert {version for version in claimed if version <= 20} <= set(reasons)
    assert len(reasons) <= max(count, 1) + days + 1 + len(set(claimed))
    assert all(reasons.values())
