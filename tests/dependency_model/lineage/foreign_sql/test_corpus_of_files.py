"""Files as people bring them: each is rewritten, and then reads what a person says that it reads.

-- case: name
-- from: airflow                     the system; DataWorks where nothing is said
-- period: hour                      of the entity; a day where nothing is said
-- parameters: name=value; ...       what its scheduler sets
-- reads: table = offset; ...        or "left: line words" of what a person has to do
...
-- end
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.dependency_model.lineage.worlds import PARIS, START, SUBJECTS
from tidemark.dependency_model.lineage.computed_table import ComputedTable
from tidemark.dependency_model.lineage.entity_outline import EntityOutline, QuerySession
from tidemark.dependency_model.lineage.foreign_file import rewrite_file
from tidemark.dependency_model.lineage.foreign_sql.placeholder import placeholders
from tidemark.dependency_model.lineage.foreign_sql.rewriting import QueryOrigin, RewrittenQuery
from tidemark.dependency_model.lineage.inference import infer
from tidemark.dependency_model.lineage.parsed_query import read_query
from tidemark.dependency_model.time import Period
from tidemark.dependency_model.time.partition_columns import partition_columns

_FOLDER = Path(__file__).parent / "corpus"
_CASE = re.compile(
    r"^-- case: (?P<name>\w+)\n(?P<keys>(?:-- (?:from|period|parameters|reads|left): [^\n]+\n)+)(?P<sql>.*?)^-- end$",
    re.MULTILINE | re.DOTALL,
)


@dataclass(frozen=True)
class ForeignFile:
    name: str
    system: str
    period: Period
    parameters: dict[str, str]
    reads: dict[str, str]
    left: str
    sql: str

    def rewritten(self) -> RewrittenQuery:
        table = ComputedTable("dws_x", partition_columns(self.period), self.period)
        origin = QueryOrigin(self.system, self.period, self.parameters, SUBJECTS.keys())
        return rewrite_file(self.sql, "dws_x.sql", table, origin)[0]


def _files() -> list[ForeignFile]:
    return [_file(match) for path in sorted(_FOLDER.glob("*.sql")) for match in _CASE.finditer(path.read_text())]


def _file(match: re.Match[str]) -> ForeignFile:
    keys = dict(re.findall(r"-- (\w+): ([^\n]+)\n", match["keys"]))
    reads, parameters = (
        dict(re.split(r"\s*=\s*", part, maxsplit=1) for part in keys[name].split("; ")) if name in keys else {}
        for name in ("reads", "parameters")
    )
    period = Period.parse(keys.get("period", "day"))
    return ForeignFile(
        match["name"], keys.get("from", "dataworks"), period, parameters, reads, keys.get("left", ""), match["sql"]
    )


FILES = _files()


def test_every_case_of_the_corpus_is_read() -> None:
    written = sum(path.read_text().count("-- case: ") for path in _FOLDER.glob("*.sql"))
    assert len(FILES) == len({file.name + file.system for file in FILES}) == written >= 35


@pytest.mark.parametrize("file", [file for file in FILES if file.reads], ids=lambda file: f"{file.system}-{file.name}")
def test_a_file_reads_what_a_person_says(file: ForeignFile) -> None:
    rewritten = file.rewritten()
    assert rewritten.left == ()
    assert list(placeholders(rewritten.text)) == []
    downstream = EntityOutline("dws_x", file.period, PARIS, START)
    subjects = {**SUBJECTS, "dws_x": downstream}
    reads = infer([read_query(rewritten.text)], downstream, subjects, session=QuerySession("Europe/Paris"))
    assert {table: str(read) for table, read in reads.items()} == file.reads, rewritten.text


@pytest.mark.parametrize("file", [file for file in FILES if file.left], ids=lambda file: f"{file.system}-{file.name}")
def test_what_is_left_to_do_is_told_at_its_line(file: ForeignFile) -> None:
    rewritten = file.rewritten()
    line, words = file.left.split(" ", 1)
    assert rewritten.line(rewritten.left[0]) == int(line)
    assert all(
        any(word in text for text in (rewritten.left[0].advice, rewritten.left[0].words, rewritten.text))
        for word in words.split()
    )
    assert f"/* not rewritten: {rewritten.left[0].advice.replace('*/', '* /')} */" in rewritten.text
