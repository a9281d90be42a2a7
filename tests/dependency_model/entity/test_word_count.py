"""Seed 003's word-count example, as the seed's text describes it line by line."""

from __future__ import annotations

from tests.dependency_model.world import keys, names
from tidemark.dependency_model.entity import parse_entity
from tidemark.dependency_model.graph import DependencyGraph
from tidemark.dependency_model.slice import Slice

ARTICLES_BY_AUTHOR = """
name: articles_by_author
granularity: daily
period: daily
states:
  - entity_state: completed
"""
WORDS_COUNT = """
name: words_count
granularity: daily
period: daily
states:
  - entity_state: completed
    depends_on:
      - entity: articles_by_author
        dates: all_day
"""
WORD_PROMINENCE = """
name: word_prominence
period: monthly
kind: Snapshot
"""
NB_READ_EXACT = """
name: nb_read_exact
period: weekly
"""
USER_WEEKLY_READS = """
name: user_weekly_reads
period: weekly
states:
  - entity_state: estimated
    depends_on:
      - entity: words_count
        dates: all_week
      - entity: word_prominence
        dates: last available

  - entity_state: completed
    depends_on:
      - entity: words_count
        dates: all_week
        states: [completed]
      - entity: nb_read_exact
        dates: all_week
"""
WEEK = [f"2021-08-{day:02}" for day in range(9, 16)]


def world() -> DependencyGraph:
    texts = (ARTICLES_BY_AUTHOR, WORDS_COUNT, WORD_PROMINENCE, NB_READ_EXACT, USER_WEEKLY_READS)
    return DependencyGraph.build([parse_entity(text, f"file_{number}") for number, text in enumerate(texts)])


def test_the_example_is_without_problems() -> None:
    assert world().problems() == ()


def test_names_come_from_the_files_text() -> None:
    assert set(world()) == {
        "articles_by_author",
        "words_count",
        "word_prominence",
        "nb_read_exact",
        "user_weekly_reads",
    }


def test_words_count_requires_one_day_of_articles() -> None:
    assert keys(world(), "words_count@2021-08-09") == {"articles_by_author": ["2021-08-09"]}


def test_estimated_needs_the_week_of_words_and_the_last_list_of_prominence() -> None:
    assert keys(world(), "user_weekly_reads@2021-08-09", "estimated") == {
        "words_count": WEEK,
        "word_prominence": ["2021-07"],
    }
    prominence = world().requirements(Slice("user_weekly_reads", "2021-08-09"), "estimated")[1]
    assert prominence.or_older


def test_completed_needs_the_week_of_words_and_the_exact_reads() -> None:
    assert keys(world(), "user_weekly_reads@2021-08-09") == {"words_count": WEEK, "nb_read_exact": ["2021-08-09"]}


def test_states_are_accepted_by_default_only_when_completed() -> None:
    entity = world().entity("user_weekly_reads")
    assert entity.state_names == ("estimated", "completed")
    assert {dependency.states for dependency in entity.dependencies("estimated")} == {("completed",)}


def test_a_corrupted_hour_names_the_dates_downstream() -> None:
    assert names(world().downstream(Slice("words_count", "2021-08-11"))) == ["user_weekly_reads@2021-08-09"]
    assert names(world().downstream(Slice("articles_by_author", "2021-08-11"))) == ["words_count@2021-08-11"]
