"""The example of seed 003, as it is written there, on Delta tables: words counted, reads estimated, then completed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.dagster.kinds.world import running

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

WEEK = tuple(f"2026-03-{day}" for day in range(23, 30))
PROJECT = "time_zone: UTC\nstart: 2026-03-01\nend: 2026-04-01\n"
FILES = {
    "articles_by_author.yaml": "kind: Virtual\nperiod: day\nstart: 2026-03-23\nend: 2026-03-30\n",
    "words_count.yaml": "period: day\nstart: 2026-03-23\nend: 2026-03-30\n",
    "words_count.sql": (
        "SELECT author, word, count(*) AS n FROM (SELECT author, explode(split(text, ' ')) AS word\n"
        "FROM articles_by_author WHERE dt = :biz_date) GROUP BY author, word\n"
    ),
    "word_prominence.yaml": "kind: Virtual\nperiod: month\nstart: 2026-02-01\n",
    "nb_read_exact.yaml": "kind: Virtual\nperiod: week\nstart: 2026-03-23\nend: 2026-03-30\n",
    "user_weekly_reads.yaml": (
        "period: week\nstart: 2026-03-23\nend: 2026-03-30\nstates:\n"
        "  - entity_state: estimated\n    depends_on:\n"
        "      - {entity: words_count, dates: all_week}\n"
        "      - {entity: word_prominence, dates: last available}\n"
        "  - entity_state: completed\n    depends_on:\n"
        "      - {entity: words_count, dates: all_week}\n"
        "      - {entity: nb_read_exact, dates: all_week}\n"
    ),
    "user_weekly_reads.sql": (
        "SELECT w.author, sum(coalesce(e.reads, w.n * coalesce(p.weight, 1))) AS reads FROM words_count w\n"
        "LEFT JOIN word_prominence p ON p.word = w.word LEFT JOIN nb_read_exact e ON e.author = w.author\n"
        "GROUP BY w.author\n"
    ),
}


@pytest.mark.long
def test_word_count(spark: SparkSession, tmp_path: Path) -> None:
    with running(spark, tmp_path, FILES, project=PROJECT) as world:
        world.arrive("word_prominence@2026-02", [("tide", 10)], "word STRING, weight INT")
        for day in WEEK:
            world.arrive(f"articles_by_author@{day}", [("ada", "tide")], "author STRING, text STRING")
        world.run()
        assert world.rows(f"words_count@{WEEK[0]}") == [("ada", "tide", 1)]
        assert world.states("user_weekly_reads@2026-03-23") == {"waiting", "estimated"}
        assert world.rows("user_weekly_reads@2026-03-23") == [("ada", 70)]
        world.arrive("nb_read_exact@2026-03-23", [("ada", 3)], "author STRING, reads INT")
        world.run()
        assert world.states("user_weekly_reads@2026-03-23") == {"completed", "estimated"}
        assert world.rows("user_weekly_reads@2026-03-23") == [("ada", 21)]
