"""The corpus: queries with what they read, in `corpus/*.sql`.

-- case: name
-- down: week                        the period of the entity that the query computes; a day where nothing is said
-- reads: table = offset; table = undecidable: words of the reason
SELECT ...;
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from tidemark.dependency_model.time import Period

FOLDER = Path(__file__).parent / "corpus"
_CASE = re.compile(r"^-- case: (\w+)\n(?:-- down: (\w+)\n)?-- reads: ([^\n]+)\n(.*?);$", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class Case:
    name: str
    down: Period
    reads: dict[str, str]
    sql: str


def cases() -> list[Case]:
    result = []
    for path in sorted(FOLDER.glob("*.sql")):
        for name, down, reads, sql in _CASE.findall(path.read_text()):
            expected = dict(part.split(" = ", 1) for part in reads.split("; "))
            result.append(Case(f"{path.stem}-{name}", Period.parse(down or "day"), expected, sql))
    return result
